#!/bin/sh
# What a recording of remotes says in the end of what is not in the file, and of when events were: nothing is missing that it does not tell.
. "$RINGSIDE_SOURCE/tests/cmd/room.sh"
. "$RINGSIDE_SOURCE/tests/remote/room.sh"
cd "$RINGSIDE_SCRATCH" || exit 1
trap 'kill -KILL $board $other 2>/dev/null' EXIT

# It said all of these: told TEXT...
told() {
	for text; do
		grep -q -e "$text" "$err" || fail "it does not say '$text'"
	done
}

build_board board 64
want 0 start

# ---- a backlog ----

# All that is there when it ends is taken, however much that is.
start_board ./board file ram rings=1 pages=2048 hz=1000000
want 0 remote add board --mem ram --elf board
begin_record -o late.dat --rotate 100M --remote board
kill -STOP $other
tell emit 0 1 100000
end_record
told ': 100000 events, .*, none lost$'
numbers late.dat | rises 1 100000

# Where no more can be written, what is left is told as lost.
begin_record -o full.dat --remote board
kill -STOP $other
tell emit 0 1 100000
prlimit --pid $other --fsize=$(($(stat -c %s full.dat) + 1000000))
kill -CONT $other
wait $other
other=
taken=$(sed -n 's/.*full.dat: \([0-9]*\) events, .*/\1/p' "$err")
[ "${taken:-0}" -gt 0 ] || fail "nothing could be written"
left=$((100000 - taken))
told ", $left lost$" "; $left events were left in its rings$"
numbers full.dat | rises 1 "$taken"
end_board
want 0 remote remove board

# ---- a target that begins again ----

# What it had that nobody had read is lost, and nobody knows how much that was.
start_board ./board file ram rings=2 pages=64 hz=1000000
want 0 remote add board --mem ram --elf board
begin_record -o again.dat --remote board
tell emit 0 1 50
until_it sh -c "'$RINGSIDE' cat remotes/board/trace | grep -c . | grep -qx 0"
kill -STOP $other
tell emit 0 51 1000
tell begin
tell emit 0 2001 2010
end_record
told ': 60 events, .*, and some that could not be counted$' '; it was started again 1 time$'
want 0 report -q again.dat
grep -A 1 'EVENTS DROPPED\|LOST.*EVENTS' "$out" | grep -q ' id=2001$' || fail "the file does not tell where"
# With no event behind it, too.
begin_record -q -o again.dat --remote board
tell emit 1 1 50
kill -STOP $other
tell begin
end_record
told ', and some that could not be counted$'
[ "$(grep -c . "$err")" -eq 1 ] || fail "-q says more"
end_board
want 0 remote remove board

# ---- events that are too large ----

# In the file an event is larger than it was: where no page has room for it, as for the largest of a target of 32 bits, it is told as lost, and
# the others are there.
words='-m32 -msse2 -idirafter /usr/include/x86_64-linux-gnu'
echo '#include <errno.h>
int main(void) { return 0; }' >try.c
# shellcheck disable=SC2086
if $CC $words try.c -o try 2>/dev/null; then
	compile_board large $words -DBOARD_BITS=64 -DBOARD_LARGE -include "$RINGSIDE_SOURCE/tests/remote/drift.h"
	rm ram
	start_board ./large file ram rings=1 pages=64 hz=1000000
	want 0 remote add board --mem ram --elf large
	begin_record -o large.dat --remote board
	tell emit 0 1 5
	tell large 0
	tell large 0
	tell emit 0 6 10
	tell large 0
	end_record
	told ': 10 events, .*, 3 lost$'
	numbers large.dat | rises 1 10
	"$RINGSIDE" report -q large.dat | grep -A 1 '\[2 EVENTS DROPPED\]\|LOST 2 EVENTS' | grep -q ' id=6$' || fail "the file does not tell where"
	end_board
	want 0 remote remove board
fi

# ---- damage ----

