#!/bin/sh
# signal_deliver: each handler of the program that begins, right before it, with what the kernel says of it; the program notices nothing.
. "$RINGSIDE_SOURCE/tests/sys/stage.sh"

# shellcheck disable=SC2086
$CC -O1 -fno-pie -no-pie -I"$RINGSIDE_SOURCE/include" "$own/deliver.c" -o "$dir/deliver" -L"$RINGSIDE_BUILD" -lringside \
	-Wl,-rpath,"$RINGSIDE_BUILD" || exit 1
cd "$dir" || exit 1
place() {
	nm deliver | sed -n "s/^0*\([0-9a-f]*\) t $1\$/\1/p"
}

[ "$(./deliver)" = 'all hold' ] || fail 'untraced'
same deliver ./deliver
"$RINGSIDE" record -q -e signal -e mine -o trace.dat ./deliver >got 2>&1
[ "$(cat got)" = 'all hold' ] || fail "traced: $(cat got)"
"$RINGSIDE" report -i trace.dat 2>/dev/null | sed -n 's/.*: \(signal_deliver\|handled\): *//p' >seen
{
	for line in "10 -6 $(place one) 14000000" "12 -1 $(place three) 4000004" "1 -6 $(place one) 84000000" \
		"10 -6 $(place one) 14000000" "11 1 $(place jump) 4000000"; do
		# shellcheck disable=SC2086
		set -- $line
		echo "sig=$1 errno=0 code=$2 sa_handler=$3 sa_flags=$4"
		echo "sig=$1"
	done
} >wanted
cmp -s wanted seen || fail "other signals than were delivered: $(diff wanted seen)"

# One who has given up a call, so that we make none of ours: what is no address is the kernel's to refuse.
same filtered ./deliver filtered
"$RINGSIDE" record -q -e signal -e mine -e raw_syscalls -o trace.dat ./deliver filtered >got 2>&1
[ "$(cat got)" = 'all hold' ] || fail "filtered: $(cat got)"
"$RINGSIDE" report -i trace.dat 2>/dev/null | sed -n 's/.*: \(signal_deliver\|handled\): *sig=\([0-9]*\).*/\1 \2/p' >seen
# The last one was set without a place to look at again: it is the program's alone.
printf '%s\n' 'signal_deliver 12' 'handled 12' 'signal_deliver 10' 'handled 10' 'handled 12' | cmp -s - seen ||
	fail "filtered: other signals than were delivered: $(cat seen)"

# On and off while it runs: every signal comes to its handler, and when it is on there is a record.
"$RINGSIDE" reset
./deliver wait >got &
program=$!
# Whoever waits for what does not come says so, and where the program is.
late() {
	tries=$((tries + 1))
	sleep 0.02
	[ "$tries" -ge 1000 ] || return 0
	fail "$*: $(tr '\n' ' ' <got), $(grep -E '^(State|TracerPid|SigPnd|ShdPnd|SigBlk|SigCgt)' "/proc/$program/status" | tr '\t\n' '  ')"
	kill -KILL $program
	exit 1
}
tries=0
until grep -q ready got; do late "it does not begin"; done
# Signals that wait become one: until so many have come.
came() {
	tries=0
	until [ "$(grep -c came got)" -ge "$1" ]; do late "signal $1 of six does not come"; done
}
for round in 1 2 3; do
	"$RINGSIDE" write events/signal/signal_deliver/enable 1 || fail "$round: cannot be switched on"
	kill -USR1 $program
	came $((2 * round - 1))
	[ "$("$RINGSIDE" cat trace | grep -c 'signal_deliver: sig=10 ')" -eq "$round" ] || fail "$round: not so many were recorded"
	"$RINGSIDE" write events/signal/signal_deliver/enable 0
	kill -USR1 $program
	came $((2 * round))
done
"$RINGSIDE" write events/signal/signal_deliver/enable 1
kill -TERM $program
wait $program || fail "it does not live through it: $(cat got)"
[ "$(tail -n 1 got)" = 6 ] || fail "not six signals: $(cat got)"
exit "$bad"
