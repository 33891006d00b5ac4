#!/bin/sh
# In the middle of an attachment somebody is killed, or it takes too long: the program goes on. The library is a named pipe here, so
# that loading it waits until the test says so.

. "$RINGSIDE_SOURCE/tests/inject/stage.sh"
build target || { cat "$dir/errors"; exit 1; }
pipe=$dir/pipe
mkfifo "$pipe"

# A thread of the target waits for the pipe, on behalf of $tool.
hang() {
	RINGSIDE_LIBRARY=$pipe "$RINGSIDE" attach "$target" 2>"$dir/errors" &
	tool=$!
	until grep -q '^257 ' "/proc/$target"/task/*/syscall && [ -n "$(tracer_of "$target")" ]; do sleep 0.01; done
}

# With a writer the pipe is open, and without one again it is at its end.
let_go() {
	: >"$pipe"
}

# The one who holds the thread is killed, and the command sees that.
begin "$dir/target" watch sleep poll vector malloc
hang
kill -9 "$(tracer_of "$target")"
wait "$tool" && fail "who was killed succeeded"
grep -q 'could not be reached' "$dir/errors" || fail "killed: $(cat "$dir/errors")"
let_go
"$RINGSIDE" attach "$target" || fail "it cannot be attached afterwards"
finish 'a killed tracer'

# One thread alone, in each kind of wait: it finds its own way back.
for kind in sleep poll futex epoll read vector; do
	begin "$dir/target" watch "$kind"
	hang
	kill -9 "$(tracer_of "$target")"
	wait "$tool"
	let_go
	"$RINGSIDE" attach "$target" || fail "$kind: it cannot be attached afterwards"
	finish "a killed tracer, $kind"
done

# A sleep that was interrupted once before, by a stop.
begin "$dir/target" long
kill -STOP "$target"
kill -CONT "$target"
until grep -q '^219 ' "/proc/$target/syscall"; do sleep 0.01; done
hang
kill -9 "$(tracer_of "$target")"
wait "$tool"
let_go
finish 'a killed tracer, a second interruption'

# The program is.
begin "$dir/target" sleep
hang
kill -9 "$parent"
wait "$parent" 2>/dev/null
wait "$tool" && fail "a dead program was attached"
grep -q "process $target ended meanwhile" "$dir/errors" || fail "dead: $(cat "$dir/errors")"

# It takes too long. The program is stopped meanwhile, too, and continued: also if nobody but the borrowed thread can see that.
for kinds in 'sleep poll malloc' long; do
	# shellcheck disable=SC2086
	begin "$dir/target" $kinds
	hang
	kill -STOP "$target"
	sleep 0.1
	kill -CONT "$target"
	wait "$tool" && fail "a library that never came was loaded"
	grep -q 'Try again' "$dir/errors" || fail "late: $(cat "$dir/errors")"
	[ -z "$(tracer_of "$target")" ] || fail "late: somebody still traces it"
	! grep -q '^State:.T' "/proc/$target/status" || { fail "late: it is stopped"; kill -CONT "$target"; }
	let_go
	"$RINGSIDE" attach "$target" || fail "late: it cannot be attached afterwards"
	finish 'too late'
done

# Another thread runs another program meanwhile.
cat >"$dir/exec.c" <<'C'
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
static void *run(void *file)
{
	while (access(file, F_OK))
		usleep(1000);
	execl("/bin/sleep", "sleep", "0.1", NULL);
	return NULL;
}
int main(int argc, char **argv)
{
	pthread_t thread;
	(void)argc;
	pthread_create(&thread, NULL, run, argv[1]);
	printf("%d\n", (int)getpid());
	fflush(stdout);
	return pause();
}
C
# shellcheck disable=SC2086
$CC "$dir/exec.c" -o "$dir/exec" -lpthread || exit 1
begin "$dir/exec" "$dir/now"
hang
: >"$dir/now"
wait "$tool" && fail "a program that is there no more was attached"
grep -q 'ended meanwhile' "$dir/errors" || fail "exec: $(cat "$dir/errors")"
wait "$parent" || fail "exec: the program ends with $?"

# No library at all: the loader's own words.
echo nothing >"$dir/none"
begin "$dir/target" sleep
RINGSIDE_LIBRARY=$dir/none "$RINGSIDE" attach "$target" 2>"$dir/errors" && fail "no library was loaded"
grep -q 'does not load the runtime: .*file too short' "$dir/errors" || fail "no library: $(cat "$dir/errors")"
finish 'no library'

# What goes wrong there leaves no errno behind.
for i in 1 2 3 4 5; do
	begin "$dir/target" busy
	RINGSIDE_LIBRARY=$dir "$RINGSIDE" attach "$target" 2>"$dir/errors" && fail "a directory was loaded"
	grep -q 'Is a directory' "$dir/errors" || fail "a directory: $(cat "$dir/errors")"
	finish 'a directory'
done
exit "$bad"
