#!/bin/sh
# The deepest stack of any thread of any program: stack_trace, stack_max_size, stack_trace_filter.
. "$RINGSIDE_SOURCE/tests/cmd/room.sh"

with_functions

cd "$RINGSIDE_SCRATCH" || exit 1
cat >dive.c <<'END'
#include <pthread.h>
#include <stdlib.h>

#define FUNCTION __attribute__((noinline))
static volatile int sink;
static int times;

FUNCTION int bottom(int n) { sink += n; return sink; }
/* Through a pointer: no compiler makes a loop of it. */
FUNCTION int dive(int n);
static int (*volatile deeper)(int) = dive;
FUNCTION int dive(int n) { char room[1000]; room[0] = (char)n; __asm__ volatile("" : : "r"(room) : "memory"); return (n ? deeper(n - 1) : bottom(n)) + room[0]; }
static void *run(void *arg) { sink = dive(times); return arg; }

int main(int argc, char **argv)
{
	pthread_t thread;

	times = atoi(argv[1]);
	if (argc == 2)
		run(0);
	else if (!pthread_create(&thread, 0, run, 0))
		pthread_join(thread, 0);
	return 0;
}
END
# shellcheck disable=SC2086
$CC -O1 -fno-optimize-sibling-calls dive.c -o dive -lpthread || fail "dive does not compile"
traced() {
	LD_PRELOAD=$RINGSIDE_BUILD/libringside.so.0 ./dive "$@" || fail "dive $* fails"
}
size() {
	"$RINGSIDE" cat stack_max_size
}
# Rows are numbered, depths fall, and each size is what is between two of them.
sound() {
	want 0 cat stack_trace
	n=$(sed -n '1s/^        Depth    Size   Location    (\([0-9]*\) entries)$/\1/p' "$out")
	[ -n "$n" ] || fail "another head"
	[ "$(sed -n 2p "$out")" = "        -----    ----   --------" ] || fail "another head"
	[ "$(sed 1,2d "$out" | grep -c '^ *[0-9]*) *[0-9]*   *[0-9]*   [^ ]')" -eq "$n" ] || fail "rows"
	sed 1,2d "$out" | awk '
		NR > 1 && (left != $2 + 0) { exit 1 }
		NR - 1 != $1 + 0 { exit 1 }
		{ left = $2 - $3 }
		END { if (left != 0) exit 1 }' || fail "depths do not add up"
	[ "$(sed -n '3s/^ *0) *\([0-9]*\) .*/\1/p' "$out")" = "$(size)" ] || fail "the first is not the deepest"
}

want 0 cat stack_trace
grep -q '(0 entries)' "$out" && grep -q 'disabled' "$out" || fail "there is none yet"
want 0 cat stack_max_size
says 0
traced 1
want 0 write stack_trace_filter ':mod:dive'
want 0 write stack_tracer_enabled 1
want 0 cat stack_tracer_enabled
says 1
traced 5
sound
[ "$(grep -c 'dive+0x[0-9a-f]*/0x[0-9a-f]*$' "$out")" -eq 6 ] || fail "not all of its frames"
grep -q ' 0) .* bottom+0x0/0x' "$out" && grep -q 'main+0x' "$out" || fail "not from end to end"
[ "$(sed -n '5s/^ *2) *[0-9]* *\([0-9]*\) .*/\1/p' "$out")" -ge 1000 ] || fail "a frame is smaller than what is in it"
five=$(size)
[ "$five" -ge 6000 ] || fail "only $five bytes"
# Less deep ones change nothing, deeper ones do, of other threads and programs, too.
traced 3
[ "$(size)" -eq "$five" ] || fail "not the deepest"
traced 9 thread
sound
nine=$(size)
[ "$nine" -ge $((five + 3000)) ] || fail "a thread's stack: $nine"
grep -q ' dive+' "$out" && ! grep -q ' main+' "$out" || fail "not the thread's own"
# Anew, from another depth on.
want 0 write stack_max_size 0
traced 2
sound
[ "$(size)" -lt "$five" ] || fail "not begun anew"
want 0 write stack_max_size 1000000
traced 9
[ "$(size)" -eq 1000000 ] || fail "it was not as deep as that"
# Where it is looked at.
want 0 write stack_max_size 0
want 0 write stack_trace_filter main
want 0 cat stack_trace_filter
says main
want 0 cat enabled_functions
says "main (1)           "
traced 9
sound
grep -q ' 0) .* main+0x0/' "$out" && ! grep -q ' dive+' "$out" || fail "looked at elsewhere"
refuse 1 write stack_trace_filter no_such_function -- no_such_function
# Off: as it was.
want 0 write stack_tracer_enabled 0
want 0 write stack_trace_filter ''
main=$(size)
traced 9
[ "$(size)" -eq "$main" ] || fail "off, and it goes on"
refuse 1 write stack_max_size x -- number

# Many at once, and some of them killed: one whole trace, the deepest.
want 0 write stack_trace_filter ':mod:dive'
want 0 write stack_max_size 0
want 0 write stack_tracer_enabled 1
for i in 1 2 3 4 5 6 7 8; do
	for depth in 10 20 30 40; do
		LD_PRELOAD=$RINGSIDE_BUILD/libringside.so.0 ./dive $((depth + i)) thread &
	done
	kill -9 $! 2>/dev/null
done
wait
traced 60 thread
sound
[ "$(grep -c ' dive+' "$out")" -eq 61 ] || fail "not the deepest one"
