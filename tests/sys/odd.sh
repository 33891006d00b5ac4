#!/bin/sh
# A program that makes system calls in all the ways there are does the same traced and untraced, and while tracing is switched on and off.
. "$RINGSIDE_SOURCE/tests/sys/stage.sh"

# shellcheck disable=SC2086
$CC -w -D_GNU_SOURCE -O2 "$own/odd.c" -o "$dir/odd" -pthread || exit 1
same odd ./odd
"$RINGSIDE" report -i "$dir/trace.dat" >"$dir/report" 2>/dev/null
for call in clone3 vfork execve rt_sigreturn ppoll pselect6 epoll_pwait rt_sigsuspend exit_group getppid wait4; do
	grep -q " sys_enter_$call:" "$dir/report" || fail "no sys_enter_$call in the recording"
done
for call in clone vfork execve rt_sigreturn ppoll; do
	grep -q " sys_exit_$call:" "$dir/report" || fail "no sys_exit_$call in the recording"
done

# Giving up calls that is refused, or a vfork child's, changes nothing.
rm -rf "$RINGSIDE_DIR"
"$RINGSIDE" record -q -e 'raw_syscalls:sys_e*' -o "$dir/trace.dat" ./odd refused || fail "refused: exit $?"
"$RINGSIDE" report -i "$dir/trace.dat" >"$dir/report" 2>/dev/null
for number in 111 121 124; do
	grep -q " sys_enter: *NR $number " "$dir/report" || fail "no call $number behind what was refused"
done

# Cancelled at whichever instruction of the way that a call takes when a signal finds it.
rm -rf "$RINGSIDE_DIR"
"$RINGSIDE" record -q -e '*:sys_enter' -e '*:sys_exit' -o "$dir/trace.dat" ./odd stepped "$([ -n "${RINGSIDE_LONG-}" ] && echo 7 || echo 149)" \
	>"$dir/got.out" 2>&1
got=$?
[ "$got:$(cat "$dir/got.out")" = '6:at each step 1' ] || fail "stepped: exit $got: $(cat "$dir/got.out")"

# Signals that are sent are events, too, before they come.
"$RINGSIDE" record -q -e signal:signal_generate -o "$dir/trace.dat" ./odd >/dev/null 2>&1
"$RINGSIDE" report -i "$dir/trace.dat" >"$dir/report" 2>/dev/null
grep -q 'signal_generate: *sig=31 errno=0 code=-6 comm=odd pid=[0-9]* grp=0 res=0' "$dir/report" || fail "no SIGSYS was sent: $(cat "$dir/report")"
grep -q 'sys_enter' "$dir/report" && fail "calls that nobody asked for"

# On and off, a hundred times; and around those that were killed, with a child of theirs on the stack of a parent that runs again.
library=$RINGSIDE_BUILD/libringside.so
"$RINGSIDE" reset
./odd killed >"$dir/killed.out"
for round in 1 2 3 killed; do
	want=$dir/want.out
	[ $round != killed ] || want=$dir/killed.out
	# 1 to 3 are no words to it.
	LD_PRELOAD=$library timeout 60 ./odd ${round##[1-3]} >"$dir/got.out" 2>"$dir/got.err" &
	program=$!
	while kill -0 "$program" 2>/dev/null; do
		"$RINGSIDE" write events/raw_syscalls/enable 1 2>/dev/null
		"$RINGSIDE" write events/raw_syscalls/enable 0 2>/dev/null
	done
	wait "$program"
	got=$?
	[ "$got" -eq 6 ] || fail "switched, round $round: exit $got: $(tail -n 3 "$dir/got.err")"
	cmp -s "$want" "$dir/got.out" || fail "switched, round $round: $(diff "$want" "$dir/got.out" | head -n 5)"
done
exit "$bad"
