#!/bin/sh
# split: the parts are those that trace-cmd makes, but for where it is wrong; losses stay where they
# were.
. "$RINGSIDE_SOURCE/tests/cmd/room.sh"
. "$RINGSIDE_SOURCE/tests/cmd/traces.sh"

refuse 2 split -e -- -e
refuse 2 split -e 0 -- 'with a number'
refuse 2 split -e x -- 'with a number'
refuse 2 split -e 1 -m 1 -- 'one of'
refuse 2 split -s 99999999999999999999 -- 'with a number'
refuse 2 split -r -- '-r'
refuse 2 split -t -- '-B'
refuse 2 split -B a -t -B b -t -- '-t'
refuse 2 split -b x -- --top
refuse 2 split --top -B a -t -- 'two top'
refuse 2 split -C x -- '-C'
refuse 2 split 1 2 3 -- 3
refuse 1 split -- trace.dat
refuse 1 split -i "$data/mixed.v7.dat" -o x seven -- seven
refuse 1 split -i "$data/mixed.v7.dat" -o x 1.2.3 -- 1.2.3
refuse 1 split -i "$data/mixed.v7.dat" -o x 7.0 6.0 -- 'before the beginning'
refuse 1 split -i "$data/mixed.v7.dat" -o x -B none -- 'no buffer' none
refuse 1 split -i "$data/instances.v7.dat" -o x -B hog -B hog -- hog
[ -z "$(ls)" ] || fail "something was made"

