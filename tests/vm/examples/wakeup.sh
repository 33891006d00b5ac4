#!/bin/sh
# How long it takes from a wakeup until the task runs: a synthetic event by hand, the same by a SELECT.
. room
cd $tracing || exit 1

# What has to be there with either: events of those that sleep here, and a histogram of them.
look() {
	want ringside start -e wakeup_lat
	sleep 0.1
	sleep 0.1
	want ringside show
	has ': wakeup_lat: name=sleep pid=[0-9]+ latency=[0-9]+$'
	all_are ': wakeup_lat: name=.* pid=[0-9]+ latency=[0-9]+$'
	put events/synthetic/wakeup_lat/trigger 'hist:keys=name,latency.buckets=10:sort=name,latency'
	sleep 0.1
	want ringside cat events/synthetic/wakeup_lat/hist
	has '^# trigger info: hist:keys=name,latency\.buckets=10:vals=hitcount:sort=name,latency\.buckets=10:size=2048 \[active\]$'
	has '^\{ name: sleep +, latency: ~ [0-9]*0-[0-9]*9 \} hitcount: +[0-9]+$'
	sed -n 's/^{ name: \([^ ,]*\).*/\1/p' "$out" | LC_ALL=C sort -c || fail "not sorted"
}

put synthetic_events 'wakeup_lat char name[]; pid_t pid; u64 latency'
put events/sched/sched_waking/trigger 'hist:keys=pid:ts1=common_timestamp.usecs'
put events/sched/sched_switch/trigger 'hist:keys=next_pid:delta=common_timestamp.usecs-$ts1:onmatch(sched.sched_waking).'\
'trace(wakeup_lat,next_comm,next_pid,$delta)'
want ringside list -e synthetic/wakeup_lat -F --full
has '	field:__data_loc char\[\] name;	offset:8;	size:8;	signed:1;'
has '	field:u64 latency;	offset:24;	size:8;	signed:0;'
has '^print fmt: "name=%s, pid=%d, latency=%llu", '
look
left

select='SELECT end.next_comm AS name, start.pid,
	(end.TIMESTAMP_USECS - start.TIMESTAMP_USECS) AS latency
	FROM sched_waking AS start JOIN sched_switch AS end ON start.pid = end.next_pid'
# The lines are for a shell: what it makes of them is what -e makes.
want ringside sqlhist -n wakeup_lat "$select"
cp "$out" "$RINGSIDE_SCRATCH/lines"
want sh "$RINGSIDE_SCRATCH/lines"
cat synthetic_events events/sched/sched_waking/trigger events/sched/sched_switch/trigger >"$RINGSIDE_SCRATCH/by_lines"
look
left
want ringside sqlhist -e -n wakeup_lat "$select"
cat synthetic_events events/sched/sched_waking/trigger events/sched/sched_switch/trigger >"$RINGSIDE_SCRATCH/by_itself"
cmp -s "$RINGSIDE_SCRATCH/by_lines" "$RINGSIDE_SCRATCH/by_itself" || fail "-e makes something else"
look
left
