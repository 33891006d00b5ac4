#!/bin/sh
# Functions of programs that know nothing of us: listed, chosen on command lines and taken back, and planned for as long as a
# recording lasts.
. "$RINGSIDE_SOURCE/tests/cmd/room.sh"

with_functions

cd "$RINGSIDE_SCRATCH" || exit 1
cat >plain.c <<'END'
#include <stdio.h>
#include <unistd.h>

int plain_alpha(int n) { for (int i = 0; i < n; i++) putchar('a' + i); return n; }
int plain_beta(int n) { int sum = 0; for (int i = 0; i < n; i++) sum += plain_alpha(i) * n; return sum; }

int main(int argc, char **argv)
{
	(void)argv;
	printf("%d\n", plain_beta(argc + 2));
	if (argc > 1)
		pause();
	return 3;
}
END
# shellcheck disable=SC2086
$CC -O1 -fno-inline plain.c -o plain || fail "plain does not compile"
./plain >want.out
[ $? -eq 3 ] || fail "plain does not run"

# Nothing is known before a program was there.
refuse 1 set -l plain_alpha -- set_ftrace_filter 'ringside list -f'
refuse 2 list -f -t -- -f
refuse 2 list --why -- --why
refuse 1 record -q -p nosuch ./plain -- nosuch

# The command's functions are known before it runs; it is the same with and without us.
want 3 record -q -o one.dat -p function -l 'plain_*' -n plain_beta ./plain
cmp -s want.out "$out" || fail "plain says something else"
want 0 report one.dat
[ "$(grep -c 'function: .*plain_alpha' "$out")" -eq 3 ] || fail "not all calls"
! grep -q 'plain_beta\|main' "$out" || fail "calls that nobody asked for"
want 0 list -f 'plain_*'
says 'plain_alpha
plain_beta'
want 0 list -f lain_
says 'plain_alpha
plain_beta'
want 0 list -f ain_beta$
says plain_beta
want 0 list -f ^lain_
[ ! -s "$out" ] || fail "one that does not match"
want 0 list -f --json ^plain_alpha$
says '{"function":"plain_alpha"}'
want 0 list -f 'no_such*'
[ ! -s "$out" ] || fail "functions that are not there"
want 0 list -f
grep -q '^malloc \[libc\.so\.6\]$' "$out" || fail "what the program needs is not there"
n=$(grep -c . "$out")
want 0 cat available_filter_functions
[ "$(grep -c . "$out")" -eq "$n" ] || fail "list -f is not what there is"
want 0 list -f --why
! grep -q '^plain_alpha' "$out" || fail "it cannot be traced"
! grep -v ': .' "$out" || fail "one without a reason"
# Nothing of it stays.
want 0 list -B
[ ! -s "$out" ] || fail "an instance was left behind"
want 0 stat
! grep -qi 'function\|tracer' "$out" || fail "something was left behind"

# Every name in a report is one that can be asked for.
want 3 record -q -o all.dat -p function ./plain
want 0 report all.dat
sed -n 's/.*function: *\([^ ]*\).*/\1/p' "$out" | sort -u >reported
grep -qx main reported && grep -qx plain_beta reported || fail "the program's own functions are missing"
want 0 list -f
sed 's/ .*//' "$out" | sort -u | comm -13 - reported >strange
[ ! -s strange ] || fail "names that cannot be asked for: $(cat strange)"

# Records of both tracers can be read by the file alone, and go by a clock of nanoseconds where they tell of them.
want 3 record -q -o graph.dat -p function_graph -g plain_beta --max-graph-depth 2 -O funcgraph-tail ./plain
want 0 report graph.dat
grep -q '|  plain_beta() {$' "$out" && grep -q '|    plain_alpha();$' "$out" || fail "no graph of plain_beta"
! grep -q 'main\|putchar' "$out" || fail "more than what it calls, or deeper"
want 0 dump --ftrace-events graph.dat
for name in function funcgraph_entry funcgraph_exit; do
	grep -q "name: $name\$" "$out" || fail "no format of $name"
done
want 0 dump --options graph.dat
grep -q '\[local\]' "$out" || fail "the clock is another"
want 0 cat max_graph_depth
says 0
refuse 1 record -q -o no.dat -p function -l no_such_function ./plain -- set_ftrace_filter no_such_function
[ ! -e no.dat ] || fail "a file of a recording that did not begin"

# On the top buffer everything is brought back, patterns as they were written.
want 0 set -l 'plain_b*' -g plain_alpha
want 0 write -a set_ftrace_filter '!plain_beta'
want 0 write set_ftrace_filter 'plain_b* never:mod:libnever.so'
want 0 set --max-graph-depth 7
want 3 record -q --top -o top.dat -p function_graph -l 'plain_alpha,plain_alpha:stacktrace' -g plain_beta --max-graph-depth 1 \
	-O funcgraph-proc --func-stack ./plain
want 0 cat set_ftrace_filter set_graph_function max_graph_depth current_tracer options/funcgraph-proc options/func_stack_trace
says 'plain_beta
never:mod:libnever.so
plain_alpha
7
nop
0
0'

