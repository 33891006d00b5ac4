#!/bin/sh
# Probes by file and offset: all that arguments can be, returns, several at one place, in the middle of a function, counted, filtered,
# switched while the program runs.
. "$RINGSIDE_SOURCE/tests/probe/room.sh"

shop
place=$(offset shop shop_place)
many=$(offset shop shop_many)
price=$(offset shop shop_price)

# ---- arguments ----

put uprobe_events "p:shop/place $PWD/shop:$place n=%si:s64 id=+0(%di):s32 who=+0(+0(+8(%di))):string age=+8(+8(%di)):u64 \
title=+16(%di):string bits=+24(%di):b4@4/32 counts=+28(%di):s16[4] text=+0(%dx):string bad=+0(+0(\\16)):string imm=\\42:u8 \
word=\\\"hi\" c=+16(%di):char x=+28(%di):x16 comm=\$comm"
put uprobe_events "p:shop/many $PWD/shop:$many a=%di:u64 f=%r9:u64 g=\$stack1:u64 h=\$stack2:u64"
put uprobe_events "r:shop/placed $PWD/shop:$place ret=\$retval:s64"
want 0 cat uprobe_events
[ "$(wc -l <"$out")" -eq 3 ] || fail "three lines were written"
want 0 write events/shop/enable 1
run ./shop 2
grep -qx 87620 "$out" || fail "the program says something else"
line='() n=%s id=7 who="ann" age=33 title="books" bits=10 counts={1,-2,3,4} text="hello" bad=(fault) imm=42 word="hi" c='"'b'"' x=0x1 comm="shop"'
# shellcheck disable=SC2059
recorded place "$(printf "$line\n$line" 0 1)"
recorded many '() a=1 f=6 g=7 h=8
() a=1 f=6 g=7 h=8'
recorded placed '(<-) ret=-7
(<-) ret=97'

# ---- counts ----

want 0 cat uprobe_profile
for event in place many placed; do
	grep -Eq "^ *$PWD/shop +$event +2$" "$out" || fail "$event was not counted twice"
done

# ---- several at one place, and between ----

want 0 write events/shop/enable 0
want 0 write uprobe_events ''
want 0 write trace ''
put uprobe_events "p:shop/one $PWD/shop:$price i=%si:s64"
put uprobe_events "p:shop/two $PWD/shop:$price order=+0(%di):s32"
put uprobe_events "r:shop/three $PWD/shop:$price ret=\$retval:s64"
# At each instruction of two functions.
objdump -d -w shop | awk '/<shop_(place|below)>:/ { p = 1; next } /^$/ { p = 0 } p && !/nop|xchg   %ax,%ax/ { sub(":", "", $1); print $1 }' >addresses
base=0x$(nm shop | awk '$3 == "shop_place" { print $1 }')
while read -r address; do
	echo "p:every/at_$address $PWD/shop:$(printf '0x%x' $((0x$address - base + place)))"
done <addresses >lines
want 0 write -a uprobe_events "$(cat lines)"
want 0 write events/shop/enable 1
want 0 write events/every/enable 1
run ./shop 3
grep -qx 131583 "$out" || fail "the program says something else"
recorded one '() i=0
() i=0
() i=1'
recorded two '() order=7
() order=7
() order=7'
recorded three '(<-) ret=0
(<-) ret=0
(<-) ret=-2'
# Threads come by: as often as they come by other instructions of the same block, endbr64 being the first.
for address in $(head -2 addresses); do
	hits=$(records "at_$address" | wc -l)
	[ "$hits" -eq 3 ] || fail "its instruction at $address was come by $hits times"
done
hits=$(records 'at_[0-9a-f]*' | wc -l)
run ./shop 3
more=$(records 'at_[0-9a-f]*' | wc -l)
[ "$more" -eq $((2 * hits)) ] || fail "the same again is $more records, not twice $hits"

# ---- with the function tracers in the same bytes ----

want 0 write trace ''
want 0 start -p function_graph -l 'shop_*'
run ./shop 3
grep -qx 131583 "$out" || fail "the program says something else under function_graph"
want 0 cat trace
[ "$(grep -c 'shop_price() {' "$out")" -eq 3 ] || fail "calls are not in the graph"
[ "$(grep -c ' at_[0-9a-f]*: (' "$out")" -eq "$hits" ] || fail "not all instructions under function_graph"
want 0 start -p function -l 'shop_*'
run ./shop 3
[ "$(records 'at_[0-9a-f]*' | wc -l)" -eq "$hits" ] || fail "not all instructions under function"
want 0 start -p nop

# ---- filters and histograms ----

want 0 write events/every/enable 0
want 0 write events/shop/enable 0
want 0 write trace ''
want 0 write events/shop/one/filter 'i > 0'
want 0 write events/shop/two/trigger 'hist:keys=order'
want 0 write events/shop/one/enable 1
run ./shop 3
recorded one '() i=1'
want 0 cat events/shop/two/hist
grep -q '{ order: *7 } hitcount: *3' "$out" || fail "the histogram did not count"

# ---- switched while it runs ----

want 0 write events/shop/one/enable 0
want 0 write events/shop/one/filter 0
LD_PRELOAD=$library ./shop 100000 4 0.001 >running.out 2>&1 &
pid=$!
trap 'kill $pid 2>/dev/null' EXIT
sleep 0.3
want 0 write trace ''
want 0 write events/shop/one/enable 1
sleep 0.3
want 0 write events/shop/one/enable 0
[ "$(records one | wc -l)" -gt 0 ] || fail "nothing of a program that was running"
want 0 write trace ''
sleep 0.2
[ "$(records one | wc -l)" -eq 0 ] || fail "records after it was switched off"
kill -0 $pid || fail "the program died"
kill $pid
