#!/bin/sh
# The runtime comes into programs that do nothing but allocate, load, fork or make threads, again and again: who is within the
# allocator or the loader is not the one that is borrowed.

. "$RINGSIDE_SOURCE/tests/inject/stage.sh"
build target || { cat "$dir/errors"; exit 1; }

for kind in malloc alarm fork thread signal 'malloc malloc malloc' 'dlopen malloc sleep'; do
	for i in 1 2 3 4 5 6 7 8; do
		# shellcheck disable=SC2086
		begin "$dir/target" $kind
		"$RINGSIDE" attach "$target" || fail "$kind: attach $i"
		"$RINGSIDE" detach "$target" || fail "$kind: detach $i"
		finish "$kind, $i"
	done
done
# Nearly all the time in the loader, or in handlers on a stack of their own: found outside, or refused with a word.
for kind in dlopen alarm-apart; do
	for i in 1 2 3; do
		begin "$dir/target" "$kind"
		"$RINGSIDE" attach "$target" 2>"$dir/errors" || grep -q 'no thread that can be disturbed' "$dir/errors" ||
			fail "$kind: $(cat "$dir/errors")"
		finish "$kind, $i"
	done
done

# One that becomes another program all the time: whichever it is when it stands still is the one that is attached.
cat >"$dir/again.c" <<'C'
#include <stdio.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	if (argc > 1 && argv[1][0] == '0') {
		printf("%d\n", (int)getpid());
		fflush(stdout);
	}
	argv[1] = "1";
	if (access(argv[2], F_OK))
		execv("/proc/self/exe", argv);
	return 0;
}
C
# shellcheck disable=SC2086
$CC -O1 "$dir/again.c" -o "$dir/again" || exit 1
begin "$dir/again" 0 "$dir/enough"
for i in 1 2 3 4 5 6 7 8 9 10; do
	"$RINGSIDE" attach "$target" 2>"$dir/errors" ||
		grep -q 'another program\|ended meanwhile\|cannot be disturbed\|that can be disturbed\|Try again\|no libc' "$dir/errors" ||
		fail "again: $(cat "$dir/errors")"
done
: >"$dir/enough"
wait "$parent" || fail "again: the program ends with $?"
exit "$bad"
