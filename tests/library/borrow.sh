#!/bin/sh
# Whose runtime writes markers: a program that only controls is attached by its first marker and not before; one that is traced
# has one runtime, its own, however the two libraries are linked; one that is traced elsewhere marks here all the same; and what
# cannot go to the right directory goes nowhere.

set -eu
fail() {
	echo "FAIL $*"
	exit 1
}
cd "$RINGSIDE_SCRATCH"
cat >use.c <<'END'
#include <ringside/control.h>
#include <stdio.h>
#include <string.h>
#ifdef TRACED
#include <ringside/event.h>
RINGSIDE_EVENT(borrow, event, field(int, n))
#endif

/* How many runtimes are at the directory: each maps its registry once. */
static int runtimes(const char *directory)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[8192], want[4200];
	int n = 0;

	snprintf(want, sizeof(want), " %s/registry\n", directory);
	while (maps && fgets(line, sizeof(line), maps))
		n += strstr(line, want) && strstr(line, " 00000000 ");
	if (maps)
		fclose(maps);
	return n;
}

/* use DIRECTORY [ANOTHER] */
int main(int argc, char **argv)
{
	struct ringside_control *tree, *another;
	int before, r;

	r = ringside_control_open(&tree, argv[1], RINGSIDE_CONTROL_CREATE);
	if (!r)
		r = ringside_control_event_enable(tree, NULL, "borrow", NULL);
	before = runtimes(argv[1]);
	if (!r)
		r = ringside_control_markf(tree, NULL, "marked by %s", argv[0]);
	if (!r)
		r = ringside_control_mark(tree, NULL, "marked again");
	if (r) {
		fprintf(stderr, "%s\n", ringside_control_error(tree));
		return 1;
	}
#ifdef TRACED
	trace_borrow_event(1);
#endif
	printf("%d %d", before, runtimes(argv[1]));
	if (argc > 2) {
		ringside_control_open(&another, argv[2], RINGSIDE_CONTROL_CREATE);
		printf(" %d", ringside_control_mark(another, NULL, "astray"));
		ringside_control_close(another);
	}
	printf("\n");
	ringside_control_close(tree);
	return 0;
}
END
# $CC is a command with options.
# shellcheck disable=SC2086
build() {
	$CC -std=gnu11 -O2 -g -Wall -I"$RINGSIDE_SOURCE/include" "$@" -lpthread
}
so="-L$RINGSIDE_BUILD -Wl,-rpath,$RINGSIDE_BUILD"
a=$RINGSIDE_BUILD/libringside.a
control_a=$RINGSIDE_BUILD/libringside-control.a
# Lists of words.
# shellcheck disable=SC2086
{
	build use.c -o only_so $so -lringside-control
	build use.c -o only_a "$control_a"
	build -DTRACED use.c -o so_so $so -lringside -lringside-control
	build -DTRACED use.c -o so_a $so -lringside "$control_a"
	build -DTRACED use.c -o a_so "$a" $so -lringside-control
	build -DTRACED use.c -o a_a "$a" "$control_a"
}

here=$RINGSIDE_DIR
# Run a program in a fresh directory: try WORDS MARKERS EVENTS COMMAND...
try() {
	want=$1 marks=$2 events=$3
	shift 3
	rm -rf "$here"
	said=$("$@") || fail "$*: ended with $?"
	[ "$said" = "$want" ] || fail "$*: '$said' where '$want' was expected"
	"$RINGSIDE" --dir "$here" show >shown
	[ "$(grep -c 'tracing_mark_write: marked' shown)" = "$marks" ] || fail "$*: $(cat shown)"
	[ "$(grep -c ' event: n=1' shown)" = "$events" ] || fail "$*: $(cat shown)"
	pids=$(sed -n 's/^ *[^ ]*-\([0-9]*\) .*/\1/p' shown | sort -u | wc -l)
	[ "$pids" = 1 ] || fail "$*: of $pids threads: $(cat shown)"
}
try '0 1' 2 0 ./only_so "$here"
try '0 1' 2 0 ./only_a "$here"
for program in so_so so_a a_so a_a; do
	try '1 1' 2 1 ./$program "$here"
done
try '1 1' 2 0 env LD_PRELOAD="$RINGSIDE_BUILD/libringside.so" ./only_so "$here"

# EBUSY is 16.
away=$RINGSIDE_SCRATCH/away
another=$RINGSIDE_SCRATCH/another
for program in so_so a_a; do
	rm -rf "$away" "$another"
	try '0 1 -16' 2 0 env RINGSIDE_DIR="$away" ./$program "$here" "$another"
	! "$RINGSIDE" --dir "$away" show | grep -q mark || fail "$program: marked in the wrong directory"
	! "$RINGSIDE" --dir "$another" show | grep -q astray || fail "$program: marked in another directory"
done
