#!/bin/sh
# The commands on the real kernel's tracefs, in an instance of our own that goes away with the test. The
# top buffer is not touched: its files say the same before and after.
. "$RINGSIDE_SOURCE/tests/cmd/kernel_room.sh"

state() {
	(cd "$top" && cat tracing_on current_tracer set_event trace_options trace_clock buffer_size_kb)
}
state >"$RINGSIDE_SCRATCH/before"

# A program that is seen for sure: it sleeps, so that its CPU switches away from it.
doze() {
	sh -c 'for i in 1 2 3; do sleep 0.01; done'
}

# Made by start, with its own settings, and recording.
want 0 --kernel start -B $mine -e sched:sched_switch -b 200 -C mono -O nooverwrite
want 0 --kernel list -B $mine
says $mine
doze
want 0 --kernel stop -B $mine
want 0 --kernel cat instances/$mine/tracing_on instances/$mine/set_event
says '0
sched:sched_switch'
want 0 --kernel show -B $mine
grep -q 'sched_switch: prev_comm=' "$out" || fail "nothing was recorded"
cp "$out" "$out.all"
doze
want 0 --kernel show -B $mine
grep -v '^#' "$out" | cmp -s - "$(grep -v '^#' "$out.all" >"$out.rows"; echo "$out.rows")" ||
	fail "it records after stop"

# Each CPU's part is a part of the whole.
for cpu in $("$RINGSIDE" --kernel cat instances/$mine/per_cpu | tr -d '/' | sed 's/cpu//'); do
	want 0 --kernel show -B $mine -c "$cpu"
	! grep -v '^#' "$out" | grep -vqF "[$(printf %03d "$cpu")]" || fail "CPU $cpu shows another's"
done

want 0 --kernel stat -B $mine
for text in "Instance: $mine" 'Tracing is disabled' 'Clock: mono' 'sched:sched_switch' 'nooverwrite'; do
	grep -qF "$text" "$out" || fail "stat does not say '$text'"
done

# A filter, a marker, and what comes is taken out.
want 0 --kernel clear -B $mine
want 0 --kernel set -B $mine -e sched:sched_switch -f 'prev_pid == 0'
want 0 --kernel cat instances/$mine/events/sched/sched_switch/filter
says 'prev_pid == 0'
want 0 --kernel stat -B $mine
grep -qF 'sched:sched_switch prev_pid == 0' "$out" || fail "stat does not know the filter"
refuse 1 --kernel set -B $mine -e sched:sched_switch -f 'nosuch ==' -- filter 'nosuch =='
want 0 --kernel restart -B $mine
want 0 --kernel write instances/$mine/trace_marker 'hello kernel'
want 0 --kernel show -p -B $mine --timeout 1
grep -q 'tracing_mark_write: hello kernel$' "$out" || fail "the marker does not come out"
want 0 --kernel show -p -B $mine --timeout 0
! grep -q 'hello kernel' "$out" || fail "the marker comes twice"

# A refusal that comes late takes back all that came before it.
want 0 --kernel cat instances/$mine/trace_clock instances/$mine/trace_options \
	instances/$mine/buffer_size_kb instances/$mine/set_event instances/$mine/set_event_pid \
	instances/$mine/events/sched/sched_switch/filter instances/$mine/events/sched/sched_wakeup/filter
mv "$out" "$out.before"
refuse 1 --kernel set -B $mine -C boot -O overwrite -b 300 -P $$ -c -e sched:sched_switch -f 'prev_pid == 1' \
	-f 'next_pid == 2' -e sched:sched_wakeup -f 'nosuch == 1' -- 'nosuch == 1'
want 0 --kernel cat instances/$mine/trace_clock instances/$mine/trace_options \
	instances/$mine/buffer_size_kb instances/$mine/set_event instances/$mine/set_event_pid \
	instances/$mine/events/sched/sched_switch/filter instances/$mine/events/sched/sched_wakeup/filter
cmp -s "$out" "$out.before" || fail "something was left: $(diff "$out.before" "$out")"

# Events of a system, but for some.
want 0 --kernel set -B $mine -e sched -v -e 'sched:sched_s*' -e 'sched:sched_wak*'
want 0 --kernel cat instances/$mine/set_event
grep -q '^sched:' "$out" && ! grep -qE '^sched:sched_(s|wak)' "$out" || fail "-v"
want 0 --kernel set -B $mine -i -v -e sched -e nosuch_system_here
want 0 --kernel cat instances/$mine/set_event
! grep -q '^sched:' "$out" || fail "-v of all"
want 0 --kernel set -B $mine -e sched:sched_switch

