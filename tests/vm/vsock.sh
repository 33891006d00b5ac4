#!/bin/bash
# By vsock, which leads back to this machine, between stock trace-cmd and us: each of the four pairs of who sends and who takes. What the
# kernel records is there once, and host and guest are on one timeline.
cd /tmp || exit 1
tracing=/sys/kernel/tracing
count=200

fail() {
	echo "FAIL: $*"
	cat said
	exit 1
}

# Somebody listens at that port of the vsock.
await() {
	for _ in $(seq 300); do
		! ringside record -q -N "vsock:1:$1" --compat -e none -i true 2>&1 | grep -q 'refused\|reset' && return
		sleep 0.1
	done
	fail "nobody listens at $1"
}

# What the work does: lines with numbers in the kernel's top buffer.
cat >work <<END
#!/bin/bash
for i in \$(seq $count); do
	echo "tick \$i" >$tracing/trace_marker
done
END
chmod +x work

# Both readers find each line once, in order.
holds() {
	trace-cmd report -i "$1" 2>/dev/null | sed -n 's/.* print: .*tick \([0-9]*\)$/\1/p' >stock.txt
	ringside report -q -i "$1" 2>/dev/null | sed -n 's/.* print: .*tick \([0-9]*\)$/\1/p' >ours.txt
	seq $count | cmp -s - stock.txt || fail "$1: trace-cmd reads $(wc -l <stock.txt) lines"
	seq $count | cmp -s - ours.txt || fail "$1: ringside reads $(wc -l <ours.txt) lines"
}

: >said
insmod /dev/null 2>/dev/null
[ -e /dev/vsock ] || { echo "this kernel has no vsock"; exit 77; }

# Stock sends, we take.
ringside listen --compat -d boards --at vsock:4294967295:9001 >>said 2>&1 &
sleep 2
trace-cmd record -V 1:9001 -e sched:sched_waking ./work >>said 2>&1 || fail "record -V ends with $?"
for _ in $(seq 200); do
	grep -q ' events, ' said && break
	sleep 0.1
done
holds boards/*/*.dat
kill $!
echo "stock record, our listen"
