#!/bin/sh
# uftrace on the same program: the same calls in the same nesting, of all threads.
. "$RINGSIDE_SOURCE/tests/cmd/room.sh"

with_functions
command -v uftrace >/dev/null || {
	echo "SKIP: uftrace is not installed"
	exit 77
}
cd "$RINGSIDE_SCRATCH" || exit 1
g++ -O1 -pg "$RINGSIDE_SOURCE/tests/func/nested.cc" -o nested -lpthread || fail "nested does not compile"
nm nested | awk '$2 ~ /[tTW]/ && $3 ~ /ackermann|area|by_value|deep|guarded|jumper|landing|thread_[ab]|twice|^main$/ { print $3 }' >names
uftrace record --demangle=no -d theirs ./nested >want.out 2>"$err" || fail "uftrace does not record"
uftrace replay --demangle=no -d theirs -f tid --no-merge >theirs.txt 2>"$err" || fail "uftrace does not replay"
want 0 record -q -p function_graph -l ':mod:nested' -o ours.dat ./nested
cmp -s want.out "$out" || fail "the program says something else"
want 0 report ours.dat
python3 "$RINGSIDE_SOURCE/tests/func/nesting.py" "$out" ringside names >ours
python3 "$RINGSIDE_SOURCE/tests/func/nesting.py" theirs.txt uftrace names >theirs.calls
[ "$(grep -c . ours)" -gt 200 ] || fail "hardly any calls"
diff theirs.calls ours >"$out" || fail "other calls than uftrace has"
