#!/bin/sh
# Every command on --tracefs DIR, where DIR is no more than files: what is read comes from them, and
# what is written can be found in them.
. "$RINGSIDE_SOURCE/tests/cmd/room.sh"
. "$RINGSIDE_SOURCE/tests/cmd/tree.sh"

on() {
	want 0 --tracefs "$tree" "$@"
}

# Reading.
on list
says 'shop:order
shop:pay
web:hit'
on list -s
says 'shop
web'
on list -F pay
grep -q 'field:int item;' "$out" && ! grep -q 'print fmt' "$out" || fail "fields"
on list --full pay
grep -q 'print fmt: "item=%d", REC->item' "$out" || fail "print format"
on list --json -F hit
says '{"system":"web","event":"hit","id":103,"enabled":false,"fields":[{"name":"common_type","type":"unsigned short","offset":0,"size":2,"signed":false},{"name":"item","type":"int","offset":8,"size":4,"signed":true}]}'
on list -t
says 'nop
function'
on list -C
says '[local]
global
mono'
on list -o stack
says nostacktrace
on list -B
[ ! -s "$out" ] || fail "instances"
on cat tracing_on buffer_size_kb
says '1
1408'
on cat .
grep -qx 'events/' "$out" && grep -qx 'trace' "$out" || fail "cat ."
on cat /events/shop
says 'order/
pay/'
on show
says '# tracer: nop'
on show -c 1
says '# cpu 1'
on show -s
says '# snapshot'
on show -p
says piped
on show -p -c 0 --timeout 5
says 'piped 0'
on snapshot
says '# snapshot'
on snapshot -c 1
says '# snapshot 1'

# Writing: plain files keep what is written last.
on write tracing_on 0
holds tracing_on 0
on write -a set_event shop:pay
on write -a set_event ' web:hit'
holds set_event 'shop:pay web:hit'
on write set_event ''
holds set_event ''
on start -e shop:order
holds set_event 'shop:order'
holds tracing_on 1
on stop
holds tracing_on 0
on restart
holds tracing_on 1
on stop
: >"$tree/set_event"
on set -b 2000 -O nooverwrite -C mono -p function -M 1 -P 12,34 -P 56 -l 'kmem*' -e web -f 'item > 3'
holds buffer_size_kb 2000
holds trace_options nooverwrite
holds trace_clock mono
holds current_tracer function
holds tracing_cpumask 1
holds set_event_pid '12 34
56'
holds set_ftrace_filter 'kmem*'
holds set_event web
holds events/web/hit/filter 'item > 3'
holds events/shop/pay/filter none
holds tracing_on 0
on set -e all
holds set_event 'web
*:*'
: >"$tree/set_event"
on set -e shop -v -e shop:pay
holds set_event 'shop
!shop:pay'
: >"$tree/set_event"
on set -e 'shop:*' -e 'we*:hit' -v -e 'shop:p*'
holds set_event 'shop:*
web:hit
!shop:pay'
: >"$tree/set_event"
refuse 1 --tracefs "$tree" set -e shop:order -e nosuch -- nosuch
holds set_event ''
on set -i -e shop:order -e nosuch
holds set_event shop:order
on set -e shop:pay -f 'item > 1' -f 'item < 9 || item == 20' -e shop:order -f 'item > 2'
holds events/shop/pay/filter '(item > 1)&&(item < 9 || item == 20)'
holds events/shop/order/filter 'item > 2'
printf '%s\n' overwrite nostacktrace noevent-fork >"$tree/trace_options"
on set -T
holds trace_options stacktrace
printf '%s\n' overwrite nostacktrace noevent-fork nofunction-fork >"$tree/trace_options"
: >"$tree/set_ftrace_pid"
on set -P 7,8 -c
holds set_ftrace_pid ''
printf '%s\n' overwrite noevent-fork nofunction-fork >"$tree/trace_options"
on set -P 7,8 -c -p function
holds trace_options function-fork
holds set_event_pid '7 8'
holds set_ftrace_pid '7 8'
on set -M -1
holds tracing_cpumask 3
echo 0 >"$tree/max_graph_depth"
on set -l 'ext4*,jbd2*' --module ext4 --max-graph-depth 4
holds set_ftrace_filter 'ext4*:mod:ext4 jbd2*:mod:ext4'
holds max_graph_depth 4
on set --module xfs
holds set_ftrace_filter '*:mod:xfs'
# What is refused late takes back what came before it. Nothing happens in these files, so a text stands for what it sets.
printf '%s\n' overwrite nostacktrace >"$tree/trace_options"
echo 12 >"$tree/set_event_pid"
echo 'item > 5' >"$tree/events/shop/order/filter"
echo '[local] mono' >"$tree/trace_clock"
echo '7 (expanded: 1408)' >"$tree/buffer_size_kb"
refuse 1 --tracefs "$tree" set -b 300 -C mono -P 13 -p nop -e shop:order -f 'item > 6' -B new -C mono -- new
holds buffer_size_kb 1408
holds trace_clock local
holds set_event_pid 12
holds current_tracer function
holds events/shop/order/filter 'item > 5'
[ ! -d "$tree/instances/new" ] || fail "an instance was left behind"
echo mono >"$tree/trace_clock"
echo nooverwrite >"$tree/trace_options"
on clear
holds trace ''
on snapshot -s
holds snapshot 1
on snapshot -r -c 0
holds per_cpu/cpu0/snapshot 2
on snapshot -f
holds snapshot 0

