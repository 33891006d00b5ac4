#!/bin/sh
# Debian's trace-cmd, unmodified, against a mount of ours: what it lists, shows and records is what a
# traced program says that it emitted.
#
# Outside, this compiles the program and goes on the stage (tests/clients/stage); there it works as a
# person would who has nothing but trace-cmd. The directory itself is looked at only where trace-cmd
# has no word for it.

set -u
tracing=/sys/kernel/tracing
out=$RINGSIDE_SCRATCH/out
err=$RINGSIDE_SCRATCH/err
dat=$RINGSIDE_SCRATCH/trace.dat
orders=900 pays=300

if [ "${1-}" != --on-stage ]; then
	command -v trace-cmd >/dev/null || { echo "trace-cmd is not there"; exit 77; }
	cat >"$RINGSIDE_SCRATCH/seller.c" <<'END'
/*
 * seller ORDERS [EASE]: two threads trace that many orders, every third one paid, and say how many of
 * each; with a pause after each EASE of them.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <ringside/ringside.h>

RINGSIDE_EVENT(shop, order, field(int, id), string(who), print("id=%d who=%s", id, who))
RINGSIDE_EVENT(shop, pay, field(int, id), field(unsigned, cents))

static int orders, ease, pays[2];

static void *sell(void *arg)
{
	int lane = (int)(intptr_t)arg;

	for (int id = lane; id < orders; id += 2) {
		trace_shop_order(id, id % 2 ? "bert" : "ann");
		if (id % 3 == 0) {
			trace_shop_pay(id, (unsigned)id * 7);
			pays[lane]++;
		}
		if (ease && id / 2 % ease == 0)
			usleep(1000);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread[2];

	orders = argc > 1 ? atoi(argv[1]) : 0;
	ease = argc > 2 ? atoi(argv[2]) : 0;
	for (intptr_t i = 0; i < 2; i++)
		if (pthread_create(&thread[i], NULL, sell, (void *)i))
			return 1;
	for (int i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	ringside_printf("sold %d", orders);
	printf("%d %d\n", orders, pays[0] + pays[1]);
	return 0;
}
END
	# CC is a command line.
	# shellcheck disable=SC2086
	$CC -std=gnu11 -O1 -pthread -I"$RINGSIDE_SOURCE/include" "$RINGSIDE_SCRATCH/seller.c" \
		-o "$RINGSIDE_SCRATCH/seller" -L"$RINGSIDE_BUILD" -lringside -Wl,-rpath,"$RINGSIDE_BUILD" || exit 1
	exec "$RINGSIDE_SOURCE/tests/clients/stage" sh "$0" --on-stage
fi
cd "$RINGSIDE_SCRATCH" || exit 1

fail() {
	echo "FAIL: $*"
	echo "--- stdout:"; head -n 15 "$out"
	echo "--- stderr:"; head -n 15 "$err"
	exit 1
}

# Runs trace-cmd, which has to be content; what it says is in $out and $err.
tc() {
	timeout 30 trace-cmd "$@" >"$out" 2>"$err" </dev/null || fail "trace-cmd $*: exit $?"
}

# Lets the program sell. It has to say what this script thinks it does.
sell() {
	[ "$(./seller $orders)" = "$orders $pays" ] || fail "the program did something else"
}

# The last output holds just so many events: holds ORDERS PAYS. Lines are those of `trace` or of
# `report`: name-pid [cpu] flags time: event: text. Each order and each pay comes once for each sale.
holds() {
	o=$(grep -c ': order: *id=[0-9]* who=[a-z]*$' "$out")
	p=$(grep -c ': pay: *id=[0-9]* cents=[0-9]*$' "$out")
	[ "$o $p" = "$1 $2" ] || fail "$o orders and $p pays, not $1 and $2, from: trace-cmd $last"
	for sold in order:1:$1 pay:3:$2; do
		n=${sold##*:} event=${sold%%:*} step=${sold#*:} step=${step%:*}
		[ "$n" -gt 0 ] || continue
		sed -n "s/.*: $event: *id=\([0-9]*\) .*/\1/p" "$out" | sort -n >ids
		per=$((n / (orders / step)))
		for i in $(seq $per); do seq 0 $step $((orders - 1)); done | sort -n | cmp -s - ids ||
			fail "the ${event}s of trace-cmd $last are not the program's"
	done
	# What is in a record belongs together.
	! grep ': order: *id=[0-9]*[02468] who=bert$' "$out" || fail "even orders are ann's"
	awk '/: pay: / {
		split($0, part, /id=|cents=/)
		if (part[2] * 7 != part[3])
			exit 1
	}' "$out" || fail "wrong cents"
}

