#!/bin/sh
# Functions of programs that were never traced before, which a process of the tool plans as they start: also if that process gets
# no time for a while, since no program is started before it is there. If it ends at once, the program runs all the same.
. "$RINGSIDE_SOURCE/tests/cmd/room.sh"

with_functions

cd "$RINGSIDE_SCRATCH" || exit 1
# The first process that the tool forks, held up or ended.
cat >held.c <<'END'
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

pid_t fork(void)
{
	static int n;
	pid_t (*real)(void) = (pid_t (*)(void))dlsym(RTLD_NEXT, "fork");
	const char *ms = getenv("HELD_MS");
	const int first = !n++;
	pid_t pid = real();

	if (pid || !first || !ms || strcmp(program_invocation_short_name, "ringside"))
		return pid;
	close(open("held", O_CREAT | O_WRONLY, 0600));
	if (!atoi(ms))
		_exit(1);
	usleep((unsigned int)atoi(ms) * 1000u);
	return pid;
}
END
cat >work.c <<'END'
#define FUNCTION __attribute__((noinline))
static volatile int sink = FIRST;
FUNCTION int leaf(int n) { sink += n; return sink ^ n; }
int main(void) { for (int i = 0; i < 100; i++) leaf(i); return 0; }
END
# shellcheck disable=SC2086
$CC -O1 -D_GNU_SOURCE -shared -fPIC held.c -o held.so -ldl || fail "held does not compile"

# A program that nobody has planned for: work NAME NUMBER
work() {
	# shellcheck disable=SC2086
	$CC -O1 -DFIRST="$2" work.c -o "$1" || fail "$1 does not compile"
	rm -f held
}
# held MS COMMAND...: of the tool, whose first process is held up for so long; 0: ends
held() {
	ms=$1
	shift
	HELD_MS=$ms LD_PRELOAD=$RINGSIDE_SCRATCH/held.so "$RINGSIDE" "$@" >"$out" 2>"$err" || fail "ringside $*: exit $?"
	[ -e held ] || exit 77
}

work late 1
held 500 profile --json --module late sh -c ./late
grep -q '"function":"leaf",.*"hits":100,' "$out" || fail "a planner that is late: nothing is counted"
work later 2
held 500 record -q -p function -l leaf:mod:later -o late.dat sh -c ./later
want 0 report late.dat
[ "$(grep -c ' leaf$' "$out")" -eq 100 ] || fail "a planner that is late: nothing is recorded"
work never 3
held 0 profile --json --module never sh -c './never; echo ran >ran'
[ -e ran ] || fail "without a planner it does not run"
grep -q 'the process that plans has ended' "$err" || fail "it does not tell that there is no planner"
