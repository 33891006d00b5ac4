#!/bin/sh
# join: trace-cmd shows the files of a host and its guest on one timeline.
. "$RINGSIDE_SOURCE/tests/cmd/room.sh"
. "$RINGSIDE_SOURCE/tests/cmd/traces.sh"

# A new pair: stage HOST GUEST [-b]
stage() {
	# The third may be missing.
	# shellcheck disable=SC2086
	made ${3-} "$1" host.dat
	# shellcheck disable=SC2086
	made ${3-} "$2" guest.dat
}

# Each tick of the guest is between its CPU's entry and exit: ordered FILE WHAT
ordered() {
	python3 - "$1" <<'END' >"$out" 2>"$err" || fail "$2"
import re
import sys
inside = {}
ticks = 0
for line in open(sys.argv[1]):
    m = re.match(r" *(\w+)\.dat:.*-(\d+) +\[(\d+)\][ .]+[\d.]+: (\w+):", line)
    if not m:
        continue
    name, pid, cpu, event = m.groups()
    if name == "host" and pid != "601":
        inside[cpu] = event == "kvm_entry"
    if name == "guest":
        ticks += 1
        assert inside[cpu], line
assert ticks == 20, ticks
END
}

# The pair as trace-cmd merges it, and as we do.
merged() {
	sound host.dat
	sound guest.dat
	report both.text host.dat guest.dat
	ordered both.text "$1"
	want 0 report -t -i host.dat -i guest.dat
	mv "$out" both.text
	ordered both.text "$1, in our report"
	rm both.text
}

refuse 2 join host.dat -- missing
refuse 2 join -c 0 a b -- '-c'
refuse 2 join -s x a b -- '-s'
refuse 2 join -s 1,2,3,4,5 a b -- '-s'
refuse 2 join -s 1,0 a b -- '-s'
refuse 2 join a b c -- threads
refuse 1 join none.dat b -- none.dat

stage host guest
cp host.dat host.before
cp guest.dat guest.before
refuse 1 join -s 900000 host.dat none.dat -- none.dat
refuse 1 join -s 900000 host.dat guest.dat -- 501 601 'name those'
refuse 1 join -s 900000 host.dat guest.dat 77 -- 'no kvm_entry'
refuse 1 join host.dat guest.dat 501 502 -- 'tsc-offset'
refuse 1 join -s 1 guest.dat guest.dat -- 'no kvm_entry'
refuse 1 join -s 1 host.dat host.dat 501 502 -- 'another machine'
made lost other.dat
refuse 1 join -s 1 host.dat other.dat 501 502 -- other.dat x86-tsc
refuse 1 join -s 1 other.dat guest.dat 501 502 -- other.dat tsc2nsec
cmp -s host.dat host.before && cmp -s guest.dat guest.before || fail "something was done"
rm other.dat
only guest.before guest.dat host.before host.dat

# Threads may be named that are none of its CPUs'.
want 0 join -s 900000 host.dat guest.dat 500 501 502 503
[ ! -s "$err" ] || fail "something is said"
merged 'one shift for all CPUs'
trace-cmd dump --options -i host.dat >"$out" 2>"$err"
for text in 'guest \[Guest name\]' '2 \[Guest CPUs\]' '0 501' '1 502'; do
	grep -q "$text" "$out" || fail "the host's file does not say '$text'"
done

# Once more, after a mistake: the new word counts, and stands there once.
stage host guest
want 0 join -s 17 --name first host.dat guest.dat 501 502
want 0 join -s 900000 -c 2 --name second host.dat guest.dat 501 502
merged 'the second time'
trace-cmd dump --options -i host.dat >"$out" 2>"$err"
[ "$(grep -c 'Guest name' "$out")" -eq 1 ] || fail "not one guest"
grep -q 'second \[Guest name\]' "$out" || fail "not the second one's name"

# A shift for each CPU; packed, of version 6, with the big end first.
stage host guest
want 0 join -s 900000 -s 900001,1,0,0 host.dat guest.dat 501 502
merged 'a shift for each CPU'
for how in 6:none 7:zstd; do
	stage host guest
	for file in host guest; do
		want 0 convert -i $file.dat $file.dat --file-version ${how%:*} \
			--compression ${how#*:}
	done
	want 0 join -s 900000 host.dat guest.dat 501 502
	merged "$how"
done
stage host guest -b
want 0 join -s 900000 host.dat guest.dat 501 502
merged 'big end first'

# A guest whose counter runs slower. trace-cmd forgets the scale of a lone sample: it finds two.
stage host scaled
want 0 join -s 700001,3,1 host.dat guest.dat 501 502
merged 'a scaled counter'

# The host's events tell which threads, and how far the counter is.
stage told guest
want 0 join host.dat guest.dat
merged 'found from the events'
