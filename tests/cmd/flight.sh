#!/bin/sh
# The flight recorder: nothing is written until the moment comes, and then what was before and after it.
. "$RINGSIDE_SOURCE/tests/cmd/room.sh"
cd "$RINGSIDE_SCRATCH" || exit 1
recorder='' shop=''
# A program dies of its signals, also one that was built with a sanitizer.
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}handle_segv=0:handle_abort=0"
# Whatever fails, nobody stays. Numbers are words of their own.
# shellcheck disable=SC2086
trap 'kill $recorder $shop 2>/dev/null' EXIT

# order:N as many orders, pay:CENTS, signal:N its own death, exit:N, wait for a byte, tell that it came so far.
program shop <<'EOF'
#include <ringside/ringside.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

RINGSIDE_EVENT(shop, order, field(int, item), string(who), print("item=%d who=%s", item, who))
RINGSIDE_EVENT(shop, pay, field(int, cents), print("cents=%d", cents))

int main(int argc, char **argv)
{
	int item = 0;
	char byte;

	for (int i = 1; i < argc; i++) {
		const char *colon = strchr(argv[i], ':');
		int n = colon ? atoi(colon + 1) : 0;

		if (argv[i][0] == 'o')
			while (n--)
				trace_shop_order(item++, "ann");
		else if (argv[i][0] == 'p')
			trace_shop_pay(n);
		else if (argv[i][0] == 'm')
			ringside_printf("mark %d", n);
		else if (argv[i][0] == 's')
			raise(n);
		else if (argv[i][0] == 'e')
			return n;
		else if (argv[i][0] == 'w' && read(0, &byte, 1) != 1)
			return 9;
		else if (argv[i][0] == 't' && write(1, "here\n", 5) != 5)
			return 9;
	}
	return 0;
}
EOF

# The file's lines are those that trace-cmd prints, where there is one; ours are in $out.
lines() {
	want 0 report "$1"
	command -v trace-cmd >/dev/null || return 0
	sed 's/ \.\.\.\.\. / /' "$out" >"$out.ours"
	trace-cmd report "$1" 2>/dev/null | sed 's/ \.\.\.\.\. / /' | cmp -s - "$out.ours" || fail "$1: trace-cmd prints something else"
}

# Waits until the file has that line.
await() {
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		for _ in 1 2 3 4 5 6 7 8 9 10; do
			! grep -q -e "$2" "$1" 2>/dev/null || return 0
			sleep 0.1
		done
	done
	fail "$1 never says $2"
}

# Waits until the recorder of that number records: an instance is on when it is made, and off before it has events.
await_on() {
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		for _ in 1 2 3 4 5 6 7 8 9 10; do
			[ -z "$("$RINGSIDE" cat "instances/record-$1/set_event" 2>/dev/null)" ] ||
				[ "$("$RINGSIDE" cat "instances/record-$1/tracing_on" 2>/dev/null)" != 1 ] || return 0
			sleep 0.1
		done
	done
	fail "the recorder never begins: $(cat words)"
}

no_instances() {
	want 0 list -B
	[ ! -s "$out" ] || fail "instances are left"
}

no_files() {
	for file in "$1" "$1".[0-9]; do
		[ ! -e "$file" ] || fail "there is $file"
	done
}