# Instances are directories; here they come empty, and a test fills them.
tree_buffer "$tree/instances/a"
tree_buffer "$tree/instances/b"
on list -B
says 'a
b'
on stop -a
holds instances/a/tracing_on 0
holds instances/b/tracing_on 0
on restart -B a
holds instances/a/tracing_on 1
holds instances/b/tracing_on 0
on restart -a -t
holds tracing_on 1
holds instances/b/tracing_on 1
on stop -B a -B b
holds tracing_on 1
holds instances/a/tracing_on 0
holds instances/b/tracing_on 0
on start -B a -e shop -B b -e web:hit -b 64
holds instances/a/set_event shop
holds instances/b/set_event web:hit
holds instances/a/buffer_size_kb 1408
holds instances/b/buffer_size_kb 64
holds instances/a/tracing_on 1
holds instances/b/tracing_on 1
on set -b 100 -B b -b 200
holds buffer_size_kb 100
holds instances/b/buffer_size_kb 200
on show -B a
says '# tracer: nop'
on clear -B a
holds instances/a/trace ''
on clear -a
holds instances/b/trace ''

# Reset: the files say what a fresh buffer says.
on reset -B b -b 77
holds instances/b/set_event ''
holds instances/b/buffer_size_kb 77
holds instances/b/tracing_on 1
holds instances/a/set_event shop
on reset
holds current_tracer nop
holds trace_clock local
holds trace_options overwrite
holds tracing_cpumask 3
holds set_event_pid ''
holds set_ftrace_filter ''
holds events/web/hit/filter 0
holds set_event ''
holds instances/a/set_event ''
holds tracing_on 1
holds buffer_size_kb 100
rm -r "$tree/instances/a" "$tree/instances/b"
mkdir "$tree/instances/a" "$tree/instances/b"
on reset -B a -d
on list -B
says b
on reset -d -a
on list -B
[ ! -s "$out" ] || fail "instances"

# A profile as a kernel writes it, added up over CPUs: of a function that took 10, 20 and 30 us on one and 40 and 100 us on
# another, all together take 200, 40 on average, and deviate by 35.355 from that.
mkdir "$tree/trace_stat" "$tree/options"
echo 1 >"$tree/options/graph-time"
echo 0 >"$tree/function_profile_enabled"
refuse 1 --tracefs "$tree" profile -- 'no functions were profiled'
head='  Function                               Hit    Time            Avg             s^2
  --------                               ---    ----            ---             ---'
printf '%s\n' "$head" '  alpha                               3    60.000 us       20.000 us       100.000 us  ' \
	'  beta                                   1    0.125 us        0.125 us        0.000 us    ' >"$tree/trace_stat/function0"
printf '%s\n' "$head" '  alpha                               2    140.000 us      70.000 us       1800.000 us ' >"$tree/trace_stat/function1"
on profile
says '      Hits        Total us         Self us          Avg us          Dev us          Max us  Function
         5         200.000               -          40.000          35.355               -  alpha
         1           0.125               -           0.125           0.000               -  beta'
on profile --json --sort name --top 1
says '{"function":"alpha","hits":5,"total_ns":200000,"avg_ns":40000,"dev_ns":35355}'
echo 0 >"$tree/options/graph-time"
on profile --sort hits
grep -qE '^ +5 +- +200\.000 +40\.000 +35\.355 +- +alpha$' "$out" || fail "what functions take themselves"
printf '%s\n' '  Function                               Hit' '  --------                               ---' \
	'  alpha                                  3' >"$tree/trace_stat/function0"
