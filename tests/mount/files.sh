#!/bin/sh
# Files of the mounted tree behave as those of tracefs do: for ls, cat, echo, dd, `>` and `>>`, chmod.
. "$RINGSIDE_SOURCE/tests/mount/room.sh"

program shop <<'END'
#include <ringside/ringside.h>

RINGSIDE_EVENT(shop, order, field(int, item))
RINGSIDE_EVENT(shop, refund, field(int, item))

int main(void)
{
	for (int i = 0; i < 3; i++) {
		trace_shop_order(i);
		trace_shop_refund(i);
	}
	return 0;
}
END

mount_tree
grep -q "^tracefs $place fuse" /proc/mounts || fail "the mount table does not show tracefs"
"$RINGSIDE_SCRATCH/shop"

# The same names as without a mount, in every directory.
for dir in . events events/shop events/shop/order per_cpu per_cpu/cpu0 options instances; do
	want 0 cat "$dir"
	ls -p "$place/$dir" | LC_ALL=C sort >"$RINGSIDE_SCRATCH/names"
	LC_ALL=C sort "$out" | cmp -s - "$RINGSIDE_SCRATCH/names" || fail "$dir lists other names"
done
[ "$(find "$place" -name format | grep -c '/shop/')" -eq 2 ] || fail "find finds other formats"
[ ! -e "$place/events/shop/nothing" ] || fail "a file that is not there is there"

# And the same text, at once and byte by byte.
for file in events/shop/order/format available_events trace_options saved_cmdlines; do
	want 0 cat "$file"
	# Not by its name: cmp believes that a file without a size is empty.
	cat "$place/$file" | cmp -s - "$out" || fail "$file differs"
	dd if="$place/$file" bs=1 2>/dev/null | cmp -s - "$out" || fail "$file differs with dd bs=1"
done
[ "$(stat -c '%s %F' "$place/trace")" = '0 regular empty file' ] || fail "trace has a size"

# Writes take effect at once and are refused with the kernel's error.
reads tracing_on 1
echo 0 >"$place/tracing_on" || fail "tracing_on cannot be written"
reads tracing_on 0
want 0 cat tracing_on
says 0
echo 1 >"$place/tracing_on"
echo x >"$RINGSIDE_SCRATCH/x"
fails 'Invalid argument' dd if="$RINGSIDE_SCRATCH/x" of="$place/tracing_on" conv=notrunc
reads tracing_on 1
fails 'Permission denied' touch "$place/mine"
fails 'Operation not permitted' mkdir "$place/mine"
fails 'Operation not permitted' rmdir "$place/events"
fails 'Operation not permitted' rm -f "$place/trace"
fails 'Operation not permitted' mv "$place/trace" "$place/track"

# `>` clears first, `>>` adds.
echo shop:order >"$place/set_event"
echo shop:refund >>"$place/set_event"
reads set_event 'shop:order
shop:refund'
echo shop:refund >"$place/set_event"
reads set_event shop:refund
# Several writes through one descriptor, with a child that closes its own in between.
{ echo shop:order; (true); echo '!shop:refund'; } >>"$place/set_event"
reads set_event shop:order
"$RINGSIDE_SCRATCH/shop"
[ "$(grep -c ' order: item=' "$place/trace")" -eq 3 ] || fail "not three orders"
: >>"$place/trace"
[ "$(grep -c ' order: item=' "$place/trace")" -eq 3 ] || fail "\`>>\` has emptied the buffer"
: >"$place/trace"
[ "$(grep -c ' order: item=' "$place/trace")" -eq 0 ] || fail "\`>\` has not emptied the buffer"

# What was looked at before is looked at anew: after each change, and when the directory itself is gone, or another.
for filter in none 'item > 1' 'item > 2' none; do
	[ "$filter" = none ] && echo 0 >"$place/events/shop/order/filter" || echo "$filter" >"$place/events/shop/order/filter"
	reads events/shop/order/filter "$filter"
	reads events/shop/order/filter "$filter"
done
mv "$RINGSIDE_DIR" "$RINGSIDE_DIR.away"
fails 'No such device' cat "$place/events/shop/order/filter"
cp -R "$RINGSIDE_DIR.away" "$RINGSIDE_DIR"
"$RINGSIDE" write events/shop/order/filter 'item > 3' || fail "a copy cannot be written to"
reads events/shop/order/filter 'item > 3'
rm -r "$RINGSIDE_DIR"
mv "$RINGSIDE_DIR.away" "$RINGSIDE_DIR"
reads events/shop/order/filter none

# Modes and owners: the kernel's, and what they were changed to.
[ "$(stat -c '%a %a' "$place")" = '700 700' ] || fail "mode of the root"
[ "$(stat -c %a "$place/trace_marker")" = 220 ] || fail "mode of trace_marker"
[ "$(stat -c %u:%g "$place/trace")" = "$(id -u):$(id -g)" ] || fail "owner of trace"
chmod 644 "$place/trace" && chmod 755 "$place" || fail "chmod"
[ "$(stat -c %a "$place" "$place/trace" | tr '\n' ' ')" = '755 644 ' ] || fail "chmod has no effect"
if [ "$(id -u)" -eq 0 ]; then
	chown 12:34 "$place/events/shop/enable" && chgrp 34 "$place/instances" || fail "chown"
	[ "$(stat -c %u:%g "$place/events/shop/enable")" = 12:34 ] || fail "chown has no effect"
	mkdir "$place/instances/heir"
	[ "$(stat -c %g "$place/instances/heir/trace")" = 34 ] || fail "an instance does not inherit"
fi
want 0 umount "$place"
[ ! -e "$place/trace" ] || fail "still there"
want 0 mount --uid 12 --gid 34 --mode 0751 "$place"
if [ "$(id -u)" -eq 0 ]; then
	[ "$(stat -c %u:%g:%a "$place")" = 12:34:751 ] || fail "--uid, --gid, --mode"
	[ "$(stat -c %u:%g:%a "$place/trace")" = 12:34:640 ] || fail "--uid, --gid and files"
fi
want 0 umount "$place"
exit 0
