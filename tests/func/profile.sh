#!/bin/sh
# Functions that are counted and timed: sums are exact, whatever becomes of a call; the times of functions add up; and the files
# that tell of it are the kernel's.
. "$RINGSIDE_SOURCE/tests/cmd/room.sh"

with_functions

cd "$RINGSIDE_SCRATCH" || exit 1
cat >work.c <<'END'
#include <pthread.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FUNCTION __attribute__((noinline))
static volatile int sink;
static jmp_buf place;

FUNCTION int leaf(int n) { sink += n; return sink ^ n; }
FUNCTION int middle(int n) { int sum = 0; for (int i = 0; i < 10; i++) sum += leaf(n + i); return sum + 1; }
FUNCTION int twice(int n) { return middle(n) + leaf(n) + 1; }
FUNCTION int sleeper(void) { usleep(30000); return sink + 1; }
FUNCTION void jumper(int n) { sink += n; longjmp(place, 1); }
FUNCTION int deep(int n) { sink++; return n ? deep(n - 1) + 1 : 0; }
FUNCTION int single(int n) { int sum = 0; for (int i = 0; i < n; i++) sum += twice(i); return sum + 1; }
FUNCTION void leaver(void) { sink++; _exit(4); }

static void *run(void *arg)
{
	for (int i = 0; i < 2000; i++)
		sink += middle(i);
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t threads[256];
	int n = argc > 2 ? atoi(argv[2]) : 0;

	if (!strcmp(argv[1], "threads")) {
		for (int i = 0; i < n; i++)
			pthread_create(&threads[i], 0, run, 0);
		for (int i = 0; i < n; i++)
			pthread_join(threads[i], 0);
	} else if (!strcmp(argv[1], "single")) {
		single(n);
	} else if (!strcmp(argv[1], "sleep")) {
		sleeper();
		leaf(1);
	} else if (!strcmp(argv[1], "jump")) {
		for (volatile int i = 0; i < n; i++)
			if (!setjmp(place))
				jumper(i);
		leaf(1);
	} else if (!strcmp(argv[1], "deep")) {
		deep(n);
	} else {
		leaver();
	}
	return 0;
}
END
# shellcheck disable=SC2086
$CC -O1 work.c -o work -lpthread || fail "work does not compile"
library=$RINGSIDE_BUILD/libringside.so.0

# number FUNCTION KEY: of what --json said
number() {
	sed -n "s/^{\"function\":\"$1\",.*\"$2\":\([0-9]*\)[,}].*/\1/p" "$out"
}
is() {
	[ "$(number "$1" "$2")" = "$3" ] || fail "$1: $2 is $(number "$1" "$2"), not $3"
}

# ---- Exact sums, of more threads than there are CPUs, in two programs at once
n=$((4 * $(getconf _NPROCESSORS_ONLN)))
[ $n -le 256 ] || n=256
# shellcheck disable=SC2016
want 0 profile --json --module work sh -c 'LD_PRELOAD=$1 ./work threads $2 & one=$!; ./work threads $2 & wait $! && wait $one' \
	sh "$library" $n
is leaf hits $((2 * n * 20000))
is leaf timed $((2 * n * 20000))
is middle hits $((2 * n * 2000))
is run hits $((2 * n))
is main timed 2

# ---- What a call takes is what it takes itself and what it calls take: to the nanosecond
want 0 profile --json -l single -l twice -l middle -l leaf ./work single 300
is single hits 1
is twice hits 300
is middle hits 300
is leaf hits 3300
sum=0
for name in single twice middle leaf; do
	sum=$((sum + $(number $name self_ns)))
	[ "$(number $name self_ns)" -le "$(number $name total_ns)" ] || fail "$name: more itself than in all"
	[ "$(number $name avg_ns)" -eq $(($(number $name total_ns) / $(number $name timed))) ] || fail "$name: another average"
	[ "$(number $name max_ns)" -ge "$(number $name avg_ns)" ] || fail "$name: none as long as the average"
