#!/bin/sh
# hist EVENT --keys: events counted as they come, printed once where there is no terminal; nothing stays behind.
. "$RINGSIDE_SOURCE/tests/cmd/room.sh"

program shop <"$RINGSIDE_SOURCE/tests/cmd/live_shop.c"
shop=$RINGSIDE_SCRATCH/shop

nothing_left() {
	want 0 cat instances
	[ ! -s "$out" ] || fail "an instance is left"
	want 0 cat events/shop/order/trigger
	! grep -q '^hist' "$out" || fail "a trigger is left"
}

# A program that nobody has seen: its texts and numbers are counted from its first event on, and 90 comes before 110.
mine=$RINGSIDE_DIR
export RINGSIDE_DIR="$mine.fresh"
COLUMNS=50 want 0 hist order --keys name,amount --sort name.descending,amount --if 'amount < 120' -- "$shop" 10
says "name  amount  hits
odd       20     1  |#############################
odd       50     1  |#############################
odd       60     1  |#############################
odd       90     1  |#############################
even       0     1  |#############################
even      40     1  |#############################
even      70     1  |#############################
even      80     1  |#############################
even     110     1  |#############################
9 hits, 9 rows"
nothing_left
export RINGSIDE_DIR="$mine"
COLUMNS=40 want 0 hist shop:order --keys item --vals amount -- "$shop" 100
says "item  hits  amount
   0    20    9500  |################
   1    20    9900  |#################
   2    20   10300  |##################
   3    20   10700  |##################
   4    20   11100  |###################
100 hits, 5 rows"
nothing_left

# Sorted, filtered, by a text, with a share; the event by its name alone.
COLUMNS=50 want 0 hist order --keys name,item --sort name,item.descending --if 'item > 2' -- "$shop" 30
says "name  item  hits
even     4     3  |###############################
even     3     3  |###############################
odd      4     3  |###############################
odd      3     3  |###############################
12 hits, 4 rows"
COLUMNS=100 want 0 hist order --keys item --vals hitcount.percent,amount.quantiles --if 'item == 1' -- "$shop" 50
grep -q '^   1    10      100.00         223         447         479           479  |#' "$out" || fail "not these quantiles"

# The exit status is the command's; one that cannot be run is told.
want 3 hist shop:order --keys item -- sh -c 'exit 3'
want 1 hist shop:order --keys item -- "$RINGSIDE_SCRATCH/nothing"
grep -q nothing "$err" || fail "a command that is none is not told"
nothing_left

# For a time, in an instance that stays: just the trigger goes, and what hung there before stays.
want 0 start -B mine -e shop
want 0 write instances/mine/events/shop/order/trigger 'hist:keys=name'
want 0 hist shop:order --keys item -B mine --for 100ms
grep -q '^0 hits, 0 rows' "$out" || fail "not counted for a time"
want 0 cat instances/mine/events/shop/order/trigger
says 'hist:keys=name:vals=hitcount:sort=hitcount:size=2048 [active]'
want 0 set -v -B mine

# Refused before anything is made.
refuse 1 hist shop:order --keys nothing --for 1s -- nothing 'find field'
refuse 1 hist shop:order --keys item --if 'nothing == 1' --for 1s -- "hist:keys=item"
refuse 1 hist nosuch --keys item --for 1s -- nosuch 'SYSTEM:EVENT'
refuse 1 hist 'shop:*' --keys item --for 1s -- 'SYSTEM:EVENT'
refuse 2 hist shop:order --keys item --for soon -- soon
refuse 2 hist --keys item -- 'which event'
refuse 2 hist -i x --keys item y -- files
refuse 2 hist --vals item y -- --keys
refuse 2 hist a b -- --keys
refuse 2 hist shop:order -- shop:order --keys
nothing_left
exit 0
