#!/bin/sh
# A program that was attached to, so that the runtime is behind libc: children that share its memory, vfork's and those that libc makes
# for system(3), come by probes in their own name, and its own records stay its own.

. "$RINGSIDE_SOURCE/tests/inject/stage.sh"
cd "$dir" || exit 1
cat >shares.c <<'END'
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
__attribute__((noinline)) int mark(int n) { __asm__ volatile("" : "+r"(n)); return n; }
static volatile sig_atomic_t go;
static void on(int sig) { (void)sig; go = 1; }
int main(void)
{
	signal(SIGUSR1, on);
	printf("%d\n", (int)getpid());
	fflush(stdout);
	while (!go)
		usleep(10000);
	for (int i = 0; i < 20; i++) {
		pid_t child = vfork();
		if (!child) {
			mark(7);
			_exit(0);
		}
		mark(8);
		waitpid(child, NULL, 0);
		if (system("exit 0"))
			return 1;
	}
	return 0;
}
END
# shellcheck disable=SC2086
$CC -O2 -no-pie shares.c -o shares || exit 1
LD_PRELOAD=$RINGSIDE_BUILD/libringside.so.0 "$RINGSIDE" record -q -o x.dat true || exit 1
at=$(nm shares | sed -n 's/^0*\([0-9a-f]*\) T mark$/\1/p')
"$RINGSIDE" write -a dynamic_events "p:shares/mark $dir/shares:0x$(printf %x $((0x$at - 0x400000))) n=%di:s32" || exit 1
"$RINGSIDE" write -a dynamic_events 'p:shares/exec libc.so.6:execve' || exit 1
begin ./shares
"$RINGSIDE" attach "$target" || exit 1
"$RINGSIDE" write events/shares/enable 1 || exit 1
kill -USR1 "$target"
wait "$parent" || fail "it ends with $?"
"$RINGSIDE" cat trace >recorded
# n EVENT WHO: records of the program itself, or of others
n() {
	grep -E "$1" recorded | if [ "$2" = own ]; then grep -c -e "-$target "; else grep -vc -e "-$target "; fi
}
for word in 'mark: .* n=7:other:20' 'mark: .* n=7:own:0' 'mark: .* n=8:own:20' 'mark: .* n=8:other:0' 'exec: :other:20' 'exec: :own:0'; do
	what=${word%:*:*}
	who=${word#"$what":}
	got=$(n "$what" "${who%:*}")
	[ "$got" -eq "${who#*:}" ] || fail "$got of '$what', ${who%:*}; not ${who#*:}"
done
exit "$bad"
