#!/bin/sh
# The programs that do everything to their stacks, signals and code do the same with their allocations recorded; and so do C++ exceptions.
. "$RINGSIDE_SOURCE/tests/func/stage.sh"

TRACERS=nop HOW='-b 8192 -e kmem:kmalloc -e kmem:kfree'

compile hard -O2 -rdynamic || { cat "$dir/errors"; exit 1; }
# shellcheck disable=SC2086
$CC -O2 -shared -fPIC "$cases/libhard.c" -o "$dir/libhard.so" || exit 1

for what in works jumps contexts deep tails signals altstack smallstack gone blocked traces traces_above returns loads processes traps \
	leaping leaping_aside preempted movers threads forks main_ends at_once descriptors sandbox sandbox_raw rooted; do
	same "$what" ./hard "$what"
done
# shellcheck disable=SC2086
if ${CXX:-g++} -O2 "$cases/throws.cc" -o "$dir/throws" -pthread 2>"$dir/errors"; then
	same throws ./throws
else
	without "exceptions: no C++ compiler"
fi
"$RINGSIDE" report "$dir/trace.dat" >"$dir/report" || fail "no report"
grep -q ' kmalloc: .*call_site=' "$dir/report" || fail "nothing was recorded of the last of them"
exit "$bad"
