#!/bin/sh
# One event in a program, in a library it is linked with and in a plugin is one event; a plugin that
# brings a rider for the library's sites comes and goes while another thread is in them.

set -eu
cd "$RINGSIDE_SCRATCH"

cat >events.h <<'EOF'
#include <ringside/ringside.h>
RINGSIDE_EVENT(lib, work, field(int, n), string(who), print("n=%d who=%s", n, who))
EOF
cat >liba.c <<'EOF'
#include "events.h"
void a_work(int n);
void a_work(int n)
{
	trace_lib_work(n, "library");
}
EOF
cat >plugin.c <<'EOF'
#include "events.h"
RINGSIDE_CUSTOM_EVENT(lib, work, small, field(short, n))
RINGSIDE_EVENT(lib, plugin, field(int, turn))
void plugin_work(int n);
void plugin_work(int n)
{
	trace_lib_work(n, "plugin");
	trace_lib_plugin(n);
	ringside_printf("plugin turn %d", n);
}
EOF
cat >main.c <<'EOF'
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "events.h"
void a_work(int n);

static int stop, turn;

/* A few events each turn: what the rider wrote is still in the buffer at the end. */
static void *work(void *arg)
{
	int now, seen = -1, events = 0;

	(void)arg;
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		now = __atomic_load_n(&turn, __ATOMIC_RELAXED);
		if (now != seen) {
			seen = now;
			events = 0;
		}
		if (events++ < 30)
			a_work(-1);
		else
			sched_yield();
	}
	return NULL;
}

int main(int argc, char **argv)
{
	int turns = atoi(argv[1]);
	pthread_t thread;

	(void)argc;
	if (turns > 1)
		pthread_create(&thread, NULL, work, NULL);
	for (int i = 0; i < turns; i++) {
		void *plugin = dlopen("./plugin.so", RTLD_NOW | RTLD_LOCAL);
		void (*function)(int);
		void *symbol = plugin ? dlsym(plugin, "plugin_work") : NULL;

		if (!symbol) {
			puts(dlerror());
			return 1;
		}
		memcpy(&function, &symbol, sizeof(symbol));
		__atomic_store_n(&turn, i, __ATOMIC_RELAXED);
		function(i);
		a_work(i);
		if (turns > 1)
			usleep(100);	/* for the other thread */
		dlclose(plugin);
		if (dlopen("./plugin.so", RTLD_NOW | RTLD_NOLOAD)) {
			puts("the plugin is still loaded");
			return 1;
		}
	}
	trace_lib_work(turns, "program");
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	return turns > 1 ? pthread_join(thread, NULL) : 0;
}
EOF

# $CC is a command with options.
# shellcheck disable=SC2086
build() {
	$CC -std=gnu11 -O2 -g -Wall -Wextra -Werror -I"$RINGSIDE_SOURCE/include" "$@" \
		-L"$RINGSIDE_BUILD" -Wl,-rpath,"$RINGSIDE_BUILD" -lringside -ldl -lpthread
}
build -shared -fPIC liba.c -o liba.so
build -shared -fPIC plugin.c -o plugin.so
build main.c -o main ./liba.so

fail() {
	echo "FAIL $*"
	exit 1
}

count() {
	"$RINGSIDE" show | grep -c "$1" || :
}

"$RINGSIDE" start -e lib 2>/dev/null
./main 1 || fail "the program ended with $?"
[ "$("$RINGSIDE" list -e '^lib:' | sort | tr '\n' ' ')" = 'lib:plugin lib:small lib:work ' ] ||
	fail "events: $("$RINGSIDE" list -e '^lib:')"
for line in 'work: n=0 who=plugin' 'work: n=0 who=library' 'work: n=1 who=program' \
	'plugin: turn=0' 'plugin_work: plugin turn 0'; do
	[ "$(count "$line")" = 1 ] || fail "no \"$line\" in: $("$RINGSIDE" show)"
done
# It rides on the sites in the plugin and in the library, and is gone when the program's comes.
[ "$(count 'small: n=0')" = 2 ] || fail "small: $("$RINGSIDE" show)"
[ "$(count 'small: n=1')" = 0 ] || fail "the rider outlived its library"

"$RINGSIDE" clear
./main 300 || fail "the program ended with $?"
[ "$(count 'small: n=-1')" -gt 0 ] || fail "no rider on the other thread's events"
[ "$(count 'work: n=300 who=program')" = 1 ] || fail "the last event is missing"