# As tc and then holds: shows ORDERS PAYS TRACE-CMD-ARGUMENT...
shows() {
	o=$1 p=$2
	shift 2
	last="$*"
	tc "$@"
	holds "$o" "$p"
}

# The events have to be known before they can be asked for.
sell

# list
tc list -e
[ "$(grep '^shop:' "$out" | sort | tr '\n' ' ')" = 'shop:order shop:pay ' ] || fail "list -e"
tc list -e shop:pay
[ "$(cat "$out")" = shop:pay ] || fail "list -e shop:pay"
tc list -F -e shop:order
grep -q '^name: order$' "$out" || fail "list -F: no name"
grep -q '^	field:int id;	offset:8;	size:4;	signed:1;$' "$out" || fail "list -F: no id"
grep -q '^	field:__data_loc char\[\] who;	offset:12;	size:4;' "$out" || fail "list -F: no who"
! grep -q 'print fmt' "$out" || fail "list -F: the print format is there without --full"
tc list -F --full -e shop:order
grep -q '^print fmt: "id=%d who=%s", ' "$out" || fail "list -F --full: no print format"
tc list -t
grep -qw nop "$out" || fail "list -t: no nop"
tc list -C
grep -q '\[local\]' "$out" || fail "list -C: local is not the clock"
tc list -o
grep -qx overwrite "$out" || fail "list -o: no overwrite"
tc list -B
! grep -q kitchen "$out" || fail "list -B: what is that?"

# start, show, stop, restart, clear, stat
tc start -e shop:order
sell
shows $orders 0 show
shows $orders 0 show
tc stat
awk '/^Events:/ { on = 1 } on && /shop/ { found = 1 } END { exit !found }' "$out" || fail "stat: no event is on"
grep -q '^Tracing is enabled' "$out" || fail "stat: tracing is not on"
tc stop
sell
shows $orders 0 show
tc stat
grep -q '^Tracing is disabled' "$out" || fail "stat: tracing is not off"
tc restart
sell
shows $((orders * 2)) 0 show
tc clear
shows 0 0 show
sell
shows $orders 0 show
# One CPU's part, and all of them make the whole.
o=0
for cpu in "$tracing"/per_cpu/cpu*; do
	tc show -c "${cpu##*cpu}"
	o=$((o + $(grep -c ': order: ' "$out")))
done
[ $o -eq $orders ] || fail "show -c: $o orders in all"

# start again with another event; what was on goes off
tc start -e shop:pay
tc clear
sell
shows 0 $pays show
tc start -e shop
tc clear
sell
shows $orders $pays show

# show -p takes out what it shows. With tracing off it ends when it has everything; with tracing on it
# waits for more, until tracing goes off or somebody ends it.
tc stop
shows $orders $pays show -p
shows 0 0 show
tc restart
timeout -s INT 2 trace-cmd show -p >"$out" 2>"$err" </dev/null
[ $? -eq 124 ] || fail "show -p does not wait"
[ ! -s "$out" ] || fail "show -p shows something"
(sleep 1; ./seller $orders >sold; sleep 1; trace-cmd stop) &
shows $orders $pays show -p
wait
[ "$(cat sold)" = "$orders $pays" ] || fail "the program did something else"
shows 0 0 show
tc restart

# snapshot
sell
tc snapshot -s
shows 0 0 show
shows $orders $pays snapshot
shows $orders $pays show -s
sell
shows $orders $pays show
tc snapshot -r
shows 0 0 snapshot
shows $orders $pays show
tc snapshot -f
tc snapshot
grep -q 'Snapshot is freed' "$out" || fail "snapshot -f"