# However short before the end that was: the header, then all pages behind those that were read.
for places in 20 "$(seq -s ' ' 8184 4096 240000)"; do
	rm ram
	start_board ./board file ram rings=1 pages=64 hz=1000000
	want 0 remote add board --mem ram --elf board
	begin_record -q -o damaged.dat --remote board
	tell emit 0 1 50
	until_it sh -c "'$RINGSIDE' cat remotes/board/trace | grep -c . | grep -qx 0"
	kill -STOP $other
	tell emit 0 51 5000
	for at in $places; do
		printf 'wwww' | dd of=ram bs=1 seek="$at" conv=notrunc 2>/dev/null
	done
	end_record
	told ': 50 events, .*, and some that could not be counted$' '^ringside: remote board: nothing could be read any more: '
	numbers damaged.dat | rises 1 50
	end_board
	want 0 remote remove board
done
# ---- clocks ----

# Its counter is far ahead of ours, and it answers with its events only, of one core: what came before it answered keeps none of those behind it.
rm ram
start_board ./board file ram rings=16 pages=64 hz=1000000 quiet=1 offset=999999999999999
want 0 remote add board --mem ram --elf board
begin_record -C mono -o ahead.dat --remote board
for i in 1 2 3 4 5 6; do
	tell stamps 15 1 0
	sleep 0.35
done
end_record
# The first one may be the answer, if that core was just asked.
told ' matched to [0-9]* [num]*s\(; [1-5] events came before it answered, and have times by its own clock\)\?$'
"$RINGSIDE" report -q ahead.dat | sed -n 's/.* \([0-9]*\)\.[0-9]*: *stamp: *number=\([0-5]\) host=\([0-9]*\)[0-9]\{9\}$/\2 \1 \3/p' >times
awk '$1 == n { n++ } $2 - $3 <= 1 && $3 - $2 <= 1 { near = $1 } END { exit n != 6 || near != 5 }' times || fail "not its times: $(cat times)"
end_board
want 0 remote remove board

# It runs at another rate than it says, by more than may be.
rm ram
start_board ./board file ram rings=1 pages=64 hz=1000000 ppm=20000
want 0 remote add board --mem ram --elf board
begin_record -C mono -o fast.dat --remote board
tell stamps 0 100 5000
end_record
told '^ringside: remote board: 1000000 Hz, [0-9]* bits, but seen to run at 10[12][0-9]\{4\}, matched to '
end_board
want 0 remote remove board

# ---- a dump ----

# What nobody may write to, root no more than others: mere COMMAND...
mere() {
	if [ "$(id -u)" -eq 0 ]; then
		setpriv --bounding-set=-dac_override --inh-caps=-dac_override "$@"
	else
		"$@"
	fi
}

# All that is in it and was not read before is recorded, by its own clock; that of another one too, though it began in between.
rm ram
for from in 1 31; do
	start_board ./board file ram rings=2 pages=64 hz=1000000 on=1
	tell emit 1 $from $((from + 29))
	end_board
	[ $from -ne 1 ] || want 0 remote add board --mem ram --elf board
	chmod 444 ram
	mere "$RINGSIDE" record -i -e nothing -o dump.dat --remote board true >"$out" 2>"$err" || fail "a dump cannot be recorded"
	told ': 30 events, .*, none lost$' ', not matched: no answer came$'
	numbers dump.dat | rises $from $((from + 29))
	mere "$RINGSIDE" record -i -e nothing -o dump.dat --remote board true >"$out" 2>"$err" || fail "a dump that was read cannot be recorded"
	told ': 0 events, .*, none lost$'
	chmod 644 ram
done
want 0 remote remove board

# Many that do not answer are waited for together, and not one after the other: that would take 12 seconds.
rm ram
start_board ./board file ram rings=1 pages=2 shift=8 quiet=1
want 0 remote add board --mem ram --elf board
words=
for i in $(seq 60); do
	cp -R "$RINGSIDE_DIR/remotes/board" "$RINGSIDE_DIR/remotes/board$i"
	words="$words --remote board$i"
done
# shellcheck disable=SC2086
timeout 10 "$RINGSIDE" record -q -o many.dat $words true >"$out" 2>"$err" || fail "60 are too many"
end_board
exit 0
