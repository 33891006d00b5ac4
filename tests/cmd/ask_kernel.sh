#!/bin/sh
# Commands that ask the kernel: each works, or says which file this kernel does not have and what it would have to be built with. Either
# way nothing is left. Where a kernel has all of it they are tried in earnest: tests/vm/ask.sh.
. "$RINGSIDE_SOURCE/tests/cmd/kernel_room.sh"

mkdir "$top/instances/$mine" || exit 1

state() {
	(cd "$top" && cat tracing_on current_tracer set_event trace_options trace_clock buffer_size_kb
	ls instances | grep -E '^(hist|latency|profile|trace)-'
	cat synthetic_events stack_trace_filter function_profile_enabled /proc/sys/kernel/stack_tracer_enabled) 2>/dev/null
}
state >"$RINGSIDE_SCRATCH/before"

# asks FILE CONFIG COMMAND...: it works where the file is, and is refused by its name where it is not.
asks() {
	file=$1 config=$2
	shift 2
	if [ -e "$top/$file" ]; then
		want 0 --kernel "$@"
	else
		eval "refuse 1 --kernel $(printf "'%s' " "$@") -- '${file##*/}' 'built without' '$config'"
	fi
}

asks events/sched/sched_switch/hist CONFIG_HIST_TRIGGERS hist sched:sched_switch --keys prev_comm true
asks events/sched/sched_switch/hist CONFIG_HIST_TRIGGERS hist sched_switch --keys prev_pid -B $mine --for 10ms
asks events/sched/sched_switch/hist CONFIG_HIST_TRIGGERS sqlhist -e -B $mine 'SELECT prev_comm FROM sched_switch'
asks synthetic_events CONFIG_SYNTH_EVENTS latency sched:sched_waking sched:sched_switch --on pid=next_pid true
asks snapshot CONFIG_TRACER_SNAPSHOT snapshot
asks stack_trace CONFIG_STACK_TRACER stack
asks stack_max_size CONFIG_STACK_TRACER stack true
asks function_profile_enabled CONFIG_FUNCTION_PROFILER profile -l schedule true
for file in events/nosuch/nosuch/hist nosuch instances/nosuch/snapshot; do
	want 1 --kernel cat $file
	! grep -q CONFIG "$err" || fail "$file is no matter of configuration"
done

# A name that is slightly wrong, and what a kernel says of a filter.
refuse 1 --kernel hist sched:sched_swich --keys prev_comm --for 1s -- sched:sched_swich 'nearest is sched:sched_switch'
refuse 1 --kernel latency sched:sched_waking sched:nosuch_at_all --on pid -- nosuch_at_all
refuse 1 --kernel write instances/$mine/events/sched/sched_switch/filter 'nosuch == 1' -- 'Field not found'

# What has no source to ask, and what is about programs alone.
for command in report dump 'split 1' mem 'convert x' 'join a b'; do
	# shellcheck disable=SC2086
	want 2 --kernel $command
	grep -q 'trace files' "$err" || fail "$command: not a word about files"
done
refuse 2 --kernel hist -- --keys
refuse 1 --kernel trace true -- 'programs themselves' 'stream --kernel'
refuse 1 --tracefs "$top" trace true -- 'programs themselves'
refuse 1 --kernel attach 1 -- 'tracing directories'
refuse 1 --kernel umount -- 'tracing directories'
refuse 2 --kernel doctor /bin/true -- program
refuse 1 --kernel profile --sort max true -- longest
refuse 1 --kernel profile -P 1 -- programs
refuse 1 --kernel profile -g schedule true -- set_graph_function

# The doctor says the same of each, and nothing is bad about it.
want 0 --kernel doctor --json
python3 - "$out" "$top" <<'END' || fail "the doctor"
import json, os, sys
found = {}
for line in open(sys.argv[1]):
    one = json.loads(line)
    found[one["check"]] = one
for check, file in (("synthetic", "synthetic_events"), ("snapshot", "snapshot"), ("stack", "stack_trace"),
                    ("profile", "function_profile_enabled"), ("kprobes", "kprobe_events"), ("uprobes", "uprobe_events"),
                    ("hist", "events/sched/sched_switch/hist")):
    there = os.path.exists(sys.argv[2] + "/" + file)
    assert (found[check]["mark"] == "ok") == there, found[check]
    assert there or "CONFIG_" in found[check]["step"], found[check]
tracers = open(sys.argv[2] + "/available_tracers").read().split()
for tracer in ("blk", "wakeup", "irqsoff", "osnoise", "timerlat"):
    assert (found[tracer]["mark"] == "ok") == (tracer in tracers), found[tracer]
END

state | cmp -s - "$RINGSIDE_SCRATCH/before" || fail "something is left: $(state | diff "$RINGSIDE_SCRATCH/before" -)"
exit 0
