#!/bin/sh
# record and extract on the real kernel's tracefs, in instances of their own: what is in the file, who reads it, what is left
# behind, and a kernel and programs in one file.
. "$RINGSIDE_SOURCE/tests/cmd/kernel_room.sh"

cd "$RINGSIDE_SCRATCH" || exit 1

instances() {
	ls "$top/instances"
}

# Ten sleeps of a shell's child, each a system call with its two events.
cat >doze.c <<'END'
#include <time.h>
#include <unistd.h>
#include <sys/syscall.h>
int main(void)
{
	struct timespec t = { 0, 1000000 };

	for (int i = 0; i < 10; i++)
		syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &t, 0);
	return 3;
}
END
${CC:-cc} -O1 -g -o doze doze.c || fail "cannot compile"
nr=230
[ "$(uname -m)" = x86_64 ] || nr=115

# The command's own events alone, all of them, and its status.
want 3 record --kernel -q -e raw_syscalls -e sched:sched_switch -F -o own.dat ./doze
want 0 report own.dat
cp "$out" own.txt
[ "$(grep -c "doze-[0-9]* .* sys_enter: *NR $nr " own.txt)" -eq 10 ] || fail "ten sleeps are not ten"
[ "$(grep -c "doze-[0-9]* .* sys_exit: *NR $nr = 0" own.txt)" -eq 10 ] || fail "ten sleeps do not end"
[ "$(grep -c ' sched_switch: .*doze:[0-9]* \[[0-9]*\] [SD] ==>' own.txt)" -ge 10 ] || fail "who sleeps is switched away"
! instances | grep -q '^record-' || instances | grep '^record-' | while read -r i; do
	p=${i#record-}
	[ -d "/proc/${p%%-*}" ] || fail "$i is left"
done
# Of what is not recorded there are no formats, unless they are asked for.
want 0 dump --events own.dat
grep -q 'name: sched_switch' "$out" && ! grep -q 'name: sched_wakeup' "$out" || fail "formats are not those of the events"
want 3 record --kernel -q -a -e raw_syscalls -F -o all.dat ./doze
want 0 dump --events all.dat
grep -q 'name: sched_wakeup' "$out" || fail "-a"

# What is not there is told with what was meant, before anything is made.
refuse 1 record --kernel -e sched:sched_swtch -o no.dat ./doze -- "no event matches 'sched:sched_swtch'" 'the nearest is sched:sched_switch'
refuse 1 record --kernel -e nothing_like_it -o no.dat ./doze -- "no event matches 'nothing_like_it'" '`ringside list --kernel` lists'
[ ! -e no.dat ] || fail "there is a file of nothing"

# Stock trace-cmd says the same of it. Of a file that begins with a switch away from an idle CPU it mixes up names: it has not yet
# put the file's in order when it learns those of the switch.
if command -v trace-cmd >/dev/null; then
	want 3 record --kernel -q -e raw_syscalls -e sched:sched_switch -f 'prev_pid > 0' -F -o awake.dat ./doze
	trace-cmd report -i awake.dat >stock.txt 2>/dev/null || fail "trace-cmd does not read it"
	"$RINGSIDE" report --layout 3.2 awake.dat >ours.txt
	cmp -s stock.txt ours.txt || fail "trace-cmd reads something else: $(diff stock.txt ours.txt | head -n 5; diff stock.txt ours.txt | grep -m 3 '^>')"
	grep -q ' sched_switch: ' ours.txt || fail "no switches to compare"
fi

# Times are those of the clock that was asked for.
for clock in local mono boot x86-tsc; do
	grep -q "$clock" "$top/trace_clock" || continue
	want 3 record --kernel -q -C $clock -e raw_syscalls -F -o clock.dat ./doze
	want 0 report clock.dat
	[ "$(grep -c "sys_enter: *NR $nr " "$out")" -eq 10 ] || fail "-C $clock"
done
"$RINGSIDE" record --kernel -q -C x86-tsc -e raw_syscalls -F -o tsc.dat ./doze
"$RINGSIDE" report tsc.dat | awk -v now="$(cut -d' ' -f1 /proc/uptime)" '/sys_enter/ && $4 ~ /^[0-9.]+:$/ { t = $4 + 0
	if (t < now - 60 || t > now + 1) { print "FAIL: " t " is not near " now; exit 1 } }' || exit 1
