#!/bin/sh
# stream: what comes is printed as report prints it, in order, with what was lost; it ends as it is told to, and nothing stays
# switched on.
. "$RINGSIDE_SOURCE/tests/cmd/room.sh"

program ticker <<'END'
#define _GNU_SOURCE
#include <ringside/ringside.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

RINGSIDE_EVENT(tick, tock, field(int, n))
RINGSIDE_EVENT(tick, other, field(int, n))

static int count, hurry;

static void *work(void *name)
{
	pthread_setname_np(pthread_self(), name);
	for (int i = 0; i < count; i++) {
		trace_tick_tock(i);
		if (!hurry && i % 50 == 49)
			usleep(1000);
	}
	return NULL;
}

/* ticker COUNT [STATUS [MILLISECONDS [HURRY]]]: two threads, each so often. */
int main(int argc, char **argv)
{
	pthread_t left, right;

	count = argc > 1 ? atoi(argv[1]) : 1;
	hurry = argc > 4;
	trace_tick_other(count);
	pthread_create(&left, NULL, work, (void *)"left");
	pthread_create(&right, NULL, work, (void *)"right");
	pthread_join(left, NULL);
	pthread_join(right, NULL);
	ringside_printf("count is %d\n", count);
	ringside_mark("done");
	usleep(argc > 3 ? (useconds_t)atoi(argv[3]) * 1000 : 0);
	return argc > 2 ? atoi(argv[2]) : 0;
}
END
ticker=$RINGSIDE_SCRATCH/ticker

# As it was before anybody streamed: no instance, nothing on.
untouched() {
	"$RINGSIDE" list -B >"$out.left" 2>&1
	[ ! -s "$out.left" ] || fail "$*: an instance is left: $(cat "$out.left")"
	"$RINGSIDE" cat set_event >"$out.left" 2>&1
	[ ! -s "$out.left" ] || fail "$*: events are on: $(cat "$out.left")"
	"$RINGSIDE" stat >"$out.left" 2>&1
	! grep -q 'Events:' "$out.left" || fail "$*: $(cat "$out.left")"
}

# All but what is another one each time: columns without number of the CPU and time.
plain() {
	sed -E 's/\[[0-9]{3}\]/[CPU]/; s/ +[0-9]+\.[0-9]+: / TIME: /; s/^ *([^ ]+)-[0-9]+ +/\1 /' "$1"
}

# In order of time.
ordered() {
	awk '{ for (i = 1; i <= NF; i++) if ($i ~ /^[0-9]+\.[0-9]+:$/) { t = $i + 0; if (t < last) exit 1; last = t; break } }' "$1"
}

# From here on its events are known.
"$ticker"

# A command: its lines, its status, and then nothing more.
want 7 stream -e tick "$ticker" 500 7
untouched "a command"
[ "$(grep -c 'tock: ' "$out")" -eq 1000 ] || fail "$(grep -c 'tock: ' "$out") ticks"
grep -Eq '^            left-[0-9]+ +\[[0-9]{3}\] \.\.\.\.\. +[0-9]+\.[0-9]{6}: tock:                 n=499$' "$out" ||
	fail "not the columns of report"
ordered "$out" || fail "not in order"
[ ! -s "$err" ] || fail "words without need"
cp "$out" "$out.streamed"

# The same lines as report has of a recording of the same.
"$RINGSIDE" record -q -e tick -o "$RINGSIDE_SCRATCH/same.dat" "$ticker" 500 7 >"$out" 2>"$err"
want 0 report -q "$RINGSIDE_SCRATCH/same.dat"
tail -n +2 "$out" >"$out.reported"
for thread in left right ticker; do
	plain "$out.streamed" | grep "^$thread " >"$out.a"
	plain "$out.reported" | grep "^$thread " >"$out.b"
	cmp -s "$out.a" "$out.b" || fail "not what report says of $thread: $(diff "$out.a" "$out.b" | head -5)"
done

# All events where none is named, and words with their places.
want 0 stream "$ticker" 1
grep -q ': other:                n=1$' "$out" || fail "not all events"
grep -Eq ': bprint: +main: count is 1$' "$out" || fail "no printf"
grep -Eq ': print: +tracing_mark_write: done$' "$out" || fail "no marker"
untouched "all events"

# Events, times and CPUs are those that show had, of a buffer that somebody else made; it stays his.
want 0 start -B his -e tick:tock -C counter
"$ticker" 100
want 0 stop -B his
want 0 show -B his
grep -v '^#' "$out" | awk '{ print $2, $4, $NF }' >"$out.shown"
[ -s "$out.shown" ] || fail "nothing to show"
"$RINGSIDE" stream -B his -e tick:other "$ticker" 1 >"$out" 2>"$err" || fail "stream -B his"
grep ' tock: ' "$out" | sed -E 's/^ *his: //' | awk '{ print $2, $4, $NF }' | head -n 200 >"$out.a"
head -n 200 "$out.shown" | cmp -s - "$out.a" || fail "not what show said: $(diff "$out.shown" "$out.a" | head -5)"
want 0 cat instances/his/trace_clock instances/his/set_event
grep -qF '[counter]' "$out" || fail "his clock was changed"
grep -qx 'tick:tock' "$out" || fail "his event is off"
want 0 reset -B his -d
want 0 reset
untouched "his instance"