# One after the other, and told.
want 0 start -p function -l plain_alpha --module plain -n plain_beta --func-stack
want 0 stat -t
for text in '^Tracer: function$' '^Functions:$' '^    plain_alpha$' '^Functions not traced:$' '^    plain_beta$' \
	'^    func_stack_trace$' '^Graph depth: 7$' '^Graph functions:$'; do
	grep -q "$text" "$out" || fail "stat does not say '$text'"
done
want 0 write -a set_ftrace_filter 'plain_*:traceoff:5 plain_beta:snapshot'
want 0 write options/funcgraph-tail 1
# A part of a directory is reset by its files.
want 0 reset -t
want 0 cat set_ftrace_filter set_ftrace_notrace set_graph_function max_graph_depth current_tracer options/func_stack_trace \
	options/funcgraph-tail tracing_on
says '#### all functions enabled ####
#### no functions disabled ####
#### all functions enabled ####
0
nop
0
0
1'
want 0 start -p function_graph -l plain_alpha
want 0 reset
want 0 cat set_ftrace_filter current_tracer
says '#### all functions enabled ####
nop'

# What functions set off, in a program that starts later; each as often as was said.
plain() {
	LD_PRELOAD=$RINGSIDE_BUILD/libringside.so ./plain >"$out" 2>"$err"
	[ $? -eq 3 ] && cmp -s want.out "$out" || fail "plain ends otherwise"
}
want 0 start -p function -l 'plain_*'
want 0 write -a set_ftrace_filter 'plain_alpha:traceoff:1'
plain
want 0 cat tracing_on set_ftrace_filter
says '0
plain_alpha
plain_beta
plain_alpha:traceoff:count=0'
want 0 show
[ "$(grep -c 'plain_beta <-main' "$out")" -eq 1 ] && ! grep -q 'plain_alpha <-' "$out" || fail "recorded though it is off"
want 0 reset
want 0 write set_ftrace_filter \
	'plain_alpha:stacktrace:2 plain_beta:enable_event:sched:sched_process_exit plain_beta:snapshot:1'
plain
want 0 cat set_ftrace_filter events/sched/sched_process_exit/enable
says '#### all functions enabled ####
plain_alpha:stacktrace:count=0
plain_beta:enable_event:sched:sched_process_exit:unlimited
plain_beta:snapshot:count=0
1*'
want 0 show
[ "$(grep -c '<stack trace>' "$out")" -eq 2 ] && [ "$(grep -c '^ => plain_beta' "$out")" -eq 2 ] || fail "not two stacks"
grep -q 'sched_process_exit: comm=plain' "$out" || fail "the event is not on"
want 0 reset

# Of some threads only; and with a stack.
want 0 write set_ftrace_pid 1
want 0 start -p function -l plain_alpha
plain
want 0 show
! grep -q plain_alpha "$out" || fail "a thread that nobody named"
want 0 reset
want 0 start -p function -l plain_alpha --func-stack
plain
want 0 show
[ "$(grep -c 'plain_alpha <-plain_beta' "$out")" -eq 3 ] && [ "$(grep -c '<stack trace>' "$out")" -eq 3 ] || fail "not three stacks"
want 0 reset

# Whoever plans ends with the recording, however that ends.
planner() {
	planner=
	i=0
	while [ -z "$planner" ] && [ $i -lt 500 ]; do
		for child in $(cat "/proc/$1/task/$1/children" 2>/dev/null); do
			[ "$(readlink "/proc/$child/exe")" = "$(readlink -f "$RINGSIDE")" ] && planner=$child
		done
		[ -n "$planner" ] || sleep 0.02
		i=$((i + 1))
	done
	[ -n "$planner" ] || fail "nobody plans"
}
gone() {
	i=0
	while kill -0 "$1" 2>/dev/null && [ $i -lt 500 ]; do
		sleep 0.02
		i=$((i + 1))
	done
	! kill -0 "$1" 2>/dev/null || fail "$2"
}
# Functions of a process that runs already can be named: of one that no directory knows of.
sed 's/plain_/other_/g; s/return 3/return 4/' plain.c >other.c
# shellcheck disable=SC2086
$CC -O1 -fno-inline other.c -o other || fail "other does not compile"
./other stay >/dev/null &
other=$!
trap 'kill $other 2>/dev/null' EXIT
i=0
while [ "$(readlink "/proc/$other/exe")" != "$(readlink -f other)" ] && [ $i -lt 500 ]; do
	sleep 0.02
	i=$((i + 1))
done
"$RINGSIDE" record -q -o other.dat -p function -l other_alpha -P $other >"$out" 2>"$err" &
recorder=$!
planner $recorder
kill -INT $recorder
wait $recorder || fail "a function of a process that runs is refused"
kill $other
want 0 list -f 'other_*'
says 'other_alpha
other_beta'

"$RINGSIDE" record -q -o killed.dat -p function >"$out" 2>"$err" &
recorder=$!
planner $recorder
kill -KILL $recorder
wait $recorder 2>/dev/null
gone "$planner" "it plans on when the recorder was killed"
"$RINGSIDE" record -q -o ended.dat -p function >"$out" 2>"$err" &
recorder=$!
planner $recorder
kill -INT "$planner"
kill -TERM $recorder
wait $recorder
gone "$planner" "it plans on when the recording has ended"
exit 0
