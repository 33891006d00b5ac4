#!/bin/sh
# RINGSIDE_PROFILE: in force before the program's first event, whichever that is; nothing of it can be noticed by the program.
. "$RINGSIDE_SOURCE/tests/cmd/room.sh"
cd "$RINGSIDE_SCRATCH" || exit 1

program shop <<'E'
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <ringside/event.h>

RINGSIDE_EVENT(shop, order, field(int, item), print("item=%d", item))

static int told;

static void on_child(int sig)
{
	(void)sig;
	told = 1;
}

__attribute__((constructor)) static void early(void)
{
	trace_shop_order(0);
}

/* What a program could see of somebody else's child, and of descriptors. */
static int noticed(void)
{
	sigset_t set;

	if (waitpid(-1, NULL, WNOHANG) >= 0 || errno != ECHILD || waitpid(-1, NULL, WNOHANG | __WALL) >= 0 || errno != ECHILD)
		return puts("a child");
	sigpending(&set);
	if (told || sigismember(&set, SIGCHLD))
		return puts("a signal");
	sigprocmask(SIG_BLOCK, NULL, &set);
	if (!sigismember(&set, SIGCHLD) != !getenv("BLOCKED") || sigismember(&set, SIGINT))
		return puts("a mask");
	return 0;
}

/* Those that are open. */
static int descriptors(void)
{
	int n = 0;

	for (int fd = 0; fd < 1000; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 5;

	signal(SIGCHLD, on_child);
	if (noticed())
		return 1;
	if (!getenv("DESCRIPTORS"))
		return !printf("%d\n", descriptors());
	if (descriptors() != atoi(getenv("DESCRIPTORS")))
		return puts("descriptors");
	for (int i = 1; i < n; i++)
		trace_shop_order(i);
	/* Once more, as a program that this one starts. */
	if (argc > 2)
		execv(argv[2], argv + 2);
	return 0;
}
E

# A program that has its signals blocked or ignored, and then becomes another one.
cat >started.c <<'E'
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	sigset_t set;

	(void)argc;
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	if (!strcmp(argv[1], "blocked")) {
		sigprocmask(SIG_BLOCK, &set, NULL);
		setenv("BLOCKED", "1", 1);
	} else {
		signal(SIGCHLD, SIG_IGN);
	}
	execv(argv[2], argv + 2);
	return 127;
}
E
# shellcheck disable=SC2086
$CC started.c -o started || fail "started.c does not compile"

# All events that the profile asks for, from the first: orders N
orders() {
	want 0 show
	[ "$(grep -c ': order: ' "$out")" -eq "$1" ] || fail "not $1 orders"
}
with() {
	RINGSIDE_PROFILE=$1
	export RINGSIDE_PROFILE
	shift
	"$@" >said 2>&1 </dev/null || fail "the program failed, or noticed: $(cat said)"
	unset RINGSIDE_PROFILE
	[ ! -s said ] || fail "something was said: $(cat said)"
}

# Without anything: as many as there are.
DESCRIPTORS=$(./shop 1 2>&1 </dev/null)
export DESCRIPTORS
printf 'ftrace.events = "shop:*"\n' >all
with all ./shop 5
orders 5
want 0 reset
with all ./started blocked ./shop 5
with all ./started ignored ./shop 5
orders 10
# By a path that begins anywhere, from anywhere.
want 0 reset
(cd / && with "$RINGSIDE_SCRATCH/all" "$RINGSIDE_SCRATCH/shop" 3) || exit 1
orders 3

# The very first event of all is that there is a new program.
want 0 reset
printf 'ftrace.events = "sched:sched_process_exec"\n' >begun
with begun ./shop 2
want 0 show
[ "$(grep -c 'sched_process_exec: filename=./shop ' "$out")" -eq 1 ] || fail "not from the first event on"

# With a filter, a histogram and an instance, for an event that comes with the program.
want 0 reset -d
cat >more <<'E'
ftrace {
	events = "shop:*"
	event.shop.order { filter = "item != 2"; hist.keys = item }
	instance.few { events = "shop:*"; event.shop.order.filter = "item == 3" }
}
E
with more ./shop 5
orders 4
want 0 show -B few
[ "$(grep -c 'order: item=3$' "$out")" -eq 1 ] && [ "$(grep -c ': order: ' "$out")" -eq 1 ] || fail "not in the instance"
want 0 cat events/shop/order/hist
[ "$(grep -c 'hitcount: *1$' "$out")" -eq 5 ] || fail "not counted from the first"

# What the program starts does not set it again; who is started beside it does.
with more ./shop 2 ./shop 2
orders 8
want 0 reset -d
cat >off.sh <<'E'
"$RINGSIDE" write set_event ''
exec ./shop 4
E
with all ./shop 2 /bin/sh off.sh
orders 2
with all ./shop 4
orders 6
# The name of what was there says so.
with all ./shop 1 /bin/sh -c 'env | grep -q "^RINGSIDE_profile=1$" && ! env | grep -q ^RINGSIDE_PROFILE='

# Functions of the program itself, before the first of them.
if "$RINGSIDE" list -t | grep -qx function; then
	want 0 reset
	printf 'ftrace { tracer = function; ftrace.filters = main }\n' >functions
	with functions ./shop 2
	want 0 show
	[ "$(grep -c ': main <-' "$out")" -eq 1 ] || fail "main is not traced"
fi

# Whatever is wrong, the program runs as without it, says nothing, and error_log knows.
want 0 reset
printf 'ftrace.evnts = "shop:*"\n' >bad
with bad ./shop 5
want 0 cat error_log
grep -q "profile: error: bad:1:8: ftrace.evnts: there is no such key: is 'events' meant?" "$out" || fail "error_log does not tell"
with nosuch ./shop 5
want 0 cat error_log
grep -q 'profile: error: nosuch: No such file' "$out" || fail "error_log does not tell of a file that is not there"
orders 0
RINGSIDE_COMMAND=/nonexistent with all ./shop 5
RINGSIDE_COMMAND=/bin/false with all ./shop 5
orders 0
RINGSIDE_COMMAND=$RINGSIDE with all ./shop 5
orders 5
want 0 reset
with '' ./shop 5
orders 0
