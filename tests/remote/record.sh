#!/bin/sh
# Remotes in recordings: several, beside programs; what readers, ours and others, make of it; losses; and what is not to be had.
. "$RINGSIDE_SOURCE/tests/cmd/room.sh"
. "$RINGSIDE_SOURCE/tests/remote/room.sh"
cd "$RINGSIDE_SCRATCH" || exit 1
trap 'kill $board $other 2>/dev/null' EXIT

# The command of recordings: all that it is told, the board does.
cat >drive <<'END2'
for words; do
	echo "$words" >&8
	read -r answer <&9
done
END2
drive() {
	name=$1
	shift
	# The rest are words for record, up to --.
	words=
	while [ "$1" != -- ]; do
		words="$words $1"
		shift
	done
	shift
	# shellcheck disable=SC2086
	want 0 record -o "$name" $words sh drive "$@"
}

program talk <<'END2'
#include <ringside/ringside.h>

RINGSIDE_EVENT(talk, asked, field(int, number))

int main(void)
{
	for (int i = 0; i < 5; i++)
		trace_talk_asked(i);
	return 0;
}
END2
build_board board 32
start_board ./board file ram rings=2 pages=8 shift=9 hz=1000000 ppm=100 offset=4294000000
want 0 start
want 0 remote add board --mem ram --elf board

# ---- one, and what readers say ----

drive one.dat --remote board -- 'emit 0 1 20' 'emit 1 21 30' 'stamps 1 3 0'
grep -q '^ringside: one.dat: .* none lost$' "$err" || fail "no sums"
grep -qE '^ringside: remote board: 1000000 Hz, 32 bits, matched to [0-9]+ [nu]s$' "$err" || fail "no word of its clock"
numbers one.dat | rises 1 30
want 0 report -q one.dat
[ "$(grep -c 'board-[0-9]* *\[001\].* selftest: ' "$out")" -eq 10 ] || fail "not ten of CPU 1"
[ "$(grep -c ' stamp: *number=[0-2] host=[1-9]' "$out")" -eq 3 ] || fail "not three stamps"
want 0 report --json one.dat
grep -q '"selftest".*"id":30\|"id":30.*"selftest"' "$out" || fail "not in JSON: $(grep selftest "$out" | head -n 2)"
want 0 remote list
if command -v trace-cmd >/dev/null; then
	trace-cmd report -i one.dat >"$out" 2>"$err" || fail "trace-cmd does not read it"
	sed -n 's/.* selftest: *id=//p' "$out" | rises 1 30
	[ "$(grep -c ' board-[0-9]* ' "$out")" -eq 33 ] || fail "trace-cmd does not call them board"
	! grep -qi 'unknown\|failed' "$out" "$err" || fail "trace-cmd is not content"
fi
# It is as it was: off, and so is each event.
want 0 cat remotes/board/tracing_on
says 0
want 0 cat remotes/board/events/enable
says 0

# Events that are named are switched on, and no others; what was on before stays on.
want 0 write remotes/board/events/board/stamp/enable 1
want 0 write remotes/board/tracing_on 1
tell emit 0 90 99
tell stamps 0 5 0
drive some.dat --remote board:selftest,silent -- 'emit 0 1 3' 'stamps 1 2 0'
numbers some.dat | rises 1 3
want 0 report -q some.dat
[ "$(grep -c ' stamp: ' "$out")" -eq 2 ] || fail "what was recorded before is in the file, or what was on is not"
want 0 cat remotes/board/tracing_on
says 1
want 0 cat remotes/board/events/board/stamp/enable
says 1
want 0 cat remotes/board/events/board/selftest/enable
says 0
want 0 write remotes/board/tracing_on 0
want 0 write remotes/board/events/enable 0

# With -k all of it stays on.
drive kept.dat -k --remote board:selftest -- 'emit 0 1 3'
numbers kept.dat | rises 1 3
want 0 cat remotes/board/tracing_on
says 1
want 0 cat remotes/board/events/board/selftest/enable
says 1
[ ! -e "$RINGSIDE_DIR/remotes/board/lent" ] || fail "somebody will switch it off"
tell emit 0 4 5
want 0 cat remotes/board/trace
[ "$(grep -c ' selftest id=[45]$' "$out")" -eq 2 ] || fail "it records no more"
want 0 write remotes/board/tracing_on 0
want 0 write remotes/board/events/enable 0

# ---- several, and a program ----

want 0 record -q -o several.dat -e talk --remote board --remote test:selftest sh -c '
	echo emit 0 1 3 >&8; read -r answer <&9
	./talk
	echo emit 0 4 6 >&8; read -r answer <&9
	"$RINGSIDE" write remotes/test/write_event 77
	./talk'
