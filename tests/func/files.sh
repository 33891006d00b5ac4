#!/bin/sh
# What the files about functions say is what programs do: filters, graphs below some functions, depth, threshold, threads, commands,
# stacks, and several buffers at once.
. "$RINGSIDE_SOURCE/tests/cmd/room.sh"

with_functions
cd "$RINGSIDE_SCRATCH" || exit 1
cat >tree.c <<'END'
#include <pthread.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define APART __attribute__((noinline))
APART int leaf(int n) { __asm__ volatile("" : "+r"(n)); return n * 3 + 1; }
APART int middle(int n) { return leaf(n) + leaf(n + 1); }
APART int top(int n) { int sum = 0; for (int i = 0; i < n; i++) sum += middle(i); return sum; }
APART int other(int n) { return leaf(n) * 5; }
APART int slow(int n) { struct timespec t = { .tv_nsec = 3000000 }; nanosleep(&t, 0); return leaf(n); }
APART int child(int n) { return leaf(n); }
APART int thread(int n) { return leaf(n); }

static void *start(void *unused)
{
	for (int i = 0; i < 50; i++)
		thread(i);
	return unused;
}

int main(int argc, char **argv)
{
	int sum = top(3) + other(2) + slow(1);

	if (argc > 1 && argv[1][0] == 't') {
		pthread_t second;

		pthread_create(&second, 0, start, 0);
		pthread_join(second, 0);
	} else if (argc > 1) {
		pid_t pid = fork();

		if (!pid)
			_exit(child(1) & 1);
		waitpid(pid, 0, 0);
	}
	return sum == 0;
}
END
# shellcheck disable=SC2086
$CC -O1 -fno-optimize-sibling-calls -fno-inline tree.c -o tree -lpthread || fail "tree does not compile"
library=$RINGSIDE_BUILD/libringside.so.0

# The program, in this state of the directory; its functions are known then. In $pid who it was.
run() {
	LD_PRELOAD=$library ./tree "$@" &
	pid=$!
	wait $pid || fail "tree: exit $?"
}

# So many lines of the trace have this in them.
has() {
	n=$1
	shift
	want 0 cat "${file:-trace}"
	[ "$(grep -c "$@" "$out")" -eq "$n" ] || fail "not $n of: $*"
}

again() {
	want 0 reset
	want 0 start -p nop
}

want 0 start -p nop
run
want 0 list -f middle
says middle

# Filters.
want 0 start -p function -l top -l 'm*' -n main
run
has 1 ' top <-main$'
has 3 ' middle <-top$'
has 0 ' leaf '
again
# Functions that are found by what is not there take none away.
want 0 start -p function -l ':mod:tree' -n leaf -n other
run
has 0 'leaf\|other'
has 3 ' middle <-top$'

# Graphs: below some, not below others, so deep, so long.
again
want 0 start -p function_graph -l ':mod:tree' -g top
run
has 1 '|  top() {$'
has 3 '|    middle() {$'
has 6 '|      leaf();$'
has 0 'other\|slow\|main'
again
want 0 start -p function_graph -l ':mod:tree'
want 0 write set_graph_notrace top
run
has 0 'top\|middle'
has 1 '|    other() {$'
again
want 0 start -p function_graph -l ':mod:tree' --max-graph-depth 2
want 0 cat max_graph_depth
run
has 1 '|    top();$'
has 0 'middle\|leaf'
again
want 0 start -p function_graph -l ':mod:tree'
want 0 write tracing_thresh 1000
want 0 clear
run
has 1 '} /\* slow \*/'
has 1 '} /\* main \*/'
has 0 'leaf\|middle\|top'

# Threads, and with function-fork what they start.
again
want 0 start -p function -l ':mod:tree'
# On one CPU, whose ring is there then: what is not wanted does not just find no place.
taskset -c 0 env LD_PRELOAD="$library" ./tree || fail "tree: exit $?"
has 1 ' other <-main$'
want 0 clear
want 0 write set_ftrace_pid 1
taskset -c 0 env LD_PRELOAD="$library" ./tree || fail "tree: exit $?"
has 0 'leaf'
want 0 write set_ftrace_pid ''
again
cat >as.sh <<END
"$RINGSIDE" write set_ftrace_pid \$\$ && LD_PRELOAD=$library exec ./tree fork
END
want 0 start -p function -l ':mod:tree'
sh as.sh || fail "as.sh"
has 1 ' other <-main$'
has 0 ' child <-'
want 0 clear
# Another thread, many times, on the CPU that has a ring.
for tracer in function function_graph; do
	want 0 start -p $tracer -l ':mod:tree'
	sed 's/exec .*/exec taskset -c 0 .\/tree thread/' as.sh >thread.sh
	sh thread.sh || fail "thread.sh"
	has 0 ' thread\(()\| <-\)'
	[ "$(grep -c ' other\(()\| <-main$\)' "$out")" -eq 1 ] || fail "$tracer: nothing of the thread that is chosen"
	want 0 clear
done
want 0 start -p function -l ':mod:tree'
want 0 write options/function-fork 1
sh as.sh || fail "as.sh"
has 1 ' child <-main$'

# Commands.
again
want 0 start -p function -l ':mod:tree'
want 0 write -a set_ftrace_filter 'middle:traceoff:1'
run
want 0 cat tracing_on
says 0
has 0 ' middle '
has 1 ' top <-main$'
want 0 cat set_ftrace_filter
grep -qx 'middle:traceoff:count=0' "$out" || fail "the count is not told"
again
want 0 write set_ftrace_filter 'middle:stacktrace:2'
run
has 2 '<stack trace>'
has 2 '=> middle$'
again
want 0 start -p function -l leaf
want 0 write -a set_ftrace_filter 'slow:snapshot:1'
run
file=snapshot has 7 ' leaf <-'
file=
has 1 ' leaf <-slow$'

# A stack behind each.
again
want 0 start -p function -l middle
want 0 write options/func_stack_trace 1
run
has 3 '<stack trace>'
grep -A3 -m1 '<stack trace>' "$out" | tail -n 3 | tr -d '\n' | grep -q '=> middle => top => main' || fail "another stack"

# Several buffers, each with its own.
again
want 0 start -p function_graph -l top
want 0 start -B one -p function -l leaf
want 0 start -B two -p function_graph -l middle -l leaf
run
has 1 'top();'
has 0 'leaf\|middle'
file=instances/one/trace has 8 ' leaf <-'
# As in the kernel all that is hooked counts for the depth, whoever wants it.
file=instances/two/trace has 3 '|    middle() {$'
file=instances/two/trace has 6 '|      leaf();$'
