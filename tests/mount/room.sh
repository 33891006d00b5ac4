# What tests of the mount share. Read with `.`; the tree goes to $place, which is unmounted in the end.

. "$RINGSIDE_SOURCE/tests/cmd/room.sh"

place=$RINGSIDE_SCRATCH/tree

[ -c /dev/fuse ] || skip 'there is no /dev/fuse here'
{ : <>/dev/fuse; } 2>/dev/null || skip '/dev/fuse cannot be opened here'
if "$RINGSIDE" mount "$RINGSIDE_SCRATCH/none" 2>&1 | grep -q 'without libfuse'; then
	skip 'this build has no libfuse'
fi
mkdir -p "$place"
: >"$out"
: >"$err"

# Whatever is left: mounts, also dead ones, and programs in $left.
left=
clean_up() {
	trap - EXIT
	# Who fails while he is in it keeps it from being unmounted.
	cd / || exit 99
	# shellcheck disable=SC2086
	[ -z "$left" ] || kill -KILL $left 2>/dev/null
	"$RINGSIDE" umount "$place" >/dev/null 2>&1 || umount -l "$place" 2>/dev/null ||
		fusermount3 -uz "$place" 2>/dev/null
}
trap clean_up EXIT
trap 'exit 99' HUP INT TERM

mount_tree() {
	want 0 mount "$@" "$place"
	[ ! -s "$out" ] && [ ! -s "$err" ] || fail "mount says something"
}

# A file of the tree says just this: reads FILE TEXT
reads() {
	cat "$place/$1" >"$out" 2>"$err" || fail "$1 cannot be read"
	printf '%s\n' "$2" | cmp -s - "$out" || fail "$1 does not say '$2'"
}

# A command fails, with these words: fails WORDS COMMAND...
fails() {
	words=$1
	shift
	if "$@" >"$out" 2>"$err"; then
		fail "succeeds: $*"
	fi
	grep -qF -e "$words" "$err" || fail "$*: does not say '$words'"
}
