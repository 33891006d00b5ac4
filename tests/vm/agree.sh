#!/bin/bash
# Stock trace-cmd and we record the same work: in the reference machine, with agree_work.c beside it. The reports of both have
# the same events in the same order, and of each file trace-cmd and we say the same, to the byte.
cd /tmp || exit 1
bad=0

# What differs from run to run: who it was, when, and where something lay.
plain() {
	sed -E 's/^( *[a-z]+: )? *[^ ]+-[0-9]+ +\[[0-9]+\] +[0-9.]+: /\1/; s/\b[0-9a-f]{6,}\b/ADDRESS/g; s/pid=[0-9]+/pid=N/g' "$1"
}

# System calls from one mark to the other, then what the instances have, each by itself: CPUs of one moment may stand in either order.
calls() {
	awk '/NR 140 \(1267, 1,/ { on = 1; next } /NR 140 \(1267, 2,/ { on = 0 } on && / sys_(enter|exit): /' "$1"
	grep '^ *in: ' "$1"
	grep '^ *out: ' "$1"
}

# agree NAME FILTER OPTION...: FILTER is what is compared of a report.
agree() {
	local name=$1 filter=$2
	shift 2
	trace-cmd record -o stock.dat "$@" agree_work >said 2>&1 || { echo "FAIL: $name: trace-cmd: $(tail -n 3 said)"; bad=1; return; }
	ringside record --kernel -q -o ours.dat "$@" agree_work >said 2>&1 || { echo "FAIL: $name: ringside: $(tail -n 3 said)"; bad=1; return; }
	for file in stock ours; do
		trace-cmd report -i $file.dat >$file.txt 2>/dev/null
		ringside report --layout 3.2 -i $file.dat >$file.by-us 2>/dev/null
		cmp -s $file.txt $file.by-us || { echo "FAIL: $name: $file.dat is read in two ways:"; diff $file.txt $file.by-us | head -n 6; bad=1; }
		$filter $file.txt | plain /dev/stdin >$file.plain
	done
	[ "$(wc -l <stock.plain)" -ge 100 ] || { echo "FAIL: $name: $(wc -l <stock.plain) events:"; tail -n 5 stock.txt; bad=1; }
	cmp -s stock.plain ours.plain || { echo "FAIL: $name: not the same:"; diff stock.plain ours.plain | head -n 10; bad=1; }
	echo "$name: $(wc -l <ours.plain) events, the same"
}

reads() {
	grep -E ' (function|funcgraph_[a-z]+): .*vfs_(read|write)' "$1" | sed -E 's/[+!#*@$]? *[0-9.]+ us/TIME/' | tail -n 200
}

# A shell's pages are no work of theirs.
echo 0 >/proc/sys/kernel/randomize_va_space
agree 'system calls, and two instances' calls -F -e raw_syscalls -B in -e syscalls:sys_enter_sched_get_priority_max \
	-B out -e syscalls:sys_exit_sched_get_priority_max -f 'ret != 7'
agree 'functions' reads -F -p function -l vfs_read -l vfs_write
exit $bad
