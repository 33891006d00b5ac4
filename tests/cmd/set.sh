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
want 0 set -M -1
want 0 cat tracing_cpumask
! grep -qx '0*1' "$out" || [ "$(nproc --all)" = 1 ] || fail "not all CPUs"

# Threads, and what they start.
refuse 2 set -c -- -c
want 0 set -c -P 12
want 0 cat options/event-fork
says 1
want 0 set -O noevent-fork -a --no-filter

# What is not there is told, and nothing else is done either.
refuse 1 set -C boot -O nosuch -- option nosuch
refuse 1 set -C boot -P 99 --max-graph-depth 99999999999 -- max_graph_depth
refuse 1 set -C boot -P 99 -l nosuch -- set_ftrace_filter nosuch
refuse 1 set -C boot -P 99 -n nosuch -- set_ftrace_notrace nosuch
refuse 1 set -C boot -P 99 -B new -e shop -B newer -l main -- set_ftrace_filter
refuse 2 set --max-graph-depth deep -- --max-graph-depth
want 0 list -C '\['
says '[mono]'
want 0 cat set_event_pid
says 12
want 0 list -B
[ ! -s "$out" ] || fail "an instance was left behind"

# Unknown events that are meant to be.
want 0 set -i -e shop -e nosuch:one
[ ! -s "$err" ] || fail "-i tells"
want 0 set -q -e nosuch:two
[ ! -s "$err" ] || fail "-q tells"

# -v: off again, and instances that go.
want 0 reset
want 0 set -q -e shop -v -e 'shop:p*'
want 0 stat
grep -qF 'shop:* on' "$out" && grep -qF 'shop:p* off' "$out" || fail "-v"
refuse 2 set -v -e shop -f 'item > 1' -- -f -e
refuse 1 set -v -B nosuch -- nosuch
want 0 set -q -B web -e http -B db
refuse 2 set -v -B web -b 100 -- -b web
refuse 1 set -C boot -v -B web -B nosuch -- nosuch
want 0 list -B
says 'db
web'
want 0 set -q -C boot -v -B web
want 0 list -B
says db
want 0 list -C '\['
says '[boot]'
# There is nothing to delete for who starts.
want 0 start -q -v -B db -e shop:pay
want 0 list -B
says db
want 0 stat -B db
grep -qF '*:* on' "$out" && grep -qF 'shop:pay off' "$out" || fail "everything but that"
want 0 cat tracing_on
says 1
want 0 reset -d

# Start with a tracer only: no event besides.
want 0 reset
want 0 start -p nop
want 0 stat
! grep -q Patterns "$out" || fail "events were switched on"
want 0 start
want 0 stat
grep -qF '*:* on' "$out" || fail "start without anything is not everything"
exit 0