: >"$tree/trace_stat/function1"
on profile
grep -qE '^ +3( +-){5}  alpha$' "$out" || fail "a kernel that only counts"
echo 1 >"$tree/function_profile_enabled"
refuse 1 --tracefs "$tree" profile true -- 'already' function_profile_enabled
echo 0 >"$tree/function_profile_enabled"
# What is changed while a command runs, and as it was behind it.
echo 'other*' >"$tree/set_ftrace_filter"
on profile -l 'al*' -l 'be*' --sort self sh -c "cd '$tree' && cat set_ftrace_filter function_profile_enabled options/graph-time"
tr -d '\n' <"$out" | grep -q '^al\*be\*10 *Hits' || fail "what is measured"
holds set_ftrace_filter 'other*'
holds function_profile_enabled 0
holds options/graph-time 0
rm -r "$tree/options"
: >"$tree/set_ftrace_filter"

# The stack tracer.
echo 0 >"$tree/stack_tracer_enabled"
echo 8 >"$tree/stack_max_size"
echo 'deep' >"$tree/stack_trace"
on stack
says deep
on stack --start
holds stack_tracer_enabled 1
refuse 1 --tracefs "$tree" stack true -- 'already' --stop
on stack --stop
holds stack_tracer_enabled 0
on stack sh -c "cat '$tree/stack_tracer_enabled' '$tree/stack_max_size'"
says 10deep
holds stack_tracer_enabled 0
echo 8 >"$tree/stack_max_size"
on stack --reset
holds stack_max_size 0
want 3 --tracefs "$tree" stack sh -c 'exit 3'
# Of one who was killed somebody brings it back at once; if that one is killed, too, the next one does.
measured() {
	"$RINGSIDE" --tracefs "$tree" stack --for 60s >"$out" 2>"$err" &
	until grep -qx 1 "$tree/stack_tracer_enabled"; do
		sleep 0.01
	done
}
measured
kill -KILL $!
wait $! 2>/dev/null
until grep -qx 0 "$tree/stack_tracer_enabled"; do
	sleep 0.01
done
measured
# shellcheck disable=SC2046
kill -KILL $(cat /proc/$!/task/$!/children) $!
wait $! 2>/dev/null
holds stack_tracer_enabled 1
on stack sh -c "cat '$tree/stack_tracer_enabled'"
says 1deep
holds stack_tracer_enabled 0
refuse 2 --tracefs "$tree" stack --start --stop -- 'one thing'
refuse 2 --tracefs "$tree" stack --start true -- 'one thing'

# Refused, with words.
refuse 2 --tracefs "$tree" start -- -e -p restart
refuse 1 --tracefs "$tree" start -e nosuch -- nosuch 'ringside list'
refuse 1 --tracefs "$tree" set -C nosuch -- clock nosuch 'list -C'
refuse 1 --tracefs "$tree" set -O nonosuch -- option nonosuch 'list -o'
refuse 1 --tracefs "$tree" start -p nosuch -- tracer nosuch 'list -t'
holds set_event ''
holds trace_clock local
refuse 1 --tracefs "$tree" show -B nosuch -- nosuch 'list -B'
refuse 1 --tracefs "$tree" stop -B nosuch -- nosuch
refuse 1 --tracefs "$tree" show -c 2 -- 'no CPU 2' 'last one is 1'
refuse 1 --tracefs "$tree" snapshot -c 9 -- 'no CPU 9'
refuse 1 --tracefs "$tree" show --json -- --json "$tree"
refuse 1 --tracefs "$tree" cat nosuch -- nosuch "$tree"
refuse 1 --tracefs "$tree" cat ../out -- ../out
refuse 1 --tracefs "$tree" write events/../../out x -- ../out
refuse 1 --tracefs "$tree" write nosuch x -- nosuch
[ ! -e "$tree/nosuch" ] || fail "a file was made"
refuse 1 --tracefs "$tree" write events x -- directory
refuse 1 --tracefs "$RINGSIDE_SCRATCH" list -- "$RINGSIDE_SCRATCH" 'no tracing tree'
refuse 1 --tracefs "$tree/nosuch" list -- "$tree/nosuch"
refuse 1 --tracefs "$tree/trace" list -- "$tree/trace"
refuse 1 --tracefs '' list -- --tracefs
refuse 2 --tracefs "$tree" --kernel list -- source
refuse 2 --tracefs "$tree" --dir "$RINGSIDE_DIR" list -- source
refuse 2 --programs --kernel list -- source
[ ! -e "$RINGSIDE_DIR" ] || fail "a tracing directory was made"
want 0 start --programs
refuse 1 --tracefs "$RINGSIDE_DIR" list -- --dir "$RINGSIDE_DIR"
exit 0
