#!/bin/sh
# System calls and probes are switched on and off all the time, in a program that does all there is to do at once, and in what it
# starts; preloaded, and attached to and detached. What it says is the same, and it ends as it should.
. "$RINGSIDE_SOURCE/tests/sys/stage.sh"

# shellcheck disable=SC2086
$CC -w -D_GNU_SOURCE -O1 -no-pie "$own/mixed.c" -o "$dir/mixed" -pthread || exit 1
rounds=${STORM_ROUNDS-150}
./mixed "$rounds" >want.out || { echo "it fails untraced"; exit 1; }
library=$RINGSIDE_BUILD/libringside.so.0
LD_PRELOAD=$library "$RINGSIDE" record -q -e sched:sched_process_exec -o "$dir/trace.dat" true || exit 1

# What a name does not tell is not probed here: several functions, or one that is chosen by the loader.
for function in open read write close pipe malloc free mmap munmap mprotect fork waitpid execve posix_spawn system popen pclose fgets \
	poll ppoll nanosleep sigaction pthread_sigmask pthread_kill pthread_create pthread_join getppid sched_yield usleep clone dup2; do
	"$RINGSIDE" write -a dynamic_events "p:storm/$function libc.so.6:$function" 2>/dev/null
	"$RINGSIDE" write -a dynamic_events "r:storm/${function}_r libc.so.6:$function" 2>/dev/null
done
for function in work calls make_forks; do
	at=$(nm mixed | sed -n "s/^0*\([0-9a-f]*\) [tT] $function\$/\1/p")
	at=0x$(printf %x $((0x$at - 0x400000)))
	"$RINGSIDE" write -a dynamic_events "p:storm/own_$function $dir/mixed:$at" || exit 1
	"$RINGSIDE" write -a dynamic_events "r:storm/own_${function}_r $dir/mixed:$at" || exit 1
done
[ "$("$RINGSIDE" cat dynamic_events | wc -l)" -gt 50 ] || fail "only $("$RINGSIDE" cat dynamic_events | wc -l) probes"

switch() {
	"$RINGSIDE" write "$1" "$2" 2>>"$dir/words"
}

# storm HOW
storm() {
	n=0
	if [ "$1" = preloaded ]; then
		LD_PRELOAD=$library timeout 200 ./mixed "$rounds" >got.out 2>got.err &
	else
		timeout 200 ./mixed "$rounds" >got.out 2>got.err &
	fi
	program=$!
	while kill -0 "$program" 2>/dev/null; do
		target=$(pgrep -P "$program" -x mixed)
		[ "$1" = preloaded ] || [ -z "$target" ] || "$RINGSIDE" attach "$target" 2>>"$dir/words"
		switch events/raw_syscalls/enable 1
		switch events/storm/enable 1
		switch events/syscalls/enable 1
		switch events/raw_syscalls/enable 0
		switch events/storm/enable 0
		switch events/syscalls/enable 0
		[ "$1" = preloaded ] || [ -z "$target" ] || "$RINGSIDE" detach "$target" 2>>"$dir/words"
		n=$((n + 1))
	done
	wait "$program"
	got=$?
	[ "$got" -eq 0 ] || fail "$1: exit $got after $n rounds: $(head -n 5 got.err)"
	cmp -s want.out got.out || fail "$1: $(diff want.out got.out | head -n 5)"
}

storm preloaded
storm attached
exit "$bad"
