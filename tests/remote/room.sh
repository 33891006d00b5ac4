# What tests of remotes share: board.c, which is told what to do. Read with `.` behind cmd/room.sh or mount/room.sh.

# compile_board NAME COMPILER'S WORDS...
compile_board() {
	program=$RINGSIDE_SCRATCH/$1
	shift
	# CC is a command line.
	# shellcheck disable=SC2086
	$CC -O1 -I"$RINGSIDE_SOURCE" -I"$RINGSIDE_SOURCE/include" -I"$RINGSIDE_SOURCE/tests/remote" \
		"$RINGSIDE_SOURCE/tests/remote/board.c" "$RINGSIDE_SOURCE/fw/hosted.c" -o "$program" -pthread "$@" || {
		echo "FAIL: $program does not compile"
		exit 1
	}
}

# One with a clock of so many bits: build_board NAME BITS
build_board() {
	compile_board "$1" -DBOARD_BITS="$2" -include "$RINGSIDE_SOURCE/tests/remote/drift.h"
}

# One that serves a remote by the library, with the host's clock.
build_serving_board() {
	compile_board "$1" -DBOARD_SERVES -DBOARD_BITS=64 -L"$RINGSIDE_BUILD" -lringside-control -Wl,-rpath,"$RINGSIDE_BUILD"
}

# Runs one, with what it answers at once in $answer: start_board COMMAND... It is told things through descriptors 8 and 9, its ID is $board.
start_board() {
	rm -f "$RINGSIDE_SCRATCH/to" "$RINGSIDE_SCRATCH/from"
	mkfifo "$RINGSIDE_SCRATCH/to" "$RINGSIDE_SCRATCH/from"
	"$@" <"$RINGSIDE_SCRATCH/to" >"$RINGSIDE_SCRATCH/from" 8>&- 9>&- &
	board=$!
	exec 8>"$RINGSIDE_SCRATCH/to" 9<"$RINGSIDE_SCRATCH/from"
	read -r answer <&9 || fail "$*: ends at once"
	[ "$answer" = ok ] || fail "$*: says $answer"
}

end_board() {
	exec 8>&- 9<&-
	wait "$board"
}

# Somebody in the background, $other, who takes a remote's events out, and does so from when this ends: take_out PIPE INTO COMMAND...
# Whether he does is known when another one cannot, who takes them out himself until then: whom that has kept away begins again.
take_out() {
	pipe=$1 into=$2
	shift 2
	tries=0
	"$@" >"$into" 2>"$RINGSIDE_SCRATCH/kept_away" 8>&- 9<&- &
	other=$!
	until "$RINGSIDE" cat "$pipe" 2>&1 | grep -q 'somebody else'; do
		tries=$((tries + 1))
		[ $tries -lt 1000 ] || fail "nobody takes out of $pipe: $(cat "$RINGSIDE_SCRATCH/kept_away")"
		if [ -s "$RINGSIDE_SCRATCH/kept_away" ]; then
			wait "$other"
			"$@" >"$into" 2>"$RINGSIDE_SCRATCH/kept_away" 8>&- 9<&- &
			other=$!
		fi
		sleep 0.02
	done
}

# Tells it a line, and takes its answer: tell WORD...
tell() {
	echo "$*" >&8
	read -r answer <&9 || fail "the board has died of '$*'"
}

# Numbers of the selftests of a remote in a file, one a line: numbers FILE [REMOTE]
numbers() {
	"$RINGSIDE" report -q "$1" | sed -n "s/.*\\b${2:-board}-[0-9]* .* selftest: *id=//p"
}

# They rise by one: rises FROM TO
rises() {
	awk -v next_id="$1" -v last="$2" '
		$1 != next_id++ { print "after " next_id - 2 " comes " $1; exit 1 }
		END { if (next_id != last + 1) { print "ends with " next_id - 1; exit 1 } }
	' >verdict || fail "not $1 to $2: $(cat verdict)"
}

# A recorder in the background, $other, which has begun: begin_record WORDS...
begin_record() {
	"$RINGSIDE" record "$@" >"$out" 2>"$err" 8>&- 9<&- &
	other=$!
	until_it sh -c "'$RINGSIDE' cat remotes/board/tracing_on | grep -q 1"
}

# It ends, in the midst of what it is doing: what came while it stood still is all in front of it.
end_record() {
	kill -INT "$other"
	kill -CONT "$other"
	wait "$other"
	status=$?
	other=
}
