#!/bin/sh
# A program that links everything statically is traced like any other: in handlers, children, and under its name.
set -eu
# CC is a command line.
# shellcheck disable=SC2086
cat >"$RINGSIDE_SCRATCH/static.c" <<'END'
#include <ringside/ringside.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

RINGSIDE_EVENT(still, here, field(int, n))

static void on_signal(int signo)
{
	trace_still_here(signo);
}

int main(void)
{
	sigset_t set;

	signal(SIGUSR1, on_signal);
	raise(SIGUSR1);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	if (sigprocmask(SIG_BLOCK, &set, 0) || prctl(PR_SET_NAME, "motionless"))
		return 1;
	trace_still_here(1000);
	if (!fork()) {
		trace_still_here(1001);
		_exit(0);
	}
	if (!vfork()) {
		trace_still_here(1002);
		_exit(0);
	}
	while (wait(0) > 0)
		;
	trace_still_here(1003);
	return 0;
}
END
if ! ${CC:-cc} -static -O2 -I"$RINGSIDE_SOURCE/include" "$RINGSIDE_SCRATCH/static.c" "$RINGSIDE_BUILD/libringside.a" \
	-o "$RINGSIDE_SCRATCH/static" 2>"$RINGSIDE_SCRATCH/log"; then
	cat "$RINGSIDE_SCRATCH/log"
	exit 1
fi
"$RINGSIDE" start -e still 2>/dev/null
"$RINGSIDE_SCRATCH/static"
"$RINGSIDE" show >"$RINGSIDE_SCRATCH/text"
for n in 10 1000 1001 1002 1003; do
	grep -q ": here: n=$n\$" "$RINGSIDE_SCRATCH/text" || {
		echo "n=$n is not there:"
		cat "$RINGSIDE_SCRATCH/text"
		exit 1
	}
done
grep -q 'motionless-.*n=1003$' "$RINGSIDE_SCRATCH/text" || {
	cat "$RINGSIDE_SCRATCH/text"
	exit 1
}
