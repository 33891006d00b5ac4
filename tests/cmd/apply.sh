#!/bin/sh
# apply and save: a profile is in force as a whole or not at all; what is saved brings the same again.
. "$RINGSIDE_SOURCE/tests/cmd/room.sh"
cd "$RINGSIDE_SCRATCH" || exit 1

refuse 2 apply -- 'something is missing'
refuse 2 apply -P x shop -- '-P x'
refuse 1 apply nosuch -- nosuch 'No such file'

# What is refused is refused with its place, and nothing is done: bad LINE:COLUMN WORDS <FILE
bad() {
	cat >bad
	refuse 1 apply -q bad -- "bad:$1: " "$2"
	want 0 save
	[ "$(tr -d ' \n' <"$out")" = 'ftrace{}' ] || fail "something is set"
}
bad 2:3 'no key' <<'E'
ftrace {
  .word = 1
}
E
bad 3:2 "is 'events' meant" <<'E'
ftrace {
	events = "shop:*"
	evnts = "shop:*"
}
E
bad 2:19 "no tracer 'functoin': is 'function' meant" <<'E'
ftrace.events = "shop:*"
ftrace { tracer = functoin }
E
bad 2:24 "no clock 'mondo'" <<'E'
ftrace.events = "shop:*"
ftrace { trace_clock = mondo }
E
bad 1:18 "no option 'sim-addr'" <<'E'
ftrace.options = sim-addr
E
bad 1:18 'syscalls:sys_enter_opnat; the nearest is syscalls:sys_enter_open' <<'E'
ftrace.events = "syscalls:sys_enter_opnat"
E
bad 1:103 'no event has a name as long as' <<'E'
ftrace.event.shop.order_order_order_order_order_order_order_order_order_order_order_order_r.filter = "n == 1"
E
# What only the tree knows comes last, behind all that it took.
bad 7:27 'Field not found: item > 1' <<'E'
ftrace {
	buffer_size = 2M; options = nooverwrite; trace_clock = mono; events = "shop:*"
	instance.one { events = "shop:*"; tracing_on = 0; event.shop.order.hist.keys = item }
	event.synthetic.lat.fields = "u64 us"
	event.synthetic.lat { enable; hist.keys = us }
	set_event_pid = 1
	event.synthetic.lat.hist.2.filter = "item > 1"
	event.synthetic.lat.hist.2.keys = us
	tracer = nop
}
E
want 0 list -B
[ ! -s "$out" ] || fail "an instance is left"

# All kinds of keys, of events that nobody has brought yet, too.
cat >shop.bconf <<'E'
ftrace {
	buffer_size = 1M
	trace_clock = mono
	options = sym-addr, nooverwrite
	events = "shop:*", "!shop:quiet"
	cpumask = 1
	buffer_percent = 20
	set_event_notrace_pid = 1, 2
	event.shop.order {
		filter = 'item > 40 || customer ~ "[a]*"'
		hist { keys = item; var.ts0 = common_timestamp.usecs }
		actions = "traceoff:2 if item == 99", "stacktrace"
	}
	# It takes a variable of one that stands below it.
	event.shop.paid.hist {
		1 { keys = item; var.us = common_timestamp.usecs - $ts1
			onmatch { event = shop.begun; trace = lat, $us, item } }
		2 { keys = item; values = sum; sort = sum.descending; filter = "sum > 5"; pause }
	}
	event.shop.begun.hist { keys = item; var.ts1 = common_timestamp.usecs }
	event.synthetic.lat {
		fields = "u64 us", "int item"
		hist { keys = item; values = us; sort = us.descending; size = 128; name = lats }
		enable
	}
	event.syscalls.filter = "common_pid > 1"
	dynamic_events = "e:opened/file syscalls/sys_enter_openat flags=$flags"
	instance.hog {
		events = "hog:*"; tracing_on = false; alloc_snapshot; buffer_subbuf_size_kb = 8
		event.hog.step.filter = "n == 1"
	}
	instance.empty
	saved_cmdlines_size = 500
}
kernel { trace_event = "sched:sched_process_exit"; root = x; ftrace_dump_on_oops; trace_instance = "early,sched" }
init.splash
E
want 0 apply -n shop.bconf
cp "$out" lines
for line in 'mkdir instances/hog' "echo 'shop:*' >> set_event" "echo '!shop:quiet' >> set_event" 'echo 0 > instances/hog/tracing_on' \
	"echo 'lat u64 us; int item' >> synthetic_events" "echo '1 2' > set_event_notrace_pid"; do
	grep -qxF -e "$line" lines || fail "-n does not say '$line'"
