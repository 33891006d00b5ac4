#!/bin/sh
# Filters and triggers of the command line: for events that are there, and for a program that never ran.
. "$RINGSIDE_SOURCE/tests/cmd/room.sh"

program shop <<'END'
#include <ringside/ringside.h>

RINGSIDE_EVENT(shop, order, field(int, item), print("item=%d", item))
RINGSIDE_EVENT(shop, pay, field(int, cents), print("cents=%d", cents))

int main(void)
{
	for (int i = 0; i < 6; i++) {
		trace_shop_order(i);
		trace_shop_pay(i);
	}
	return 0;
}
END

# Before it ever ran: the filter holds from the first record on, and nothing of it stays.
want 0 record -q -o "$RINGSIDE_SCRATCH/ahead.dat" -e shop:order -f 'item > 3' -e shop:pay -R 'hist:keys=cents' "$RINGSIDE_SCRATCH/shop"
want 0 report "$RINGSIDE_SCRATCH/ahead.dat"
[ "$(grep -c ' order: ' "$out")" = 2 ] || fail "the filter did not hold"
[ "$(grep -c ' pay: ' "$out")" = 6 ] || fail "events without a filter are missing"
want 0 cat show_event_filters
[ ! -s "$out" ] || fail "record leaves a filter"

# By name alone, where the command's own file tells whose it is; not by a system's, since its events may have other fields.
rm -rf "$RINGSIDE_DIR"
want 0 record -q -o "$RINGSIDE_SCRATCH/name.dat" -e order -f 'item > 3' -e pay -R 'hist:keys=cents' "$RINGSIDE_SCRATCH/shop"
want 0 report "$RINGSIDE_SCRATCH/name.dat"
[ "$(grep -c ' order: ' "$out")" = 2 ] || fail "the filter of a plain name did not hold"
[ "$(grep -c ' pay: ' "$out")" = 6 ] || fail "events without a filter are missing"
rm -rf "$RINGSIDE_DIR"
refuse 1 record -q -o "$RINGSIDE_SCRATCH/never.dat" -e shop -f 'item > 3' "$RINGSIDE_SCRATCH/shop" -- SYSTEM:EVENT
refuse 1 record -q -o "$RINGSIDE_SCRATCH/never.dat" -e 'shop:o*' -f 'item > 3' "$RINGSIDE_SCRATCH/shop" -- SYSTEM:EVENT

# The same in the top buffer, where it stays until it is taken away.
want 0 reset
want 0 start -q -e shop:order -f 'item == 1' -f 'item != 2' -e shop:pay -R 'hist:keys=cents'
want 0 cat show_event_filters
says 'shop:order	(item == 1)&&(item != 2)'
"$RINGSIDE_SCRATCH/shop"
want 0 show
[ "$(grep -c ' order: ' "$out")" = 1 ] || fail "the filters did not hold"
want 0 cat events/shop/pay/hist
grep -q 'Hits: 6$' "$out" || fail "nothing was counted"
want 0 stat
grep -q 'shop:order (item == 1)&&(item != 2)' "$out" || fail "stat does not tell the filter"
want 0 reset
want 0 cat show_event_filters show_event_triggers
[ ! -s "$out" ] || fail "reset leaves something"

# What is wrong is refused, and nothing else is done.
refuse 1 start -e shop:order -f 'nosuch == 1' -- 'Field not found'
refuse 1 start -e other:never -f 'item >' -- other:never
# A name alone may be a system's or an event's, of whichever program comes: before there is one, both are to be told.
refuse 1 start -e never -f 'item > 1' -- SYSTEM:EVENT
refuse 1 start -e 'never:*' -R 'hist:keys=item' -- SYSTEM:EVENT
refuse 1 record -o "$RINGSIDE_SCRATCH/never.dat" -e never -f 'item > 1' "$RINGSIDE_SCRATCH/shop" -- SYSTEM:EVENT
[ ! -e "$RINGSIDE_SCRATCH/never.dat" ] || fail "a file of a recording that was refused"
refuse 1 record -o "$RINGSIDE_SCRATCH/never.dat" -e never -R traceoff "$RINGSIDE_SCRATCH/shop" -- SYSTEM:EVENT
want 0 cat set_event
[ ! -s "$out" ] || fail "an event is on"
exit 0
