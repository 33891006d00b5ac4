#!/bin/sh
# snapshot: what was recorded so far put aside, while recording goes on.
. "$RINGSIDE_SOURCE/tests/cmd/room.sh"

refuse 2 snapshot -s -r -- -s
refuse 2 snapshot -c x -- CPU
refuse 2 snapshot -f -c 0 -- -c
refuse 2 show -s -p -- -s
want 0 start
refuse 1 snapshot -c 99999 -- 99999

want 0 snapshot
grep -q 'Snapshot is freed' "$out" || fail "there is a snapshot already"
want 0 write trace_marker before
want 0 snapshot -s
want 0 write trace_marker after
want 0 snapshot
grep -q 'tracing_mark_write: before' "$out" || fail "not in the snapshot"
! grep -q 'tracing_mark_write: after' "$out" || fail "too much in the snapshot"
cp "$out" "$out.first"
want 0 show -s
cmp -s "$out" "$out.first" || fail "show -s is something else"
want 0 show -s --json
grep -q before "$out" && ! grep -q after "$out" || fail "the snapshot in JSON"
want 0 show
grep -q 'tracing_mark_write: after' "$out" && ! grep -q 'tracing_mark_write: before' "$out" ||
	fail "the buffer"
: >"$out.parts"
for cpu in $("$RINGSIDE" cat per_cpu | tr -d '/' | sed 's/cpu//'); do
	want 0 snapshot -c "$cpu"
	grep -v '^#' "$out" >>"$out.parts"
done
[ "$(grep -c 'tracing_mark_write: before' "$out.parts")" -eq 1 ] || fail "CPU by CPU"
want 0 snapshot -r
want 0 snapshot
grep -q 'Snapshot is allocated' "$out" || fail "not emptied"
want 0 snapshot -f
want 0 snapshot
grep -q 'Snapshot is freed' "$out" || fail "not given back"

# Of instances.
want 0 start -B a -B b
want 0 write instances/a/trace_marker 'in a'
want 0 snapshot -s -B a -B b
want 0 snapshot -B a
grep -q 'tracing_mark_write: in a' "$out" || fail "of an instance"
want 0 snapshot -B b
! grep -q 'in a' "$out" || fail "of another instance"
exit 0
