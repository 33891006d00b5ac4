#!/bin/sh
# hist, latency, sqlhist and snapshot on a tree of files, out of the texts that a kernel has, too: a mount of a tracing
# directory. What comes out is what the directory itself says; nothing stays behind, and after a kill the next one tidies up.
. "$RINGSIDE_SOURCE/tests/mount/room.sh"

program shop <"$RINGSIDE_SOURCE/tests/cmd/live_shop.c"
shop=$RINGSIDE_SCRATCH/shop
"$shop" 1
mount_tree

on() {
	status=$1
	shift
	want "$status" --tracefs "$place" "$@"
}

nothing_left() {
	for path in instances synthetic_events dynamic_events; do
		want 0 cat $path
		[ ! -s "$out" ] || fail "something is left in $path"
	done
	want 0 cat events/shop/order/trigger
	! grep -q '^hist' "$out" || fail "a trigger is left"
}

# As the directory counts them.
COLUMNS=40 on 0 hist shop:order --keys item --vals amount -- "$shop" 100
says "item  hits  amount
   0    20    9500  |################
   1    20    9900  |#################
   2    20   10300  |##################
   3    20   10700  |##################
   4    20   11100  |###################
100 hits, 5 rows"
COLUMNS=50 on 0 hist order --keys name,item --sort name,item.descending --if 'item > 2' -- "$shop" 30
says "name  item  hits
even     4     3  |###############################
even     3     3  |###############################
odd      4     3  |###############################
odd      3     3  |###############################
12 hits, 4 rows"
on 0 hist shop:done --keys rc.log2,item --vals hitcount.percent --sort item -- "$shop" 2
grep -qE '^~ 2\^0 +1 +1 +100\.00 +\|#' "$out" || fail "a share, or a power of two"
on 3 hist shop:order --keys item -- sh -c 'exit 3'
nothing_left

# In an instance that stays, behind another histogram.
mkdir "$place/instances/mine"
echo 'hist:keys=name' >"$place/instances/mine/events/shop/order/trigger"
on 0 hist shop:order --keys item -B mine --for 100ms
grep -q '^0 hits, 0 rows' "$out" || fail "not counted for a time"
want 0 cat instances/mine/events/shop/order/trigger
says 'hist:keys=name:vals=hitcount:sort=hitcount:size=2048 [active]'
rmdir "$place/instances/mine"

# Refused, in the tree's own words, before anything is counted.
refuse 1 --tracefs "$place" hist shop:order --keys nothing --for 1s -- nothing "Couldn't find field"
refuse 1 --tracefs "$place" hist shop:order --keys item --if 'nothing == 1' --for 1s -- 'is refused'
refuse 1 --tracefs "$place" hist shop:oder --keys item --for 1s -- shop:oder 'nearest is shop:order'
refuse 1 --tracefs "$place" hist nosuch --keys item --for 1s -- nosuch 'SYSTEM:EVENT'
refuse 2 --tracefs "$place" hist -- --keys
refuse 2 --tracefs "$place" report -- 'trace files'
nothing_left

# Times: as many as there are, and in each range.
on 0 latency shop:order shop:done --on item -- "$shop" 70 200
for text in '^shop:order -> shop:done by item$' '^p50 .*p90 .*p99 .*p99.9 .*max .*mean ' 'the worst *item *task *at' \
	' [um]s  [0-4] *shop-[0-9]* *[0-9]*\.[0-9]\{6\}$' '^70 starts, 60 met an end, 10 wait for one or began anew$'; do
	grep -q -e "$text" "$out" || fail "latency does not tell '$text'"
done
[ "$(awk '$3 == ".." { n += $6 } END { print n }' "$out")" -eq 60 ] || fail "not all are in a range"
[ "$(grep -c ' shop-[0-9]* ' "$out")" -eq 10 ] || fail "not ten of the worst"
# Nobody waits less than the 200 us that the program sleeps.
awk '/^p50/ { exit !($3 == "ms" || $3 == "s" || $2 >= 200) }' "$out" || fail "p50 is too small"
on 0 latency shop:order shop:done --on item --if-start 'item == 1' --if-end 'rc < 30' -- "$shop" 70 100
grep -q '^14 starts, ' "$out" || fail "conditions"
refuse 1 --tracefs "$place" latency shop:order shop:done --on nothing --for 1s -- nothing
nothing_left

# Signals end it as they should; a kill leaves something, which the next one takes away.
hangs() {
	grep -q '^hist:keys=common_cpu' "$place/instances"/latency-*/events/shop/done/trigger 2>/dev/null
}
for signal in INT TERM HUP; do
	"$RINGSIDE" --tracefs "$place" latency shop:order shop:done --on item >"$out" 2>"$err" &
	left=$!
	until_it hangs
	kill -$signal $left
	wait $left || fail "not ended by $signal"
	nothing_left
done
"$RINGSIDE" --tracefs "$place" latency shop:order shop:done --on item >"$out" 2>"$err" &
left=$!
until_it hangs
kill -KILL $left
wait $left 2>/dev/null
[ "$(ls "$place/instances" | wc -l)" -eq 1 ] && grep -q ringside_latency "$place/synthetic_events" || fail "a kill leaves nothing"
# Not as long as its maker lives.
"$RINGSIDE" --tracefs "$place" hist shop:order --keys item >"$out.alive" 2>"$err" &
left=$!
lives() {
	ls "$place/instances" | grep -q '^hist-'
}
until_it lives
on 0 hist shop:order --keys item --for 10ms
lives || fail "what belongs to the living was taken"
! ls "$place/instances" | grep -q '^latency-' || fail "what the dead left is still there"
kill -TERM $left
wait $left || fail "not ended"
left=
nothing_left

# A statement, whole or not at all.
on 0 sqlhist -e -n wait 'SELECT start.item, TIMESTAMP_DELTA_USECS AS us FROM shop.order AS start JOIN shop.done AS end ON start.item = end.item'
want 0 cat synthetic_events
grep -q '^wait' "$out" || fail "no synthetic event"
refuse 1 --tracefs "$place" sqlhist -e -n wait -B new \
	'SELECT start.item, TIMESTAMP_DELTA_USECS AS us FROM shop.order AS start JOIN shop.done AS end ON start.item = end.item' -- dynamic_events
[ ! -d "$place/instances/new" ] || fail "an instance was left behind"
on 0 reset
nothing_left

on 0 snapshot -s
on 0 snapshot -f
exit 0
