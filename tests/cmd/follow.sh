#!/bin/sh
# show -p: what comes is printed soon, once, and all of it; it ends when told to.
. "$RINGSIDE_SOURCE/tests/cmd/room.sh"

program ticker <<'EOF'
#include <ringside/ringside.h>
#include <stdlib.h>
#include <unistd.h>

RINGSIDE_EVENT(tick, tock, field(int, n))

int main(int argc, char **argv)
{
	int count = argc > 1 ? atoi(argv[1]) : 1;

	for (int i = 0; i < count; i++) {
		trace_tick_tock(i);
		if (i % 100 == 0)
			usleep(1000);
	}
	return 0;
}
EOF

# Lines until there are so many or a deadline: lines FILE COUNT SECONDS
lines() {
	i=0
	while [ "$(wc -l <"$1")" -lt "$2" ] && [ $i -lt $(($3 * 20)) ]; do
		sleep 0.05
		i=$((i + 1))
	done
	[ "$(wc -l <"$1")" -ge "$2" ]
}

# It waits for a directory that has no rings yet, and for a program that comes.
want 0 start -e tick
want 0 reset
: >"$out.follow"
"$RINGSIDE" show -p >"$out.follow" 2>"$err" &
follower=$!
sleep 0.2
want 0 start -e tick
"$RINGSIDE_SCRATCH/ticker" 1
lines "$out.follow" 1 30 || fail "nothing came within 5 s"
grep -q 'tock: n=0$' "$out.follow" || fail "not the tick"
! grep -q '^#' "$out.follow" || fail "a header"

# A second consumer is told; one that only looks is not disturbed.
refuse 1 show -p --timeout 0.2 -- read
want 0 show

# Many, while the buffer is resized under it.
"$RINGSIDE_SCRATCH/ticker" 20000 &
ticker=$!
for kb in 900 2000 500 3000 1408; do
	want 0 write buffer_size_kb $kb
	sleep 0.03
done
wait $ticker
lines "$out.follow" 20001 60 || fail "$(wc -l <"$out.follow") lines"
sleep 0.3
[ "$(wc -l <"$out.follow")" -eq 20001 ] || fail "$(wc -l <"$out.follow") lines"
sed -n 's/.*tock: n=//p' "$out.follow" | tail -n +2 | cmp -s - "$(
	seq 0 19999 >"$out.want"
	echo "$out.want"
)" || fail "not in order, or not once"

# Ctrl-C ends it well.
kill -INT $follower
wait $follower
[ $? -eq 0 ] || fail "interrupted: not 0"
want 0 show
grep -q '^# entries-in-buffer/entries-written: 0/' "$out" || fail "they were not taken away"

# So does the clock, whether events come or not.
start=$(date +%s)
want 0 show -p --timeout 0.3
[ ! -s "$out" ] || fail "something came"
"$RINGSIDE_SCRATCH/ticker" 1
want 0 show -p --timeout 0.3 --json
[ "$(grep -c '"n":0' "$out")" -eq 1 ] || fail "not one tick"
[ $(($(date +%s) - start)) -le 60 ] || fail "took too long"

# A follower that is killed takes nothing along that it did not print.
"$RINGSIDE_SCRATCH/ticker" 500
: >"$out.killed"
"$RINGSIDE" show -p >"$out.killed" 2>"$err" &
follower=$!
lines "$out.killed" 500 30 || fail "500 ticks"
kill -KILL $follower
wait $follower 2>/dev/null
"$RINGSIDE_SCRATCH/ticker" 1
want 0 show -p --timeout 1
grep -q 'n=0$' "$out" || fail "nothing after a killed follower"

# Ending in the middle of a page prints that page to its end, so nothing comes twice.
"$RINGSIDE_SCRATCH/ticker" 50
want 0 show -p --timeout 0
cp "$out" "$out.first"
want 0 show -p --timeout 1
[ "$(cat "$out.first" "$out" | grep -c tock)" -eq 50 ] || fail "50 ticks came $(cat "$out.first" "$out" | grep -c tock) times"

# An event that nobody had brought when it began is printed by name all the same.
program newcomer <<'END'
#include <ringside/ringside.h>
RINGSIDE_EVENT(late, comer, field(int, n))
int main(void)
{
	trace_late_comer(7);
	return 0;
}
END
: >"$out.late"
"$RINGSIDE" show -p >"$out.late" 2>"$err" &
follower=$!
want 0 write trace_marker before
lines "$out.late" 1 30 || fail "no marker"
"$RINGSIDE" start -e late 2>/dev/null
"$RINGSIDE_SCRATCH/newcomer"
lines "$out.late" 2 30 || fail "no newcomer: $(cat "$out.late")"
kill -INT $follower
wait $follower
grep -q 'newcomer-.* comer: n=7$' "$out.late" || fail "not by name: $(cat "$out.late")"
exit 0
