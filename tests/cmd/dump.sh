#!/bin/sh
# dump: to the byte what trace-cmd prints, of both versions, all kinds of options, either byte order;
# and what it says of files that are none.
. "$RINGSIDE_SOURCE/tests/cmd/room.sh"
. "$RINGSIDE_SOURCE/tests/cmd/traces.sh"

make=$RINGSIDE_SOURCE/tests/report/make_dat.py

# The same as trace-cmd with these options, of this file: alike FILE OPTION...
alike() {
	file=$1
	shift
	trace-cmd dump "$@" -i "$file" >theirs.text 2>"$err" || fail "trace-cmd dump $* $file"
	want 0 dump "$@" -i "$file"
	[ ! -s "$err" ] || fail "dump $* $file: something is said"
	cmp -s theirs.text "$out" || {
		diff theirs.text "$out" | head -5
		fail "dump $* $file: not as trace-cmd prints it"
	}
}

each() {
	alike "$1"
	alike "$1" --all
	for part in head-page head-event ftrace-events systems events kallsyms printk cmd-lines \
		options flyrecord clock strings sections; do
		alike "$1" --$part
		alike "$1" --summary --$part
	done
	alike "$1" --options --flyrecord --clock
	alike "$1" --events --systems --sections --strings
	alike "$1" -v
	alike "$1" -v --summary
}

for name in mixed graph instances; do
	each "$data/$name.v7.dat"
done
want 0 convert --file-version 6 -i "$data/instances.v7.dat" six.dat
each six.dat
for name in options options_v6 host guest_many guest_old tsc2nsec date offset latency_v7 latency_v6 \
	sparse_v6 sparse_v7 instances_v6 big_v7 big_v6 bare no_clock nothing functions cut_short; do
	/usr/bin/python3 "$make" $name $name.dat || fail "make_dat.py $name"
	each $name.dat
done

# The file can be the last word, and is trace.dat without one.
cp "$data/mixed.v7.dat" trace.dat
want 0 dump --clock
cp "$out" clock.text
want 0 dump --clock "$data/mixed.v7.dat"
cmp -s clock.text "$out" || fail "another clock"
want 0 dump --modules
[ ! -s "$out" ] || fail "modules from nowhere"

# trace-cmd takes a file with a format that has no name for a valid one.
/usr/bin/python3 "$make" broken broken.dat || fail "make_dat.py broken"
want 1 dump -v -i broken.dat
[ ! -s "$out" ] || fail "a broken file is valid"

refuse 2 dump --nosuch -- --nosuch
refuse 2 dump -i -- -i
refuse 2 dump a b -- b
refuse 2 dump -i a b -- 'one file'
refuse 1 dump -i none.dat -- none.dat 'No such file'
refuse 1 dump -i . -- directory
echo hello >not.dat
refuse 1 dump -i not.dat -- 'not a trace file'
: >empty.dat
refuse 1 dump -v -i empty.dat -- 'not a trace file'
for size in 5 20 60 300 4000 20000 200000; do
	head -c $size six.dat >cut.dat
	refuse 1 dump -v -i cut.dat -- cut.dat
	head -c $size "$data/mixed.v7.dat" >cut.dat
	refuse 1 dump -v -i cut.dat -- cut.dat
done
# Cut off within its events a file can be shown, but is not valid.
head -c 1400000 "$data/mixed.v7.dat" >cut.dat
want 1 dump -v -i cut.dat
grep -q 'cut.dat is damaged' "$err" || fail "a cut file is valid"
want 0 dump -i cut.dat
grep -q 'Kallsyms, 7213860 bytes' "$out" || fail "no summary of a cut file"
exit 0
