#!/bin/sh
# Each file of remotes/NAME/, by name and by the mount: what it says, what may be written to it, and what is said of what may not.
. "$RINGSIDE_SOURCE/tests/mount/room.sh"
. "$RINGSIDE_SOURCE/tests/remote/room.sh"
cd "$RINGSIDE_SCRATCH" || exit 1

mount_tree
test=remotes/test

# A file has just this text, both ways: has FILE TEXT
has() {
	want 0 cat "$1"
	says "$2"
	reads "$1" "$2"
}

# A file is empty, both ways.
is_empty() {
	want 0 cat "$1"
	[ ! -s "$out" ] || fail "$1 is not empty"
	cat "$place/$1" >"$out" || fail "$1 cannot be read"
	[ ! -s "$out" ] || fail "$1 is not empty in the mount"
}

put() {
	want 0 write "$@"
}

# A text is not taken, either way: bad FILE TEXT 'ERRNO IN WORDS' OUR WORDS...
bad() {
	of=$1 wrong=$2 errno=$3
	shift 3
	refuse 1 write "$of" "$wrong" -- "$of: " "$@"
	# The shell's own echo does not tell why.
	# shellcheck disable=SC2016
	fails "$errno" sh -c 'env echo "$1" >"$2"' sh "$wrong" "$place/$of"
}

# ---- names ----

# In every directory, the same with and without the mount.
lists() {
	want 0 cat "$1"
	says "$2"
	ls -p "$place/$1" | LC_ALL=C sort >names
	LC_ALL=C sort "$out" | cmp -s - names || fail "$1 lists other names in the mount: $(cat names)"
}
lists remotes test/
want 0 cat $test
[ "$(tr '\n' ' ' <"$out")" = 'buffer_size_kb clock events/ per_cpu/ trace trace_pipe tracing_on write_event ' ] || fail "$test has other files"
lists $test "$(cat "$out")"
[ "$("$RINGSIDE" cat $test/per_cpu | wc -l)" -eq "$(getconf _NPROCESSORS_CONF)" ] || fail "another number of CPUs"
lists $test/per_cpu "$("$RINGSIDE" cat $test/per_cpu)"
lists $test/per_cpu/cpu0 'trace
trace_pipe'
lists $test/events 'enable
header_event
header_page
test/'
lists $test/events/test selftest/
lists $test/events/test/selftest 'enable
format
id'
for name in remotes/none remotes/.. remotes/none/trace $test/none $test/per_cpu/cpu $test/per_cpu/cpu01 $test/per_cpu/cpux/trace \
	$test/per_cpu/cpu99999999999/trace $test/per_cpu/cpu0/none $test/events/none $test/events/test/none $test/events/test/none/enable \
	$test/events/test/enable $test/events/test/selftest/filter; do
	refuse 1 cat $name -- 'there is no such file'
	[ "$name" = remotes/.. ] || fails 'No such file' cat "$place/$name"
done

# What may be done with them is what their modes say.
modes() {
	[ "$(stat -c %a "$place/$2")" = "$1" ] || fail "$2: mode $(stat -c %a "$place/$2"), not $1"
}
for file in trace tracing_on buffer_size_kb events/enable events/test/selftest/enable per_cpu/cpu0/trace; do
	modes 640 $test/$file
done
for file in trace_pipe clock events/header_page events/header_event events/test/selftest/id events/test/selftest/format \
	per_cpu/cpu0/trace_pipe; do
	modes 440 $test/$file
	refuse 1 write $test/$file 1 -- 'can only be read'
done
modes 220 $test/write_event
refuse 1 cat $test/write_event -- 'can only be written'
fails 'Operation not permitted' mkdir "$place/remotes/mine"
fails 'Operation not permitted' rmdir "$place/$test"
fails 'Operation not permitted' rm -f "$place/$test/trace"
fails 'Operation not permitted' mkdir "$place/$test/events/mine"

# Who only looks leaves nothing behind.
has $test/buffer_size_kb '7 (unloaded)'
has $test/tracing_on 0
is_empty $test/trace
[ ! -e "$RINGSIDE_DIR/remotes" ] || fail "something is kept of what nobody has used"

# ---- events ----

has $test/events/test/selftest/id 1
has $test/events/test/selftest/format 'name: selftest
ID: 1
format:
	field:unsigned short common_type;	offset:0;	size:2;	signed:0;

	field:u64 id;	offset:8;	size:8;	signed:0;

