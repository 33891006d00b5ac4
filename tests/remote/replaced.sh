#!/bin/sh
# A machine that is started anew in another file of RAM is another one to whoever reads, even if it does as the one before did, to the nanosecond: all
# that it traced is there, and that it began anew is told. And who waits in the mount hears of it, and of a memory that makes no sense any more.
. "$RINGSIDE_SOURCE/tests/mount/room.sh"
. "$RINGSIDE_SOURCE/tests/remote/room.sh"
cd "$RINGSIDE_SCRATCH" || exit 1

# Its time begins when it does, each time at the same one.
build_board board 64
board=

anew() {
	[ -z "$board" ] || kill -KILL "$board"
	[ -z "$board" ] || wait "$board" 2>/dev/null
	exec 8>&- 9<&-
	rm -f ram
	start_board ./board file ram rings=1 pages=4 on=1 "$@"
	left=$board
}

# Lines of trace or trace_pipe: so many, with these numbers, and that it began anew: tells FILE RESTARTS FROM TO
tells() {
	"$RINGSIDE" cat "remotes/board/$1" >"$out" 2>"$err" || fail "cat $1"
	grep -c RESTARTED "$out" | grep -qx "$2" || fail "$1: not $2 restarts"
	[ "$(sed -n 's/.* id=//p' "$out" | tr '\n' ' ')" = "$(seq "$3" "$4" | tr '\n' ' ')" ] || fail "$1: not $3 to $4"
}

# It answers nobody, so nobody can mark it.
anew quiet=1
want 0 remote add board --mem ram --elf board
tell emit 0 1 30
tells trace_pipe 0 1 30
anew quiet=1
tell emit 0 100 110
tells trace 1 100 110
tells trace_pipe 1 100 110
anew quiet=1
tell emit 0 200 240
tells trace_pipe 1 200 240
tells trace_pipe 0 1 0

# ---- who waits ----

mount_tree
cat "$place/remotes/board/trace_pipe" >taken 2>why 8>&- 9<&- &
reader=$!
left="$left $reader"
tell emit 0 241 241
until_it grep -q id=241 taken
anew
left="$left $reader"
tell emit 0 300 305
until_it grep -q id=305 taken
grep -q RESTARTED taken || fail "nobody tells who waits that it began anew"
kill -STOP "$board"
printf XXXXXXXX | dd of=ram conv=notrunc 2>/dev/null
wait $reader && fail "what makes no sense is no error"
[ -s why ] || fail "who waits is not told"
kill -KILL "$board"
exit 0
