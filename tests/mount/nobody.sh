#!/bin/sh
# A user without rights mounts a tree of their own, through fusermount3. Root over the kernel's own tracefs.
. "$RINGSIDE_SOURCE/tests/mount/room.sh"

if [ "${1-}" != inside ]; then
	[ "$(id -u)" -eq 0 ] || skip 'only root can become another user'
	command -v fusermount3 >/dev/null || skip 'fusermount3 is missing'
	unshare -m true 2>/dev/null || skip 'no mount namespace can be had here'
	trap - EXIT
	exec unshare -m --propagation private sh "$0" inside
fi

# In a mount namespace of its own, where everybody may open /dev/fuse.
dev=$RINGSIDE_SCRATCH/dev
mkdir "$dev"
mount -t tmpfs none "$dev" && mknod -m 666 "$dev/fuse" c 10 229 || skip 'no device can be made here'
mount --bind "$dev/fuse" /dev/fuse
chmod 711 "$RINGSIDE_SCRATCH"
cp "$RINGSIDE" "$RINGSIDE_SCRATCH/ringside"
home=$RINGSIDE_SCRATCH/home
mkdir -m 700 "$home" "$home/tree"
chown -R 65534:65534 "$home"
cat >"$RINGSIDE_SCRATCH/own.sh" <<'END'
set -eu
cd "$home"
$ringside mount tree
trap '$ringside umount tree 2>/dev/null || fusermount3 -uz tree' EXIT
echo mine >tree/trace_marker
grep -q 'tracing_mark_write: mine' tree/trace
[ "$(stat -c %u tree/trace)" = 65534 ]
mkdir tree/instances/mine
rmdir tree/instances/mine
# Killed and mounted again, which takes the dead mount away without root.
pkill -KILL -u 65534 -f 'mount tree$'
while ls tree >/dev/null 2>&1; do sleep 0.02; done
$ringside mount tree
grep -q 'tracing_mark_write: mine' tree/trace
$ringside umount
trap - EXIT
END
export home ringside="$RINGSIDE_SCRATCH/ringside"
RINGSIDE_DIR=$home/trace setpriv --reuid 65534 --regid 65534 --clear-groups \
	sh "$RINGSIDE_SCRATCH/own.sh" >"$out" 2>"$err" || fail "as another user"
[ ! -s "$err" ] || fail "words"
# Somebody else's, even for root.
RINGSIDE_DIR=$home/trace setpriv --reuid 65534 --regid 65534 --clear-groups \
	"$ringside" mount "$home/tree" || fail "mount"
fails 'Permission denied' ls "$home/tree"
RINGSIDE_DIR=$home/trace setpriv --reuid 65534 --regid 65534 --clear-groups \
	"$ringside" umount "$home/tree" || fail "umount"
fails 'allow_other' env RINGSIDE_DIR="$home/trace" setpriv --reuid 65534 --regid 65534 \
	--clear-groups "$ringside" mount --allow-other "$home/tree"
[ "$(wc -l <"$err")" -eq 1 ] || fail "more than one line"

# Over the kernel's own, for programs that look there.
if [ -d /sys/kernel/tracing ]; then
	place=/sys/kernel/tracing
	mount_tree
	echo over >/sys/kernel/tracing/trace_marker
	grep -q 'tracing_mark_write: over' /sys/kernel/tracing/trace || fail "over tracefs"
	want 0 umount /sys/kernel/tracing
fi
exit 0
