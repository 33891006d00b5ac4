#!/bin/sh
# sched_switch, sched_waking: told late and yet in order; who is off the CPU writes nothing; nobody minds when the teller is killed.
. "$RINGSIDE_SOURCE/tests/cmd/room.sh"

program pair <"$RINGSIDE_SOURCE/tests/cmd/switches_pair.c"
pair=$RINGSIDE_SCRATCH/pair file=$RINGSIDE_SCRATCH/t.dat text=$RINGSIDE_SCRATCH/text sums=$RINGSIDE_SCRATCH/sums
check=$RINGSIDE_SOURCE/tests/cmd/switches_check.awk

# Of a recording that is in $file: order, who was where, nothing lost.
holds() {
	want 0 report -t -i "$file"
	mv "$out" "$text"
	awk -v loose="${2:-0}" -f "$check" "$text" >"$sums" || { cat "$sums"; fail "$1: that cannot be"; }
	! grep -q 'EVENTS DROPPED' "$text" || fail "$1: events were lost"
	# Somebody whom we do not see is called the same before and within the text, and is not called an idle CPU.
	! grep -q '<idle>' "$text" || fail "$1: nobody has a name"
}

# So many events of its own.
turns() {
	[ "$(grep -c ' turn: ' "$text")" -eq "$1" ] || fail "$2: not $1 turns"
}

# The threads of that name: threads NAME
threads() {
	grep -o " $1:[0-9]* " "$text" | sort -u
}

# Who tells in our directory.
stays() {
	for process in /proc/[0-9]*; do
		[ "$(readlink "$process/exe")" = "$(readlink -f "$RINGSIDE")" ] &&
			tr '\0' '\n' <"$process/environ" | grep -qxF "RINGSIDE_DIR=$RINGSIDE_DIR" && echo "${process#/proc/}"
	done 2>/dev/null
}

want 0 record -o "$file" -e pair -e sched_switch -e sched_waking "$pair" 500
if grep -q 'cannot be seen' "$err"; then
	cat "$err"
	exit 77
fi
holds 'a pair'
turns 2000 'a pair'
[ "$(awk '$2 == "turns" && $5 >= 499 && $7 >= 499' "$sums" | wc -l)" -eq 2 ] || fail "they came and went less often than they had to"
for line in ' ping:[0-9]* \[[0-9]*\] [RS] ==> pong:' ' pong:[0-9]* \[[0-9]*\] [RS] ==> ping:'; do
	grep -q "$line" "$text" || fail "not from one to the other"
done
grep -q 'sched_waking: .*comm=pong pid=[0-9]* prio=[0-9]* target_cpu=[0-9]' "$text" || fail "nobody was woken"
[ "$(threads pong | wc -l)" -eq 1 ] || fail "pong is not one thread"

# With those who write as fast as they can.
want 0 record -o "$file" -e pair -e sched_switch -e sched_waking "$pair" 300 busy
holds 'busy'
turns $((1200 + 120000)) 'busy'
if command -v trace-cmd >/dev/null; then
	trace-cmd report -t "$file" 2>"$err" |
		sed -n 's/.*\[\([0-9]*\)\] *\([0-9]*\.[0-9]*: [a-z_]*:\).*/\1 \2/p' >"$RINGSIDE_SCRATCH/theirs"
	sed -n 's/.*\[\([0-9]*\)\] [^ ]* *\([0-9]*\.[0-9]*: [a-z_]*:\).*/\1 \2/p' "$text" >"$RINGSIDE_SCRATCH/ours"
	[ -s "$RINGSIDE_SCRATCH/ours" ] && cmp "$RINGSIDE_SCRATCH/theirs" "$RINGSIDE_SCRATCH/ours" || fail "trace-cmd sees another order"
fi

# In an instance, beside the events of the top; by other clocks.
want 0 record -o "$file" -e pair -B mine -e sched_switch "$pair" 100
holds 'an instance'
turns 400 'an instance'
grep -q 'mine:.*sched_switch:.* ping:' "$text" || fail "an instance has none"
for clock in local mono_raw boot; do
	want 0 record -o "$file" -C $clock -e pair -e sched_switch "$pair" 100 busy
	# Times that come from the system are from before the event: who was interrupted in between has one that is too early.
	[ $clock = local ] && loose=0 || loose=1
	holds $clock $loose
	grep -q 'sched_switch:.* busy1:' "$text" || fail "none by $clock"
done