print fmt: "id=%llu", REC->id'
want 0 cat $test/events/header_page
grep -q '^	field: u64 timestamp;	offset:0;	size:8;	signed:0;$' "$out" || fail "header_page"
want 0 cat events/header_event
has $test/events/header_event "$(cat "$out")"

# One and all, while it is loaded and while it is not.
for loaded in 0 1; do
	put $test/tracing_on $loaded
	for file in events/enable events/test/selftest/enable; do
		has $test/$file 0
		put $test/$file 1
		has $test/events/enable 1
		has $test/events/test/selftest/enable 1
		for text in 2 X x -1 1x ''; do
			bad $test/$file "$text" 'Invalid argument' "'$text'"
		done
		has $test/$file 1
		put $test/$file 0
	done
done
put $test/tracing_on 0

# ---- switches and sizes ----

for text in x -1 '' 1x 0x1 18446744073709551616; do
	bad $test/tracing_on "$text" '' "'$text'"
done
has $test/tracing_on 0
for text in 0 1048577 4503599627370496 18014398509481984 18446744073709551615; do
	bad $test/buffer_size_kb $text 'Invalid argument' 'a buffer has 1 to 1048576 KiB'
done
bad $test/buffer_size_kb 18446744073709551616 'Invalid argument' 'too large'
bad $test/buffer_size_kb x 'Invalid argument' 'no number'
put $test/buffer_size_kb 32
has $test/buffer_size_kb '32 (unloaded)'
put $test/tracing_on 1
has $test/buffer_size_kb '32 (loaded)'
bad $test/buffer_size_kb 32 'Device or resource busy' 'loaded'
put $test/tracing_on 0
has $test/buffer_size_kb '32 (unloaded)'
put $test/buffer_size_kb 7

# ---- write_event ----

# Nothing is recorded unless both are on: tracing, and the event.
bad $test/write_event 1 'No such device' 'off'
put $test/tracing_on 1
bad $test/write_event 1 'No such device' 'off'
put $test/events/enable 1
for text in x -1 0x10 1x '' ' '; do
	bad $test/write_event "$text" 'Invalid argument' "'"
done
bad $test/write_event 18446744073709551616 'result out of range' 'too large'
for text in 0 18446744073709551615; do
	put $test/write_event $text
done
want 0 cat $test/trace
[ "$(sed 's/.*: //' "$out" | sort | tr '\n' ' ')" = 'selftest id=0 selftest id=18446744073709551615 ' ] || fail "not these two"
put $test/tracing_on 0
bad $test/write_event 1 'No such device' 'off'
want 0 cat $test/clock
says '1000000000 Hz, 64 bits, the host'\''s own'

# ---- CPUs ----

none=$(($(getconf _NPROCESSORS_CONF) + 3))
refuse 1 cat $test/per_cpu/cpu$none/trace -- "has no cpu $none"
refuse 1 cat $test/per_cpu/cpu$none/trace_pipe -- "has no cpu $none"
refuse 1 write $test/per_cpu/cpu$none/trace 1 -- "has no cpu $none"
fails 'No such device' cat "$place/$test/per_cpu/cpu$none/trace"
fails 'No such device' cat "$place/$test/per_cpu/cpu$none/trace_pipe"
want 0 cat $test/trace
[ "$(wc -l <"$out")" -eq 2 ] || fail "a CPU that there is not was emptied, and others with it"
put $test/trace 0
has $test/buffer_size_kb '7 (unloaded)'
refuse 1 cat $test/per_cpu/cpu$none/trace_pipe -- "has no cpu $none"
has $test/buffer_size_kb '7 (unloaded)'

# ---- who takes events out ----

# One of each ring at a time; who looks is free to.
put $test/tracing_on 1
take_out $test/trace_pipe taken cat "$place/$test/per_cpu/cpu0/trace_pipe"
left=$other
refuse 1 cat $test/trace_pipe -- 'somebody else takes these events out'
refuse 1 cat $test/per_cpu/cpu0/trace_pipe -- 'somebody else takes these events out'
fails 'Device or resource busy' cat "$place/$test/trace_pipe"
is_empty $test/trace
if [ "$(getconf _NPROCESSORS_CONF)" -gt 1 ]; then
	want 0 cat $test/per_cpu/cpu1/trace_pipe