# Death, with no handler in the program: its last events, in words and in a file. The first one tells of its exec.
for death in 11:SIGSEGV:139 6:SIGABRT:134 9:SIGKILL:137; do
	number=${death%%:*} name=${death#*:}
	status=${name#*:} name=${name%:*}
	want "$status" record --flight -o death ./shop order:30 "signal:$number"
	[ ! -s "$out" ] || fail "$name: something on stdout"
	grep -q "^ringside: death.1: ./shop ([0-9]*) was killed by $name.* at [0-9.]*: 31 events, .* none lost$" "$err" ||
		fail "$name is not told"
	[ "$(grep -c ': order: *item=[0-9]* who=ann$' "$err")" -eq 20 ] || fail "$name: not the last 20"
	tail -n 1 "$err" | grep -q 'item=29 who=ann' || fail "$name: the last event is not the last"
	lines death.1
	[ "$(grep -c ': order: ' "$out")" -eq 30 ] || fail "$name: not in the file"
	[ ! -e death ] && [ ! -e death.2 ] || fail "$name: more than one file"
	rm death.1
done

# An end of its own is none, whatever the status.
want 3 record --flight -o own ./shop order:3 exit:3
want 139 record --flight -o own ./shop order:3 exit:139
want 0 record --flight -o own ./shop order:3
[ ! -s "$err" ] || fail "words about a normal end"
# What is printed or marked is no such event.
rm -f printed.*
want 0 record --flight --on shop:pay -o printed sh -c './shop mark:1'
[ ! -e printed.1 ] || fail "a mark was taken for the event"
want 134 record --flight --on shop:pay -o own ./shop order:3 signal:6
no_files own

# An event, if a condition holds; armed again after it. What came before the first is also before the second.
want 0 record --flight --on 'shop:pay if cents > 500' --before 1000 --after 0 -o paid \
	./shop order:2 pay:100 order:2 pay:700 order:2 pay:200 pay:800 order:2
lines paid.1
[ "$(grep -c ': order: ' "$out")" -eq 4 ] && [ "$(grep -c ': pay: ' "$out")" -eq 2 ] || fail "before the first"
tail -n 1 "$out" | grep -q 'cents=700$' || fail "something after the first"
lines paid.2
[ "$(grep -c ': order: ' "$out")" -eq 6 ] && [ "$(grep -c ': pay: ' "$out")" -eq 4 ] || fail "before the second"
tail -n 1 "$out" | grep -q 'cents=800$' || fail "something after the second"
[ ! -e paid.3 ] && [ ! -e paid ] || fail "a third"
want 0 record --flight --on 'shop:pay if cents > 500' --before 0 --after 0 -o paid ./shop order:2 pay:700 order:2
at=$(sed -n 's/^ringside: paid.1: shop:pay of [0-9]* at \([0-9.]*\): 1 events,.*/\1/p' "$err")
[ -n "$at" ] || fail "what happened is not told"
lines paid.1
grep -q " $at: pay: *cents=700$" "$out" || fail "the moment is not the event's time"

# The end comes before --after is over: what came until then is saved.
rm -f paid.*
want 0 record --flight --on pay --after 1000 -o paid ./shop order:1 pay:1 order:2 pay:2
lines paid.1
[ "$(grep -c ': order: ' "$out")" -eq 3 ] && [ "$(grep -c ': pay: ' "$out")" -eq 2 ] || fail "after it"
[ ! -e paid.2 ] || fail "an event within a window is a moment of its own"

# The event need not be among those that are recorded; -F leaves out others.
want 0 record --flight -e shop:order --on shop:pay --before 1000 --after 0 -o some ./shop order:2 pay:1 order:1
lines some.1
[ "$(grep -c ': order: ' "$out")" -eq 2 ] && ! grep -q ': pay:' "$out" || fail "events that were not asked for"
want 0 record --flight -F -c --on shop:pay -o forked sh -c './shop pay:5; exit 0'
lines forked.1
[ "$(grep -c ': pay: ' "$out")" -eq 1 ] || fail "of what the command starts"
rm -f forked.*
want 0 record --flight -F --on shop:pay -o forked sh -c './shop pay:5; exit 0'
no_files forked

# Several buffers, and all ways to write a file.
want 139 record --flight -e shop:order -B pays -e shop:pay -o both --file-version 6 ./shop order:5 pay:1 pay:2 signal:11
want 0 report both.1
[ "$(grep -c '^ *pays: .*: pay: ' "$out")" -eq 2 ] && [ "$(grep -c ': order: ' "$out")" -eq 5 ] || fail "two buffers"
want 139 record --flight -b 64 -C mono --date -o date.dat ./shop order:20000 signal:11
grep -q 'date.dat.1: begins later than asked: [0-9]* events' "$err" || fail "a buffer that is too small is not told"
lost=$(sed -n 's/.*later than asked: \([0-9]*\) events.*/\1/p' "$err")
kept=$(sed -n 's/.* at [0-9.]*: \([0-9]*\) events,.*/\1/p' "$err")
# The first is its exec.
[ $((lost + kept)) -eq 20001 ] || fail "$kept saved and $lost overwritten are not 20001"

# A program that was there before, and sleeps; a signal to the recorder; its end is no moment.
mkfifo tell hear
./shop order:3 wait order:2 tell wait pay:900 tell wait <tell >hear &
shop=$!
exec 3>tell 4<hear
"$RINGSIDE" record --flight --after 0 --before 1000 -o asked 2>words &
recorder=$!
await_on $recorder
echo >&3
read -r _ <&4
kill -USR1 $recorder
await words 'asked.1: SIGUSR1 at'
kill -USR1 $recorder
await words 'asked.2: SIGUSR1 at'
kill -INT $recorder
wait $recorder || fail "exit $?: $(cat words)"
lines asked.1
[ "$(grep -c ': order: ' "$out")" -eq 2 ] || fail "of a program that was there before"
lines asked.2
[ "$(grep -c ': order: ' "$out")" -eq 2 ] || fail "the second file does not reach back"
[ ! -e asked.3 ] || fail "the end is a moment"
no_instances

# The same program again, waited for by -P: by an event, then until it is gone.
"$RINGSIDE" record --flight -P $shop --on 'pay if cents == 900' --after 0 -o again 2>words &
recorder=$!
await_on $recorder
echo >&3
read -r _ <&4
await words "again.1: shop:pay of $shop at"
kill -TERM $recorder
wait $recorder
"$RINGSIDE" record --flight -P $shop -o gone 2>words &
recorder=$!
await_on $recorder
echo >&3
wait $shop
wait $recorder || fail "exit $?: $(cat words)"
grep -q "gone.1: $shop is gone at" words || fail "a process that is gone"
exec 3>&- 4<&-

# A recorder that is killed: what it had can be had, until the next one sweeps.
./shop wait order:4 tell wait <tell >hear &
shop=$!
exec 3>tell 4<hear
"$RINGSIDE" record --flight --on nosuch:event -o killed 2>words &
recorder=$!
await_on $recorder
await words 'nosuch:event yet'
echo >&3
read -r _ <&4
kill -KILL $recorder
wait $recorder
no_files killed
want 0 extract -B "record-$recorder" -o left
want 0 report left
[ "$(grep -c ': order: ' "$out")" -eq 4 ] || fail "what a killed recorder leaves"
exec 3>&- 4<&-
wait
want 0 record -o swept ./shop
no_instances

# What cannot be meant.
refuse 2 record --flight --on 'pay if' ./shop -- 'filter is needed'
refuse 2 record --flight --on 'pay if cents >' ./shop -- 'cents >' missing
refuse 2 record --flight --on 'a b' ./shop -- 'a b'
refuse 2 record --flight --on '' ./shop -- --on
refuse 2 record --flight --on death -- -P
refuse 2 record --on death ./shop -- --flight
refuse 2 record --flight --before x ./shop -- --before
refuse 2 record --flight --rotate 5s ./shop -- --rotate
refuse 1 record --flight -O nooverwrite ./shop -- nooverwrite
refuse 1 record --flight -o /nonexistent/file ./shop -- /nonexistent
refuse 1 record --flight --on death -P 999999999 -- 999999999
want 0 record --flight --on 'pay if prise > 5' -o wrong ./shop pay:7 pay:8
[ "$(grep -c 'does not fit shop:pay: prise' "$err")" -eq 1 ] || fail "a filter that does not fit is told once"
no_files wrong
no_instances
exit 0