want 3 record --kernel -q --date -e raw_syscalls -F -o date.dat ./doze
"$RINGSIDE" report date.dat | awk -v now="$(date +%s)" '/sys_enter/ && $4 ~ /^[0-9.]+:$/ { t = $4 + 0
	if (t < now - 60 || t > now + 1) { print "FAIL: " t " is not near " now; exit 1 } }' || exit 1

# Several buffers, each with its own, in one file.
want 3 record --kernel -q -e raw_syscalls:sys_enter -F -B $mine -e sched:sched_switch -f 'prev_comm == "doze"' -o two.dat ./doze
want 0 report two.dat
grep -q "^ *$mine: .* sched_switch: " "$out" || fail "the instance is not in it"
! grep "^ *$mine: " "$out" | grep -v ' doze-' || fail "the filter is not in force"
! grep "^ *$mine: " "$out" | grep -q sys_enter || fail "the instance has what is not its own"
[ ! -d "$top/instances/$mine" ] || fail "the instance is left"

# One that was there stays, as it was, but for what it held.
mkdir "$top/instances/$mine"
echo 1 >"$top/instances/$mine/events/irq/enable"
echo 'prev_pid == 1' >"$top/instances/$mine/events/sched/sched_switch/filter"
echo mono >"$top/instances/$mine/trace_clock"
echo 0 >"$top/instances/$mine/tracing_on"
keep() {
	(cd "$top/instances/$mine" && cat set_event trace_clock tracing_on buffer_size_kb events/sched/sched_switch/filter trace_options \
		set_event_pid set_event_notrace_pid tracing_cpumask buffer_percent current_tracer)
}
keep >kept
want 3 record --kernel -q -B $mine -e sched:sched_switch -f 'prev_comm == "doze"' -C local -b 300 -O nooverwrite -M 1 -o in.dat ./doze
keep | cmp -s - kept || fail "not as it was: $(keep | diff kept -)"
# Killed, and what it left is taken back: by who waits beside it for that, or, if that one is killed, too, by the next one, or by
# reset.
for how in beside next reset; do
	"$RINGSIDE" record --kernel -q -B $mine -e sched:sched_switch -C local -B $mine-b -e irq -o killed.dat sleep 20 >/dev/null 2>&1 &
	pid=$!
	for i in $(seq 100); do
		[ -s killed.dat ] && [ "$(cat "$top/instances/$mine/tracing_on")" = 1 ] && break
		sleep 0.05
	done
	[ -d "$top/instances/$mine-b" ] || fail "it has not begun"
	others=
	[ $how = beside ] || others=$(pgrep -P $pid)
	# shellcheck disable=SC2086
	kill -KILL $others $pid
	wait $pid 2>/dev/null
	case $how in
	beside)
		for i in $(seq 100); do
			[ ! -d "$top/instances/$mine-b" ] && keep | cmp -s - kept && break
			sleep 0.05
		done
		;;
	next) "$RINGSIDE" record --tracefs "$top/." -q -e irq -o next.dat true ;;
	reset) "$RINGSIDE" reset --kernel -B nosuch$$ 2>/dev/null ;;
	esac
	keep | cmp -s - kept || fail "$how has not brought it back: $(keep | diff kept -)"
	[ ! -d "$top/instances/$mine-b" ] || fail "$how has left an instance"
	want 0 report killed.dat
	rm killed.dat
done
# A buffer has one recorder at a time: what a second one would find is not what it was before the first.
"$RINGSIDE" record --kernel -q -B $mine -e sched:sched_switch -C local -B $mine-b -e irq -o first.dat sleep 20 >/dev/null 2>&1 &
pid=$!
for i in $(seq 100); do
	[ -s first.dat ] && [ "$(cat "$top/instances/$mine/tracing_on")" = 1 ] && break
	sleep 0.05