fi
put $test/tracing_on 0
has $test/buffer_size_kb '7 (loaded)'
kill -KILL $left
wait $left 2>/dev/null
left=
until_it sh -c "'$RINGSIDE' cat $test/buffer_size_kb | grep -q unloaded"
want 0 cat $test/trace_pipe
# Who is killed has nobody who takes the buffer away for him: who looks next does.
"$RINGSIDE" cat -f $test/trace_pipe &
left=$!
until_it [ -e "$RINGSIDE_DIR/remotes/test/memory" ]
kill -KILL $left
wait $left 2>/dev/null
left=
has $test/buffer_size_kb '7 (unloaded)'
[ ! -e "$RINGSIDE_DIR/remotes/test/memory" ] || fail "the buffer of a reader that was killed stays"

# Who is killed while nobody takes what he has read: what he did not read is there for the next one, once.
build_board board 64
start_board ./board file ram rings=1 pages=256
left=$board
want 0 remote add board --mem ram --elf board
put remotes/board/events/enable 1
put remotes/board/tracing_on 1
rounds=3
[ -z "${RINGSIDE_LONG-}" ] || rounds=100
round=0 next=1
mkfifo stuck
while [ $round -lt $rounds ]; do
	tell emit 0 $next $((next + 9999))
	# He has room for a pipe's worth, and then waits.
	"$RINGSIDE" cat -f remotes/board/trace_pipe >stuck &
	pid=$!
	exec 7<stuck
	until_it sh -c "head -c 1 <&7 | grep -q ."
	[ $((round % 2)) -eq 0 ] || until_it grep -q S "/proc/$pid/stat"
	kill -KILL $pid
	wait $pid 2>/dev/null
	cat <&7 >first
	exec 7<&-
	want 0 cat remotes/board/trace_pipe
	cp "$out" rest
	[ -s first ] && [ -s rest ] || fail "round $round: nobody has read anything: $(wc -l <first), $(wc -l <rest)"
	# The last line of the first one may be a part.
	sed -n '$d; s/.*selftest id=//p' first | tail -n 1 >last_of_first
	awk -v next_id="$(cat last_of_first)" -v end=$((next + 9999)) '
		{ sub(/.*id=/, "") }
		NR == 1 && $0 <= next_id { print "event " $0 " is there twice"; exit 1 }
		NR > 1 && $0 != last + 1 { print "after event " last " comes " $0; exit 1 }
		{ last = $0 }
		END { if (last != end) { print "it ends with event " last; exit 1 } }
	' rest >verdict || fail "round $round: $(cat verdict)"
	next=$((next + 10000)) round=$((round + 1))
done
put remotes/board/tracing_on 0
has remotes/board/buffer_size_kb '1024 (unloaded)'

# ---- what a target of another kind has ----

lists remotes 'board/
test/'
want 0 cat remotes/board
if grep -q write_event "$out"; then
	fail "write_event is of the remote test"
fi
fails 'Permission denied' touch "$place/remotes/board/write_event"
lists remotes/board/events/board 'selftest/
silent/
stamp/'
put remotes/board/events/enable 0
has remotes/board/events/enable 0
put remotes/board/events/board/stamp/enable 1
has remotes/board/events/enable X
has remotes/board/events/board/stamp/enable 1
has remotes/board/events/board/silent/enable 0
put remotes/board/events/enable 1
has remotes/board/events/enable 1
put remotes/board/events/enable 0
end_board
left=

# Small pages, and without the texts of its events.
start_board ./board file ram8 rings=1 pages=4 shift=8 on=1 hz=32768
left=$board
want 0 remote add small --mem ram8
tell emit 0 1 5
lists remotes/small/events 'enable
header_event
header_page'
want 0 cat remotes/small/events/header_page
grep -q 'char data;	offset:16;	size:240;' "$out" || fail "not a page of 256 bytes"
want 0 cat remotes/small/trace
[ "$(grep -c ': UNKNOWN id=1$' "$out")" -eq 5 ] || fail "not five events without a name"
bad remotes/small/events/enable 1 'Invalid argument' '--elf'
has remotes/small/events/enable '?'
has remotes/small/buffer_size_kb '1 (loaded)'
end_board
left=
exit 0
