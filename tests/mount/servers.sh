#!/bin/sh
# A server's life: killed, mounted over, told to end, in the foreground; and mounts at wrong places.
. "$RINGSIDE_SOURCE/tests/mount/room.sh"

# Not who looks for wishes to be told of switches, beside it.
server() {
	for process in $(pgrep -f "mount .*$place\$"); do
		grep -qsvx switches "/proc/$process/comm" && echo "$process"
	done
}

gone() {
	[ -z "$(server)" ]
}

# Not before its last thread has ended are its descriptors closed; who asks meanwhile is told of something else.
dead() {
	! ls "$place" >"$out" 2>"$err" && grep -qF 'Transport endpoint is not connected' "$err"
}

# Killed: nothing is lost but the mount, which is made anew.
mount_tree
echo before >"$place/trace_marker"
echo 33 >"$place/buffer_percent"
pid=$(server)
kill -KILL "$pid"
until_it dead
want 0 cat trace
grep -q 'tracing_mark_write: before' "$out" || fail "the marker is lost"
mount_tree
grep -q 'tracing_mark_write: before' "$place/trace" || fail "the marker is not in the new mount"
reads buffer_percent 33
[ "$(grep -c " $place fuse" /proc/mounts)" -eq 1 ] || fail "the dead mount is still there"

# Live: not twice at one place, but at two.
refuse 1 mount "$place" -- 'mounted there already' "ringside umount $place"
mkdir "$RINGSIDE_SCRATCH/other"
want 0 mount "$RINGSIDE_SCRATCH/other"
[ "$(cat "$RINGSIDE_SCRATCH/other/buffer_percent")" = 33 ] || fail "another tree"
want 0 umount
[ "$(grep -c "$RINGSIDE_SCRATCH/[a-z]* fuse" /proc/mounts)" -eq 0 ] || fail "umount left one"
gone || fail "a server is left"

# In use: refused, and usable as before.
mount_tree
exec 5<"$place/trace_pipe"
refuse 1 umount "$place" -- "$place" 'in use'
exec 5<&-
reads tracing_on 1
# Told to end: unmounted, and whoever was waiting does not wait for ever.
cat "$place/trace_pipe" >/dev/null 2>&1 &
reader=$!
left=$reader
kill -TERM "$(server)"
wait $reader
left=
until_it gone
[ "$(grep -c " $place fuse" /proc/mounts)" -eq 0 ] || fail "not unmounted by SIGTERM"

# In the foreground: ends well by a signal and by umount.
for how in term umount; do
	"$RINGSIDE" mount --foreground "$place" >"$out" 2>"$err" &
	pid=$!
	left=$pid
	until_it test -e "$place/tracing_on"
	reads tracing_on 1
	if [ $how = term ]; then
		# Nobody tells a server that ends that this was closed.
		exec 9<"$place"
		kill -TERM $pid
	else
		want 0 umount "$place"
	fi
	wait $pid || fail "the server in the foreground failed after $how"
	exec 9<&-
	left=
	[ "$(grep -c " $place fuse" /proc/mounts)" -eq 0 ] || fail "not unmounted after $how"
done
# A terminal that goes away does no harm to one in the background.
mount_tree
kill -HUP "$(server)"
kill -PIPE "$(server)"
kill -USR1 "$(server)"
reads tracing_on 1
# Others' descriptors are not kept open: this ends when the command does.
want 0 umount "$place"
{ "$RINGSIDE" mount "$place" 3>&1; } | cat
want 0 umount "$place"

# Others who look whose mounts there are have this one open for a moment: that is no use of it.
mkdir "$RINGSIDE_SCRATCH/other"
"$RINGSIDE" --dir "$RINGSIDE_SCRATCH/other" start >"$out" 2>"$err" || fail "no other directory"
while [ ! -e "$RINGSIDE_SCRATCH/enough" ]; do
	"$RINGSIDE" --dir "$RINGSIDE_SCRATCH/other" umount 2>/dev/null
done &
left=$!
for i in 1 2 3 4 5 6 7 8 9 10; do
	mount_tree
	want 0 umount "$place"
done
touch "$RINGSIDE_SCRATCH/enough"
wait $left
left=

# Wrong places.
refuse 1 umount "$place" -- "$place" 'no tree of Ringside'
want 0 umount
grep -q 'not mounted anywhere' "$err" || fail "umount of nothing says nothing"
refuse 1 mount "$RINGSIDE_SCRATCH/none" -- "$RINGSIDE_SCRATCH/none" 'make it first'
refuse 1 mount "$out" -- 'no directory'
refuse 1 mount "$RINGSIDE_DIR" -- 'would be hidden'
refuse 1 mount "$RINGSIDE_SCRATCH" -- 'would be hidden'
refuse 1 mount / -- 'would be hidden'
refuse 2 mount -- missing
refuse 2 mount --mode 888 "$place" -- octal
refuse 2 mount --uid nobody-at-all "$place" -- 'no such user'
refuse 2 mount --gid nobody-at-all "$place" -- 'no such group'
# By another name, from where it is.
ln -s tree "$RINGSIDE_SCRATCH/link"
cd "$RINGSIDE_SCRATCH" || exit 1
want 0 mount link/
reads tracing_on 1
refuse 1 mount ./tree/../tree -- 'mounted there already'
want 0 umount tree
RINGSIDE_DIR=${RINGSIDE_DIR##*/}
want 0 mount tree
reads tracing_on 1
echo here >"$place/trace_marker" || fail "a relative RINGSIDE_DIR"
want 0 umount
[ ! -e "$place/trace_marker" ] || fail "a relative RINGSIDE_DIR is not found again"
exit 0
