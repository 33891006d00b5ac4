#!/bin/sh
# `ringside trace` sees the calls that strace sees: the same ones in the same order, and -c counts as many.
#
# What differs by nature: calls before the constructor of our library, which are the loader's, and those of libraries that it initialises
# first. So what we see is the call that becomes the program and then the end of what strace sees, and what is missing between has to
# be calls that loaders and such constructors make. Processes that run side by side are compared by the number of each call.
. "$RINGSIDE_SOURCE/tests/sys/stage.sh"

have strace || exit 77
strace -o "$dir/try" true 2>"$dir/errors" || { echo "strace cannot trace here: $(head -n 1 "$dir/errors")"; exit 77; }

# Names of the calls that returned: names FILE
names() {
	sed -nE 's/^([0-9]+ +|\[pid +[0-9]+\] )//; /<unfinished/d; /= \?/d; s/^(<\.\.\. )?([a-z0-9_]+)(\(| resumed).*/\2/p' "$1" |
		grep -vxE 'exit|exit_group'
}

# counts FILE: of names
counts() {
	sort "$1" | uniq -c | awk '{ print $2, $1 }'
}

early='execve|brk|mmap|munmap|mprotect|access|openat|newfstatat|fstat|read|pread64|close|arch_prctl|set_tid_address|set_robust_list|rseq|prlimit64|getrandom|statfs|futex|ioctl|readlink|getuid|geteuid|getgid|getegid|lseek|sysinfo'

# compare NAME COMMAND...: one process, one thread.
compare() {
	name=$1
	shift
	have "$1" || return 0
	strace -o "$dir/theirs" "$@" >/dev/null 2>&1 </dev/null
	"$RINGSIDE" trace -q -o "$dir/ours" "$@" >/dev/null 2>&1 </dev/null
	"$RINGSIDE" trace -q -c -S name -o "$dir/counted" "$@" >/dev/null 2>&1 </dev/null
	for file in theirs ours; do
		[ "$(names "$dir/$file" | head -n 1)" = execve ] || fail "$name, $file: it does not begin with execve"
	done
	names "$dir/theirs" | sed 1d | grep -vxE "${LOOSE-none}" >"$dir/a"
	names "$dir/ours" | sed 1d | grep -vxE "${LOOSE-none}" >"$dir/b"
	n=$(wc -l <"$dir/b")
	[ "$n" -gt 3 ] || fail "$name: $n calls"
	tail -n "$n" "$dir/a" >"$dir/end"
	cmp -s "$dir/end" "$dir/b" || fail "$name: other calls than strace's: $(diff "$dir/end" "$dir/b" | head -n 6)"
	head -n -"$n" "$dir/a" | grep -vxE "$early" >"$dir/missed" && fail "$name: not seen: $(sort "$dir/missed" | uniq -c)"
	awk '$NF != "total" && $4 ~ /^[0-9]+$/ { print $NF, $4 }' "$dir/counted" | grep -vE "^(${LOOSE-none}) " >"$dir/c"
	{ echo execve; cat "$dir/b"; } >"$dir/d"
	counts "$dir/d" >"$dir/e"
	cmp -s "$dir/e" "$dir/c" || fail "$name: -c counts otherwise: $(diff "$dir/e" "$dir/c" | head -n 6)"
}

printf 'one\ntwo\nthree\n' >"$dir/text"
mkdir "$dir/tree" && touch "$dir/tree/a" "$dir/tree/b"
compare ls ls /usr
compare cat cat "$dir/text"
compare sort sort "$dir/text"
# It reads /proc/self/maps, in which we are.
LOOSE='read|lseek|mmap|munmap' compare grep grep two "$dir/text"
compare tar tar cf "$dir/x.tar" -C "$dir" tree
compare gzip gzip -c "$dir/text"
compare find find "$dir/tree"
compare sqlite3 sqlite3 :memory: 'create table t(a); insert into t values (1); select * from t'
compare bash bash -c 'cd /; echo $((1 + 2)); read -r x < /dev/null; echo "$x"'
PYTHONHASHSEED=0 PYTHONDONTWRITEBYTECODE=1
export PYTHONHASHSEED PYTHONDONTWRITEBYTECODE