# Filters see them.
want 0 record -o "$file" -e sched_switch -f 'prev_comm == "ping"' "$pair" 100
want 0 report -i "$file"
[ "$(grep -c 'sched_switch: *ping:[0-9]* ' "$out")" -ge 99 ] || fail "the filter lets none through"
! grep -v 'cpus=' "$out" | grep -qv 'sched_switch: *ping:' || fail "the filter lets others through"

# Killed while it tells: the recording goes on, and has all that programs wrote.
"$RINGSIDE" record -o "$file" -e pair -e sched_switch sh -c "sleep 0.2; exec '$pair' 100 busy" 2>"$err" &
recorder=$!
teller=
for _ in 1 2 3 4 5 6 7 8 9 10; do
	sleep 0.02
	for child in $(cat /proc/$recorder/task/$recorder/children); do
		[ "$(cat "/proc/$child/comm")" != switches ] || teller=$child
	done
done
[ -n "$teller" ] && kill -9 "$teller" || fail "there is no teller"
wait $recorder || fail "the recorder minds"
# Who was off the CPU by then comes back untold.
holds 'killed' 1
turns $((400 + 120000)) 'killed'

# Without a recording, and no longer than somebody wants it.
want 0 start -e pair -e sched_switch
teller=$(stays)
[ -n "$teller" ] || fail "nobody stays"
"$pair" 100 || fail "pair"
want 0 show
mv "$out" "$text"
turns 400 'start'
grep -q 'sched_switch: .*prev_comm=ping .*next_comm=pong ' "$text" || fail "start: no switches"
# Who has a command to look at takes its place, and gives it back.
want 0 record -o "$file" -B his -e sched_switch "$pair" 50
want 0 report -i "$file"
[ "$(grep -c 'sched_switch:.* ping:' "$out")" -ge 49 ] || fail "not seen while somebody stays"
before=$teller
teller=$(stays)
[ -n "$teller" ] || fail "nobody stays after a recording"
[ "$teller" != "$before" ] || fail "its place was not taken"
kill -9 "$teller"
"$pair" 100 || fail "pair"
want 0 show
mv "$out" "$text"
turns 1000 'start, killed'
# One comes again; and goes when nobody wants it.
want 0 start -e sched_waking
[ -n "$(stays)" ] || fail "nobody came in its place"
want 0 reset
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
	[ -n "$(stays)" ] || break
	sleep 0.5
done
[ -z "$(stays)" ] || fail "it stays for nobody"

# The kernel's example of how long threads wait for a CPU.
want 0 write synthetic_events 'wakeup_lat u64 lat; pid_t pid; char comm[16]'
want 0 write events/sched/sched_waking/trigger 'hist:keys=pid:ts0=common_timestamp.usecs'
want 0 write events/sched/sched_switch/trigger \
	'hist:keys=next_pid:lat=common_timestamp.usecs-$ts0:onmatch(sched.sched_waking).wakeup_lat($lat,next_pid,next_comm)'
want 0 write events/synthetic/wakeup_lat/trigger 'hist:keys=comm'
want 0 write events/synthetic/wakeup_lat/enable 1
"$pair" 200 busy || fail "pair"
want 0 cat trace
woken=$(grep -c 'wakeup_lat: lat=[0-9]* pid=[0-9]* comm=' "$out")
[ "$woken" -gt 100 ] || fail "few have waited: $woken"
want 0 cat events/synthetic/wakeup_lat/hist
grep -q 'comm: busy1 ' "$out" || fail "busy1 has not waited"
want 0 reset
want 0 latency sched:sched_waking sched:sched_switch --on pid=next_pid -- "$pair" 200
grep -q '[1-9][0-9]* starts, [1-9][0-9]* met an end' "$out" || fail "latency: no starts"

# Who is nobody in particular.
[ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null || exit 0
setpriv --reuid=65534 --regid=65534 --clear-groups test -r "$RINGSIDE_BUILD/libringside.so.0" || exit 0
chmod 755 "$RINGSIDE_SCRATCH"
mkdir -m 777 "$RINGSIDE_SCRATCH/his"
RINGSIDE_DIR=$RINGSIDE_SCRATCH/his/trace setpriv --reuid=65534 --regid=65534 --clear-groups \
	"$RINGSIDE" record -o "$RINGSIDE_SCRATCH/his/t.dat" -e pair -e sched_switch "$pair" 200 >"$out" 2>"$err" || fail "record as nobody"
file=$RINGSIDE_SCRATCH/his/t.dat
holds 'nobody'
turns 800 'nobody'
[ "$(awk '$2 == "turns" && $5 >= 199 && $7 >= 199' "$sums" | wc -l)" -eq 2 ] || fail "nobody sees no switches"
exit 0