# The same files as trace-cmd makes: alike ARGUMENT...
alike() {
	rm -f ours.* theirs.*
	trace-cmd split -i "$data/mixed.v7.dat" -o theirs "$@" >"$out" 2>&1 ||
		fail "trace-cmd split $*"
	want 0 split -i "$data/mixed.v7.dat" -o ours "$@"
	[ ! -s "$err" ] || fail "split $*: something is said"
	for file in theirs.*; do
		mine=ours${file#theirs}
		sound "$mine"
		report theirs.text "$file"
		report ours.text "$mine"
		same theirs.text ours.text "split $*: $mine is another"
		rm theirs.text ours.text
	done
	# shellcheck disable=SC2012
	[ "$(ls ours.* | wc -l)" -eq "$(ls theirs.* | wc -l)" ] || fail "split $*: how many files?"
}

alike -e 100
alike -r -e 3000
alike 7.0 7.1
alike 7.002 7.1000001
alike -m 10 7.0
alike -u 500
alike -s 1
alike -r -m 300
alike -r -m 300 -c
alike -p 2
alike -r -p 20
alike -C 1
alike -C 1 -e 10
alike -c -e 10
alike -r -c -e 3000
alike 8 9
alike
rm -f ours.* theirs.*

# From here on the parts together have to be the whole.
whole() {
	: >parts.text
	for file in part.*; do
		sound "$file"
		report one.text "$file"
		grep -v '^ *cpus=' one.text >>parts.text
	done
	grep -v '^ *cpus=' whole.text | diff - parts.text >"$out" ||
		fail "$1: the parts are not the whole"
	rm -f part.* parts.text one.text
}

# trace-cmd has the first event of each CPU twice when a start is given.
report whole.text "$data/mixed.v7.dat"
want 0 split -i "$data/mixed.v7.dat" -o part 1
whole 'from 1 s on'

# A time that was copied from a report means the line that it came from; trace-cmd cuts that one off
# where the time was rounded up.
want 0 split -i "$data/mixed.v7.dat" -o part 6.719489 6.722274
trace-cmd report -i part.1 2>/dev/null | grep -c ' 6\.7' >count || :
[ "$(cat count)" -eq 2 ] || fail "not the two events of these times"
rm -f part.* count

# trace-cmd ends after the first file when there are times as well as -r.
want 0 split -i "$data/mixed.v7.dat" -o part -r -e 1000 6.8 7.0
only part.0001 part.0002 part.0003 whole.text
want 0 split -i "$data/mixed.v7.dat" -o all 6.8 7.0
report whole.text all.1
rm all.1
whole '-r between two times'

# Version 6, packed or not, and every cut within a page.
want 0 convert -i "$data/graph.v7.dat" six.dat --file-version 6
raw=-R
report whole.text six.dat
want 0 split -i six.dat -o part -r -e 77
trace-cmd dump --summary -i part.0001 2>"$err" | grep -q '6.*Version' || fail "another version"
whole 'version 6 by 77 events'
raw=
rm six.dat

# Instances, which trace-cmd 3.1.6 loses: all of them, some, and in other places.
want 0 split -i "$data/instances.v7.dat" -o part
report whole.text "$data/instances.v7.dat"
whole instances
want 0 split -i "$data/instances.v7.dat" -o part -B rare
report part.text part.1
sound part.1
grep -q '^rare:' part.text || fail "-B rare has nothing of it"
! grep -q '^hog:' part.text || fail "-B rare has something of hog"
grep '^rare:' part.text | sed 's/^rare: *//' >rare.text
grep '^ *rare:' whole.text | sed 's/^ *rare: *//' >all.text
same all.text rare.text '-B rare'
want 0 split -i "$data/instances.v7.dat" -o part -B rare -t -B hog
report part.text part.1
! grep -q 'rare:' part.text || fail "-t: rare has its name still"
grep -v -e '^ *hog:' -e cpus= part.text | sed 's/^[: ]*//' >rare.text
same all.text rare.text '-t'
# The other way round: the top one gets a name.
want 0 split -i part.1 -o back --top -b again -B hog
report part.text back.1
grep '^again:' part.text | sed 's/^again: *//' >rare.text
same all.text rare.text '--top -b'
refuse 1 split -i part.1 -o x --top -b hog -B hog -- "two buffers called 'hog'"
rm -f part.* back.* ./*.text

# What was lost is told before the event that it was lost before, wherever a page is cut, and in
# either byte order. The last page begins with a time: there trace-cmd would not see it.
for order in '' -b; do
	# The option may be missing.
	# shellcheck disable=SC2086
	made $order lost lost.dat
	for n in 2 3 4 7; do
		want 0 split -i lost.dat -o part -r -e $n
		for file in part.*; do
			report one.text "$file"
			sed -n 's/.*\(CPU:.*\)/\1/p; s/.*n=//p' one.text
		done >got
		printf '%s\n' 0 1 2 3 4 'CPU:0 [7 EVENTS DROPPED]' 10 11 12 13 14 \
			'CPU:0 [EVENTS DROPPED]' 20 21 22 23 24 'CPU:0 [9 EVENTS DROPPED]' \
			30 31 32 33 34 | diff - got >"$out" || fail "losses, by $n events $order"
		rm -f part.* one.text got
	done
done
# What was lost before an event that is left out is not told.
want 0 split -i lost.dat -o part 11.811161
report one.text part.1
sed -n '2s/.*n=//p' one.text >got
[ "$(cat got)" = 11 ] || fail "a loss where none was"

# A clock that counts no seconds: times are as a report prints them.
made guest guest.dat
refuse 1 split -i guest.dat -m 1 -- x86-tsc
want 0 split -i guest.dat -o part 102600 104500
report one.text part.1
sed -n 's/.*n=//p' one.text | tr '\n' ' ' >got
[ "$(cat got)" = '101 2 ' ] || fail "by cycles"

# What a latency tracer printed cannot be split.
want 0 convert -i "$data/graph.v7.dat" six.dat --file-version 6
python3 - six.dat <<'END' || fail "python"
import sys
data = open(sys.argv[1], "rb").read()
open(sys.argv[1], "wb").write(data[:data.rindex(b"flyrecord\0")] + b"latency  \0text\n")
END
refuse 1 split -i six.dat -- 'latency tracer'
