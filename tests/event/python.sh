#!/bin/sh
# The example in Python defines events through the C interface, and they read as they should.

set -eu
shop=$RINGSIDE_SOURCE/examples/python/shop.py
lib=$RINGSIDE_BUILD/libringside.so

fail() {
	echo "FAIL $*"
	exit 1
}

"$RINGSIDE" start -e shop 2>/dev/null
/usr/bin/python3 "$shop" "$lib" || fail "the example ended with $?"
"$RINGSIDE" show >"$RINGSIDE_SCRATCH/out"
for line in 'tracing_mark_write: the shop opens' \
	'sale: item=40 price=9.99 customer=ann mac={0x2,0x0,0x0,0x0,0x0,0x0} lines={0x0} status=new' \
	'sale: item=41 price=19.98 customer=bob mac={0x2,0x0,0x0,0x0,0x0,0x1} lines={0x0,0x1} status=paid' \
	'sale: item=42 price=29.97 customer=chlo'; do
	[ "$(grep -cF "$line" "$RINGSIDE_SCRATCH/out")" = 1 ] ||
		fail "no \"$line\" in: $(cat "$RINGSIDE_SCRATCH/out")"
done
"$RINGSIDE" cat events/shop/sale/format | grep -qF 'field:u8 mac[6];	offset:28;	size:6;	signed:0;' ||
	fail "format: $("$RINGSIDE" cat events/shop/sale/format)"

# Off, it runs and leaves nothing; with nonsense for fields it is told why.
"$RINGSIDE" stop
"$RINGSIDE" clear
/usr/bin/python3 "$shop" "$lib" || fail "while off it ended with $?"
[ "$("$RINGSIDE" show | grep -c 'sale:')" = 0 ] || fail "traced while off"
/usr/bin/python3 - "$(dirname "$shop")" "$lib" <<'EOF' || fail "nonsense was not refused"
import sys
sys.path.insert(0, sys.argv[1])
sys.dont_write_bytecode = True
import shop
try:
    shop.Event(shop.load(sys.argv[2]), "shop", "x", "integer a")
except ValueError as why:
    sys.exit(0 if "unknown type" in str(why) else str(why))
sys.exit(1)
EOF