# How much memory python takes at once depends on where it lies, and SIGBUS and SIGSYS, for which it asks, have a handler of ours that
# is kept apart from the program's: compared are the other calls.
if have python3; then
	strace -o "$dir/theirs" python3 -S -E -c 'import os; print(os.getcwd())' >/dev/null 2>&1
	"$RINGSIDE" trace -q -o "$dir/ours" python3 -S -E -c 'import os; print(os.getcwd())' >/dev/null 2>&1
	for file in theirs ours; do
		names "$dir/$file" | grep -vxE 'mmap|munmap|brk|mremap|madvise|futex|rt_sigaction' >"$dir/$file.names"
	done
	n=$(wc -l <"$dir/ours.names")
	[ "$(head -n 1 "$dir/ours.names")" = execve ] || fail "python3: it does not begin with execve"
	sed -i 1d "$dir/ours.names"
	tail -n "$((n - 1))" "$dir/theirs.names" | cmp -s - "$dir/ours.names" || fail "python3: other calls than strace's"
fi

# Processes: who comes first is chance, how many calls there are is not; but for those that wait, and for the loader's.
work='cat text | sort >/dev/null; (echo a); x=$(echo b); cat text'
strace -f -o "$dir/theirs" bash -c "$work" >/dev/null 2>&1
"$RINGSIDE" trace -q -o "$dir/ours" bash -c "$work" >/dev/null 2>&1
for file in theirs ours; do
	names "$dir/$file" | grep -vxE "$early|wait4|rt_sigreturn|rt_sigprocmask" >"$dir/$file.names"
	counts "$dir/$file.names" >"$dir/$file.counts"
done
cmp -s "$dir/theirs.counts" "$dir/ours.counts" || fail "processes: $(diff "$dir/theirs.counts" "$dir/ours.counts")"

# A shell that waits for its children, with a handler that tells of them: what wait4 says.
if have dash; then
	waited() {
		sed -nE '/wait4.*resumed/s/^.*resumed>/wait4(-1, /; s/^.*(wait4\(.*)/\1/p' "$1" | sed -E 's/0x[0-9a-f]+/ADDRESS/; s/ += [0-9]+$/ = PID/; s/ +=/ =/'
	}
	strace -f -o "$dir/theirs" -e trace=wait4,clone,vfork dash -c '/bin/true; /bin/false; true'
	"$RINGSIDE" trace -q -o "$dir/ours" -e trace=wait4 dash -c '/bin/true; /bin/false; true'
	waited "$dir/theirs" | grep -v unfinished >"$dir/a"
	waited "$dir/ours" >"$dir/b"
	[ "$(grep -c PID "$dir/b")" -eq 2 ] || fail "dash: not both children: $(cat "$dir/b")"
	cmp -s "$dir/a" "$dir/b" || fail "dash waits otherwise: $(diff "$dir/a" "$dir/b")"
fi

# Classes have the calls that strace has there: a program that asks for all calls and is allowed none.
# shellcheck disable=SC2086
$CC -w -O1 -o "$dir/classes" "$own/classes.c" || exit 1
"$dir/classes" || { without "seccomp"; exit "$bad"; }
for class in file network process memory signal desc; do
	strace -o "$dir/theirs" -e "trace=%$class" "$dir/classes"
	"$RINGSIDE" trace -q -o "$dir/ours" -e "trace=%$class" "$dir/classes"
	for file in theirs ours; do
		sed -nE '/ENOANO/s/^([a-z0-9_]+)\(.*/\1/p' "$dir/$file" | grep -v '^syscall_' | sort -u >"$dir/$file.names"
	done
	[ -s "$dir/ours.names" ] || fail "%$class: nothing"
	# Either may know calls that the other is too old for.
	comm -13 "$dir/ours.names" "$dir/theirs.names" >"$dir/missing"
	[ -s "$dir/missing" ] && fail "%$class: strace has more: $(tr '\n' ' ' <"$dir/missing")"
	comm -23 "$dir/ours.names" "$dir/theirs.names" | grep -vxE 'mseal|close_range' >"$dir/more" && fail "%$class: more than strace: $(tr '\n' ' ' <"$dir/more")"
done
exit "$bad"
