#!/bin/sh
# Instances of a tracing directory: each -B has the options behind it, and nobody else's.
. "$RINGSIDE_SOURCE/tests/cmd/room.sh"

program shop <<'END'
#include <ringside/ringside.h>

RINGSIDE_EVENT(shop, order, field(int, item))
RINGSIDE_EVENT(shop, pay, field(int, cents))

int main(void)
{
	for (int i = 0; i < 3; i++) {
		trace_shop_order(i);
		trace_shop_pay(i);
	}
	return 0;
}
END

# How many events of that name: count NAME [show's options]
count() {
	name=$1
	shift
	want 0 show "$@"
	grep -c ": $name:" "$out"
}

# Names that cannot be, instances that are not.
refuse 2 start -B '' -- -B
refuse 2 start -B a/b -- a/b
refuse 2 start -B .. -- ..
refuse 2 start -e shop:order -B -- 'an INSTANCE'
want 0 start -p nop
refuse 1 show -B nosuch -- nosuch 'list -B' 'start -B nosuch'
for cmd in stop restart clear stat snapshot reset; do
	refuse 1 $cmd -B nosuch -- nosuch
done
want 0 list -B
[ ! -s "$out" ] || fail "an instance was made"
want 0 reset

# Made by start, and the top buffer stays out of it.
want 0 start -B orders -e shop:order -B pays -e shop:pay -b 128
want 0 list -B
says 'orders
pays'
"$RINGSIDE_SCRATCH/shop"
[ "$(count order -B orders)" = 3 ] && [ "$(count pay -B orders)" = 0 ] || fail "orders"
[ "$(count order -B pays)" = 0 ] && [ "$(count pay -B pays)" = 3 ] || fail "pays"
[ "$(count order)" = 0 ] && [ "$(count pay)" = 0 ] || fail "the top buffer has something"
want 0 cat instances/pays/buffer_size_kb instances/orders/buffer_size_kb
[ "$(sed -n 1p "$out")" -lt 200 ] && [ "$(sed -n 2p "$out")" -gt 1000 ] || fail "sizes"
want 0 show --json -B pays
[ "$(grep -c '"event":"pay"' "$out")" -eq 3 ] || fail "JSON of an instance"

# Options before the first -B are the top buffer's.
want 0 start -e shop -B orders -e shop:pay
want 0 clear -a
"$RINGSIDE_SCRATCH/shop"
[ "$(count order)" = 3 ] && [ "$(count pay)" = 3 ] || fail "the top buffer"
[ "$(count pay -B orders)" = 3 ] || fail "one more event in an instance"

# Stopped and gone on with, one by one and all.
want 0 stop -B orders
want 0 cat tracing_on instances/orders/tracing_on instances/pays/tracing_on
says '1
0
1'
want 0 stop -a
want 0 restart -B orders
want 0 cat tracing_on instances/orders/tracing_on instances/pays/tracing_on
says '1
1
0'
want 0 stop -a -t
want 0 cat tracing_on instances/orders/tracing_on instances/pays/tracing_on
says '0
0
0'
want 0 restart -a
want 0 restart
want 0 cat tracing_on instances/orders/tracing_on instances/pays/tracing_on
says '1
1
1'

# Emptied one by one.
want 0 clear -B orders
[ "$(count pay -B orders)" = 0 ] && [ "$(count pay -B pays)" = 3 ] && [ "$(count pay)" = 3 ] ||
	fail "clear -B"

# Followed.
want 0 show -p -B pays --timeout 0
[ "$(grep -c ': pay:' "$out")" -eq 3 ] || fail "show -p -B"
[ "$(count pay -B pays)" = 0 ] || fail "they were not taken away"

# Reset: one as new, one gone, then everything as new, and everything gone.
want 0 reset -B orders
want 0 cat instances/orders/set_event set_event
says 'shop:order
shop:pay'
want 0 reset -B pays -d
want 0 list -B
says orders
want 0 start -B orders -e shop
want 0 reset
want 0 cat instances/orders/set_event set_event
[ ! -s "$out" ] || fail "reset leaves events on"
want 0 list -B
says orders
want 0 reset -d
want 0 list -B
[ ! -s "$out" ] || fail "reset -d leaves an instance"

# What fails leaves no instance behind.
refuse 1 start -B new -C nosuch -- nosuch
refuse 1 start -B new -e shop -f 'nosuch > 1' -- 'Field not found'
want 0 list -B
[ ! -s "$out" ] || fail "an instance was left behind"
exit 0
