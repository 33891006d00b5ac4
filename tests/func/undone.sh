#!/bin/sh
# What was patched is undone without a trace: every byte of code is as it was, and no page of it can be written.
. "$RINGSIDE_SOURCE/tests/cmd/room.sh"

with_functions
cd "$RINGSIDE_SCRATCH" || exit 1
cat >sums.c <<'END'
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

__attribute__((noinline)) uint32_t add(uint32_t sum, unsigned char byte)
{
	return (sum ^ byte) * 16777619u;
}

/* Each file's code, but for the runtime's, and what is allowed there: a line each, into however many parts the kernel has cut it. */
static void tell(void)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[1024], allowed[8], path[512], last[512] = "";
	uint32_t sum = 0;
	unsigned long start, end;

	while (fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%lx-%lx %7s %*s %*s %*s %511s", &start, &end, allowed, path) != 4 || !strchr(allowed, 'x') ||
		    path[0] != '/' || strstr(path, "libringside"))
			continue;
		snprintf(line, sizeof(line), "%s %s", strrchr(path, '/') + 1, allowed);
		if (strcmp(line, last) && *last)
			printf("%s %x\n", last, sum);
		if (strcmp(line, last))
			sum = 2166136261u;
		snprintf(last, sizeof(last), "%.500s", line);
		for (unsigned char *at = (unsigned char *)start; at < (unsigned char *)end; at++)
			sum = add(sum, *at);
	}
	printf("%s %x\n.\n", last, sum);
	fclose(maps);
	fflush(stdout);
}

static void *spin(void *unused)
{
	(void)unused;
	for (volatile uint32_t sum = 0;;)
		sum = add(sum, 1);
	return NULL;
}

int main(void)
{
	pthread_t thread;
	char line[16];

	pthread_create(&thread, NULL, spin, NULL);
	while (fgets(line, sizeof(line), stdin))
		tell();
	return 0;
}
END
# shellcheck disable=SC2086
$CC -O2 sums.c -o sums -lpthread || fail "sums does not compile"
mkfifo asks || exit 1
./sums <asks >told &
program=$!
trap 'kill $program 2>/dev/null' EXIT
exec 3>asks

# What it tells now, in file $1.
sums() {
	before=$(grep -c '^\.$' told)
	echo >&3
	tries=0
	until [ "$(grep -c '^\.$' told)" -gt "$before" ]; do
		tries=$((tries + 1))
		[ $tries -lt 300 ] || fail "it tells nothing"
		sleep 0.1
	done
	awk -v n="$before" '/^\.$/ { i++; next } i == n' told >"$1"
}

sums before
grep -q '^sums r-xp' before && grep -q '^libc.so.6 r-xp' before || fail "no code: $(cat before)"
want 0 attach $program
sums attached
cmp -s before attached || fail "attaching changed code"
for tracer in function function_graph; do
	want 0 start -p $tracer
	sums patched
	for file in sums libc.so.6; do
		[ "$(grep "^$file " patched)" != "$(grep "^$file " before)" ] || fail "$tracer: $file is not patched"
	done
	! grep -v 'r-xp' patched || fail "$tracer: code that can be written"
	want 0 start -p nop
	sums after
	cmp -s before after || fail "$tracer: not undone: $(diff before after)"
done
want 0 start -p function_graph
want 0 detach $program
sums after
cmp -s before after || fail "not undone by detach: $(diff before after)"
kill -0 $program || fail "it is gone"
