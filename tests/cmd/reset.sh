#!/bin/sh
# reset: dynamic events are forgotten, but for the kinds that are to be kept.
. "$RINGSIDE_SOURCE/tests/cmd/room.sh"
with_functions

program shop <<'END'
#include <ringside/ringside.h>
RINGSIDE_EVENT(shop, order, field(int, item), print("item=%d", item))
__attribute__((noinline, noclone)) int shop_place(int item) { trace_shop_order(item); return item + 1; }
int main(void) { return shop_place(3) == 5; }
END
shop=$RINGSIDE_SCRATCH/shop
place=$shop:0x$(nm "$shop" | sed -n 's/ T shop_place$//p')
want 0 start -e shop -p function
"$shop" || fail "the program fails"

define() {
	for line in 'kprobe_events p:kp shop_place' 'kprobe_events r:kr shop_place' "uprobe_events p:up $place" \
		"uprobe_events r:ur $place" 'dynamic_events e:ep shop.order' 'synthetic_events sy u64 n'; do
		want 0 write -a "${line%% *}" "${line#* }"
	done
	there 'ep kp kr sy up ur '
}
there() {
	want 0 cat dynamic_events
	has=$(sed 's/[[:space:]].*//; s/.*[:/]//' "$out" | sort | tr '\n' ' ')
	[ "$has" = "$1" ] || fail "'$has' is there, not '$1'"
}

define
want 0 reset -k all
there 'ep kp kr sy up ur '
want 0 reset -k kprobe -k kretprobe -k uprobe -k uretprobe -k eprobe -k synth
there 'ep kp kr sy up ur '
want 0 reset -k kretprobe -k uprobe -k synth
there 'kr sy up '
want 0 reset -k eprobe
there ''
for kind in 'kprobe kp' 'kretprobe kr' 'uprobe up' 'uretprobe ur' 'eprobe ep' 'synth sy'; do
	define
	want 0 reset -k "${kind% *}"
	there "${kind#* } "
	want 0 reset
	there ''
done

# All else goes, whatever is kept.
want 0 start -b 3000 -e shop -p function -O nooverwrite
define
want 0 reset -k all
want 0 cat current_tracer events/shop/enable
says 'nop
0'
want 0 list -o '^(no)?overwrite$'
says overwrite
refuse 2 reset -k nothing -- nothing kprobe synth
refuse 2 reset -k '' -- kprobe
exit 0