# instances: each has its own events and its own buffer
tc reset
shows 0 0 show
[ "$(cat $tracing/events/enable)" = 0 ] || fail "reset leaves events on"
tc start -B kitchen -e shop:pay
tc list -B
grep -qw kitchen "$out" || fail "list -B: no kitchen"
sell
shows 0 $pays show -B kitchen
shows 0 0 show
tc start -e shop:order
sell
shows 0 $((pays * 2)) show -B kitchen
shows $orders 0 show
tc stat -B kitchen
grep -q kitchen "$out" || fail "stat -B"
tc clear -B kitchen
shows 0 0 show -B kitchen
shows $orders 0 show
tc stop -B kitchen
sell
shows 0 0 show -B kitchen
shows $((orders * 2)) 0 show
tc restart -B kitchen
sell
shows 0 $pays show -B kitchen
tc reset -B kitchen -d
[ ! -d $tracing/instances/kitchen ] || fail "reset -d leaves the instance"
shows $((orders * 3)) 0 show

# sizes and clocks
# A size is what was asked for, rounded up to pages.
sized() {
	kb=$(cat $tracing/buffer_size_kb)
	[ "$kb" -ge "$1" ] && [ "$kb" -lt $(($1 + 8)) ] || fail "$kb KiB, not $1"
}
tc reset -b 512
sized 512
tc start -e shop -b 256 -C mono
sized 256
tc list -C
grep -q '\[mono\]' "$out" || fail "start -C"
sell
shows $orders $pays show
tc reset

# extract: what start has left in the buffers, as a file
tc start -e shop
sell
tc stop
rm -f "$dat"
tc extract -o "$dat"
shows $orders $pays report -i "$dat"
tc reset

# record and report: by name of system, by names of events, in an instance. The program takes its time:
# a recorder that is told to stop before it has begun, as it is when all is over within milliseconds on a
# busy machine, takes nothing out.
recorded() {
	o=$1 p=$2
	shift 2
	last="record $*"
	rm -f "$dat" sold
	trace-cmd record -q -o "$dat" "$@" sh -c "./seller $orders >sold; sleep 0.5" >"$out" 2>"$err" </dev/null ||
		fail "trace-cmd record $*: exit $?"
	[ "$(cat sold)" = "$orders $pays" ] || fail "the program did something else"
	shows "$o" "$p" report -i "$dat"
}
recorded $orders $pays -e shop
grep -q ": sold $orders\$" "$out" || fail "report: what was printed is not there"
! grep -q 'EVENTS DROPPED' "$out" || fail "report: drops"
recorded $orders 0 -e shop:order
recorded 0 $pays -e shop:pay
recorded $orders $pays -e shop:order -e shop:pay -C mono
recorded 0 $pays -B kitchen -e shop:pay
[ ! -d $tracing/instances/kitchen ] || fail "record leaves its instance"
recorded $orders $pays -e shop:order -B kitchen -e shop:pay
recorded $orders $pays --compression none -e shop

# stream: what is recorded, as text, while it comes; it hands on pages when they are as full as
# buffer_percent says, and what is in them when the program ends may be too late for it.
echo 0 >$tracing/buffer_percent
# Not among that: trace-cmd writes a line in pieces.
shows $orders $pays stream -e shop sh -c "./seller $orders >sold; sleep 1"
echo 50 >$tracing/buffer_percent

# Several times what the rings hold: it is taken out while it comes, and what is lost is told.
rm -f "$dat"
trace-cmd record -q -o "$dat" -b 512 -e shop ./seller 120000 100 >"$out" 2>"$err" </dev/null || fail "record 120000"
grep -qx '120000 40000' "$out" || fail "the program did something else"
trace-cmd report -i "$dat" >"$out" 2>"$err" </dev/null || fail "report 120000"
o=$(grep -c ': order: ' "$out")
p=$(grep -c ': pay: ' "$out")
lost=$(sed -n 's/.*\[\([0-9]*\) EVENTS DROPPED\].*/\1/p' "$out" | awk '{ n += $1 } END { print n + 0 }')
[ $((o + p + lost)) -eq 160000 ] || fail "$o orders, $p pays and $lost lost are not 160000"
[ $((o + p)) -gt 80000 ] || fail "$o orders and $p pays are about what the rings hold at the end"

tc reset
[ "$(cat $tracing/events/enable)" = 0 ] || fail "something is still on"
exit 0
