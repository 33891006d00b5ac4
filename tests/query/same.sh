#!/bin/sh
# What a statement counts live, it counts from a recording of the same run: histogram, JOIN, and a histogram of the JOIN.
# And what sqlhist prints, a shell writes; nothing is left of what was refused half-way.
fail() {
	echo "same.sh: $*" >&2
	exit 1
}

why=
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cat > "$work/shop.c" <<'END'
#include <stdlib.h>
#include <ringside/ringside.h>

RINGSIDE_EVENT(shop, order, field(int, id), string(who), field(unsigned, cents))
RINGSIDE_EVENT(shop, pay, field(int, id), field(unsigned, cents), string(how))

int main(int argc, char **argv)
{
	for (int i = 0; i < atoi(argv[argc - 1]); i++) {
		trace_shop_order(i, i % 3 ? "ann" : "bert", (unsigned)i * 7 % 100);
		if (i % 5)
			trace_shop_pay(i, (unsigned)i * 7 % 90, i % 4 ? "cash" : "card");
	}
	return 0;
}
END
${CC:-cc} -I"$RINGSIDE_SOURCE/include" -o "$work/shop" "$work/shop.c" -L"$RINGSIDE_BUILD" -lringside \
	-Wl,-rpath,"$RINGSIDE_BUILD" || fail "the program does not compile"
"$work/shop" 1

by_who='SELECT who, CAST(cents AS _COUNTER_), COUNT(*) FROM shop.order WHERE cents > 10 ORDER BY who'
join='SELECT start.id, start.who, end.how, (end.cents - start.cents) AS gain FROM shop.order AS start
	JOIN shop.pay AS end ON start.id = end.id WHERE start.cents < 90 && end.how != "none"'
by_how='SELECT CAST(who AS string), how, CAST(gain AS _COUNTER_) FROM sale'

# Live, as a shell would do it, and with -e.
"$RINGSIDE" sqlhist "$by_who" > "$work/lines" || fail "$by_who"
[ "$(cat "$work/lines")" = "echo 'hist:keys=who:vals=cents:sort=who if cents > 10' >> events/shop/order/trigger" ] ||
	fail "lines: $(cat "$work/lines")"
"$RINGSIDE" sqlhist -e -n sale "$by_who; $join; $by_how" > "$work/lines" || fail "-e"
[ "$(wc -l < "$work/lines")" -eq 5 ] || fail "not 5 lines: $(cat "$work/lines")"
"$RINGSIDE" cat dynamic_events | grep -q '^s:synthetic/sale	s32 id; char\[\] who; char\[\] how; s64\|u32 gain' ||
	fail "there is no synthetic event: $("$RINGSIDE" cat dynamic_events)"
"$RINGSIDE" record -e shop -e synthetic -o "$work/trace.dat" "$work/shop" 3000 2> "$work/words" || fail "record"
grep -q 'none lost' "$work/words" || fail "some are lost: $(cat "$work/words")"

rows() {
	sed -n '/^{/p; /^ /p'
}
"$RINGSIDE" cat events/shop/order/hist | awk '/^# event histogram/ { n++ } n < 2' | rows > "$work/live"
"$RINGSIDE" sqlhist -i "$work/trace.dat" "$by_who" | rows > "$work/file"
grep -q 'Hits: 2670' "$work/live" || fail "live: $(cat "$work/live")"
diff -u "$work/live" "$work/file" || fail "a histogram of the file is another than live"

"$RINGSIDE" cat events/synthetic/sale/hist | rows > "$work/live"
"$RINGSIDE" sqlhist -i "$work/trace.dat" -n sold "$join; $(echo "$by_how" | sed s/sale/sold/)" | rows > "$work/file"
grep -q 'Entries: 4' "$work/live" || fail "live: $(cat "$work/live")"
diff -u "$work/live" "$work/file" || fail "a histogram of a JOIN of the file is another than live"

# The synthetic events themselves: those that were recorded, and those made of the other records.
"$RINGSIDE" report -i "$work/trace.dat" --no-pager | sed -n 's/.* sale: *//p' | sort > "$work/live"
"$RINGSIDE" sqlhist -i "$work/trace.dat" -n sold "$join" | sed -n 's/.* sold: //p' | sort > "$work/file"
[ "$(wc -l < "$work/file")" -gt 2000 ] || fail "few events: $(wc -l < "$work/file")"
[ "$(wc -l < "$work/live")" -eq "$(wc -l < "$work/file")" ] || fail "$(wc -l "$work/live" "$work/file")"

# All or nothing: the second statement's event is of a name that is taken.
"$RINGSIDE" cat events/shop/pay/trigger > "$work/before"
"$RINGSIDE" sqlhist -e -n other,sale "$(echo "$join" | sed 's/gain/win/'); $join" 2> "$work/words" && fail "sale was made twice"
"$RINGSIDE" cat events/shop/pay/trigger | diff "$work/before" - || fail "half of it is left"
"$RINGSIDE" cat dynamic_events | grep -q other && fail "half of it is left: $("$RINGSIDE" cat dynamic_events)"

# The lines are for a shell at the root of a mount.
if [ -w /dev/fuse ] && mkdir "$work/mount" && "$RINGSIDE" mount "$work/mount" 2> "$work/words"; then
	"$RINGSIDE" sqlhist -n mounted "$(echo "$join" | sed 's/gain/prize/')" > "$work/lines" || fail "lines for a mount"
	(cd "$work/mount" && sh -e "$work/lines") || why="a shell cannot write them: $(cat "$work/lines")"
	[ -n "$why" ] || grep -q '^s:synthetic/mounted' "$work/mount/dynamic_events" || why="nothing is written through the mount"
	[ -n "$why" ] || grep -q 'mounted(' "$work/mount/events/shop/pay/trigger" || why="no trigger through the mount"
	"$RINGSIDE" umount "$work/mount" || why="umount"
	[ -z "$why" ] || fail "$why"
fi

# An instance is made with it, and a caret shows what is wrong.
"$RINGSIDE" sqlhist -e -B kitchen 'SELECT how FROM shop.pay' | grep -q 'instances/kitchen/events/shop/pay/trigger' || fail "-B"
"$RINGSIDE" cat instances/kitchen/events/shop/pay/trigger | grep -q '^hist:keys=how' || fail "-B -e"
"$RINGSIDE" sqlhist 'SELECT nosuch FROM shop.pay' 2> "$work/words" && fail "nosuch is selected"
printf 'SELECT nosuch FROM shop.pay\n       ^\nevent shop.pay has no field '"'nosuch'"'\n' | diff - "$work/words" || fail "the caret"
echo 'SELECT how FROM shop.pay' | "$RINGSIDE" sqlhist -f - | grep -q 'keys=how' || fail "-f -"
exit 0
