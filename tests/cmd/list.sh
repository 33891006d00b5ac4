#!/bin/sh
# list on a tracing directory: events and what else there is.
. "$RINGSIDE_SOURCE/tests/cmd/room.sh"

program shop <<'END'
#include <ringside/ringside.h>

RINGSIDE_EVENT(shop, order, field(int, item), string(who), print("item=%d who=%s", item, who))
RINGSIDE_EVENT(shop, pay, field(int, cents))
RINGSIDE_EVENT(till, open, field(int, n))

int main(void)
{
	trace_shop_order(1, "ann");
	return 0;
}
END

refuse 2 list -s -F -- -s -F
refuse 2 list -s --full -- --full
refuse 2 list -B -e -- -B
refuse 2 list -t -C -- -C
refuse 1 list -- "$RINGSIDE_DIR"
want 0 start -e shop:order
"$RINGSIDE_SCRATCH/shop"
want 0 list
says 'shop:order
shop:pay
till:open'
want 0 list -e PAY
says shop:pay
want 0 list -s
says 'shop
till'
want 0 list --json -s till
says '{"system":"till"}'
want 0 list --json
grep -q '^{"system":"shop","event":"order","id":[0-9]*,"enabled":true}$' "$out" || fail "order in JSON"
grep -q '^{"system":"shop","event":"pay","id":[0-9]*,"enabled":false}$' "$out" || fail "pay in JSON"
want 0 list -F 'shop:pay'
grep -q 'field:int cents;' "$out" && ! grep -q 'print fmt' "$out" || fail "fields"
want 0 list --full 'shop:pay'
grep -q 'print fmt:' "$out" || fail "print format"
want 0 list -t
grep -qx nop "$out" || fail "no tracer nop"
want 0 list -C
grep -q '^\[local\]$' "$out" || fail "no clock"
want 0 list -o '^(no)?overwrite$'
says overwrite
want 0 list -B
[ ! -s "$out" ] || fail "instances from nowhere"
want 0 start -B blue -B green
want 0 list -B
says 'blue
green'
want 0 list -B --json gr
says '{"instance":"green"}'
exit 0