done
is single total_ns $sum
is single dev_ns 0
is single max_ns $sum
[ "$(number leaf self_ns)" -eq "$(number leaf total_ns)" ] || fail "a leaf that calls something"
# What is not profiled is its caller's.
want 0 profile --json -l single -l leaf ./work single 300
is single total_ns $(($(number single self_ns) + $(number leaf self_ns)))

# ---- Calls whose end is not seen are hits, and have no time
want 0 profile --json -l jumper -l leaf ./work jump 500
is jumper hits 500
is jumper timed 0
is leaf timed 1
want 0 profile -l jumper ./work jump 500
grep -q '^500 calls have no time' "$out" || fail "it does not tell what has no time"
want 4 profile --json -l leaver ./work leave
is leaver hits 1
is leaver timed 0
# Deeper than a thread remembers.
want 0 profile --json -l deep ./work deep 3000
is deep hits 3001
[ "$(number deep timed)" -gt 0 ] || fail "not one of them has ended"

# ---- The files
traced() {
	LD_PRELOAD=$library ./work "$@" || fail "work $* fails"
}
rows() {
	for file in $("$RINGSIDE" cat trace_stat); do
		"$RINGSIDE" cat "trace_stat/$file"
	done | sed '/^  Function /d; /^  ---/d'
}
hits() {
	rows | awk -v name="$1" '$1 == name { n += $2 } END { print n + 0 }'
}

want 0 write set_ftrace_filter ':mod:work'
want 0 cat trace_stat/function0
printf '  Function                               Hit    Time            Avg             s^2\n' >want.head
printf '  --------                               ---    ----            ---             ---\n' >>want.head
want 0 write function_profile_enabled 1
traced single 10
want 0 cat trace_stat/function0
head -n 2 "$out" | cmp -s - want.head || fail "another head"
[ "$(hits leaf)" -eq 110 ] && [ "$(hits main)" -eq 1 ] || fail "$(rows)"
rows | grep -v '^  [^ ]* *[0-9]*    [0-9.]* us *    [0-9.]* us *    [0-9.]* us *$' && fail "a row that the kernel would not print"
[ "$("$RINGSIDE" cat trace_stat | wc -l)" -eq "$("$RINGSIDE" cat per_cpu | wc -l)" ] || fail "not a file for each CPU"
for file in $("$RINGSIDE" cat trace_stat); do
	want 0 cat "trace_stat/$file"
	sed 1,2d "$out" | awk '{ if (NR > 1 && $3 > last) exit 1; last = $3 }' || fail "$file: the longest is not first"
done
traced single 10
[ "$(hits leaf)" -eq 220 ] || fail "a second program does not count"
# Off: nothing more, but all that there is; on: from zero.
want 0 write function_profile_enabled 0
traced single 10
[ "$(hits leaf)" -eq 220 ] || fail "off, and it goes on"
want 0 write function_profile_enabled 1
[ -z "$(rows)" ] || fail "it does not begin anew: $(rows)"
# Functions that take long on the average, and no others.
traced sleep
want 0 write tracing_thresh 30000
[ "$(rows | awk '{ printf "%s ", $1 }' | grep -c 'sleeper.*\|main.*')" -eq 1 ] || fail "too short: $(rows)"
[ "$(hits leaf)" -eq 0 ] || fail "shown though it is short"
want 0 write tracing_thresh 0
[ "$(hits leaf)" -eq 1 ] || fail "not shown"

