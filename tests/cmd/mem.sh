#!/bin/sh
# mem: what trace-cmd says of who asked for memory.
. "$RINGSIDE_SOURCE/tests/cmd/room.sh"
. "$RINGSIDE_SOURCE/tests/cmd/traces.sh"

/usr/bin/python3 "$RINGSIDE_SOURCE/tests/cmd/made.py" mem mem.dat || fail "made.py mem"
trace-cmd mem -i mem.dat >theirs.text || fail "trace-cmd mem"
want 0 mem -i mem.dat
cmp -s theirs.text "$out" || fail "not as trace-cmd prints it"
grep -q '^ *do_one	28	128	100		     144        110		     144        110	34$' "$out" ||
	fail "do_one"
want 0 mem mem.dat
cmp -s theirs.text "$out" || fail "mem FILE"
cp mem.dat trace.dat
want 0 mem
cmp -s theirs.text "$out" || fail "mem of trace.dat"

# Without kmem's events there is nothing under the heading.
want 0 mem -i "$data/mixed.v7.dat"
[ "$(wc -l <"$out")" -eq 2 ] || fail "memory from nowhere"
want 0 mem -B hog -i "$data/instances.v7.dat"

refuse 2 mem --nosuch -- --nosuch
refuse 2 mem -i a b -- 'one file'
refuse 1 mem -i none.dat -- none.dat
echo hello >not.dat
refuse 1 mem not.dat -- 'not a trace file'
head -c 6000 mem.dat >cut.dat
want 0 mem cut.dat
[ -s "$err" ] || fail "nothing is said of a cut file"
exit 0