want 0 report -q several.dat
sed -n 's/.* \(asked\|selftest\): *\([a-z]*=[0-9]*\).*/\1 \2/p' "$out" | tr '\n' ' ' >order
[ "$(cat order)" = 'selftest id=1 selftest id=2 selftest id=3 asked number=0 asked number=1 asked number=2 asked number=3 asked number=4 selftest id=4 selftest id=5 selftest id=6 selftest id=77 asked number=0 asked number=1 asked number=2 asked number=3 asked number=4 ' ] ||
	fail "in another order: $(cat order)"
grep -q '^ *test: .*test-[0-9]* .*id=77' "$out" || fail "not in a buffer of its name"
if command -v trace-cmd >/dev/null; then
	trace-cmd report -i several.dat >"$out" 2>"$err" || fail "trace-cmd does not read it"
	[ "$(grep -c ' \(asked\|selftest\): ' "$out")" -eq 17 ] || fail "trace-cmd reads something else"
fi

# ---- losses ----

# A ring of eight small pages, and a recorder that stands still: all that is missing is told, to the event.
"$RINGSIDE" record -o lost.dat --remote board >"$out" 2>"$err" 8>&- 9<&- &
other=$!
until_it sh -c "'$RINGSIDE' cat remotes/board/events/enable | grep -q 1"
until_it sh -c "'$RINGSIDE' cat remotes/board/tracing_on | grep -q 1"
tell emit 0 1 50
kill -STOP $other
tell emit 0 51 3000
kill -CONT $other
tell emit 0 3001 3010
kill -INT $other
wait $other
other=
lost=$(sed -n 's/.*events, .*, \([0-9]*\) lost.*/\1/p' "$err")
[ "${lost:-0}" -gt 1000 ] || fail "too few are lost: $(cat "$err")"
numbers lost.dat >seen
[ $(($(wc -l <seen) + lost)) -eq 3010 ] || fail "$(wc -l <seen) are there, and $lost lost, of 3010"
[ "$(tail -n 1 seen)" = 3010 ] || fail "the last one is not there"
"$RINGSIDE" report -q lost.dat | grep -q "\[$lost EVENTS DROPPED\]\|LOST $lost EVENTS" || {
	"$RINGSIDE" report -q lost.dat | grep -n "EVENTS" | head -5 >"$out"
	fail "report does not tell of $lost"
}

# A ring that refuses: what comes behind the last event that it took is told by none, and counted all the same.
end_board
start_board ./board file ram rings=2 pages=8 shift=9 hz=1000000 flags=1
"$RINGSIDE" record -o refused.dat --remote board >"$out" 2>"$err" 8>&- 9<&- &
other=$!
until_it sh -c "'$RINGSIDE' cat remotes/board/tracing_on | grep -q 1"
tell emit 1 1 50
until_it sh -c "'$RINGSIDE' cat remotes/board/trace | grep -c . | grep -qx 0"
kill -STOP $other
tell emit 1 51 3000
kill -INT $other
kill -CONT $other
wait $other
other=
refused=$(sed -n 's/.*remote board: .*; \([0-9]*\) events were refused behind the last one that is there$/\1/p' "$err")
numbers refused.dat | rises 1 $((3000 - ${refused:-0}))
[ "${refused:-0}" -gt 1000 ] && grep -q " $refused lost" "$err" || fail "not told as lost: $(cat "$err")"
"$RINGSIDE" dump --options refused.dat | grep -q "$refused events were refused" || fail "the file does not tell of $refused"
end_board
start_board ./board file ram rings=2 pages=8 shift=9 hz=1000000 ppm=100 offset=4294000000

# ---- one that is killed, and one that is not alone ----

"$RINGSIDE" record -q -o killed.dat --remote board >"$out" 2>"$err" 8>&- 9<&- &
other=$!
until_it sh -c "'$RINGSIDE' cat remotes/board/tracing_on | grep -q 1"
refuse 1 record -q -o second.dat --remote board true -- 'remote board: ' 'somebody else takes its events out'
[ ! -e second.dat ] || fail "a file of a recording that never was"
want 0 cat remotes/board/tracing_on
says 1
tell emit 1 1 10
want 0 stat
grep -q '^Remotes that are on:$' "$out" && grep -q '^    board$' "$out" || fail "stat does not tell of it"
kill -KILL $other
wait $other 2>/dev/null
other=
# What it had switched on goes off when somebody looks; also what it was that he wants to do.
want 0 stat
! grep -q '^Remotes' "$out" || fail "it is still on"
tell emit 1 11 20
[ "$answer" = off ] || fail "it is still on"
want 0 cat remotes/board/events/enable
says 0
[ ! -e "$RINGSIDE_DIR/remotes/board/lent" ] || fail "something is left"
drive next.dat --remote board -- 'emit 0 1 5'
numbers next.dat | rises 1 5

