#!/bin/sh
# A small file system: what does not fit is refused with words, and the directory stays as it was.
. "$RINGSIDE_SOURCE/tests/cmd/room.sh"

if [ "${1-}" != inside ]; then
	unshare -rm true 2>/dev/null || {
		echo "skip: no user and mount namespaces here"
		exit 77
	}
	exec unshare -rm sh "$0" inside
fi

small=$RINGSIDE_SCRATCH/small
mkdir "$small"
mount -t tmpfs -o size=3m,mode=700 none "$small" || {
	echo "skip: no tmpfs in a namespace"
	exit 77
}
RINGSIDE_DIR=$small/trace
export RINGSIDE_DIR

refuse 1 start -b 4000 -- "$RINGSIDE_DIR/rings" KiB smaller
want 0 cat tracing_on set_event buffer_size_kb
says '1
0 (expanded: 1410)'
want 0 start -b 300
want 0 write trace_marker one
refuse 1 write buffer_size_kb 20000 -- buffer_size_kb "$RINGSIDE_DIR/rings"
want 0 cat buffer_size_kb
says 302
want 0 show
grep -q 'tracing_mark_write: one' "$out" || fail "the old buffer is gone"

# Full to the last byte: what is there stays readable.
head -c 10000000 /dev/zero >"$small/ballast" 2>/dev/null
refuse 1 write buffer_size_kb 400 -- "$RINGSIDE_DIR/rings"
want 0 show
grep -q 'tracing_mark_write: one' "$out" || fail "not readable any more"
want 0 stop
rm "$small/ballast"
want 0 start
want 0 write buffer_size_kb 400
exit 0