done
[ "$(grep -n ts1= lines | cut -d: -f1 | head -n 1)" -lt "$(grep -n 'onmatch(shop.begun)' lines | cut -d: -f1)" ] || fail "not in their order"
want 0 save
[ "$(tr -d ' \n' <"$out")" = 'ftrace{}' ] || fail "-n changes something"
want 0 apply shop.bconf
for words in 'kernel.root: is not about tracing' 'kernel.ftrace_dump_on_oops: is about the kernel' 'init: is for init'; do
	grep -qF "$words" "$err" || fail "'$words' is not said"
done
[ "$(wc -l <"$err")" -eq 3 ] || fail "more is said"
want 0 save
cp "$out" first
for line in '	event.synthetic.lat.fields = "u64 us", "int item"' '	trace_clock = mono' '	options = nooverwrite, sym-addr' \
	'	events = "shop:*", "!shop:quiet", "synthetic:lat", "sched:sched_process_exit"' '	event.syscalls.filter = "common_pid > 1"' \
	"	event.shop.order.filter = 'item > 40 || customer ~ \"[a]*\"'" '	event.shop.paid.hist.2 {' '		name = lats' \
	'		onmatch.trace = lat, "$us", item' '		pause' '	event.shop.order.actions += stacktrace' \
	'	event.shop.order.actions += "traceoff:2 if item == 99"' '	buffer_percent = 20' '	set_event_notrace_pid = 1, 2' \
	'	instance.hog {' '		alloc_snapshot' '		tracing_on = 0' '		event.hog.step.filter = "n == 1"' '	instance.empty {' \
	'	instance.early {' '		events = "sched:*", "*:sched"'; do
	grep -qxF -e "$line" first || fail "save does not say '$line'"
done

# Again: nothing else.
want 0 apply -q shop.bconf
want 0 save
cmp -s first "$out" || fail "the second time something else is set"
want 0 reset -d
want 0 save
[ "$(tr -d ' \n' <"$out")" = 'ftrace{}' ] || fail "reset leaves something"
# What was saved, with the settings that are no part of it.
want 0 apply first
[ ! -s "$err" ] || fail "what was saved makes words"
want 0 save
cmp -s first "$out" || fail "what was saved sets something else"
want 0 save -B hog
grep -q '^	instance.hog' "$out" && ! grep -q 'shop\|early' "$out" || fail "not one instance alone"
want 0 save -t
! grep -q instance "$out" || fail "not the top alone"
want 0 bootconfig first
"$RINGSIDE" save | "$RINGSIDE" apply -q - || fail "not from standard input"

# One that is refused leaves all of that as it is.
cat >bad <<'E'
ftrace {
	buffer_size = 4M; options = nosym-addr; events = "other:*", "!shop:*"
	event.shop.order { filter = "item == 1"; hist.keys = customer }
	event.synthetic.lat.fields = "u64 other"
	instance.more.events = "a:b"
}
E
refuse 1 apply -q bad -- 'bad:4:22: ' 'lat'
want 0 save
cmp -s first "$out" || fail "something of a profile that was refused is in force"
refuse 1 apply -n -q bad -- 'bad:4:22: '
printf 'ftrace.event.shop.order.hist { keys = item; onmax { var = ts; snapshot } }' >bad
refuse 1 apply -q bad -- 'bad:1:25: '

