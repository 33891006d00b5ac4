#!/bin/sh
# check-events: formats of a trace file, of a tree of files, and of programs.
. "$RINGSIDE_SOURCE/tests/cmd/room.sh"
. "$RINGSIDE_SOURCE/tests/cmd/tree.sh"

make=$RINGSIDE_SOURCE/tests/report/make_dat.py
file=$RINGSIDE_SCRATCH/file.dat

/usr/bin/python3 "$make" basic "$file" || fail "make_dat.py basic"
want 0 check-events -i "$file"
[ ! -s "$out" ] && [ ! -s "$err" ] || fail "something is said of good formats"
want 0 check-events -N "$file"

/usr/bin/python3 "$make" broken "$file" || fail "make_dat.py broken"
want 1 check-events -i "$file"
grep -q '^broken:bad2: .*arguments' "$out" || fail "bad2"
! grep -q '^broken:bad3:' "$out" || fail "bad3 is good"
grep -q 'without a name' "$err" || fail "a format without a name"

want 0 --tracefs "$tree" check-events
[ ! -s "$out" ] || fail "something is said of good formats"
printf 'name: pay\nID: 102\nformat:\n\tfield:int item;\toffset:8;\tsize:4;\tsigned:1;\n\nprint fmt: "%%d", REC->nosuch\n' \
	>"$tree/events/shop/pay/format"
want 1 --tracefs "$tree" check-events
says 'shop:pay: print format: no such field'
printf 'nothing\n' >"$tree/events/web/hit/format"
want 1 --tracefs "$tree" check-events
[ "$(grep -c '^web:hit: ' "$out")" -eq 1 ] && [ "$(wc -l <"$out")" -eq 2 ] || fail "two of three"

want 0 start
want 0 check-events

refuse 2 check-events --nosuch -- --nosuch
refuse 2 check-events a b -- b
refuse 1 check-events -i "$RINGSIDE_SCRATCH/none.dat" -- none.dat
echo hello >"$file"
refuse 1 check-events -i "$file" -- 'not a trace file'
exit 0
