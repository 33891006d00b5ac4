#!/bin/bash
# What trace-cmd's own suite asks of trace-cmd, asked of ringside in its place: in the reference machine, with the examples' room and a
# program that reads files by trace-cmd's library (tests/record/as_tracecmd.c) beside it.
#
# A recording is reported, converted and dumped; a histogram and a synthetic event come of SELECTs; a file's size has a cap; and
# reset keeps the kinds of dynamic events that it is told to keep, and no others.
. room
cd "$RINGSIDE_SCRATCH" || exit 1

# A recording: as many events as its recorder says, by whoever reads them, in both versions of the file.
want ringside record -o trace.dat -e sched sleep 0.2
events=$(sed -n 's/.*trace.dat: \([0-9]*\) events.*/\1/p' "$err")
[ "${events:-0}" -gt 10 ] || fail "nothing is told of the recording"
want ringside convert --file-version 6 -i trace.dat -o six.dat
want ringside dump -i six.dat
has '[[:space:]]6[[:space:]]+\[Version\]'
for file in trace.dat six.dat; do
	want ringside report -i $file
	[ "$(count ': sched_')" = "$events" ] || fail "$file: not $events events by ours"
	want trace-cmd report -i $file
	[ "$(count ': sched_')" = "$events" ] || fail "$file: not $events events by trace-cmd"
	want as_tracecmd $file
	[ "$(count ' sched/sched_')" = "$events" ] || fail "$file: not $events events by trace-cmd's library"
done
# A time that is wider than its column still has a blank before it.
want ringside report -i trace.dat --raw-ts --ts-offset 100000000000000
[ "$(count '\[[0-9]{3}\] [^ ]*\. [0-9]{12,}:')" = "$events" ] || fail "not each long time stands by itself"

# A histogram.
want ringside sqlhist -e 'SELECT next_pid FROM sched_switch'
sleep 0.1
want ringside show --hist sched_switch
has '^ +Hits: [1-9]'
want ringside show --trigger sched:sched_switch
has '^hist:keys=next_pid'
want ringside show -f --current_tracer
[ "$(cat "$out")" = "$tracing/current_tracer
nop" ] || fail "--current_tracer"
want ringside reset

# An event of two, which reset takes away unless it is told not to.
want ringside sqlhist -e -n wakeup 'SELECT start.pid AS this_pid, (end.TIMESTAMP_USECS - start.TIMESTAMP_USECS) AS delta
	FROM sched_waking AS start JOIN sched_switch AS end ON start.pid = end.next_pid'
want ringside start -e wakeup
sleep 0.1
want ringside show
has ' wakeup: '
want ringside reset -k synth
want ringside stat
has 'wakeup'
want ringside reset
want cat $tracing/synthetic_events
hasnt .

# Not more than twice what is asked for of each CPU, though there was more; and what there is can be read.
want ringside record -o capped.dat -e raw_syscalls -m 1000 taskset 1 dd if=/dev/zero of=/dev/null bs=1 count=30000
want ringside report -i capped.dat --stat
sizes=$(sed -n 's/^ *\([0-9]*\) bytes in size.*/\1/p' "$out")
[ -n "$sizes" ] || fail "no sizes are told"
most=0
for size in $sizes; do
	[ "$size" -lt 2048000 ] || fail "$size bytes are more than twice what was asked for"
	[ "$size" -le $most ] || most=$size
done
[ $most -ge 1024000 ] || fail "$most bytes are less than what was asked for"
want trace-cmd report -i capped.dat
has ': sys_enter:'

# Each kind is kept by its own word, and goes by any other's.
put $tracing/kprobe_events 'p:kp do_sys_openat2'
add $tracing/kprobe_events 'r:kr do_sys_openat2'
put $tracing/uprobe_events 'p:up /bin/bash:0x4000'
add $tracing/uprobe_events 'r:ur /bin/bash:0x4000'
add $tracing/dynamic_events 'e:ep syscalls.sys_enter_openat'
put $tracing/synthetic_events 'sy u64 n'
want ringside stat
for name in kp kr up ur; do
	has "/$name( |\$)"
done
# kept NAMES -k KIND...: what is there after such a reset.
kept() {
	local names=$1 there
	shift
	want ringside reset "$@"
	there=$(sed 's/[[:space:]].*//; s/.*[:/]//' $tracing/dynamic_events | sort | tr '\n' ' ')
	[ "$there" = "$names" ] || fail "reset $*: '$there' is there, not '$names'"
}
kept 'ep kp kr sy up ur ' -k kprobe -k kretprobe -k uprobe -k uretprobe -k eprobe -k synth
kept 'ep kp kr sy up ur ' -k all
kept 'kr sy up ' -k kretprobe -k uprobe -k synth
kept ''
! ringside reset -k nothing >"$out" 2>"$err" || fail "-k nothing is no kind"
grep -q nothing "$err" || fail "the kind that there is not is not named"
left
