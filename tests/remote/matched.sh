#!/bin/sh
# Times of remotes in recordings: clocks that are faster or slower than they say, narrow ones that come round many times, coarse ones, several
# at once. Each event has the host's time of its moment in it: what the file says is no farther from that than the recorder told in the end.
. "$RINGSIDE_SOURCE/tests/cmd/room.sh"
. "$RINGSIDE_SOURCE/tests/remote/room.sh"
cd "$RINGSIDE_SCRATCH" || exit 1
trap 'kill $board 2>/dev/null' EXIT

# What the recorder told, in nanoseconds, as far as its words go: bound_of REMOTE
bound_of() {
	sed -n "s/^ringside: remote $1: .*matched to \([0-9]*\) \([num]\{0,1\}s\)\$/\1 \2/p" "$err" |
		awk 'BEGIN { unit["us"] = 1e3; unit["ms"] = 1e6; unit["s"] = 1e9 } { printf "%.0f\n", $2 == "ns" ? $1 : ($1 + 1) * unit[$2] }'
}

# All stamps of a remote are in the file, and none is farther off than that: within FILE REMOTE COUNT NANOSECONDS
within() {
	[ -n "$4" ] || fail "$2: nobody told how well it is matched: $(cat told)"
	"$RINGSIDE" report -q -t "$1" | awk -v remote="$2" -v count="$3" -v bound="$4" '
		/ stamp: / && index($0, " " remote "-") {
			for (i = 1; i <= NF; i++) {
				if ($i ~ /^[0-9]+\.[0-9]+:$/)
					split($i, time, "[.:]")
				if ($i ~ /^host=/)
					host = substr($i, 6)
			}
			# Seconds and the rest by themselves: all of it may be too long for a number here.
			off = (time[1] - substr(host, 1, length(host) - 9)) * 1000000000 + (time[2] - substr(host, length(host) - 8))
			off = off < 0 ? -off : off
			worst = off > worst ? off : worst
			n++
		}
		END {
			if (n != count)
				print n + 0 " events, not " count
			else if (worst > bound)
				print "off by " worst " ns, and matched to " bound
			else
				printf "matched to %7d ns, and off by %d at most\n", bound, worst
			exit n != count || worst > bound
		}
	' >verdict || fail "$2: $(cat verdict)"
	printf '%-50s %s\n' "$what" "$(cat verdict)"
}

# Where a board did not run for so long that its counter came round nobody can know how often, so that is tried again.
times=6
[ -z "${RINGSIDE_LONG-}" ] || times=60

# check BITS "WORDS OF THE BOARD" "WORDS OF THE RECORDER" MICROSECONDS BETWEEN STAMPS [NANOSECONDS MORE]
check() {
	what="$1 bits $2 $3"
	cpus=2
	[ "${2#*rings=1}" = "$2" ] || cpus=1
	[ -x "board$1" ] || build_board "board$1" "$1"
	for try in 1 2 3 4 5; do
		rm -f ram
		# Words.
		# shellcheck disable=SC2086
		start_board "./board$1" file ram $2
		want 0 remote add board --mem ram --elf "board$1"
		# shellcheck disable=SC2016,SC2086
		want 0 record $3 -o stamps.dat --remote board sh -c '
			for i in $(seq "$1"); do
				echo "stamps $((i % $3)) 50 $2" >&8
				read -r answer <&9
				sleep 0.02
			done' sh "$times" "$4" "$cpus"
		bound=$(bound_of board)
		cp "$err" told
		tell late
		late=$answer
		end_board
		want 0 remote remove board
		[ "$late" = late ] || break
	done
	[ "$late" = ok ] || skip 'a process stands still here for longer than a counter takes to come round'
	within stamps.dat board $((times * 50)) "${bound:+$((bound + ${5:-0}))}"
}

want 0 start
check 64 'hz=1000000 ppm=300 offset=1234567' '-C mono' 1000
check 32 'hz=48000000 ppm=-20000 offset=4290000000' '-C mono' 1000
check 24 'hz=32768 ppm=-120 shift=8 pages=64' '-C mono' 1000
check 24 'hz=32000000 ppm=500 shift=9 pages=64' '-C mono' 1000
# The recording's own clock is a measured one, too.
check 64 'hz=19200000 ppm=-35 offset=999999999999' '' 1000 2000
# It answers with its events only.
check 64 'rings=1 hz=1000000000 ppm=40 quiet=1 pages=64' '-C mono' 500

# It stands still for a while, and then another core has events than the one that was asked, which does not answer any more.
start_board ./board64 file ram rings=16 hz=1000000 quiet=1 pages=64
want 0 remote add board --mem ram --elf board64
# shellcheck disable=SC2016
want 0 record -C mono -o stood.dat --remote board sh -c '
	for line in "stamps 0 300 1000" "stand 1250" "stamps 9 50 1000"; do
		echo "$line" >&8
		read -r answer <&9
	done'
bound=$(bound_of board)
cp "$err" told
end_board
want 0 remote remove board
what='one that stood still'
within stood.dat board 350 "$bound"

# Two at once, each by its own clock, on one timeline.
start_board ./board32 file ram rings=2 hz=1000000 ppm=900
exec 6>&8 7<&9
first=$board
start_board ./board64 file ram2 rings=2 hz=25000000 ppm=-900
want 0 remote add one --mem ram --elf board32
want 0 remote add two --mem ram2 --elf board64
# shellcheck disable=SC2016
want 0 record -C mono -o two.dat --remote one --remote two sh -c '
	for i in $(seq 20); do
		echo "stamps 0 5 0" >&6
		read -r answer <&7
		echo "stamps 0 5 0" >&8
		read -r answer <&9
	done'
exec 6>&- 7<&-
end_board
wait "$first"
cp "$err" told
what='two at once'
within two.dat one 100 "$(bound_of one)"
within two.dat two 100 "$(bound_of two)"
exit 0
