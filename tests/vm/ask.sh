#!/bin/bash
# Commands that ask the kernel, on one that has all of ftrace: ./do vm -w build/tests/library_kernel ./tests/vm/ask.sh
#
# hist, latency, sqlhist, snapshot, stack and the doctor do what they say, with numbers that are known before; everything is as it
# was behind each, after signals, too, and after a kill as soon as the next one comes.
t=/sys/kernel/tracing
out=/tmp/out err=/tmp/err

fail() {
	echo "FAIL: $*"
	echo "--- stdout:"; cat $out
	echo "--- stderr:"; cat $err
	exit 1
}

want() {
	local status=$1 got
	shift
	ringside --kernel "$@" >$out 2>$err </dev/null
	got=$?
	[ $got -eq "$status" ] || fail "ringside --kernel $*: exit $got, not $status"
}

tells() {
	for text; do
		grep -qE -e "$text" $out || fail "not told: '$text'"
	done
}

refuses() {
	local text=$1
	shift
	want 1 "$@"
	grep -qF -e "$text" $err || fail "ringside --kernel $*: does not say '$text'"
}

# All that can be set, and what there is.
state() {
	(cd $t && for file in buffer_percent buffer_size_kb buffer_subbuf_size_kb current_tracer dynamic_events max_graph_depth \
		set_event set_event_pid set_event_notrace_pid set_ftrace_filter set_ftrace_notrace set_ftrace_pid set_graph_function \
		set_graph_notrace stack_trace_filter synthetic_events trace_clock trace_options tracing_cpumask tracing_on tracing_thresh; do
		echo "== $file"
		cat $file
	done
	ls instances
	grep -h . options/*
	grep -slv '^#' events/sched/*/trigger events/raw_syscalls/*/trigger events/synthetic/*/trigger
	cat /proc/sys/kernel/stack_tracer_enabled)
	ls /run/ringside-setups 2>/dev/null
}
# A kernel's buffer has its size from its first use on.
want 0 reset
state >/tmp/before
as_before() {
	state >/tmp/after
	cmp -s /tmp/before /tmp/after || { diff /tmp/before /tmp/after >$out; fail "$1: something is left"; }
}

until_it() {
	local n=0
	until "$@" 2>/dev/null; do
		n=$((n + 1))
		[ $n -lt 1200 ] || fail "never: $*"
		sleep 0.1
	done
}

# ---- hist ----
want 0 hist syscalls:sys_enter_rmdir --keys common_pid.execname -- sh -c 'for i in 1 2 3 4 5; do rmdir /nosuch 2>/dev/null; done; true'
tells '^5 hits, 5 rows$'
[ "$(grep -c '^rmdir .* 1  |#' $out)" -eq 5 ] || fail "not five of them"
want 0 hist raw_syscalls:sys_exit --keys ret,id --vals ret --if 'id == 84' --sort ret.descending -- \
	sh -c 'rmdir /nosuch /proc 2>/dev/null; mkdir /tmp/d; rmdir /tmp/d'
tells '^ret  id  hits  ret$' '^  0  84     1    0  ' '^ -2  84     1   -2 ' '^-16  84     1  -16 ' '^3 hits, 3 rows$'
want 0 hist raw_syscalls:sys_enter --keys id.syscall --if 'id == 84' -- sh -c 'rmdir /tmp/nosuch 2>/dev/null; true'
tells '^sys_rmdir +\[ 84\] +1  \|#' '^1 hits, 1 rows$'
want 0 hist sched_switch --keys common_stacktrace --for 200ms
tells '^__schedule\+0x[0-9a-f/x]+ < '
want 7 hist sched:sched_switch --keys prev_comm -- sh -c 'exit 7'
refuses "Couldn't find field: 'nosuch'" hist sched:sched_switch --keys nosuch --for 1s
refuses 'Field not found' hist sched:sched_switch --keys prev_pid --if 'nosuch == 1' --for 1s
refuses .buckets=N hist sched:sched_switch --keys prev_pid --vals prev_prio.quantiles --for 1s
refuses '65 to 131072 rows' hist sched:sched_switch --keys prev_pid --size 64 --for 1s
refuses '65 to 131072 rows' latency sched:sched_waking sched:sched_switch --on pid=next_pid --size x --for 1s
as_before hist

