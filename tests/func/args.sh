#!/bin/sh
# Arguments of functions: what the program passed is what is shown, in recordings, in the text of the tree and to readers that know
# nothing of it; they are there while their option is on, in the buffers that have it, and nobody is disturbed.
. "$RINGSIDE_SOURCE/tests/cmd/room.sh"

with_functions

cd "$RINGSIDE_SCRATCH" || exit 1
cat >args.c <<'END'
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct two { long a; long b; };
struct big { long x[9]; };
enum colour { RED, BLUE = -3 };
#define NI __attribute__((noinline))
#define BARRIER __asm__ volatile("" ::: "memory")

NI int arg_int(int a, long b, unsigned c) { BARRIER; return a + (int)b + (int)c; }
NI void arg_void(bool b, enum colour c, signed char d, unsigned short e, void *f, long g, long h)
{ __asm__ volatile("" :: "r"(b + c + d + e), "r"(f), "r"(g), "r"(h)); }
NI double arg_float(double d, int i, float f) { BARRIER; return d * i + f; }
NI struct big arg_hidden(int n) { struct big b = { { n, n + 1 } }; BARRIER; return b; }
NI long arg_struct(struct two t, int k) { BARRIER; return t.a + t.b + k; }
NI int arg_none(void) { BARRIER; return -22; }
NI int arg_fails(int n) { BARRIER; return n ? -22 : 0; }
/* No compiler made it: nothing is known of it. */
__asm__(".pushsection .text; .globl arg_bare; .type arg_bare, @function; arg_bare: ret; .size arg_bare, . - arg_bare; .popsection");
void arg_bare(int a);
void arg_tiny(int a, long b);

NI static long again(int n)
{
	struct two t = { 7, -8 };
	double d = arg_float(1.5, n, 2.5f);
	struct big b = arg_hidden(n);
	long sum = arg_int(-n, 0x123456789abl, 0xfffffff0u) + arg_struct(t, n) + arg_none() + arg_fails(n) + b.x[1] + (long)(d * 4);

	arg_void(true, BLUE, -4, 0xffff, (void *)0x1234, -5, 6);
	arg_bare(n);
	arg_tiny(n, -1);
	return sum;
}

int main(int argc, char **argv)
{
	(void)argv;
	printf("%ld\n", again(42));
	fflush(stdout);
	while (argc > 1) {
		again(1);
		usleep(1000);
	}
	return 0;
}
END
# There is no room for a jump.
cat >tiny.c <<'END'
void arg_tiny(int a, long b) { (void)a; (void)b; }
void arg_next(int a) { (void)a; }
END
for debug in -g ''; do
	# shellcheck disable=SC2086
	$CC $debug -Os -falign-functions=1 -c tiny.c -o tiny.o && $CC $debug -O1 args.c tiny.o -o "args$debug" || fail "args does not compile"
done
mv args silent
mv args-g args
./args >want.out || fail "args does not run"

# What was passed, whatever is in the rest of a register; NAME TEXT
shows() {
	grep -qF -e "$1" "$out" || fail "$1 is not there"
}
hides() {
	! grep -qE -e "$1" "$out" || fail "$1 is there"
}
all_shown() {
	shows 'arg_int(a=-42, b=1250999896491, c=0xfffffff0)'
	shows 'arg_void(b=0x1, c=-3, d=-4, e=0xffff, f=0x1234, g=-5, h=?)'
	shows 'arg_float(d=?, i=42, f=?)'
	shows 'arg_hidden(n=42)'
	shows 'arg_tiny(a=42, b=-1)'
	shows 'arg_struct(t=[0x7:0xfffffffffffffff8], k=42)'
}

want 0 record -q -o function.dat -p function -O func-args -l 'arg_*' ./args
cmp -s want.out "$out" || fail "args says something else"
want 0 report function.dat
all_shown
shows 'arg_none'
hides 'arg_none\('

want 0 record -q -o graph.dat -p function_graph -O funcgraph-args -l 'arg_*' -l again ./args
cmp -s want.out "$out" || fail "args says something else"
want 0 report graph.dat
all_shown
shows 'again(n=42) {'
shows 'arg_none();'
hides '/\*'
want 0 report -O fgraph:retval graph.dat
shows 'arg_none(); /* = -22 */'
shows 'arg_fails(n=42); /* = -22 */'
shows '} /* again = 0x'
hides 'arg_(void|float).*/\*'

# The file tells what its functions take: the program need not be there any more.
mv args away
want 0 report graph.dat
all_shown
mv away args

# Others see what they always saw.
if command -v trace-cmd >/dev/null; then
	trace-cmd report -i function.dat >"$out" 2>"$err" || fail "trace-cmd does not read it"
	shows arg_int
	hides 'a=-42'
	trace-cmd report -i graph.dat >"$out" 2>"$err" || fail "trace-cmd does not read it"
	[ "$(grep -c 'arg_int();' "$out")" -eq 1 ] || fail "trace-cmd shows no call"
	hides LOST
	for file in function graph; do
		trace-cmd report -i $file.dat 2>"$err" | grep -v ^cpus= >want.report
		"$RINGSIDE" report --layout 3.2 $file.dat | grep -v ^cpus= >"$out"
		cmp -s want.report "$out" || fail "not the same as trace-cmd has"
	done
fi

# Without debug information there are none, and nothing else changes.
want 0 record -q -o silent.dat -p function -O func-args -l 'arg_*' ./silent
want 0 report silent.dat
shows arg_int
hides 'arg_[a-z]*\('

# A program that runs; two buffers, one of which wants them. Options count from when they are written.
want 0 reset
want 0 record -q -o one.dat -p function -l 'arg_*' ./args
hides 'arg_[a-z]*\('
want 0 start -p function -l arg_int -l arg_none
want 0 start -B graph -p function_graph -l arg_int
LD_PRELOAD="$RINGSIDE_BUILD/libringside.so.0" ./args stay >"$RINGSIDE_SCRATCH/stay.out" &
stay=$!
trap 'kill $stay 2>/dev/null' EXIT
# What is written from now on has this line: lines TREE TEXT
lines() {
	for _ in $(seq 200); do
		"$RINGSIDE" write "$1trace" '' && sleep 0.02
		"$RINGSIDE" cat "$1trace" >"$out" 2>"$err" || fail "no trace"
		! grep -qF -e "$2" "$out" || return 0
	done
	fail "$2 never comes"
}
lines '' 'arg_int <-again'
hides 'arg_int\('
want 0 write options/func-args 1
lines '' 'arg_int(a=-1, b=1250999896491, c=0xfffffff0) <-again'
hides 'arg_int <-'
shows 'arg_none <-again'
lines instances/graph/ 'arg_int();'
hides 'arg_int\(a'
want 0 write instances/graph/options/funcgraph-args 1
want 0 write options/func-args 0
lines '' 'arg_int <-again'
hides 'arg_int\('
lines instances/graph/ 'arg_int(a=-1, b=1250999896491, c=0xfffffff0);'
hides 'arg_int\(\)'
kill -0 $stay || fail "it is gone"
exit 0
