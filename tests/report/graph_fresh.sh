#!/bin/sh
# Graphs of a real kernel, fresh ones, printed by us to the byte: see graph_vm and kept_graph.c.

set -u
dir=$RINGSIDE_SCRATCH/graphs
"$RINGSIDE_SOURCE/tests/report/graph_vm" "$dir" || exit $?
"$CC" -std=gnu11 -I"$RINGSIDE_SOURCE/src" -I"$RINGSIDE_SOURCE/tests" -o "$dir/kept_graph" \
	"$RINGSIDE_SOURCE/tests/report/kept_graph.c" "$RINGSIDE_BUILD/libinside.a" || exit 1
"$dir/kept_graph" "$dir/graph-6.12" "$dir/graph-lost-6.12"
