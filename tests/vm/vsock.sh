#!/bin/bash
# By vsock, which leads back to this machine, between stock trace-cmd and us: each of the four pairs of who sends and who takes. What the
# kernel records is there once.
cd /tmp || exit 1
count=20

fail() {
	echo "FAIL: $*"
	cat said
	exit 1
}

# What the kernel sees of the work: so many programs that begin.
cat >work <<END
#!/bin/bash
for i in \$(seq $count); do
	/bin/true
done
for process in /proc/[0-9]*; do
	! ls -l \$process/fd 2>/dev/null | grep -q trace-pipe-cpu || cat \$process/comm
done >/tmp/by-fifo
END
chmod +x work

# Both readers find each of them.
holds() {
	stock=$(trace-cmd report -i "$1" 2>/dev/null | grep -c ' sched_process_exec: .*=/bin/true ')
	ours=$(ringside report -q -i "$1" 2>/dev/null | grep -c ' sched_process_exec: .*=/bin/true ')
	[ "$stock $ours" = "$count $count" ] || fail "$1: trace-cmd reads $stock and ringside $ours of $count"
}

: >said
for name in vsock vmw_vsock_virtio_transport_common vsock_loopback; do
	insmod /lib/modules/$name.ko
done
[ -e /dev/vsock ] || { echo "this kernel has no vsock"; exit 77; }

# Stock sends, we take.
ringside listen --compat -d boards --at vsock:4294967295:9001 >>said 2>&1 &
sleep 2
trace-cmd record -V 1:9001 -e sched:sched_process_exec ./work >>said 2>&1 || fail "record -V ends with $?"
for _ in $(seq 200); do
	grep -q ' events, ' said && break
	sleep 0.1
done
holds boards/*/*.dat
kill $!
echo "stock record, our listen"

# We send, stock takes. Nobody else can be asked whether it listens.
trace-cmd listen -V -p 9002 -d . >>said 2>&1 &
sleep 2
ringside record --kernel -N vsock:1:9002 --compat -e sched:sched_process_exec ./work >>said 2>&1 || fail "record -N ends with $?"
for _ in $(seq 200); do
	[ ! -e trace.*.cpu0 ] && ls trace.*.dat >/dev/null 2>&1 && break
	sleep 0.1
done
holds trace.*.dat
kill $!
echo "our record, stock listen"

# Stock drives, we record; it has a buffer of its own.
ringside agent --kernel --compat --at vsock:4294967295:9003 >>said 2>&1 &
sleep 2
trace-cmd record -o by-stock.dat -B host -e sched:sched_process_exec -A guest@1:9003 -e sched:sched_process_exec ./work >>said 2>&1 || fail "record -A ends with $?"
holds by-stock-guest.dat
echo "stock record -A, our agent"
kill $!

# We drive, stock records.
trace-cmd agent -p 9004 >>said 2>&1 &
sleep 2
ringside record -o by-us.dat -A vsock:1:9004 --compat -e sched:sched_process_exec ./work >>said 2>&1 || fail "record -A --compat ends with $?"
holds by-us-vsock-1.dat
grep -q 'its clock matched to' said || fail "nothing is said of the guest's clock"
! grep -q trace-cmd by-fifo || fail "trace-cmd uses FIFOs unasked"
echo "our record -A, stock agent"
# A guest of this name has FIFOs, as a virtual machine would: what it writes to a port comes out of its .out.
trace-cmd setup-guest -c 2 guest >>said 2>&1 || fail "setup-guest ends with $?"
mkdir -p /dev/virtio-ports
for cpu in 0 1; do
	ln -s /var/lib/trace-cmd/virt/guest/trace-pipe-cpu$cpu.out /dev/virtio-ports/trace-pipe-cpu$cpu
done
ringside record -o fifo-us.dat -A guest@vsock:1:9004 --compat -e sched:sched_process_exec ./work >>said 2>&1 || fail "record -A guest@... ends with $?"
holds fifo-us-guest.dat
grep -q trace-cmd by-fifo || fail "trace-cmd uses no FIFOs: $(cat by-fifo)"
kill $!
echo "the same by FIFOs"