# Several buffers: in order, each with its name.
want 0 stream -B one -e tick:tock -B longer -e tick:other "$ticker" 3
[ "$(grep -c '^   one: .* tock: ' "$out")" -eq 6 ] || fail "not the ticks of one"
[ "$(grep -c '^longer: .* other: ' "$out")" -eq 1 ] || fail "not what longer has"
ordered "$out" || fail "two buffers, not in order"
untouched "two buffers"

# The top one.
want 0 stream --top -e tick:other "$ticker" 1
[ "$(grep -c ' other: ' "$out")" -eq 1 ] || fail "not the top buffer"
untouched "the top buffer"
want 0 show
[ "$(grep -c ' other: ' "$out")" -eq 0 ] || fail "it was not taken out"

# Lost ones are counted: printed and lost make all there were, whichever of them a full buffer keeps.
for keep in overwrite nooverwrite; do
	want 0 stream -b 8 -O $keep -e tick:tock "$ticker" 100000 0 0 hurry
	grep -Eq '^CPU:[0-9]+ \[[0-9]+ EVENTS DROPPED\]$' "$out" || fail "$keep: no word of losses"
	told=$(sed -n 's/^CPU:[0-9]* \[\([0-9]*\) EVENTS DROPPED\]$/\1/p' "$out" | awk '{ n += $1 } END { print n }')
	all=$(($(grep -cE '(tock|bprint|print): ' "$out") + told))
	# What is printed after them may be lost, too.
	[ $all -eq 200002 ] || fail "$keep: $all printed and lost, $told of them lost"
	grep -qx "ringside: $told events were lost" "$err" || fail "$keep: the sum of losses"
done

# Only one thread.
want 0 stream -F -e tick "$ticker" 5
grep -q ' other: ' "$out" && ! grep -q ' tock: ' "$out" || fail "more than the first thread"
want 0 stream -F -c -e tick "$ticker" 5
[ "$(grep -c ' tock: ' "$out")" -eq 10 ] || fail "not what it started"

# Without a command: a program that comes is seen soon; Ctrl-C and its like end it well.
for signal in INT TERM; do
	: >"$out.live"
	"$RINGSIDE" stream -e tick:other >"$out.live" 2>"$err" &
	stream=$!
	i=0
	while ! grep -q ' other: ' "$out.live" && [ $i -lt 200 ]; do
		"$ticker" 1
		sleep 0.05
		i=$((i + 1))
	done
	kill -$signal $stream
	wait $stream
	[ $? -eq 0 ] || fail "$signal: not 0: $(cat "$err")"
	grep -q ' other: ' "$out.live" || fail "$signal: no event: $(cat "$out.live")"
	untouched "$signal"
done

# One that was killed is swept away by the next.
"$RINGSIDE" stream -e tick:other >"$out.live" 2>"$err" &
stream=$!
i=0
while ! "$RINGSIDE" list -B | grep -q "^record-" && [ $i -lt 200 ]; do
	sleep 0.05
	i=$((i + 1))
done
kill -KILL $stream
wait $stream 2>/dev/null
want 0 stream -e tick:other "$ticker" 1
untouched "a killed one"

# A reader that has seen enough ends it, whether something comes or not. The command goes on.
"$RINGSIDE" stream -e tick "$ticker" 2000 2>"$err" | head -n 1 >"$out"
[ "$(wc -l <"$out")" -eq 1 ] && [ ! -s "$err" ] || fail "| head: $(cat "$err")"
untouched "| head"
{
	"$RINGSIDE" stream -q -e tick:other "$ticker" 1 0 60000 2>"$err" &
	echo $! >"$RINGSIDE_SCRATCH/pid"
	wait $!
	echo $? >"$RINGSIDE_SCRATCH/status"
} | head -n 1 >"$out"
[ "$(cat "$RINGSIDE_SCRATCH/status")" -eq 0 ] || fail "| head, and nothing comes"
untouched "| head, and nothing comes"
left=$(sed -nE 's/^ *ticker-([0-9]+) .*/\1/p' "$out")
kill -0 "$left" || fail "the command was ended"
kill "$left"

# Nowhere to write to.
if [ -c /dev/full ]; then
	"$RINGSIDE" stream -e tick "$ticker" 1 >/dev/full 2>"$err"
	[ $? -eq 1 ] && grep -q 'standard output' "$err" || fail "/dev/full"
	untouched "/dev/full"
fi

# Somebody else reads it already.
want 0 start -B his -e tick
"$RINGSIDE" show -p -B his >"$out.live" 2>/dev/null &
follower=$!
want 0 write instances/his/trace_marker hello
i=0
while [ ! -s "$out.live" ] && [ $i -lt 200 ]; do
	sleep 0.05
	i=$((i + 1))
done
refuse 1 stream -B his -e tick -- read
kill -INT $follower
wait $follower
want 0 reset -B his -d
want 0 reset

# What cannot be.
refuse 1 stream /nosuch/program -- /nosuch/program
refuse 2 stream -F -- 'only-command' 'command'
refuse 2 stream -B a/b -e tick -- "'a/b'"
refuse 2 stream -b none "$ticker" -- none
refuse 1 stream -e tick:tock -f 'nosuch == 1' "$ticker" -- filter
mkdir "$RINGSIDE_SCRATCH/none"
refuse 1 --tracefs "$RINGSIDE_SCRATCH/none" stream -e tick -- 'no tracing tree'
refuse 1 --dir /proc/nosuch stream -- /proc/nosuch
untouched "what cannot be"
exit 0
