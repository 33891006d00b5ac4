#!/bin/sh
# extract: what the buffers hold becomes a trace file, and stays where it is.
. "$RINGSIDE_SOURCE/tests/cmd/room.sh"
cd "$RINGSIDE_SCRATCH" || exit 1

program shop <<'EOF'
#include <ringside/ringside.h>
#include <stdlib.h>

RINGSIDE_EVENT(shop, order, field(int, item), print("item=%d", item))

int main(int argc, char **argv)
{
	for (int i = 0; argc > 1 && i < atoi(argv[1]); i++)
		trace_shop_order(i);
	return 0;
}
EOF

# The lines of a file, less their beginning, are these.
holds() {
	want 0 report "$1"
	[ "$(grep -c ": order: *item=" "$out")" -eq "$2" ] || fail "$1: not $2 orders"
	command -v trace-cmd >/dev/null || return 0
	sed 's/ \.\.\.\.\. / /' "$out" >"$out.ours"
	trace-cmd report "$1" 2>/dev/null | sed 's/ \.\.\.\.\. / /' | cmp -s - "$out.ours" || fail "$1: trace-cmd prints something else"
}

refuse 1 --dir "$PWD/nosuch" extract -- nosuch
want 0 start -e shop -i
want 0 extract
grep -q 'trace.dat: there were no events' "$err" || fail "an empty buffer is not told"
holds trace.dat 0

./shop 100
want 0 show
grep -v '^#' "$out" >shown
want 0 extract -o one.dat
grep -q '^ringside: one.dat: 100 events, .* 0 overwritten before them, none lost$' "$err" || fail "what it did is not told"
holds one.dat 100
want 0 show
grep -v '^#' "$out" | cmp -s - shown || fail "it takes something"
want 0 extract -q -o again.dat
[ ! -s "$err" ] || fail "-q"
holds again.dat 100
want 0 extract --file-version 6 -o six.dat
holds six.dat 100
want 0 dump -i six.dat --summary
grep -q '6' "$out" || fail "version 6"
if "$RINGSIDE" extract --compression any -o packed.dat 2>/dev/null; then
	holds packed.dat 100
fi
want 0 extract --date -o date.dat
want 0 report date.dat
[ "$(grep -c ': order: ' "$out")" -eq 100 ] || fail "--date"

# Instances: some, all, and the top one with them.
want 0 start -B a -e shop -i -B b -e shop -i
./shop 7
want 0 extract -B a -o a.dat
want 0 report a.dat
[ "$(grep -c ': order: ' "$out")" -eq 7 ] || fail "an instance"
want 0 extract -B a -B b -B a -o ab.dat
want 0 report ab.dat
[ "$(grep -c '^ *a: .*: order: ' "$out")" -eq 7 ] && [ "$(grep -c '^ *b: .*: order: ' "$out")" -eq 7 ] &&
	[ "$(grep -c ': order: ' "$out")" -eq 14 ] || fail "two instances"
want 0 extract -a -o all.dat
want 0 report all.dat
[ "$(grep -c ': order: ' "$out")" -eq 14 ] || fail "all instances"
want 0 extract -a -t -o top.dat
want 0 report top.dat
[ "$(grep -c ': order: ' "$out")" -eq 121 ] || fail "all buffers"
refuse 1 extract -B nosuch -- nosuch 'list -B'

# What was set aside.
refuse 1 extract -s -- 'set aside' 'snapshot -s'
want 0 snapshot -s
./shop 3
want 0 extract -s -o aside.dat
holds aside.dat 107
want 0 extract -o after.dat
holds after.dat 3

# Pages of several sizes.
want 0 write instances/b/buffer_subbuf_size_kb 16
./shop 2
want 0 extract -t -B b -o sizes.dat
want 0 report sizes.dat
[ "$(grep -c ': order: ' "$out")" -eq 7 ] || fail "pages of two sizes"
refuse 1 extract -t -B b --file-version 6 -o no.dat -- 'version 6'
[ ! -e no.dat ] || fail "a file that was refused"

# Overwritten events are counted.
want 0 start -B small -b 8 -e shop
./shop 5000
want 0 extract -B small -o small.dat
kept=$(sed -n 's/.*: \([0-9]*\) events, .*/\1/p' "$err")
gone=$(sed -n 's/.* \([0-9]*\) overwritten.*/\1/p' "$err")
[ $((kept + gone)) -eq 5000 ] && [ "$gone" -gt 0 ] || fail "$kept and $gone are not 5000"

refuse 2 extract --file-version 5 -- 5
refuse 2 extract --file-version 6 --compression zstd -- compression
refuse 2 extract -o '' -- -o
refuse 1 extract -o /nonexistent/x -- /nonexistent
exit 0
