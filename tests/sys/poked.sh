#!/bin/sh
# A program that does nothing but system calls, each by a signal, is borrowed again and again: never with the signal still to come, which
# would be taken for what it was borrowed for. All of its calls give what they should, and nobody complains.
. "$RINGSIDE_SOURCE/tests/sys/stage.sh"

cat >spin.c <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 0, want = getppid(), wrong = 0;

	while (n-- > 0) {
		long got;

		__asm__ volatile("syscall" : "=a"(got) : "0"((long)SYS_getppid) : "rcx", "r11", "memory");
		wrong += got != want;
	}
	printf("%ld wrong\n", wrong);
	return 0;
}
END
# shellcheck disable=SC2086
$CC -O2 spin.c -o spin || exit 1
library=$RINGSIDE_BUILD/libringside.so.0
LD_PRELOAD=$library "$RINGSIDE" record -q -e sched:sched_process_exec -o trace.dat true || exit 1
"$RINGSIDE" write events/raw_syscalls/enable 1 || exit 1
LD_PRELOAD=$library timeout 100 ./spin 2000000 >got.out 2>&1 &
program=$!
while kill -0 "$program" 2>/dev/null; do
	"$RINGSIDE" write current_tracer function
	"$RINGSIDE" write current_tracer nop
done 2>words
wait "$program" || fail "exit $?"
[ "$(cat got.out)" = '0 wrong' ] || fail "calls gave something else: $(cat got.out)"
grep -v 'ended meanwhile\|no process' words && fail "it could not be told"
exit "$bad"
