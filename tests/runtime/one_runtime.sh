#!/bin/sh
# A program linked with the static library that uses a library linked with the shared one, the other
# way round, and one that has the shared library preloaded as well: all trace, vfork's guard and
# seccomp's are seen by whoever writes, and no event comes twice or not at all.

set -eu
fail() {
	echo "FAIL $*"
	exit 1
}
cd "$RINGSIDE_SCRATCH"
cat >lib.c <<'END'
#include <ringside/ringside.h>
RINGSIDE_EVENT(one, library, field(int, n), field(int, as))
void lib_work(int n, int as);
void lib_work(int n, int as)
{
	trace_one_library(n, as);
}
END
cat >main.c <<'END'
#include <ringside/ringside.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>
RINGSIDE_EVENT(one, program, field(int, n), field(int, as))
void lib_work(int n, int as);

static void both(int n)
{
	int as = gettid();

	trace_one_program(n, as);
	lib_work(n, as);
}

static void *thread(void *arg)
{
	(void)arg;
	both(1);
	return NULL;
}

int main(void)
{
	pthread_t t;
	pid_t pid;

	both(0);
	pthread_create(&t, NULL, thread, NULL);
	pthread_join(t, NULL);
	pid = fork();
	if (!pid) {
		both(2);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	pid = vfork();
	if (!pid) {
		both(3);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	both(4);
	return 0;
}
END
# $CC is a command with options.
# shellcheck disable=SC2086
build() {
	$CC -std=gnu11 -D_GNU_SOURCE -O2 -g -Wall -I"$RINGSIDE_SOURCE/include" "$@" -lpthread
}
so="-L$RINGSIDE_BUILD -Wl,-rpath,$RINGSIDE_BUILD -lringside"
a=$RINGSIDE_BUILD/libringside.a
# Lists of words.
# shellcheck disable=SC2086
{
	build -shared -fPIC lib.c -o lib_so.so $so
	build -shared -fPIC lib.c -o lib_a.so "$a"
	build main.c -o a_so ./lib_so.so "$a"
	build main.c -o so_a ./lib_a.so $so
	build main.c -o so_so ./lib_so.so $so
}
"$RINGSIDE" start -e one 2>/dev/null

try() {
	what=$1
	shift
	"$RINGSIDE" clear
	"$@" || fail "$what: ended with $?"
	"$RINGSIDE" show >shown
	for kind in program library; do
		for n in 0 1 2 3 4; do
			lines=$(grep -c " $kind: n=$n " shown || :)
			[ "$lines" = 1 ] || fail "$what: event $kind $n came $lines times: $(cat shown)"
		done
	done
	# Each under the tid that wrote it.
	bad=$(sed -n 's/^ *.*-\([0-9]*\) .* as=\([0-9]*\)$/\1 \2/p' shown | awk '$1 != $2' | head -n 1)
	[ -z "$bad" ] || fail "$what: under the wrong pid: $bad"
	[ "$(grep -c ' as=' shown)" = 10 ] || fail "$what: $(cat shown)"
	echo "$what"
}
try 'static program, shared library' ./a_so
try 'shared program, static library' ./so_a
try 'shared both' ./so_so
try 'shared both, preloaded too' env LD_PRELOAD="$RINGSIDE_BUILD/libringside.so" ./so_so
try 'static program, preloaded too' env LD_PRELOAD="$RINGSIDE_BUILD/libringside.so" ./a_so
