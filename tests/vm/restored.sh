#!/bin/bash
# What `ringside record --kernel` changes in a kernel is as it was when it has ended, however it ended: every control file of the tree says
# the same before and after. Runs as root in the reference machine, with controls.c beside it.
#
# Most is tried on a kernel in which a person has set nearly everything to something else before.
set -u
tracing=/sys/kernel/tracing
cd $tracing || exit 1
bad=0

# Systems whose events are named below. What is in those of others shows in the last look, which is at all of it.
systems='sched irq timer'
look() {
	# shellcheck disable=SC2086
	controls $tracing $1
	grep -H . /proc/sys/kernel/{ftrace_enabled,kptr_restrict,stack_tracer_enabled,tracepoint_printk}
	ls -d /run/ringside-setups/* 2>/dev/null
}

wrong() {
	echo "FAIL: $1"
	shift
	[ $# -eq 0 ] || printf '%s\n' "$@"
	[ ! -s /tmp/err ] || { echo "the last one said:"; head -n 5 /tmp/err; }
	bad=1
}

# same NAME [SYSTEMS]: it is as it was noted.
same() {
	look "${2-$systems}" >/tmp/after
	diff "/tmp/before${2+.all}" /tmp/after >/tmp/diff && return
	wrong "$1: not as it was:" "$(grep '^[-+]' /tmp/diff | head -n 30)"
}

# It has to be another while it lasts.
differs() {
	look "$systems" | diff -q /tmp/before - >/dev/null || return 0
	wrong "$1: nothing was set"
}

note() {
	look "$systems" >/tmp/before
	look '' >/tmp/before.all
}

person() {
	echo 200 >per_cpu/cpu1/buffer_size_kb
	echo global >trace_clock
	echo 0 >options/overwrite
	echo 1 >options/sym-offset
	echo 1 >options/funcgraph-proc
	echo 1 >tracing_cpumask
	echo 1 >events/irq/irq_handler_entry/enable
	echo 1 >events/sched/sched_wakeup/enable
	echo 'prev_pid == 1' >events/sched/sched_switch/filter
	echo 'stacktrace:3 if prio < 3' >events/sched/sched_process_exit/trigger
	echo 'hist:keys=prio' >>events/sched/sched_process_exit/trigger
	echo '1 2' >set_event_pid
	echo 3 >set_event_notrace_pid
	echo '1 2' >set_ftrace_pid
	echo 3 >set_ftrace_notrace_pid
	# One of a module, and commands, which are shown otherwise than they are written.
	echo 'vfs_read loop_add:mod:loop' >set_ftrace_filter
	echo 'vfs_fsync:traceoff:7' >>set_ftrace_filter
	echo 'vfs_fsync:stacktrace' >>set_ftrace_filter
	echo vfs_llseek >set_ftrace_notrace
	echo vfs_open >set_graph_function
	echo vfs_readlink >set_graph_notrace
	echo 4 >max_graph_depth
	echo 'p:person vfs_truncate' >kprobe_events
	echo function_graph >current_tracer
	echo 0 >tracing_on
	mkdir instances/persons
	cd instances/persons || exit 1
	echo 8 >buffer_subbuf_size_kb
	echo 64 >buffer_size_kb
	echo mono >trace_clock
	echo 1 >events/timer/timer_start/enable
	echo 'cpu > 0' >events/timer/timer_start/filter
	echo vfs_write >set_ftrace_filter
	echo function >current_tracer
	cd $tracing || exit 1
}

# Everything that a line can have: about the top buffer, an instance that is there, and one that is not. What sets off an event, or a snapshot, does so.
record() {
	# shellcheck disable=SC2086
	ringside record -q --kernel --top -o "${output:-/tmp/trace.dat}" $functions \
		-O nooverwrite -O sym-addr -O nofuncgraph-proc -C mono -b 300 -M 2 -P $$ -c -g vfs_iter_read --max-graph-depth 2 \
		-e sched -f 'common_pid != 0' -e sched:sched_waking -R 'stacktrace if common_pid == 77' -e timer:timer_init \
		-e irq:softirq_entry -R hist:keys=vec -R enable_event:timer:hrtimer_start:3 -R 'snapshot:1 if vec == 77' "${more[@]}" \
		-B persons -e timer -f 'common_pid != 0' -e sched_switch -f 'prev_prio < 200' -f 'prev_pid != 7' -R 'traceoff:1 if next_pid == 77777' \
		-C boot -b 128 -O event-fork \
		-B fresh -e irq -O funcgraph-tail "$@" >/tmp/out 2>/tmp/err
}
# Who traces functions waits for seconds until nobody is in what he takes away again: that is not in each of them.
tracer='-p function -l vfs_open -l vfs_stat* -n vfs_statx -l vfs_rmdir:traceoff:2 -l vfs_rmdir:enable_event:timer:timer_cancel'
functions='' more=()

# One that goes on until it is ended: begin NAME [ARGUMENT...]; its number is in $recorder.
begin() {
	rm -f /tmp/ready
	name=$1
	shift
	# A shell tells of its children's ends.
	(record "$@" -- sh -c 'echo $$ >/tmp/ready.new; mv /tmp/ready.new /tmp/ready; exec sleep 1000'; :) 2>/dev/null &
	job=$!
	while [ ! -e /tmp/ready ] && kill -0 $job 2>/dev/null; do
		sleep 0.05
	done
	[ -e /tmp/ready ] || { wrong "$name: it does not begin"; exit 1; }
	read -r command </tmp/ready
	recorder=$(sed -n 's/^PPid:\t//p' "/proc/$command/status")
	differs "$name"
}
# Both have ended.
gone() {
	kill "$command" 2>/dev/null
	wait $job 2>/dev/null
}

# The process that a recorder has beside it, in case that it cannot take back itself what it has changed. Nobody here buries the dead.
watcher() {
	for file in $(grep -l '^undo$' /proc/[0-9]*/comm 2>/dev/null); do
		! grep -q '^State:.[^ZX]' "${file%comm}status" || basename "${file%/comm}"
	done
}
alone() {
	for i in $(seq 600); do
		[ -n "$(watcher)" ] || return 0
		sleep 0.1
	done
	wrong "$1: somebody is still there"
}
# Neither the one nor the other can do anything.
kill_both() {
	kill -KILL "$(watcher)" "$recorder"
	gone
	alone "$1"
	differs "$1"
}

