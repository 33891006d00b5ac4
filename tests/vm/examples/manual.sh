#!/bin/sh
# A manual's introduction, at the old place of the files, by cat and echo.
. room
cd /sys/kernel/debug/tracing || exit 1

want ls
for file in README available_events available_filter_functions available_tracers buffer_size_kb current_tracer events kprobe_events \
	options per_cpu saved_cmdlines set_event set_ftrace_filter set_graph_function trace trace_clock trace_marker trace_pipe \
	tracing_cpumask tracing_on; do
	has "^$file\$"
done
want cat available_tracers
has '^blk .*function_graph function nop$'
want cat current_tracer
has '^nop$'
put set_ftrace_filter 'v*'
put current_tracer function
want cat current_tracer
has '^function$'
want sh -c 'cat trace | head -n 100'
has '^# tracer: function$'
all_are '\[00[01]\] .{5} +[0-9]+\.[0-9]{6}: v[a-zA-Z0-9_.]+ <-[a-zA-Z0-9_.]+$'

# Events in the middle of calls.
put current_tracer nop
put set_ftrace_filter 'vfs_*'
put events/sched/sched_process_exec/enable 1
put current_tracer function_graph
/bin/true
put tracing_on 0
want cat trace
has '^# tracer: function_graph$'
has '^ [01]\) +\| +vfs_[a-z_]+\(\) \{$'
has '^ [01]\) +\| +/\* sched_process_exec: filename=.*/true .*\*/$'
put events/sched/sched_process_exec/enable 0
put current_tracer nop
put set_ftrace_filter ''
put tracing_on 1

cd events || exit 1
want ls -al
for system in block ext4 irq kmem module net power raw_syscalls sched signal skb sock syscalls task timer writeback; do
	has " $system\$"
done
cd kmem || exit 1
want ls -al
has ' enable$'
has ' filter$'
has ' kmalloc$'
cd kmalloc || exit 1
want cat format
has '^name: kmalloc$'
has '	field:unsigned long call_site;	offset:8;	size:8;	signed:0;'
has '^print fmt: "call_site=%pS ptr=%p bytes_req=%zu '
cp "$out" "$RINGSIDE_SCRATCH/format"
want ringside cat events/kmem/kmalloc/format
cmp -s "$RINGSIDE_SCRATCH/format" "$out" || fail "it reads otherwise"
put enable 1
/bin/true
want cat ../../../trace
all_are ': kmalloc: call_site=[a-zA-Z0-9_.]+\+0x[0-9a-f]+/0x[0-9a-f]+ ptr=[0-9a-f]+ bytes_req=[0-9]+ bytes_alloc=[0-9]+ gfp_flags='
put enable 0
cd / || exit 1

# What a program with windows has trace-cmd do: some systems, and all events.
cd "$RINGSIDE_SCRATCH" || exit 1
want ringside record -q -e sched -e irq -e timer sleep 0.2
want ringside report
for event in sched_switch sched_waking hrtimer_start irq_handler_entry\|softirq_entry; do
	has "\] .* ($event): "
done
want ringside record -q -e all true
want ringside report
[ "$(awk '$4 ~ /:$/ { print $5 }' "$out" | sort -u | wc -l)" -ge 30 ] || fail "not many events"
left
