#!/bin/sh
# Instances are made and removed by mkdir and rmdir, with all that is in them; not while one is in use.
. "$RINGSIDE_SOURCE/tests/mount/room.sh"

mount_tree
dir=$(mktemp -d "$place/instances/test.XXXXXX") || fail "mktemp"
name=${dir##*/}
[ -e "$dir/trace_marker" ] || fail "the instance is empty"
fails 'File exists' mkdir "$dir"

# What is written into it stays in it.
echo inside >"$dir/trace_marker"
grep -q 'tracing_mark_write: inside' "$dir/trace" || fail "the marker is not there"
if grep -q inside "$place/trace"; then
	fail "the marker is in the top buffer"
fi

# Others see it, and it sees what they do.
want 0 cat instances
says "$name/"
want 0 write "instances/$name/tracing_on" 0
[ "$(cat "$dir/tracing_on")" = 0 ] || fail "somebody else's change is not seen"

# In use: a file of it that is open, in whichever way.
exec 5<"$dir/trace_pipe"
fails 'Device or resource busy' rmdir "$dir"
exec 5<&-
exec 5<"$dir/trace"
read -r line <&5
fails 'Device or resource busy' rmdir "$dir"
exec 5<&-
# No longer in use, however lately it was.
for file in trace trace_pipe tracing_on; do
	for i in 1 2 3 4 5; do
		head -c 0 "$dir/$file" || fail "$file cannot be opened"
		rmdir "$dir" 2>"$err" || fail "still busy after $file was closed"
		mkdir "$dir" || fail "mkdir"
		echo x >"$dir/trace_marker" && cat "$dir/trace" >"$out" || fail "the new one"
		rmdir "$dir" 2>"$err" || fail "still busy after cat"
		mkdir "$dir"
	done
done

rmdir "$dir" || fail "rmdir"
[ ! -e "$dir" ] || fail "still there"
reads tracing_on 1
fails 'No such file' rmdir "$dir"

# Five at once, each with instances of its own and one that they share.
for n in 1 2 3 4 5; do
	(
		i=0
		while [ $i -lt 30 ]; do
			mkdir "$place/instances/own$n" || exit 1
			ls "$place/instances" >/dev/null
			cat "$place/instances/own$n/trace" >/dev/null || exit 1
			mkdir "$place/instances/shared" 2>/dev/null
			cat "$place/instances/shared/tracing_on" >/dev/null 2>&1
			rmdir "$place/instances/shared" 2>/dev/null
			rmdir "$place/instances/own$n" || exit 1
			i=$((i + 1))
		done
	) 2>>"$err" &
	eval "p$n=\$!"
done
for n in 1 2 3 4 5; do
	eval "wait \$p$n" || fail "slammed: $n has failed"
done
rmdir "$place/instances/shared" 2>/dev/null
[ -z "$(ls "$place/instances")" ] || fail "an instance is left"
want 0 umount
exit 0
