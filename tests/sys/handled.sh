#!/bin/sh
# `ringside trace` shows and counts calls in which handlers of signals run, and strace sees the same ones in the same order.
. "$RINGSIDE_SOURCE/tests/sys/stage.sh"

calls=kill,tgkill,getppid,getpgrp,getuid,pause,read,readv,wait4,waitid,rt_sigreturn,exit,exit_group
$CC -w -O1 -pthread -o handled "$own/handled.c" || exit 1
./handled
case $? in
7) ;;
77) echo "nobody may look at /proc/PID/syscall"; exit 77 ;;
*) fail "handled: $?" ;;
esac

# those FILE: the lines of the first process, without numbers of processes and the padding.
those() {
	sed -E 's/^\[pid +([0-9]+)\] /\1 /; s/  +=/ =/' "$1" >"$dir/all"
	pid=$(sed -nE 's/^.*kill\(([0-9]+), SIGUSR2.*/\1/p' "$dir/all" | head -n 1)
	grep -E "^($pid +|[a-z<+])" "$dir/all" | sed -E "s/^$pid +//; s/kill\\([0-9]+,/kill(PID,/"
}

LIMIT=60
timeout "$LIMIT" "$RINGSIDE" trace -q -e "trace=$calls" -o ours ./handled
[ $? -eq 7 ] || fail "it ends otherwise"
those ours >lines
sed -E 's/(getppid|getpgrp)\(\) = .*/\1/; s/= [0-9]{2,}$/= PID/; s/0x[0-9a-f]+/ADDRESS/g' lines | sed 's/^waitid(.*/waitid/' >forms
cat >wanted <<'END'
kill(PID, SIGUSR1 <unfinished ...>
getppid
rt_sigreturn() = 0
<... kill resumed>) = 0
kill(PID, SIGUSR2 <unfinished ...>
getpgrp
kill(PID, SIGUSR1 <unfinished ...>
getppid
rt_sigreturn() = 0
<... kill resumed>) = 0
getppid
rt_sigreturn() = 0
<... kill resumed>) = 0
pause() = -1 EINTR (Interrupted system call)
rt_sigreturn() = -1 EINTR (Interrupted system call)
END
head -n "$(wc -l <wanted)" forms | diff wanted - >differ || fail "calls with handlers: $(cat differ)"
cat >wanted <<'END'
read(3, ADDRESS, 1) = -1 EINTR (Interrupted system call)
rt_sigreturn() = -1 EINTR (Interrupted system call)
END
grep -A 1 '^read(.*EINTR' forms | diff wanted - >differ || fail "EINTR: $(cat differ)"
grep -A 2 '^readv(' forms | sed 's/(.*unfinished/ unfinished/; s/resumed>.*)/resumed/' >got
printf '%s\n' 'readv unfinished ...>' 'rt_sigreturn() = 19' '<... readv resumed = 1' | sed 's/19$/PID/' | diff - got >differ ||
	fail "one that is begun anew: $(cat differ)"
cat >wanted <<'END'
wait4(-1, [{WIFEXITED(s) && WEXITSTATUS(s) == 3}], 0, NULL) = PID
rt_sigreturn() = PID
END
grep -A 1 '^wait4(-1' forms | diff wanted - >differ || fail "wait4: $(cat differ)"
grep -qx 'read(3,  <unfinished ...>' forms || fail "a call that a handler jumped out of is not there"
[ "$(grep -c '^kill(PID, SIGUSR1 <unfinished' forms)" -eq 104 ] || fail "not all: $(grep -c '^kill(PID, SIGUSR1 <unfinished' forms)"
tail -n 3 forms >got
printf '%s\n' 'kill(PID, SIGUSR1 <unfinished ...>' 'exit_group(7) = ?' '+++ exited with 7 +++' | diff - got >differ || fail "end: $(cat differ)"
grep -qE '^\[pid +[0-9]+\] tgkill\([0-9]+, [0-9]+, SIGUSR1 <unfinished' ours || fail "nothing of the thread: $(grep tgkill ours)"
thread=$(sed -nE 's/^\[pid +([0-9]+)\] exit\(0\) += \?$/\1/p' ours)
grep -qE "^\[pid +${thread:-none}\] \+\+\+ exited with 0 \+\+\+$" ours || fail "the thread does not end"

# What is not asked for does not cut others.
timeout "$LIMIT" "$RINGSIDE" trace -q -e trace=kill -o ours ./handled
cat >wanted <<'END'
kill(PID, SIGUSR1) = 0
kill(PID, SIGUSR2 <unfinished ...>
kill(PID, SIGUSR1) = 0
<... kill resumed>) = 0
END
those ours | head -n 4 | diff wanted - >differ || fail "kill alone: $(cat differ)"

have strace || exit "$bad"
strace -o try true 2>errors || { without "strace: $(head -n 1 errors)"; exit "$bad"; }

# names FILE: of the first process, in the order in which they begin. Strace shows a call that is begun anew twice.
names() {
	those "$1" | sed -nE 's/^([a-z0-9_]+)\(.*/\1/p' | awk '$0 != "readv" || !seen++ { print }'
}

timeout "$LIMIT" "$RINGSIDE" trace -q -e "trace=$calls" -o ours ./handled
timeout "$LIMIT" strace -f -o theirs -e "trace=$calls" -e signal=none ./handled
names ours >a
# The loader's.
names theirs | sed '1,/kill/{/kill/!d}' >b
cmp -s a b || fail "others than strace's, or in another order: $(diff b a | head -n 10)"

# counted FILE: calls of all processes.
counted() {
	awk '$NF != "total" && $4 ~ /^[0-9]+$/ && $NF !~ /^(readv|read)$/ { print $NF, $4 }' "$1" | sort
}
timeout "$LIMIT" "$RINGSIDE" trace -q -c -e "trace=$calls" -o ours ./handled
timeout "$LIMIT" strace -f -c -o theirs -e "trace=$calls" ./handled 2>/dev/null
counted ours >a
counted theirs >b
cmp -s a b || fail "-c counts otherwise: $(diff b a)"
[ "$(awk '$NF == "read" { print $4, $5 }' ours)" = "2 1" ] || fail "read: $(grep read ours)"
exit "$bad"
