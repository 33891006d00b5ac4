#!/bin/sh
# A program is attached to and detached from while its threads wait for all kinds of things, compute, allocate, fork: nothing comes
# too soon or not at all, no register, errno or signal is lost, and its parent sees nothing. One kind of thread at a time, so that
# it is that one which is borrowed; then all of them, a hundred times.

. "$RINGSIDE_SOURCE/tests/inject/stage.sh"
kinds='sleep poll ppoll select epoll futex sigwait semop read socket busy errno vector malloc fork thread signal'
build target || { cat "$dir/errors"; exit 1; }

# again N WHAT: attach and detach.
again() {
	n=0
	while [ "$n" -lt "$1" ]; do
		"$RINGSIDE" attach "$target" || fail "$2: attach $n"
		"$RINGSIDE" detach "$target" || fail "$2: detach $n"
		n=$((n + 1))
	done
	[ -z "$(tracer_of "$target")" ] || fail "$2: somebody still traces it"
	grep -q ' rw-p .*/libringside' "/proc/$target/maps" || fail "$2: it has no runtime"
}

for kind in $kinds; do
	begin "$dir/target" watch "$kind"
	again 5 "$kind"
	finish "$kind"
done

# Stopped by nobody as long as its child runs.
begin "$dir/target" watch vfork
again 3 vfork
finish vfork

# Each thread is interrupted by libc for that, and waited for. Not beside threads that begin: then glibc waits for itself when a
# library is loaded, whoever does that.
begin "$dir/target" watch setuid malloc busy errno
again 20 setuid
finish setuid

# A child that ends while its parent is stopped is nobody else's business.
begin "$dir/target" watch sigwait sigwait epoll epoll fork fork fork
again 40 children
finish children

# The loader's thread is hardly ever outside of it; among others somebody else is borrowed.
# shellcheck disable=SC2086
begin "$dir/target" watch $kinds dlopen
again 100 all
# Several at a time take turns.
for i in 1 2 3 4 5; do
	{ "$RINGSIDE" attach "$target" || echo "$i" >>"$dir/refused"; } &
	pids="${pids:-} $!"
done
# shellcheck disable=SC2086
wait $pids
[ ! -e "$dir/refused" ] || fail 'one of several was refused'
finish all
for kind in $kinds; do
	grep -q "^$kind [1-9]" "$dir/said" || fail "all: $kind never came to its end"
done
exit "$bad"
