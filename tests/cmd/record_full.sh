#!/bin/sh
# A disk that is too small for a recording: it stops and says so, the command goes on, and what is told to be in the file is.
. "$RINGSIDE_SOURCE/tests/cmd/room.sh"

if [ "${1-}" != inside ]; then
	unshare -rm true 2>/dev/null || {
		echo "skip: no user and mount namespaces here"
		exit 77
	}
	exec unshare -rm sh "$0" inside
fi

program many <<'EOF'
#include <ringside/ringside.h>

RINGSIDE_EVENT(numbers, number, field(long, nr), print("nr=%ld", nr))

int main(void)
{
	for (long i = 1; i <= 300000; i++)
		trace_numbers_number(i);
	return 0;
}
EOF

small=$RINGSIDE_SCRATCH/small
file=$small/t.dat
mkdir "$small"
mount -t tmpfs -o size=64k none "$small" 2>"$RINGSIDE_SCRATCH/no" || {
	echo "skip: no tmpfs in a namespace"
	exit 77
}
umount "$small"

# All files of a recording, the oldest first.
report_all() {
	for n in $(seq 1000); do
		[ -e "$file.$n" ] || break
		"$@" "$file.$n" || return
	done
	"$@" "$file"
}

# As many events as were told, by whichever reader: counts READER...
counts() {
	report_all "$@" >"$RINGSIDE_SCRATCH/text" 2>/dev/null || fail "$*: does not open"
	n=$(grep -c ' nr=' "$RINGSIDE_SCRATCH/text")
	[ "$n" -eq "$told" ] || fail "$*: $n events, and $told were told"
}

# On a disk of that size: full SIZE OPTION...
full() {
	mount -t tmpfs -o "size=$1" none "$small"
	shift
	"$RINGSIDE" record -i -o "$file" -e numbers "$@" sh -c "'$RINGSIDE_SCRATCH/many'; exit $code" >"$out" 2>"$err"
	got=$?
	[ $got -eq "$status" ] || fail "record $*: $got, not $status"
	grep -q 'No space left' "$err" || fail "record $*: not told"
	grep -q 'the command goes on' "$err" || fail "record $*: the command?"
	told=$(sed -n 's/.*t.dat: \([0-9]*\) events.*/\1/p' "$err")
	counts "$RINGSIDE" report
	! command -v trace-cmd >/dev/null || counts trace-cmd report
	"$RINGSIDE" list -B | grep -q . && fail "record $*: an instance is left"
	umount "$small"
}

for size in 200k 1m 3m; do
	# Its own failure is told; the command's comes first.
	code=0 status=1
	full $size
	code=7 status=7
	full $size -m 100000
	full $size --rotate 300k
	[ $size != 200k ] || full $size --compression zstd
done

# Not even room to begin: then nothing runs.
mount -t tmpfs -o size=1m none "$small"
head -c 2000000 /dev/zero >"$small/ballast" 2>/dev/null
refuse 1 record -o "$file" touch "$RINGSIDE_SCRATCH/ran" -- "$file" 'No space left'
[ ! -e "$RINGSIDE_SCRATCH/ran" ] || fail "the command ran"
[ "$(ls "$small")" = ballast ] || fail "files are left"
exit 0