# Beside another one, in an instance that stays.
mkdir $t/instances/mine
echo 'hist:keys=prev_pid' >$t/instances/mine/events/sched/sched_switch/trigger
want 0 hist sched:sched_switch --keys prev_comm -B mine -- sleep 0.05
tells '^prev_comm +hits' '^sleep +'
grep -q '^hist:keys=prev_pid:' $t/instances/mine/events/sched/sched_switch/trigger || fail "another's histogram is gone"
[ "$(grep -c '^hist' $t/instances/mine/events/sched/sched_switch/trigger)" -eq 1 ] || fail "ours is left"
want 0 reset -d -B mine
as_before 'hist -B'

# ---- latency ----
want 0 latency raw_syscalls:sys_enter raw_syscalls:sys_exit --on common_pid --if-start 'id == 230' -- \
	sh -c 'for i in 1 2 3 4 5 6 7 8 9; do sleep 0.1; done; sleep 0.5'
tells '^raw_syscalls:sys_enter -> raw_syscalls:sys_exit by common_pid$' '^p50 .*p99.9 .* max .* mean ' '^10 starts, 10 met an end'
[ "$(awk '$3 == ".." { n += $6 } END { print n }' $out)" -eq 10 ] || fail "not all are in a range"
[ "$(grep -cE ' (sleep|sh|<\.\.\.>)-[0-9]+ ' $out)" -eq 10 ] || fail "not ten of the worst"
# Nobody sleeps less than was asked for. The upper end of a range is not above the longest.
awk 'function ms(v, u) { return u == "s" ? v * 1000 : u == "ms" ? v : v / 1000 }
	/^p50/ { ok = ms($2, $3) >= 100 && ms($5, $6) >= 100 && ms($11, $12) >= 500 && ms($11, $12) <= ms($14, $15) && ms($17, $18) >= 140 }
	END { exit !ok }' $out || fail "quantiles"
want 0 latency sched:sched_waking sched:sched_switch --on pid=next_pid --if-start 'comm == "sleep"' -- \
	sh -c 'for i in 1 2 3; do sleep 0.02; done'
tells '^ +the worst +next_pid +task' '^([3-9]|[1-9][0-9]+) starts, ([3-9]|[1-9][0-9]+) met an end'
want 0 latency sched:sched_waking sched:sched_switch --on comm=next_comm -- sleep 0.1
tells '^ *[0-9.]+ [um]?s  [a-z]' ' starts, '
# What is read to show it is not itself measured, again and again.
want 0 latency syscalls:sys_enter_read syscalls:sys_exit_read --on common_pid -- cat /etc/passwd
tells ' (cat|<\.\.\.>)-[0-9]+ ' ' starts, '
refuses "'nosuch'" latency sched:sched_waking sched:sched_switch --on pid=nosuch --for 1s
refuses 'same event' latency sched:sched_switch sched:sched_switch --on prev_pid --for 1s
as_before latency

# ---- ends ----
hangs() {
	grep -q '^hist:keys=common_cpu' $t/instances/latency-*/events/sched/sched_switch/trigger
}
for signal in INT TERM; do
	ringside --kernel latency sched:sched_waking sched:sched_switch --on pid=next_pid >$out 2>$err </dev/null &
	until_it hangs
	kill -$signal $!
	wait $! || fail "not ended by $signal"
	as_before "latency and $signal"
done
ringside --kernel latency sched:sched_waking sched:sched_switch --on pid=next_pid >$out 2>$err </dev/null &
until_it hangs
kill -KILL $!
wait $! 2>/dev/null
grep -q ringside_latency $t/synthetic_events || fail "a kill leaves nothing"
want 0 hist sched:sched_switch --keys prev_comm --for 10ms
as_before 'the next one after a kill'
ringside --kernel latency sched:sched_waking sched:sched_switch --on pid=next_pid >$out 2>$err </dev/null &
until_it hangs
kill -KILL $!
wait $! 2>/dev/null
want 0 reset -d
as_before 'reset after a kill'

