#!/bin/sh
# The example reads a recording of a kernel, and finds each wait in it.
set -eu
latency=$RINGSIDE_BUILD/examples/latency
file=$RINGSIDE_SOURCE/tests/data/dat/mixed.v7.dat
if [ "$RINGSIDE_ZSTD" = 0 ]; then
	echo 'this build was made without zstd'
	exit 77
fi
"$latency" "$file" >"$RINGSIDE_SCRATCH/all"
cat "$RINGSIDE_SCRATCH/all"
grep -qx '140 waits' "$RINGSIDE_SCRATCH/all"
grep -q 'sched_switch: prev_comm=' "$RINGSIDE_SCRATCH/all"
"$latency" "$file" rcu_preempt | grep -qx '78 waits'
if "$latency" "$RINGSIDE_SCRATCH/none" 2>"$RINGSIDE_SCRATCH/words"; then
	echo 'FAIL it read a file that is not there'
	exit 1
fi
grep -q 'No such file' "$RINGSIDE_SCRATCH/words"
