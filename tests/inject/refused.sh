#!/bin/sh
# What cannot be attached is refused with a reason, and is none the worse for it.

. "$RINGSIDE_SOURCE/tests/inject/stage.sh"
build target || { cat "$dir/errors"; exit 1; }

# refused PID WORDS
refused() {
	"$RINGSIDE" attach "$1" 2>"$dir/errors" && fail "$1 was attached: $2"
	grep -q "$2" "$dir/errors" || fail "$2: $(cat "$dir/errors")"
}

refused 999999999 'there is no process'
"$RINGSIDE" attach 2>"$dir/errors"
[ $? = 2 ] || fail 'no number'
"$RINGSIDE" attach 12x 2>"$dir/errors"
[ $? = 2 ] || fail 'half a number'

# Dead, and not yet waited for.
sh -c 'sleep 0 & echo $! >"$1/zombie"; exec sleep 30' - "$dir" &
sleeper=$!
until [ -s "$dir/zombie" ] && grep -q '^State:.Z' "/proc/$(cat "$dir/zombie")/status" 2>/dev/null; do sleep 0.01; done
refused "$(cat "$dir/zombie")" 'has ended'
kill "$sleeper"

# Stopped.
begin "$dir/target" sleep
kill -STOP "$target"
until grep -q '^State:.T' "/proc/$target/status"; do sleep 0.01; done
refused "$target" 'is stopped'
kill -CONT "$target"
finish stopped

# Linked statically.
if build static -static; then
	begin "$dir/static" sleep
	refused "$target" 'linked statically'
	finish static
fi

# Of 32 bits.
if build small -m32; then
	begin "$dir/small" sleep
	refused "$target" 'no x86-64 program'
	finish '32 bits'
fi

# Debugged.
if command -v strace >/dev/null; then
	begin "$dir/target" sleep
	strace -qq -o "$dir/strace" -p "$target" &
	debugger=$!
	until [ -n "$(tracer_of "$target")" ] || ! kill -0 "$debugger"; do sleep 0.01; done
	refused "$target" "debugs target ($target): end that first"
	kill "$debugger"
	wait "$debugger" 2>/dev/null
	finish debugged
fi

# In a sandbox.
cat >"$dir/sandbox.c" <<'C'
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <unistd.h>
int main(void)
{
	struct sock_filter all = { BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW };
	struct sock_fprog program = { 1, &all };
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		return 1;
	printf("%d\n", (int)getpid());
	fflush(stdout);
	return pause();
}
C
# shellcheck disable=SC2086
$CC "$dir/sandbox.c" -o "$dir/sandbox" || exit 1
begin "$dir/sandbox"
refused "$target" 'in a sandbox'
kill -9 "$parent"

if [ "$(id -u)" = 0 ]; then
	refused 2 'thread of the kernel'
	# With another root it does not see the directory; without descriptors it needs none.
	mkdir -p "$dir/root"
	cat >"$dir/chroot.c" <<'C'
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	printf("%d\n", (int)getpid());
	fflush(stdout);
	for (int fd = 0; fd < 1024; fd++)
		close(fd);
	if (argc > 1 && (chroot(argv[1]) || chdir("/")))
		return 1;
	return pause();
}
C
	# shellcheck disable=SC2086
	$CC "$dir/chroot.c" -o "$dir/chroot" || exit 1
	begin "$dir/chroot" "$dir/root"
	until [ "$(readlink "/proc/$target/root")" != / ]; do sleep 0.01; done
	refused "$target" 'it has another root'
	kill -9 "$parent"
	begin "$dir/chroot"
	until ! [ -e "/proc/$target/fd/1" ]; do sleep 0.01; done
	"$RINGSIDE" attach "$target" || fail 'without descriptors it cannot be attached'
	[ -z "$(ls "/proc/$target/fd")" ] || fail "it has descriptors: $(ls -l "/proc/$target/fd")"
	kill -9 "$parent"
	# Another user's.
	chmod 755 "$dir"
	begin setpriv --reuid 12345 --regid 12345 --clear-groups "$dir/target" sleep
	refused "$target" "is uid 12345's"
	finish 'another user'
	RINGSIDE_DIR=$dir/theirs
	export RINGSIDE_DIR
	begin "$dir/target" sleep
	mkdir -m 777 "$dir/place"
	RINGSIDE_DIR=$dir/place/trace setpriv --reuid 12345 --regid 12345 --clear-groups "$RINGSIDE" attach "$target" \
		2>"$dir/errors" && fail "root's was attached"
	grep -q "another user's" "$dir/errors" || fail "root's: $(cat "$dir/errors")"
	finish "root's"
fi
exit "$bad"
