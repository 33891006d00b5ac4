#!/bin/sh
# Probes that are taken away here and there, and set again at once, as often as one likes: what they counted with is not used again for
# a while, and nobody notices. And records of t: begin as the kernel's do.
. "$RINGSIDE_SOURCE/tests/probe/room.sh"

seq 600 | sed 's|.*|p:late/e& later.so:f&|' >all
seq 1 2 600 | sed 's|.*|-:late/e&|' >odd_away
seq 1 2 600 | sed 's|.*|p:late/e& later.so:f&|' >odd
seq 2 2 600 | sed 's|.*|-:late/e&|' >even_away
seq 2 2 600 | sed 's|.*|p:late/e& later.so:f&|' >even
put dynamic_events "$(cat all)"
for round in 1 2; do
	for which in odd even; do
		put dynamic_events "$(cat ${which}_away)"
		want 0 cat dynamic_events
		[ "$(wc -l <"$out")" -eq 300 ] || fail "round $round: $(wc -l <"$out") are left without the $which ones"
		put dynamic_events "$(cat $which)"
	done
done
want 0 cat dynamic_events
[ "$(wc -l <"$out")" -eq 600 ] || fail "not all are there again"
want 0 write dynamic_events ''

put dynamic_events 't:as/kernel sched_process_exec pid=pid'
want 0 cat events/as/kernel/format
grep -q 'field:unsigned long __probe_ip;	offset:8;	size:8;	signed:0;' "$out" || fail "t: has no address: $(cat "$out")"
grep -q 'field:.* pid;	offset:16;' "$out" || fail "the argument is elsewhere: $(cat "$out")"
want 0 write events/as/enable 1
run true
records kernel >said
grep -q '^(sched\.sched_process_exec) pid=[1-9][0-9]*$' said || fail "records of t:: $(cat said)"
want 0 write events/as/enable 0
put dynamic_events 't:as/open sys_enter_openat filename:string'
want 0 write events/as/open/enable 1
run cat /dev/null
records open >said
grep -q '^(syscalls\.sys_enter_openat) filename="/dev/null"$' said || fail "a text behind a pointer of t:: $(cat said)"
refuse 1 write -a dynamic_events 't:as/no sys_enter_openat dfd:string' -- 'does not fit for string'
exit "${bad-0}"