# Without what a function calls; main does little itself.
time_of() {
	rows | awk -v name="$1" '$1 == name { print int($3) }'
}
[ "$(time_of main)" -ge "$(time_of sleeper)" ] || fail "main takes less than what it calls"
want 0 write options/graph-time 0
[ "$(time_of main)" -lt 30000 ] || fail "main alone took $(time_of main) us"
want 0 write options/graph-time 1
# Time that a thread sleeps is not its time.
[ "$(time_of sleeper)" -ge 30000 ] || fail "slept too little: $(time_of sleeper) us"
want 0 write function_profile_enabled 0
want 0 write options/sleep-time 0
want 0 write function_profile_enabled 1
traced sleep
[ "$(hits sleeper)" -eq 1 ] && [ "$(time_of sleeper)" -lt 30000 ] || fail "it slept: $(time_of sleeper) us"
want 0 write options/sleep-time 1
# Below some functions only, and not below others.
want 0 write set_graph_function twice
want 0 write set_graph_notrace middle
want 0 write function_profile_enabled 0
want 0 write function_profile_enabled 1
traced single 10
[ "$(hits twice)" -eq 10 ] && [ "$(hits leaf)" -eq 10 ] || fail "$(rows)"
[ "$(hits middle)" -eq 0 ] && [ "$(hits single)" -eq 0 ] || fail "$(rows)"
want 0 write set_graph_function ''
want 0 write set_graph_notrace ''
# Both at once: a graph does not change what is counted.
want 0 write function_profile_enabled 0
want 0 write function_profile_enabled 1
want 0 write current_tracer function_graph
traced single 10
[ "$(hits leaf)" -eq 110 ] || fail "beside function_graph: $(hits leaf)"
want 0 cat trace
[ "$(grep -c 'leaf();' "$out")" -eq 110 ] || fail "a graph beside the profile: $(grep -c 'leaf();' "$out")"
want 0 write current_tracer nop
want 0 write function_profile_enabled 0

# Nor does the profile change how deep calls are in a graph of others.
want 0 write set_ftrace_filter ':mod:work'
want 0 write function_profile_enabled 1
want 0 set -B few -p function_graph -l leaf
traced single 1
want 0 show -B few
[ "$(grep -c '|  leaf();$' "$out")" -eq 11 ] || fail "calls that nobody sees are in its depth"
[ "$(hits single)" -eq 1 ] && [ "$(hits leaf)" -eq 11 ] || fail "$(rows)"
want 0 set -v -B few
want 0 write function_profile_enabled 0

# ---- Switched on and off under threads that run: no call has a time but a hit
want 0 write set_ftrace_filter ':mod:work'
for i in 1 2 3; do
	for program in 1 2; do
		LD_PRELOAD=$library ./work threads 8 &
	done
	for on in 0 1 0 1; do
		"$RINGSIDE" write function_profile_enabled $on >"$out" 2>"$err" || fail "switching"
	done
	wait
	want 0 write function_profile_enabled 0
	want 0 profile --json
	sed -n 's/.*"hits":\([0-9]*\),"timed":\([0-9]*\),.*/\1 \2/p' "$out" >sums
	awk '$2 > $1 { exit 1 }' sums || fail "more ends than calls"
done
# Killed: what there is can be read.
want 0 write function_profile_enabled 1
LD_PRELOAD=$library ./work threads 8 &
kill -9 $!
wait
traced single 10
[ "$(hits single)" -eq 1 ] && [ "$(hits twice)" -eq 10 ] || fail "beside one that was killed"
want 0 write function_profile_enabled 0

# ---- What was ever patched
want 0 cat enabled_functions
[ ! -s "$out" ] || fail "something is still patched"
want 0 cat touched_functions
grep -q '^leaf (0) *$' "$out" && grep -q '^middle (0) *$' "$out" || fail "it was patched once"
! grep -q '^malloc ' "$out" || fail "that was never patched"
want 0 write set_ftrace_filter leaf
want 0 write function_profile_enabled 1
want 0 cat enabled_functions
says "leaf (1)           "
want 0 cat touched_functions
grep -q '^leaf (1) *$' "$out" && grep -q '^middle (0) *$' "$out" || fail "users are not counted"
want 0 write function_profile_enabled 0

# ---- In instances there is nothing of it
want 0 set -B other
for file in function_profile_enabled trace_stat/function0 stack_trace stack_max_size stack_tracer_enabled touched_functions; do
	refuse 1 cat instances/other/$file -- "no such file"
done
