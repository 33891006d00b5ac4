#!/bin/sh
# Programs do the same traced and untraced when they jump out of functions, throw exceptions, switch stacks, recurse, jump from
# function to function, are interrupted all the time, die in the middle, fork, walk their stacks, look at their return
# addresses, load and unload, and give up what they need to live.
. "$RINGSIDE_SOURCE/tests/func/stage.sh"

compile hard -O2 -rdynamic || { cat "$dir/errors"; exit 1; }
# shellcheck disable=SC2086
$CC -O2 -shared -fPIC "$cases/libhard.c" -o "$dir/libhard.so" || exit 1

same many ./hard works jumps contexts deep tails signals altstack smallstack gone blocked traces returns loads processes
same traps ./hard traps works
same leaping ./hard leaping
same preempted ./hard preempted
same movers ./hard movers
same threads ./hard threads
same forks ./hard forks
for what in main_ends at_once descriptors sandbox sandbox_raw rooted; do
	same "$what" ./hard "$what"
done
# shellcheck disable=SC2086
$CC -w -O2 "$cases/stepped.c" -o "$dir/stepped" -pthread || exit 1
same stepped ./stepped
# What was hooked and patched is there, too, not only unharmed.
same works ./hard works
recorded outer inner leaf
# Also when a handler has walked the stack below its own.
same traces_above ./hard traces_above
recorded walked_over
same leaping_aside ./hard leaping_aside
recorded leapt_at_last

cxx=${CXX:-$(echo "$CC" | sed 's/gcc/g++/; s/clang/clang++/; s/^cc/c++/')}
# shellcheck disable=SC2086
if $cxx -O2 "$cases/throws.cc" -o "$dir/throws" -pthread 2>"$dir/errors"; then
	same throws ./throws
	same 'throws for good' ./throws on
	# The unwinder is a part of the program, with names and without.
	# shellcheck disable=SC2086
	$cxx -O2 "$cases/throws.cc" -o "$dir/throws_alone" -pthread -static-libgcc -static-libstdc++ || fail "throws_alone"
	same 'own unwinder' ./throws_alone
	strip throws_alone
	same 'own unwinder, no names' ./throws_alone
else
	without "C++: $(head -n 1 "$dir/errors")"
fi
exit "$bad"
