#!/bin/sh
# apply and save on the machine's own kernel, in an instance that goes away with the test: what is set, saved and set again; what
# is refused, and then not there. The top buffer says the same before and after.
. "$RINGSIDE_SOURCE/tests/cmd/kernel_room.sh"

group=boot$$
tidy() {
	! grep -q ":$group/" "$top/dynamic_events" || echo "-:$group/ls" >>"$top/dynamic_events"
}
cd "$RINGSIDE_SCRATCH" || exit 1

state() {
	(cd "$top" && cat tracing_on current_tracer set_event trace_options trace_clock buffer_size_kb set_event_pid && ls instances &&
		grep -c . dynamic_events)
}
gone() {
	[ ! -d "$top/instances/$mine" ] || fail "the instance is left"
	! grep -q ":$group/" "$top/dynamic_events" || fail "a probe is left"
}

cat >profile <<E
ftrace.instance.$mine {
	buffer_size = 200K
	trace_clock = mono
	options = nooverwrite, sym-addr
	cpumask = 1
	tracing_on = 0
	events = "sched:sched_w*", "raw_syscalls:*"
	event.sched.sched_switch {
		enable
		filter = 'prev_pid == 1 || prev_comm ~ "[a]x*"'
	}
	event.sched.sched_waking.actions = "traceoff:3 if pid == 1", stacktrace
	event.irq.filter = "common_pid > 7"
	set_event_pid = 1, 2
	buffer_percent = 30
	event.$group.ls.filter = "common_pid == 3"
}
ftrace.dynamic_events = "p:$group/ls /bin/ls:0x5000"
ftrace.instance.$mine.event.$group.ls.enable
E
want 0 --kernel apply profile
want 0 --kernel save -B $mine
cp "$out" first
for line in '		tracing_on = 0' '		trace_clock = mono' '		options = nooverwrite, sym-addr' '		cpumask = 1' \
	'		buffer_percent = 30' '		set_event_pid = 1, 2' '		event.sched.sched_waking.actions += stacktrace' \
	'		event.sched.sched_waking.actions += "traceoff:3 if pid == 1"' \
	"		event.sched.sched_switch.filter = 'prev_pid == 1 || prev_comm ~ \"[a]x*\"'" \
	"		event.$group.ls.filter = \"common_pid == 3\""; do
	grep -qxF -e "$line" first || fail "save does not say '$line'"
done
grep -q "events = \"$group:ls\", \"raw_syscalls:\\*\", \"sched:sched_switch\", " first || fail "not these events"
want 0 --kernel apply -q profile
want 0 --kernel save -B $mine
cmp -s "$out" first || fail "the second time something else is set"
rmdir "$top/instances/$mine"
want 0 --kernel apply first
want 0 --kernel save -B $mine
cmp -s "$out" first || fail "what was saved sets something else"

# Refused at its end: nothing of it stays, in an instance that is there and in one that is not.
{
	echo "ftrace.instance.$mine {"
	echo '	tracing_on = 1; buffer_size = 300K; trace_clock = boot; options = nosym-addr; cpumask = 3; events = "irq:*"'
	echo '	event.sched.sched_waking { filter = "pid == 4"; actions = "traceoff:1 if pid == 9" }; set_event_pid = 5'
	echo '	event.sched.sched_switch.filter = "nosuch == 1" }'
} >bad
refuse 1 --kernel apply bad -- "bad:4:37: ftrace.instance.$mine.event.sched.sched_switch.filter: "
want 0 --kernel save -B $mine
cmp -s "$out" first || fail "something of a profile that was refused is in force"
rmdir "$top/instances/$mine"
echo "-:$group/ls" >>"$top/dynamic_events"
state >before
echo "ftrace { dynamic_events = \"p:$group/ls /bin/ls:0x5000\"; instance.$mine.event.$group.ls.enable }" >>bad
refuse 1 --kernel apply bad -- 'bad:4:37: '
gone
printf 'ftrace.instance.%s.events = "nosuch:event"\n' $mine >unknown
refuse 1 --kernel apply unknown -- 'unknown:1:' 'no event nosuch:event'
gone

# What this kernel lacks is told, and the rest is done.
printf 'ftrace.instance.%s { tracer = timerlat; trace_clock = ppc-tb; options = sym-offset; event.sched.sched_switch.enable }' $mine >lacks
if ! grep -qw timerlat "$top/available_tracers"; then
	want 0 --kernel apply lacks
	grep -q "no tracer 'timerlat' here: left out" "$err" && grep -q "no clock 'ppc-tb' here: left out" "$err" || fail "nothing is told"
	want 0 --kernel cat instances/$mine/set_event
	says sched:sched_switch
	rmdir "$top/instances/$mine"
fi

# A place that no key can name is told, and leaves no gap.
cp /bin/ls é
echo "p:$group/ls $PWD/é:0x5000" >>"$top/dynamic_events"
want 1 --kernel save
grep -q 'é.* has letters beyond ASCII' "$err" && ! grep -q '""' "$out" || fail "a place beyond ASCII is not told"
echo "-:$group/ls" >>"$top/dynamic_events"

# A trigger makes no event be on, and neither does what was saved of it.
soft() {
	cat "$top/instances/$mine/events/sched/sched_switch/enable" "$top/instances/$mine/events/sched/sched_waking/enable"
}
printf 'ftrace.instance.%s { events = "sched:sched_waking"; event.sched { sched_switch.actions = stacktrace; sched_waking.actions = stacktrace } }\n' \
	$mine >triggers
want 0 --kernel apply triggers
soft >soft.before
want 0 --kernel save -B $mine
cp "$out" triggers.saved
rmdir "$top/instances/$mine"
want 0 --kernel apply triggers.saved
soft | cmp -s - soft.before || fail "not what was on is on: $(soft)"
printf 'ftrace.instance.%s { events = "sched:*"; tracing_on = 1; tracer = nop }\nkernel.traceoff_on_warning = nosuch\n' $mine >bad
want 1 --kernel apply bad
soft | cmp -s - soft.before || fail "an event is left on: $(soft)"
rmdir "$top/instances/$mine"

# The lines that -n prints do the same.
want 0 --kernel apply -n profile
cp "$out" lines
gone
sh -e lines || fail "the lines of -n"
want 0 --kernel save -B $mine
cmp -s "$out" first || fail "the lines of -n do something else"
rmdir "$top/instances/$mine"
echo "-:$group/ls" >>"$top/dynamic_events"
state | grep -v '^ringside-\|^record-' >after
grep -v '^ringside-\|^record-' before | cmp -s - after || fail "the top is not as it was: $(diff before after)"
