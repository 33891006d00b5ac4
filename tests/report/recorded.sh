#!/bin/sh
# Traces of a real kernel, fresh ones, through two readers: see record_vm and same.py. A handful of
# the traces and of the options, which take a minute; all of them, in a quarter of an hour:
#
#	tests/report/record_vm build/vm-traces
#	RINGSIDE=build/ringside tests/report/same.py build/vm-traces/*.dat

set -u
dir=$RINGSIDE_SCRATCH/traces
"$RINGSIDE_SOURCE/tests/report/record_vm" "$dir" disk dropped marks probes || exit $?
/usr/bin/python3 "$RINGSIDE_SOURCE/tests/report/same.py" --few "$dir"/*.dat