# In a kernel that has just been started there is no room for events yet, and that cannot be brought back.
echo 100 >buffer_size_kb
mkdir instances/persons
look '' >/tmp/nobody.all
rmdir instances/persons
person
note
functions=$tracer
record true || wrong "record: exit $?"
same 'the command ends'

functions=
for signal in INT TERM; do
	begin $signal
	kill -$signal "$recorder"
	gone
	same "SIG$signal"
done

# What is refused in the middle of it: a person has such a trigger.
more=(-e sched:sched_process_exit -R 'stacktrace if prio == 5')
! record true || wrong 'refused: it is not'
grep -q 'is there already' /tmp/err || wrong 'refused: for another reason'
same 'refused'
more=()

# There is no more room for the file.
mkdir -p /tmp/small
mount -t tmpfs -o size=40m tmpfs /tmp/small
output=/tmp/small/trace.dat begin 'no more room'
cat /dev/zero >/tmp/small/rest 2>/dev/null
for i in $(seq 100); do
	grep -q 'No space left' /tmp/err && break
	ls -lR /bin >/dev/null
done
grep -q 'No space left' /tmp/err || wrong 'no more room: it does not say so'
gone
same 'no more room'
umount /tmp/small

# One who crashes, or is killed, is seen by who watches.
begin SEGV
kill -SEGV "$recorder"
gone
alone SEGV
same SIGSEGV

# Without him the next one takes back what was left, and then its own.
functions=$tracer
begin KILL
kill_both KILL
ringside record -q --kernel -o /tmp/next.dat -e irq true 2>/tmp/err || wrong "the next one: exit $?"
same 'SIGKILL, and the next one' ''

# And so does reset, which brings everything else to what it is in a fresh kernel, too, but for the sizes of buffers.
functions=
begin 'KILL and reset'
kill_both 'KILL and reset'
ringside reset --kernel 2>/tmp/err || wrong "reset: exit $?"
# Sizes stay, but for that of pages.
grep buffer_ /tmp/before.all | sed 's/\(buffer_subbuf_size_kb: \).*/\14/' >/tmp/sizes
grep -v buffer_ /tmp/nobody.all | sort - /tmp/sizes >/tmp/wanted
look '' | sort | diff /tmp/wanted - >/tmp/diff || wrong 'SIGKILL, and reset: not as in a fresh one:' "$(grep '^[-+]' /tmp/diff | head -n 30)"
exit $bad
