#!/bin/sh
# Several buffers: an event that comes all the time hides one that seldom does, unless it has a buffer of its own.
. room

# In one buffer.
want ringside start -b 8 -e raw_syscalls -e sched_process_exec
# On one CPU: each has a ring of its own.
taskset 1 /bin/true
taskset 1 dd if=/dev/zero of=/dev/null bs=1 count=4000 2>"$err"
want ringside stop
want ringside show
has ': sys_enter: NR '
hasnt ': sched_process_exec: filename=.*/true '
want ringside reset -b 1408

# In two, with different events.
want ringside start -B hog -b 8 -e raw_syscalls -B rare -e sched_process_exec
/bin/true
dd if=/dev/zero of=/dev/null bs=1 count=4000 2>"$err"
want ringside stop -a
want ringside show
[ "$(grep -vc '^#' "$out")" -eq 0 ] || fail "something is in the top buffer"
want ringside show -B rare
has ': sched_process_exec: filename=.*/true '
hasnt 'NR '
want ringside show -B hog
has ': sys_enter: NR '
hasnt sched_process_exec
want ringside list -B
[ "$(sort "$out" | tr '\n' ' ')" = 'hog rare ' ] || fail "not these two"
want ringside reset -a -d

# By files.
cd $tracing/instances || exit 1
want mkdir foobar
for file in trace trace_pipe tracing_on trace_marker buffer_size_kb events per_cpu/cpu0/stats per_cpu/cpu1/trace_pipe_raw; do
	[ -e foobar/$file ] || fail "no $file"
done
put foobar/events/sched/sched_switch/enable 1
put foobar/trace_marker 'hello, instance'
sleep 0.1
want cat foobar/trace
has ': sched_switch: prev_comm='
has ': tracing_mark_write: hello, instance$'
want cat ../trace
[ "$(grep -vc '^#' "$out")" -eq 0 ] || fail "something is in the top buffer"

# Into one file, each by its name.
cd "$RINGSIDE_SCRATCH" || exit 1
want ringside record -q -B hog -e raw_syscalls -B rare -e sched_process_exec /bin/true
want ringside report
has '^ *hog: .* sys_enter: +NR '
has '^ *rare: .* sched_process_exec: +filename=.*/true '
want rmdir $tracing/instances/foobar
left
