#!/bin/sh
# The last example of the same talk: which system calls block longest. Two statements, one about the other's events: the call that a
# thread was in when it left its CPU, and when it came back. Live, as the talk does it; and of a recording, where every wait can be counted.
. "$RINGSIDE_SOURCE/tests/probe/room.sh"

left='SELECT start.id, end.prev_pid FROM sys_enter AS start JOIN sched_switch AS end ON start.common_pid = end.prev_pid
	WHERE end.prev_state == 1'
came='SELECT start.id, end.next_comm AS comm, end.next_pid AS pid, (end.TIMESTAMP_USECS - start.TIMESTAMP_USECS) AS lat
	FROM sysname AS start JOIN sched_switch AS end ON start.prev_pid = end.next_pid'

# It waits for a word, five times shortly, and for its child.
cat >blocks.c <<'END'
#include <poll.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

int main(void)
{
	const struct timespec shortly = { 0, 2000000 };
	struct pollfd word = { STDIN_FILENO, POLLIN, 0 };
	pid_t child;

	if (poll(&word, 1, -1) != 1)
		return 1;
	for (int i = 0; i < 5; i++)
		nanosleep(&shortly, NULL);
	child = fork();
	if (child == 0) {
		poll(NULL, 0, 100);
		_exit(0);
	}
	return waitpid(child, NULL, 0) != child;
}
END
# CC is a command line.
# shellcheck disable=SC2086
$CC -O1 blocks.c -o blocks || exit 1

# ---- live: right for whoever waits longer than it takes to be told of it ----

want 0 sqlhist -e -n sysname "$left"
want 0 sqlhist -e -n offcpu "$came"
want 0 write events/synthetic/sysname/trigger 'hist:keys=id.syscall'
want 0 write events/synthetic/offcpu/trigger 'hist:keys=id.syscall,comm,pid:vals=lat'
mkfifo word
exec 3<>word
"$RINGSIDE" record -q -e raw_syscalls -e sched_switch -e offcpu -o live.dat ./blocks <word 2>said &
until "$RINGSIDE" cat events/synthetic/sysname/hist | grep -q '^{ id: sys_poll '; do
	if grep -q 'cannot be seen' said; then
		cat said
		echo yes >&3
		exit 77
	fi
	sleep 0.1
done
sleep 0.3
echo yes >&3
wait $! || fail "it was not recorded: $(cat said)"
want 0 cat events/synthetic/offcpu/hist
sed -n 's/^{ id: sys_poll .*comm: blocks .* } hitcount: *[0-9]*  lat: *\([0-9]*\)$/\1/p' "$out" | awk '$1 >= 300000 { found = 1 } END { exit !found }' ||
	fail "nobody waited for a word"

# ---- of the recording, beside what its text says: every wait, whoever has made events of the same names before ----

want 0 report -i live.dat --no-pager
awk '
	match($0, /-[0-9]+ +\[/) { pid = substr($0, RSTART + 1, RLENGTH - 2) + 0 }
	/ sys_enter: / { match($0, /NR [0-9]+/); id[pid] = substr($0, RSTART + 3, RLENGTH - 3) }
	/ sched_switch: / {
		time = $4 + 0
		match($0, /:[0-9]+ \[[0-9]+\] [A-Z] ==> /)
		split(substr($0, RSTART + 1, RLENGTH), prev, " ")
		match($0, /==> .*:[0-9]+ \[/)
		next_pid = substr($0, RSTART, RLENGTH)
		sub(/ \[$/, "", next_pid)
		sub(/.*:/, "", next_pid)
		if (next_pid + 0 && next_pid in gone) {
			hits[in_call[next_pid]]++
			sum[in_call[next_pid]] += time - gone[next_pid]
			delete gone[next_pid]
		}
		if (prev[3] == "S" && prev[1] in id) {
			gone[prev[1]] = time
			in_call[prev[1]] = id[prev[1]]
			delete id[prev[1]]
		}
	}
	END { for (call in hits) printf "%d %d %.0f\n", call, hits[call], sum[call] * 1000000 }' "$out" | sort -n >text
want 0 sqlhist -i live.dat -n sysname,offcpu "$left; $came; SELECT CAST(id AS syscall), CAST(lat AS _COUNTER_) FROM offcpu ORDER BY lat"
sed -n 's/^{ id: sys_[a-z0-9_]* *\[ *\([0-9]*\)\] } hitcount: *\([0-9]*\)  lat: *\([0-9]*\)$/\1 \2 \3/p' "$out" | sort -n >calls
# To a microsecond each, since these are whole ones.
paste -d ' ' text calls | awk 'NF != 6 || $1 != $4 || $2 != $5 || $3 - $6 > $2 || $6 - $3 > $2 { exit 1 }' && [ -s calls ] ||
	fail "the text says otherwise: $(paste text calls)"
awk '$1 == 230 && $2 >= 5 && $3 >= 10000 { naps = 1 } $1 == 7 && $3 >= 400000 { child = 1 } END { exit !(naps && child) }' calls ||
	fail "the naps, the word and the child are not there: $(cat calls)"
exit 0