# What a kernel refuses is told.
refuse 1 --kernel write instances/$mine/tracing_on maybe -- tracing_on maybe
refuse 1 --kernel start -B $mine -e no_such_event_here -- no_such_event_here
refuse 1 --kernel show -B $mine-nosuch -- $mine-nosuch
refuse 1 --kernel show -B $mine -c 99999 -- 99999
# Nothing is left of an instance that was made for nothing.
refuse 1 --kernel start -B $mine-b -e sched:sched_switch -f 'nosuch ==' -- 'nosuch =='
[ ! -d "$top/instances/$mine-b" ] || fail "an instance was left behind"

# Two at once, each its own.
want 0 --kernel start -B $mine -e sched:sched_wakeup -B $mine-b -e irq
want 0 --kernel cat instances/$mine-b/events/irq/enable instances/$mine-b/events/sched/enable
says '1
0'
want 0 --kernel stop -B $mine -B $mine-b
want 0 --kernel cat instances/$mine/tracing_on instances/$mine-b/tracing_on
says '0
0'

if [ -e "$top/instances/$mine/snapshot" ]; then
	want 0 --kernel snapshot -s -B $mine
	want 0 --kernel snapshot -B $mine
	want 0 --kernel snapshot -f -B $mine
fi

# Streamed: the kernel's own lines, from an instance that is gone then.
"$RINGSIDE" --kernel list -B >"$out.instances"
want 3 --kernel stream -e sched:sched_switch sh -c 'sleep 0.01; exit 3'
grep -q 'sched_switch: prev_comm=' "$out" || fail "nothing was streamed"
# Of two buffers, each by its name; together they are in order. What others do fills neither: the first one takes nothing more when it is full.
want 0 --kernel stop -B $mine -B $mine-b
want 0 --kernel set -B $mine -v -e sched
want 0 --kernel set -B $mine-b -v -e irq
want 0 --kernel clear -B $mine -B $mine-b
want 4 --kernel stream -B $mine -e sched:sched_switch -f 'prev_comm == "sleep" || next_comm == "sleep"' \
	-B $mine-b -e raw_syscalls:sys_enter -f 'comm == "sleep"' \
	sh -c 'for i in 1 2 3 4 5; do sleep 0.01; done; exit 4'
grep -q "^  $mine: .* sched_switch: prev_comm=" "$out" || fail "nothing of the first buffer"
grep -q "^$mine-b: .* sys_enter: NR " "$out" || fail "nothing of the second buffer"
! grep -vE "^( *$mine|$mine-b): " "$out" || fail "a line of nobody"
sed -n 's/.* \([0-9]*\.[0-9]*\): \(sched_switch\|sys_enter\): .*/\1/p' "$out" >"$RINGSIDE_SCRATCH/times"
[ "$(wc -l <"$RINGSIDE_SCRATCH/times")" -gt 20 ] || fail "there are no times"
late=$(awk '$1 < last { n++ } { last = $1 } END { print n + 0 }' "$RINGSIDE_SCRATCH/times")
[ $((late * 10)) -lt "$(wc -l <"$RINGSIDE_SCRATCH/times")" ] || fail "$late lines are out of order"
"$RINGSIDE" --kernel list -B >"$out.after"
! grep -vxFf "$out.instances" "$out.after" | grep '^record-' || fail "stream left an instance"

# As new, and gone.
want 0 --kernel reset -B $mine
want 0 --kernel cat instances/$mine/set_event instances/$mine/tracing_on \
	instances/$mine/events/sched/sched_switch/filter
says '1
none'
want 0 --kernel stat -B $mine
! grep -qE 'Clock|Options|Events|Filters' "$out" || fail "not as new"
want 0 --kernel reset -B $mine -B $mine-b -d
[ ! -d "$top/instances/$mine" ] && [ ! -d "$top/instances/$mine-b" ] || fail "still there"

# The whole kernel: looked at only.
want 0 --kernel list -e '^sched:sched_switch$' --json
grep -q '"event":"sched_switch"' "$out" || fail "not in JSON"
want 0 --kernel list -t
grep -qx nop "$out" || fail "no tracer nop"
want 0 --kernel stat -t
want 0 --kernel cat tracing_on
state | cmp -s - "$RINGSIDE_SCRATCH/before" || fail "the top buffer was touched"
exit 0
