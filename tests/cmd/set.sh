#!/bin/sh
# set: what its options say and nothing else; start: the same, and recording.
. "$RINGSIDE_SOURCE/tests/cmd/room.sh"

refuse 2 set -b x -- KiB
refuse 2 set -M xyz -- hexadecimal
refuse 2 set -P 1x -- thread
refuse 2 set -f 'item > 1' -- -e
refuse 2 set -C '' -- -C
refuse 2 set -e a:b:c -- a:b:c
[ ! -e "$RINGSIDE_DIR" ] || fail "something was done"

want 0 set -b 2000 -O nooverwrite -e shop
grep -q 'no program has brought shop yet' "$err" || fail "an unknown event is not told"
want 0 cat buffer_size_kb trace_options
[ "$(sed -n 1p "$out")" -ge 2000 ] && grep -qx nooverwrite "$out" || fail "not set"
want 0 stop
want 0 set -O overwrite
want 0 cat tracing_on
says 0
want 0 list -o '^(no)?overwrite$'
says overwrite
want 0 set -C mono
want 0 list -C '\['
says '[mono]'
want 0 set -M 1
want 0 cat tracing_cpumask
grep -qx '0*1' "$out" || fail "not one CPU"
want 0 set -P 12,34 -P 56
want 0 cat set_event_pid
says '12
34
56'
want 0 set -P 7
want 0 cat set_event_pid
says 7
refuse 1 set -C nosuch -- clock nosuch 'list -C'
refuse 1 set -O nonosuch -- option nonosuch
refuse 1 set -p nosuch -- tracer nosuch
want 0 list -C '\['
says '[mono]'
# Start with a tracer only: no event besides.
want 0 reset
want 0 start -p nop
want 0 stat
! grep -q Patterns "$out" || fail "events were switched on"
want 0 start
want 0 stat
grep -qF '*:* on' "$out" || fail "start without anything is not everything"
exit 0