# What others have not read is theirs: a recording that cannot begin leaves it.
want 0 write remotes/board/events/enable 1
want 0 write remotes/board/tracing_on 1
take_out remotes/board/trace_pipe taken "$RINGSIDE" cat -f remotes/board/trace_pipe
kill -STOP $other
tell emit 0 1 3
refuse 1 record -q -o second.dat --remote board true -- 'remote board: ' 'somebody else'
kill -CONT $other
until_it sh -c "[ \$(wc -l <taken) -eq 3 ]"
kill $other
wait $other 2>/dev/null
other=

# ---- reset, stop and start ----

want 0 stop
want 0 start
want 0 cat remotes/board/tracing_on
says 1
tell emit 0 1 3
want 0 write remotes/test/buffer_size_kb 100
want 0 write remotes/test/tracing_on 1
want 0 reset
for name in board test; do
	want 0 cat remotes/$name/tracing_on
	says 0
	want 0 cat remotes/$name/events/enable
	says 0
	want 0 cat remotes/$name/trace
	[ ! -s "$out" ] || fail "$name is not empty"
done
want 0 cat remotes/test/buffer_size_kb
says '7 (unloaded)'

# ---- a target that begins again, and one that goes ----

"$RINGSIDE" record -o again.dat --remote board >"$out" 2>"$err" 8>&- 9<&- &
other=$!
until_it sh -c "'$RINGSIDE' cat remotes/board/tracing_on | grep -q 1"
tell emit 0 1 10
tell begin
tell emit 0 11 20
kill -INT $other
wait $other || fail "it fails with a target that began again"
other=
numbers again.dat >seen
# What was not read before the memory was begun again is gone; what comes then is all there.
sed -n '/^11$/,$p' seen | rises 11 20
want 0 cat remotes/board/tracing_on
says 0

"$RINGSIDE" record -o gone.dat --remote board >"$out" 2>"$err" 8>&- 9<&- &
other=$!
until_it sh -c "'$RINGSIDE' cat remotes/board/tracing_on | grep -q 1"
tell emit 0 1 10
until_it sh -c "'$RINGSIDE' cat remotes/board/trace | grep -c . | grep -qx 0"
end_board
: >ram
kill -INT $other
wait $other
status=$?
other=
[ $status -le 1 ] || fail "exit status $status with a target that is gone"
numbers gone.dat | rises 1 10
refuse 1 record -q -o none.dat --remote board true -- 'remote board: '
[ ! -e none.dat ] || fail "a file of a recording that never was"
want 0 remote list
grep -A 2 '^board$' "$out" | grep -q '  state  *the memory ends before the end of a header at 0$\|  state .*ends' || fail "list does not say what is wrong"
want 0 remote remove board

# ---- recorders that are killed in the midst of it ----

# What is not in the file is still there for who reads next; a page may be in both.
start_board ./board file big rings=1 pages=8192
want 0 remote add board --mem big --elf board
rounds=1 next=1 round=0
[ -z "${RINGSIDE_LONG-}" ] || rounds=50
while [ $round -lt $rounds ]; do
	"$RINGSIDE" record -q -o killed.dat --remote board >"$out" 2>"$err" 8>&- 9<&- &
	other=$!
	until_it sh -c "'$RINGSIDE' cat remotes/board/tracing_on | grep -q 1"
	last=$((next + 199999))
	tell emit 0 $next $last
	kill -KILL $other
	wait $other 2>/dev/null
	other=
	numbers killed.dat 2>/dev/null >seen
	"$RINGSIDE" cat remotes/board/trace_pipe | sed -n 's/.*selftest id=//p' >rest
	in_file=$(tail -n 1 seen)
	rises $next "${in_file:-$((next - 1))}" <seen
	if [ -s rest ]; then
		first=$(head -n 1 rest)
		[ "$first" -le $((${in_file:-$((next - 1))} + 1)) ] || fail "round $round: the file ends with $in_file, and what is left begins with $first"
		rises "$first" $last <rest
	else
		[ "$in_file" = $last ] || fail "round $round: the file ends with $in_file, and nothing is left"
	fi
	next=$((last + 1)) round=$((round + 1))
done
end_board
want 0 remote remove board

# ---- what cannot be asked for ----

refuse 1 record --remote nobody true -- "there is no remote 'nobody'"
refuse 1 record --remote ../board true -- "there is no remote '../board'"
refuse 1 record --remote :x true -- 'the name of a remote is needed'
refuse 1 record --remote test:nothing true -- "remote test has no event 'nothing'"
refuse 1 record --remote test:selftest,nothing true -- "remote test has no event 'nothing'"
refuse 1 record --remote test: true -- "remote test has no event ''"
refuse 1 record --remote test --remote test:selftest true -- 'stands there twice'
refuse 1 record -C counter --remote test true -- 'the clock counter' '-C mono can'
want 2 record --remote '' true
want 2 record --flight --remote test true
[ ! -e trace.dat ] || fail "a file of a recording that never was"
[ ! -e "$RINGSIDE_DIR/remotes/test/lent" ] || fail "something is left"
exit 0