# What is nearly there already is something else: fewer variables, fewer values, a filter that begins alike.
want 0 reset -d
cat >near <<'E'
ftrace.event.shop.order.hist {
	1 { keys = item; var.ts0 = common_timestamp.usecs; var.n = item }
	2 { keys = item }
	3 { keys = item; values = sum }
	4 { keys = item; filter = "item == 1 && sum > 2" }
	5 { keys = item; filter = "item == 1" }
}
ftrace.event.shop.paid.actions = "hist:key=item:val=sum:sort=sum.ascending"
E
want 0 apply near
want 0 save
cp "$out" near.saved
[ "$(grep -c 'hist\.[1-5] {' near.saved)" -eq 5 ] || fail "not five histograms"
want 0 apply near
want 0 save
cmp -s near.saved "$out" || fail "the second time there are others"
# An event that a trigger would switch on is not on.
want 0 reset -d
printf 'ftrace.event.sched.sched_process_exec.actions = "enable_event:sched:sched_process_exit"\n' >soft
want 0 apply soft
want 0 save
cp "$out" soft.saved
! grep -q 'events =' soft.saved || fail "an event is saved as on that is not"
want 0 reset -d
want 0 apply soft.saved
want 0 cat events/sched/sched_process_exit/enable
says '0*'
want 0 reset -d
want 0 apply first
# It is one text, to its end.
printf 'ftrace.events = "shop:*"\n\0ftrace.evnts = 1\n' >bad
refuse 1 apply bad -- 'bad: ' NUL
# Where there is no tree, a shell has to find the event.
printf 'kernel.trace_trigger = "x.traceoff"\nftrace.event.a.b.filter = %s\n' "'c == \"\\t\"'" >nowhere
want 0 --dir none apply -n nowhere
says "printf '%s\\n' 'c == \"\\t\"' > events/a/b/filter
echo traceoff >> events/*/x/trigger"

# What cannot be said at all is told, and what was saved is still a profile.
want 0 write events/sched/sched_process_exit/filter 'comm == "é"'
want 1 save
grep -q 'letters beyond ASCII' "$err" && grep -q shop "$out" || fail "what cannot be said is not told"
cp "$out" without
want 0 apply without
want 0 write events/sched/sched_process_exit/filter "comm == \"'#\" || comm == \"'\""
want 1 save
grep -q 'both kinds of quotes' "$err" && grep -q shop "$out" || fail "what cannot be said is not told"
want 0 write events/sched/sched_process_exit/filter 0

# Of another tree what it lacks is left out, and told.
mkdir -p tree/events/sched/sched_switch
for file in tracing_on trace set_event events/sched/sched_switch/enable events/sched/sched_switch/filter; do
	: >tree/$file
done
printf '1\n' >tree/tracing_on
printf 'none\n' >tree/events/sched/sched_switch/filter
printf 'sched:sched_switch\n' >tree/available_events
printf '[local] global\n' >tree/trace_clock
printf 'nop\n' | tee tree/available_tracers >tree/current_tracer
cat >poor <<'E'
ftrace {
	buffer_size = 1M; tracer = function_graph; trace_clock = tai; events = "sched:*"; instance.x.events = "sched:*"
	event.sched.sched_switch { filter = "prev_pid == 1"; hist.keys = prev_pid; actions = traceoff }
	event.kprobes.rd { probes = vfs_read; enable; filter = "x == 1" }
}
E
want 0 --tracefs tree apply poor
for words in 'poor:2:16: ftrace.buffer_size: there is no buffer_size_kb here' "poor:2:29: ftrace.tracer: there is no tracer 'function_graph'" \
	"there is no clock 'tai'" 'there are no instances here' 'events have no hist here' 'events have no trigger here' \
	'there is no kprobe_events here'; do
	grep -F "$words" "$err" | grep -q 'left out$' || fail "'$words' is not said"
done
[ "$(wc -l <"$err")" -eq 7 ] || fail "not seven lines"
[ "$(cat tree/set_event)+$(cat tree/events/sched/sched_switch/filter)" = 'sched:*+prev_pid == 1' ] || fail "the rest is not set"
want 0 --tracefs tree apply -q -n poor
says "echo 'prev_pid == 1' > tree/events/sched/sched_switch/filter
echo 'sched:*' >> tree/set_event"
printf 'ftrace.events = "nosuch:*", "sched:*"\n' >bad
refuse 1 --tracefs tree apply bad -- 'bad:1:18: ' 'no event nosuch:*'
want 0 --tracefs tree apply -i bad
grep -q 'left out' "$err" || fail "an event that is not there is not told"
