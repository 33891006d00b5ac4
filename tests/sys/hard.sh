#!/bin/sh
# The programs that do everything to their stacks, signals and code do the same with their system calls traced.
. "$RINGSIDE_SOURCE/tests/sys/stage.sh"

compile hard -O2 -rdynamic || { cat "$dir/errors"; exit 1; }
# shellcheck disable=SC2086
$CC -O2 -shared -fPIC "$cases/libhard.c" -o "$dir/libhard.so" || exit 1

for what in works jumps contexts deep tails signals altstack_of_two gone blocked traces returns loads processes traps leaping preempted \
	movers threads forks main_ends at_once descriptors sandbox sandbox_raw rooted; do
	same "$what" ./hard "$what"
done
# Where signals are sent for calls, a stack has to have room for one.
TRACERS=patches same smallstack ./hard smallstack
exit "$bad"