done
refuse 1 record --kernel -q -B $mine -e irq -o second.dat true -- "$mine is being recorded by process $pid"
refuse 1 record --kernel -q -B $mine-b -e irq -o second.dat true -- "$mine-b is being recorded by process $pid"
[ ! -e second.dat ] || fail "there is a file of the second"
kill $pid
wait $pid
keep | cmp -s - kept || fail "not as it was after two: $(keep | diff kept -)"
[ ! -d "$top/instances/$mine-b" ] || fail "an instance is left after two"
want 0 report first.dat
# What is there already comes out, also events that are off by then.
echo 1 >"$top/instances/$mine/events/sched/sched_switch/enable"
echo 0 >"$top/instances/$mine/events/sched/sched_switch/filter"
echo 1 >"$top/instances/$mine/tracing_on"
./doze
echo 0 >"$top/instances/$mine/tracing_on"
n=$(grep -c ' sched_switch: ' "$top/instances/$mine/trace")
echo 0 >"$top/instances/$mine/events/enable"
want 0 extract --kernel -q -B $mine -o out.dat
want 0 report out.dat
[ "$n" -gt 10 ] && [ "$(grep -c ' sched_switch: ' "$out")" -eq "$n" ] || fail "extract has not $n events"
# Beside programs it goes by the clock of both, and then by its own again.
want 3 record -q -i -e nothing --kernel -B $mine -e raw_syscalls -F -o beside.dat ./doze
grep -qF '[mono]' "$top/instances/$mine/trace_clock" || fail "its clock is another"
want 0 report beside.dat
[ "$(grep -c " sys_enter: *NR $nr " "$out")" -eq 10 ] || fail "beside programs ten sleeps are not ten"
# And what did not fit is told.
echo 8 >"$top/instances/$mine/buffer_size_kb"
echo 1 >"$top/instances/$mine/events/raw_syscalls/enable"
echo 1 >"$top/instances/$mine/tracing_on"
dd if=/dev/zero of=/dev/null bs=1 count=2000 2>/dev/null
echo 0 >"$top/instances/$mine/tracing_on"
n=$(cat "$top/instances/$mine/per_cpu/"cpu*/stats | awk '/^overrun:/ { n += $2 } END { print n }')
want 0 extract --kernel -B $mine -o out.dat
[ "$n" -gt 1000 ] && grep -q " $n overwritten before them" "$err" || fail "extract does not tell of $n overwritten events"
rmdir "$top/instances/$mine"

# Of a file that may not grow, as many events are told as are in it, and the others are lost.
(ulimit -f 6000 && exec "$RINGSIDE" record --kernel -e raw_syscalls -F -o small.dat dd if=/dev/zero of=/dev/null bs=1 count=40000) >"$out" 2>"$err"
grep -q 'small.dat' "$err" || fail "nothing is told of a file that is full"
told=$(sed -n 's/.*small.dat: \([0-9]*\) events, .*/\1/p' "$err")
want 0 report small.dat
[ "$(grep -c ' sys_e' "$out")" -eq "${told:-0}" ] || fail "${told:-no} events are told, $(grep -c ' sys_e' "$out") are in the file"

# What is to stay is there when others have come and gone: one with few descriptors, and many buffers.
want 3 record --kernel -k -e raw_syscalls -F -o stays.dat ./doze
stays=$(sed -n 's/.*the instance \([^ ]*\) stays as it is.*/\1/p' "$err")
(ulimit -Sn 40 && exec "$RINGSIDE" record --kernel -q -e irq -B $mine -e irq -B $mine-b -e irq -o few.dat true) >"$out" 2>"$err" ||
	fail "40 descriptors are too few"
[ -n "$stays" ] && [ -d "$top/instances/$stays" ] || fail "-k: '$stays' is gone"
want 0 set --kernel -v -B "$stays"
[ ! -d "$top/instances/$stays" ] || fail "$stays is not to be removed"

# -c is about the source where -P stands.
want 3 record -q -c --kernel -e raw_syscalls -P $$ --programs -e nothing -i -o children.dat ./doze

# A kernel and programs, by one clock, in the order of time: calls of a function are around its system calls.
if [ "$(uname -m)" = x86_64 ]; then
	cat >calls.c <<'END'
