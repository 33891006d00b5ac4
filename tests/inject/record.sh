#!/bin/sh
# A program that knows nothing of us, attached: it is recorded from then on, and no more when it is detached; as often as one likes.
# record -P does both by itself. Its forks are what it has to tell.

. "$RINGSIDE_SOURCE/tests/inject/stage.sh"
build target || { cat "$dir/errors"; exit 1; }

count() {
	"$RINGSIDE" show | grep -c "sched_process_fork: comm=target pid=$target "
}

# Another word whenever the target has come round: here the faults of the children that it has waited for.
turn() {
	cut -d ' ' -f 11 "/proc/$target/stat"
}

# Waits until the target has come round $1 times. The first time may have begun long before, on a busy machine: a child that was
# forked by then has yet to tell of itself. The second began after that.
rounds() {
	left=$1
	last=$(turn)
	while [ "$left" -gt 0 ] && kill -0 "$target"; do
		now=$(turn)
		[ "$now" = "$last" ] && sleep 0.01 && continue
		last=$now
		left=$((left - 1))
	done
}

# Are there more than $1 when it has come round?
grows() {
	rounds 2
	[ "$(count)" -gt "$1" ]
}

# Does nothing come when it comes round, but what was on its way?
silent() {
	rounds 1
	before=$(count)
	rounds 3
	[ "$(count)" = "$before" ]
}

"$RINGSIDE" start -b 20000 -e sched:sched_process_fork >/dev/null || exit 1
begin "$dir/target" fork
[ "$(count)" = 0 ] || fail 'it tells before it was attached'
for i in 1 2 3 4 5 6 7 8 9 10; do
	before=$(count)
	"$RINGSIDE" attach "$target" || fail "attach $i"
	grows "$before" || fail "nothing of it after attach $i"
	"$RINGSIDE" stat | grep -q " $target target" || fail "stat does not know it"
	"$RINGSIDE" detach "$target" || fail "detach $i"
	silent || fail "it tells after detach $i"
	"$RINGSIDE" clear
done
# Within one state of the directory, too, more often than a program has room for pictures of it.
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do
	"$RINGSIDE" attach "$target" || fail "attach again $i"
	grows "$(count)" || fail "nothing of it after attach again $i"
	"$RINGSIDE" detach "$target" || fail "detach again $i"
	silent || fail "it tells after detach again $i"
done
# Another directory is refused: a process has one.
RINGSIDE_DIR=$dir/other "$RINGSIDE" attach "$target" 2>"$dir/errors" && fail 'it has joined two directories'
grep -q 'belongs to the tracing directory' "$dir/errors" || fail "two: $(cat "$dir/errors")"
finish attached

# record -P, and two at once of which one is gone.
begin "$dir/target" fork
"$RINGSIDE" record -q -o "$dir/trace.dat" -e sched:sched_process_fork -P "$target,999999999" &
recorder=$!
# Or the time is over that a test has.
until "$RINGSIDE" report "$dir/trace.dat" 2>/dev/null | grep -q "pid=$target "; do
	kill -0 "$recorder" || { fail 'record -P records nothing'; break; }
	sleep 0.1
done
kill -INT "$recorder"
wait "$recorder" || fail "record ends with $?"
silent || fail 'it tells after the recording'
finish recorded
# A program that is linked with the runtime has joined by itself. Detached, its events and what hangs on them are off, for it alone.
cat >"$dir/ticks.c" <<'C'
#include <fcntl.h>
#include <ringside/event.h>
#include <stdio.h>
#include <unistd.h>
RINGSIDE_EVENT(late, tick, field(int, n), print("n=%d", n))
int main(int argc, char **argv)
{
	int fd = open(argv[argc - 1], O_WRONLY | O_CREAT, 0600);
	char round[16];

	printf("%d\n", (int)getpid());
	fflush(stdout);
	for (int n = 0;; n++) {
		trace_late_tick(n);
		if (pwrite(fd, round, (size_t)snprintf(round, sizeof(round), "%9d\n", n), 0) < 0)
			return 1;
		usleep(2000);
	}
}
C
# shellcheck disable=SC2086
$CC -I "$RINGSIDE_SOURCE/include" "$dir/ticks.c" -o "$dir/ticks" -L "$RINGSIDE_BUILD" -lringside || exit 1
export LD_LIBRARY_PATH="$RINGSIDE_BUILD"
count() {
	"$RINGSIDE" show | grep -c -e "-$target .* tick: "
}
hits() {
	"$RINGSIDE" cat events/late/tick/hist | sed -n 's/.*Hits: //p'
}
turn() {
	cat "$dir/$target.round"
}
begin sh -c 'exec "$0" "$1/$$.round"' "$dir/ticks" "$dir"
one=$target
begin sh -c 'exec "$0" "$1/$$.round"' "$dir/ticks" "$dir"
"$RINGSIDE" write events/late/tick/trigger 'hist:keys=common_pid' || fail 'no trigger'
"$RINGSIDE" start -e late >/dev/null
grows 0 || fail 'a linked program tells nothing'
"$RINGSIDE" attach "$target" || fail 'a linked program cannot be called'
"$RINGSIDE" detach "$target" || fail 'a linked program cannot be detached'
silent || fail 'a linked program tells after it was detached'
before=$(count)
first=$("$RINGSIDE" cat events/late/tick/hist | grep "common_pid: *$target ")
hits=$(hits)
rounds 3
[ "$("$RINGSIDE" cat events/late/tick/hist | grep "common_pid: *$target ")" = "$first" ] || fail 'and counts'
other=$target
target=$one
rounds 2
[ "$(hits)" -gt "$hits" ] || fail 'so does nobody else'
target=$other
"$RINGSIDE" attach "$target" || fail 'a linked program cannot be attached again'
grows "$before" || fail 'a linked program tells nothing when it is attached again'
kill -9 "$target" "$one"

# A recording of others ends with the last of them.
sleep 1 &
first=$!
sleep 2 &
timeout 60 "$RINGSIDE" record -q -o "$dir/trace.dat" -e sched:sched_process_exit -P "$first,$!" 2>"$dir/errors" ||
	fail "record -P does not end with its processes: $(cat "$dir/errors")"
! grep -qs '^State:.[RS]' "/proc/$!/status" || fail 'record -P ends before its processes'
"$RINGSIDE" record -q -o "$dir/trace.dat" -P 999999999 2>"$dir/errors" && fail 'record -P records nobody'
grep -q 'there is no process 999999999' "$dir/errors" || fail "nobody: $(cat "$dir/errors")"
exit "$bad"
