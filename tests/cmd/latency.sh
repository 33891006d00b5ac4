#!/bin/sh
# latency: from one event to another, also in another program; what never met an end is told, and nothing stays behind.
. "$RINGSIDE_SOURCE/tests/cmd/room.sh"

program shop <"$RINGSIDE_SOURCE/tests/cmd/live_shop.c"
shop=$RINGSIDE_SCRATCH/shop

program half <<'END'
#include <ringside/ringside.h>
#include <stdlib.h>
#include <string.h>

RINGSIDE_EVENT(front, request, field(long, id), string(who))
RINGSIDE_EVENT(back, request, field(int, number), string(from))

/* half front|back N: requests 0 to N-1 of one side. */
int main(int argc, char **argv)
{
	for (int i = 0; argc > 2 && i < atoi(argv[2]); i++)
		if (!strcmp(argv[1], "front"))
			trace_front_request(i, i % 2 ? "ann" : "bob");
		else
			trace_back_request(i, i % 2 ? "ann" : "bob");
	return 0;
}
END
half=$RINGSIDE_SCRATCH/half

tells() {
	for text; do
		grep -q -e "$text" "$out" || fail "latency does not tell '$text'"
	done
}

nothing_left() {
	for path in instances synthetic_events; do
		want 0 cat $path
		[ ! -s "$out" ] || fail "something is left in $path"
	done
}

# A program that nobody has seen. One order of seven is never done, and begins anew.
want 0 latency shop:order shop:done --on item -- "$shop" 70 200
tells '^shop:order -> shop:done by item$' ' .. .* |#' '^p50 .*p90 .*p99 .*p99.9 .*max .*mean ' \
	'the worst *item *task *at' ' [um]s  [0-4] *shop-[0-9]* *[0-9]*\.[0-9]\{6\}$' \
	'^70 starts, 60 met an end, .* began anew before one$'
[ "$(grep -c ' shop-[0-9]* ' "$out")" -eq 10 ] || fail "not ten of the worst"
nothing_left

# By a text of programs that nobody has seen.
mine=$RINGSIDE_DIR
export RINGSIDE_DIR="$mine.fresh"
want 0 latency front:request back:request --on who=from -- sh -c "'$half' front 2; '$half' back 2"
tells 's  ann *half-[0-9]' 's  bob *half-[0-9]' '^2 starts, 2 met an end$'
nothing_left
export RINGSIDE_DIR="$mine"

# Two programs, other names for the same number, the same name of the event. Conditions on both.
want 0 latency front:request back:request --on id=number -- sh -c "'$half' front 50; '$half' back 30"
tells '^front:request -> back:request by id$' '^50 starts, 30 met an end, 20 wait for one$'
want 0 latency front:request back:request --on id=number --if-start 'id >= 10' --if-end 'number < 25' -- \
	sh -c "'$half' front 50; '$half' back 30"
tells '^40 starts, 15 met an end, 25 wait for one; 10 ends without a start$'

# By a text, which is listed as such.
want 0 latency front:request back:request --on who=from -- sh -c "'$half' front 2; '$half' back 2"
tells '^2 starts, 2 met an end$' ' ann *half-' ' bob *half-'

# Nothing came.
want 0 latency shop:order shop:done --on item --for 50ms
tells '^no end has met a start yet$' '^0 starts, 0 met an end$'

want 5 latency shop:order shop:done --on item -- sh -c 'exit 5'
nothing_left

refuse 2 latency shop:order --on item -- latency
refuse 1 latency shop:done shop:done --on item --for 1s -- 'same event'
refuse 2 latency shop:order shop:done -- --on
refuse 2 latency shop:order shop:done --on = -- FIELD
refuse 1 latency shop:order shop:done --on nothing --for 1s -- nothing
refuse 1 latency shop:order shop:done --on item --if-end 'nothing > 1' --for 1s -- nothing
nothing_left
exit 0
