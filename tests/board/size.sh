#!/bin/sh
# What is built for small boards fits, is static, and needs nothing.

set -eu
most=$((300 * 1024))
failed=0

for arch in armhf arm64 amd64; do
	"$RINGSIDE_SOURCE/tools/board" "$arch"
	file=$RINGSIDE_SOURCE/build/board/$arch/ringside
	size=$(wc -c <"$file")
	echo "$arch: $size bytes of $most"
	if [ "$size" -gt "$most" ]; then
		echo "FAIL: $arch: that is too large" >&2
		failed=1
	fi
	if readelf -lW "$file" | grep -E 'INTERP|DYNAMIC' >&2; then
		echo "FAIL: $arch: it is not static" >&2
		failed=1
	fi
	if ! readelf -lW "$file" | grep -q 'GNU_STACK.* RW '; then
		echo "FAIL: $arch: its stack can be run" >&2
		failed=1
	fi
done
exit $failed