# ---- sqlhist ----
want 0 sqlhist -e -n wait 'SELECT start.pid, end.next_comm AS comm, (end.TIMESTAMP_USECS - start.TIMESTAMP_USECS) AS us
	FROM sched_waking AS start JOIN sched_switch AS end ON start.pid = end.next_pid WHERE start.comm == "sleep"'
tells "echo 's:wait .*' >> $t/dynamic_events" "onmatch\(sched.sched_waking\).*wait\("
echo 1 >$t/events/synthetic/wait/enable
sleep 0.05
want 0 show
tells ': wait: pid=[0-9]+ comm=sleep us=[0-9]+$'
# One that the kernel does not know by the name it shows.
echo hist:keys=cpu >$t/events/sched/sched_process_exit/trigger
want 0 reset
as_before 'sqlhist and reset'
want 0 sqlhist -e -B mine 'SELECT CAST(id AS SYSCALL), COUNT(*) FROM sys_enter'
rmdir /nosuch 2>/dev/null
grep -q 'sys_rmdir' $t/instances/mine/events/raw_syscalls/sys_enter/hist || fail "-B"
! grep -q '^hist' $t/events/raw_syscalls/sys_enter/trigger || fail "not in the instance alone"
want 0 reset -d
as_before 'sqlhist -B'

# ---- snapshot ----
want 0 snapshot
tells 'Snapshot is freed'
echo before >$t/trace_marker
want 0 snapshot -s
echo after >$t/trace_marker
want 0 snapshot
tells 'tracing_mark_write: before'
! grep -q 'tracing_mark_write: after' $out || fail "too much in the snapshot"
want 0 show
tells 'tracing_mark_write: after'
want 0 snapshot -c 0
refuses CONFIG_RING_BUFFER_ALLOW_SWAP snapshot -s -c 0
want 0 snapshot -r
want 0 snapshot
! grep -q 'tracing_mark_write: before' $out || fail "not emptied"
want 0 snapshot -f
mkdir $t/instances/mine
echo inside >$t/instances/mine/trace_marker
want 0 snapshot -s -B mine
want 0 snapshot -B mine
tells 'tracing_mark_write: inside'
want 0 reset -d -B mine
want 0 clear
as_before snapshot

# ---- stack ----
want 0 stack
tells 'Depth    Size   Location'
want 0 stack ls /
tells 'Depth    Size   Location' '^ +0\) +[0-9]+ +[0-9]+ +[a-z_0-9.]+\+0x' '^ *[0-9]+\) .*(entry_SYSCALL_64|ret_from_fork)'
as_before stack
want 0 stack --start
[ "$(cat /proc/sys/kernel/stack_tracer_enabled)" = 1 ] || fail "not on"
refuses already stack true
want 0 stack --stop
[ "$(cat /proc/sys/kernel/stack_tracer_enabled)" = 0 ] || fail "not off"
want 0 stack --reset
[ "$(cat $t/stack_max_size)" = 0 ] || fail "not forgotten"
ringside --kernel stack sleep 60 >$out 2>$err </dev/null &
until_it grep -q 1 /proc/sys/kernel/stack_tracer_enabled
kill -KILL $!
wait $! 2>/dev/null
want 0 hist sched:sched_switch --keys prev_comm --for 10ms
as_before 'stack and a kill'

# ---- the library, if it was brought along ----
if command -v library_kernel >/dev/null; then
	RINGSIDE_DIR=/tmp/lab RINGSIDE_SCRATCH=/tmp library_kernel >$out 2>$err || fail "the library"
	as_before library
fi

# ---- what this kernel lacks, and what it has ----
refuses 'built without CONFIG_FUNCTION_PROFILER' profile -l schedule true
as_before profile
want 0 doctor
tells '^ok    hist ' '^ok    synthetic ' '^ok    kprobes ' '^ok    snapshot ' '^ok    function ' '^ok    graph ' '^ok    stack ' \
	'^note  profile .*not in this kernel' 'CONFIG_FUNCTION_PROFILER$'
echo "all as it should be"
