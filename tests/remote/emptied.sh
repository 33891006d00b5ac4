#!/bin/sh
# A buffer that is emptied loses nothing by that, and hides nothing: what is overwritten behind it is told, to the event, also when the target
# slept while it was asked, or somebody else emptied it under who reads.
. "$RINGSIDE_SOURCE/tests/cmd/room.sh"
. "$RINGSIDE_SOURCE/tests/remote/room.sh"
cd "$RINGSIDE_SCRATCH" || exit 1
other=
trap 'kill -KILL $board $other 2>/dev/null' EXIT

build_board board 64
# One that answers nothing but with its next event.
start_board ./board file ram rings=1 pages=4 shift=8 on=1 quiet=1
want 0 remote add board --mem ram --elf board

# Numbers from FROM to TO, each once, there or told to be lost: balanced FROM TO FILE
balanced() {
	awk -v next_id="$1" -v last="$2" '
		/LOST/ { split($0, word, " "); next_id += word[3]; lost = 1; next }
		$4 != "id=" next_id { print $4 " comes where " next_id " should"; exit 1 }
		{ next_id++ }
		END { if (next_id != last + 1) { print "ends with " next_id - 1; exit 1 }
		      if (!lost) { print "nothing is lost"; exit 1 } }
	' <"$3" >verdict || fail "of $1 to $2: $(cat verdict)"
}

# Somebody takes events out of a remote, up to this one, and sleeps: follow REMOTE ID
follow() {
	"$RINGSIDE" cat -f "remotes/$1/trace_pipe" >taken 2>/dev/null 8>&- 9<&- &
	other=$!
	tell emit 0 "$2" "$2"
	wait_for "$2"
	kill -STOP $other
}

wait_for() {
	until grep -q "id=$1" taken; do
		sleep 0.02
	done
}

# He goes on, and has all up to this one: follow_to ID
follow_to() {
	wait_for "$1"
	kill -INT $other
	wait $other
}

tell emit 0 1 5
want 0 cat remotes/board/trace_pipe
tell emit 0 6 9
want 0 write remotes/board/trace ''
tell emit 0 1000 1999
"$RINGSIDE" cat remotes/board/trace_pipe >taken || fail "nobody can read"
balanced 1000 1999 taken

# Who reads sleeps, too: what was thrown away does not come any more, and is not lost.
follow board 2000
tell emit 0 2001 2006
want 0 write remotes/board/trace ''
kill -CONT $other
sleep 0.2
tell emit 0 2007 2008
follow_to 2008
[ "$(sed -n 's/.*id=//p' taken | tr '\n' ' ')" = '2000 2007 2008 ' ] || fail "what was thrown away: $(cat taken)"
grep LOST taken && fail "what was thrown away is lost"
end_board

# Who reads sleeps meanwhile.
start_board ./board file awake rings=1 pages=4 shift=8 on=1
want 0 remote add awake --mem awake --elf board
follow awake 3000
tell emit 0 3001 3100
want 0 write remotes/awake/trace ''
tell emit 0 4000 4999
kill -CONT $other
follow_to 4999
sed 1d taken >behind
balanced 4000 4999 behind
end_board
exit 0
