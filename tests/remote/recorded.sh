#!/bin/sh
# record --remote, of targets that are not as one would wish: one whose first core sleeps, and one whose memory is cut off meanwhile.
. "$RINGSIDE_SOURCE/tests/cmd/room.sh"
. "$RINGSIDE_SOURCE/tests/remote/room.sh"

build_board target 64
cd "$RINGSIDE_SCRATCH" || exit 1

# It answers with its events only, and all are of its last core: their times are told from the first one on.
start_board ./target file memory rings=8 quiet=1 offset=1000000
want 0 remote add board --mem memory --elf target
want 0 record -o asleep.dat --remote board sh -c 'echo "stamps 7 50 2000" >&8; echo late >&8; read -r a <&9; read -r a <&9'
want 0 report asleep.dat
awk '
	$3 == "[007]" && $6 == "stamp:" {
		split($5, at, /[.:]/); split($8, host, "=")
		off = at[1] + at[2] / 1e6 - host[2] / 1e9
		if (off > 1 || off < -1) { print "off by " off " s: " $0; exit 1 }
		n++
	}
	END { if (n != 50) { print n + 0 " of 50 stamps"; exit 1 } }' "$out" >"$err" || fail "times of a core that alone is awake"

# What else is recorded goes on, and what is wrong is told.
want 0 record -o cut.dat --remote board sh -c 'truncate -s 100 memory; sleep 0.1; exec true'
grep -q 'remote board: nothing could be read any more: .*shorter' "$err" || fail "nobody says that the memory is gone"
want 0 report cut.dat
grep -q 'sched_process_exit: *comm=true' "$out" || fail "the recording ended with the memory"
end_board

# One that is another one meanwhile, with CPUs that were not there.
for cpus in 1 3; do
	start_board ./target file cpus$cpus rings=$cpus
	end_board
done
truncate -r cpus3 cpus1
want 0 remote add grown --mem cpus1
want 0 record -o grown.dat --remote grown sh -c 'dd if=cpus3 of=cpus1 conv=notrunc 2>/dev/null; sleep 0.1'
grep -q 'remote grown: .*now it has CPUs that it did not have at first' "$err" && grep -q 'could not be counted' "$err" || fail "nobody says that CPUs are missing"

# Nobody answers for a dump, though it may be written to: what is in it is taken, once.
start_board ./target file dump rings=1 on=1
echo emit 0 1 7 >&8
read -r answer <&9
end_board
want 0 remote add dump --mem dump --elf target
want 0 record -o dump.dat --remote dump true
grep -q 'remote dump: .*; it said nothing when all began, so what was there before is in the file$' "$err" || fail "nobody says that it is old"
want 0 report dump.dat
sed -n 's/.* selftest: *id=//p' "$out" | tr '\n' ' ' | grep -qx '1 2 3 4 5 6 7 ' || fail "of a dump something is missing"
# So is how much of it was gone by then.
start_board ./target file lapped rings=1 pages=4 shift=8 on=1
echo emit 0 1 100 >&8
read -r answer <&9
end_board
want 0 remote add lapped --mem lapped --elf target
want 0 record -i -e nothing -o lapped.dat --remote lapped true
sed -n 's/.*: \([0-9]*\) events, .*, \([0-9]*\) lost$/\1 \2/p' "$err" | awk '{ exit $1 + $2 != 100 || !$2 }' || fail "not as much as there was: $(cat "$err")"
cp lapped again
want 0 remote add again --mem again --elf target
want 0 cat remotes/again/trace_pipe
awk 'NR == 1 { lost = $3 } { split($0, id, "id=") } id[2] { if (!first) first = id[2] } END { exit first != lost + 1 }' "$out" ||
	fail "not told where it begins: $(head -n 2 "$out")"
# The memory of who has no other name for it.
exec 7<>dump
want 0 remote add nameless --mem /proc/$$/fd/7
rm dump
refuse 1 remote add gone --mem dump -- dump
want 0 remote add unnamed --mem /proc/$$/fd/7
want 0 cat remotes/unnamed/trace
grep -q 'id=1$' "$out" || fail "a memory without a name is not read"

# A number of a CPU that nobody has, and a buffer of half a KiB; no remote hides a file of events/.
start_board ./target file other rings=1 pages=2 shift=8
end_board
printf '\377\377' | dd of=other bs=1 seek=124 conv=notrunc 2>"$err"
want 0 remote add far --mem other
want 0 cat remotes/far/buffer_size_kb
says '1 (unloaded)'
refuse 1 record -o far.dat --remote far true -- 'cpu 65535 cannot be recorded'
refuse 1 remote add enable --mem other -- "'enable' is no name"
