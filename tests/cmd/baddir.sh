#!/bin/sh
# Bad directories: one clear line that names the file, exit 1, never a crash.
. "$RINGSIDE_SOURCE/tests/cmd/room.sh"

d=$RINGSIDE_DIR
commands='list show stop restart clear snapshot stat reset'

# Every command refuses with one line that holds the text; `start` too, unless it can make the directory.
all_refuse() {
	text=$1
	for cmd in $commands 'show --json' 'cat trace' 'show -p --timeout 0.1' 'write tracing_on 1' start
	do
		eval "refuse 1 $cmd -- \"\$text\""
	done
}

fresh() {
	rm -rf "$d"
	want 0 start -e shop
	want 0 write trace_marker hello
}

# Missing: made by those who write, refused by those who read.
for cmd in $commands 'cat trace'; do
	eval "refuse 1 $cmd -- \"\$d\""
	[ ! -e "$d" ] || fail "$cmd made the directory"
done
refuse 1 start --dir "$d/no/such" -- "$d/no/such"
refuse 2 start --dir "$d" --dir -- --dir

# Something else.
: >"$d"
all_refuse "$d"
rm "$d"
ln -s / "$d"
all_refuse "$d"
rm "$d"

# Open to others.
fresh
chmod 777 "$d"
all_refuse 'chmod 700'
chmod 700 "$d"
chmod 666 "$d/rings"
all_refuse "$d/rings"

# Another's.
if [ "$(id -u)" -eq 0 ]; then
	fresh
	chown 12345 "$d"
	all_refuse 12345
	chown 0 "$d"
	chown 12345 "$d/registry"
	all_refuse "$d/registry"
fi

# A file missing: made anew by those who make, told by the others.
for file in control registry rings tables; do
	fresh
	rm "$d/$file"
	refuse 1 show -- "$d/$file"
	refuse 1 stop -- "$d/$file"
	# Cut, empty, a directory, a fifo.
	for size in 0 10 100; do
		fresh
		truncate -s $size "$d/$file"
		all_refuse "$d/$file"
	done
	fresh
	rm "$d/$file"
	mkdir "$d/$file"
	all_refuse "$d/$file"
	fresh
	rm "$d/$file"
	mkfifo "$d/$file"
	all_refuse "$d/$file"
	# Of another kind, of a newer version.
	fresh
	printf 'XXXXXXXX' | dd of="$d/$file" conv=notrunc 2>/dev/null
	all_refuse "$d/$file"
	fresh
	printf '\377' | dd of="$d/$file" bs=1 seek=8 conv=notrunc 2>/dev/null
	all_refuse 'version 255'
	# All of it random, then all but the header.
	fresh
	head -c 20000 /dev/urandom | dd of="$d/$file" conv=notrunc 2>/dev/null
	all_refuse "$d/$file"
done

# Random bytes behind good headers: the control file is refused and reset heals it.
fresh
head -c 8000 /dev/urandom | dd of="$d/control" bs=64 seek=1 conv=notrunc 2>/dev/null
for cmd in list show stop restart clear snapshot stat set start; do
	refuse 1 $cmd -- "$d/control" 'ringside reset'
done
want 0 reset
want 0 start -e shop
want 0 write trace_marker healed
want 0 show
grep -q healed "$out" || fail "not healed"

# The rings may hold anything: some trace comes out, or one line of words.
seed=1
while [ $seed -le 15 ]; do
	fresh
	case $((seed % 3)) in
	0) head -c 4000000 /dev/urandom | dd of="$d/rings" bs=4096 seek=1 conv=notrunc 2>/dev/null ;;
	1) head -c 512 /dev/urandom |
		dd of="$d/rings" bs=1 seek=$((8192 + seed * 40)) conv=notrunc 2>/dev/null ;;
	2) truncate -s $((4096 * (2 + seed * 3))) "$d/rings" ;;
	esac
	for cmd in show 'show --json' 'show -p --timeout 0.05' 'cat per_cpu/cpu0/stats' \
		'cat per_cpu/cpu0/trace_pipe_raw' stop clear 'write buffer_size_kb 100' \
		'write trace_marker x' start reset; do
		# shellcheck disable=SC2086
		timeout 20 "$RINGSIDE" $cmd >"$out" 2>"$err"
		got=$?
		[ $got -le 1 ] || fail "seed $seed: $cmd: exit $got"
		[ $got -eq 0 ] || [ "$(grep -c '^ringside: ' "$err")" -eq 1 ] || fail "$cmd: words"
	done
	seed=$((seed + 1))
done
exit 0