#include <time.h>
#include <sys/syscall.h>
#include <unistd.h>
__attribute__((noinline)) int doze_once(int i)
{
	struct timespec t = { 0, 1000000 };

	syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &t, 0);
	return i + 1;
}
int main(void)
{
	int n = 0;

	for (int i = 0; i < 10; i++)
		n += doze_once(i);
	return n == 0;
}
END
	${CC:-cc} -O1 -g -o calls calls.c || fail "cannot compile"
	for line in '-p function_graph -l doze_once --kernel -e raw_syscalls -e sched:sched_switch' \
		'--kernel -e raw_syscalls -e sched:sched_switch --programs -p function_graph -l doze_once'; do
		# shellcheck disable=SC2086
		want 0 record -q -F $line -o both.dat ./calls
		want 0 report both.dat
		awk -v nr=$nr '/calls-[0-9]+ / {
			if (/funcgraph_entry: .*doze_once\(\) \{$/) { inside = 1; calls++; slept = gone = 0 }
			else if (/funcgraph_exit/) inside = 0
			else if (/sys_enter: *NR /) { for (i = 1; i <= NF; i++) if ($i == "NR" && $(i + 1) == nr) { slept = 1; if (!inside) bad++ } }
			else if (/sched_switch: *calls:.* S ==>/ && slept) gone++
			if (/sys_exit: *NR / && $0 ~ "NR " nr " = 0") { if (gone && inside) good++; slept = gone = 0 }
		} END { if (calls != 10 || good != 10 || bad) { print "FAIL: " calls " calls, " good " as they should be, " bad " not"; exit 1 } }' "$out" || exit 1
	done
	"$RINGSIDE" record -q -F $line -o both.dat ./calls
	! command -v trace-cmd >/dev/null || trace-cmd report -i both.dat 2>/dev/null | grep -q 'funcgraph_entry: .*doze_once();' ||
		fail "trace-cmd does not show the functions"
	refuse 1 record -p function_graph --kernel -C local -e irq -o no.dat ./calls -- '-C mono'
	[ ! -e no.dat ] || fail "a file of nothing"
fi

# A program, the kernel and a remote on one timeline, by whichever clock; and the kernel with a remote alone.
program three <<'END'
#include <ringside/ringside.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

RINGSIDE_EVENT(talk, asked, field(int, number))

static void doze(void)
{
	struct timespec t = { 0, 1000000 };

	syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &t, 0);
}

int main(void)
{
	for (int i = 0; i < 6; i += 2) {
		trace_talk_asked(i);
		doze();
		if (system("$RINGSIDE write remotes/test/write_event 77"))
			return 1;
		doze();
		trace_talk_asked(i + 1);
	}
	return 0;
}
END
for words in '-e talk --kernel' '-C mono -e talk --kernel -C mono' '--kernel' '--kernel -C mono'; do
	# shellcheck disable=SC2086
	want 0 record -F -o three.dat $words -e raw_syscalls:sys_enter --remote test ./three
	grep -q "^ringside: remote test: .*, the host's own$" "$err" || fail "$words: no word of its clock: $(cat "$err")"
	want 0 report -q three.dat
	sed -n "s/^ *\(kernel: *\)*three-.* sys_enter: *NR $nr .*/doze/p; s/.* asked: *number=\([0-9]\)/\1/p; s/.*test-[0-9]* .* selftest: *id=77/there/p" "$out" |
		tr '\n' ' ' >order
	case $words in
	*talk*) all='0 doze there doze 1 2 doze there doze 3 4 doze there doze 5 ' ;;
	*) all='doze there doze doze there doze doze there doze ' ;;
	esac
	[ "$(cat order)" = "$all" ] || fail "$words: in another order: $(cat order)"
done
refuse 1 record --kernel -C local -e raw_syscalls --remote test -o no.dat ./three -- '-C mono'
[ ! -e no.dat ] || fail "a file of nothing"

# What cannot be.
refuse 2 record --kernel ./doze -- 'which events'
refuse 1 record --kernel -e no_such_event_here ./doze -- no_such_event_here
refuse 2 record --kernel --tracefs "$top" -e sched ./doze -- '--tracefs'
refuse 2 record --kernel --flight -e sched ./doze -- '--flight'
refuse 1 record --kernel -e sched:sched_switch -f 'nosuch ==' ./doze -- 'nosuch =='
refuse 1 record --kernel -e sched -o no/such/dir.dat ./doze -- 'no/such/dir.dat'
exit 0
