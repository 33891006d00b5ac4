#!/bin/sh
# What a talk about the kernel's user probes shows, one example after the other, on programs: malloc of the C library with its size and what
# it returns; counted by task, with names; by its size.
. "$RINGSIDE_SOURCE/tests/probe/room.sh"

libc=$(ldd /bin/sh | awk '$1 ~ /^libc\.so/ { print $3 }')
malloc=0x$(nm -D "$libc" | awk '$3 ~ /^malloc@/ { print $1 }')

cat >asks.c <<'END'
#include <stdlib.h>
#include <sys/prctl.h>

int main(int argc, char **argv)
{
	/* asks NAME TIMES SIZE */
	prctl(PR_SET_NAME, argv[1]);
	for (int i = 0; i < atoi(argv[2]); i++) {
		void *volatile memory = malloc((size_t)atol(argv[3]));

		free(memory);
	}
	return argc == 0;
}
END
# CC is a command line.
# shellcheck disable=SC2086
$CC -O0 asks.c -o asks || exit 1

# ---- its size ----

want 0 write uprobe_events "p:malloc $libc:$malloc size=%di:u64"
want 0 list -e uprobes:malloc -F --full
for text in 'system: uprobes' 'name: malloc' 'field:unsigned long __probe_ip;	offset:8;	size:8;	signed:0;' \
	'field:u64 size;	offset:16;	size:8;	signed:0;' 'print fmt: "(%lx) size=%Lu", REC->__probe_ip, REC->size'; do
	grep -qF "$text" "$out" || fail "its format does not say '$text'"
done
want 0 start -e malloc
run ./asks sshd 3 384001
records malloc >"$out"
[ "$(grep -c '^(0x[0-9a-f]*) size=384001$' "$out")" -eq 3 ] || fail "not three of that size"

# ---- what it returns ----

want 0 write -a uprobe_events "r:malloc_ret $libc:$malloc ret=%ax"
want 0 start -e uprobes
want 0 clear
run ./asks sshd 1 384001
"$RINGSIDE" cat trace | sed -n '/size=384001$/,$p' | head -2 >"$out"
grep -Eq ': malloc_ret: \(0x[0-9a-f]+ <- 0x[0-9a-f]+\) ret=0x[0-9a-f]{6,}$' "$out" || fail "no return behind the call"

# ---- counted by task ----

want 0 stop
want 0 write events/uprobes/malloc/trigger 'hist:keys=common_pid:vals=size:sort=size if size > 384000'
run ./asks sshd 2 384384
run ./asks bash 5 1000000
want 0 cat events/uprobes/malloc/hist
[ "$(grep -Ec '^\{ common_pid: +[0-9]+ \} hitcount: +2  size: +768768$' "$out")" -eq 1 ] || fail "the first asks twice"
[ "$(grep -Ec '^\{ common_pid: +[0-9]+ \} hitcount: +5  size: +5000000$' "$out")" -eq 1 ] || fail "the second asks five times"

# ---- with names ----

want 0 write events/uprobes/malloc/trigger '!hist:keys=common_pid:vals=size:sort=size'
want 0 write events/uprobes/malloc/trigger 'hist:keys=common_pid.execname:vals=size:sort=size if size > 384000'
run ./asks sshd 2 384384
run ./asks bash 5 1000000
want 0 cat events/uprobes/malloc/hist
sed -n 's/\[ *[0-9]*\]/[N]/p' "$out" >rows
cat >wanted <<'END'
{ common_pid: sshd            [N] } hitcount:          2  size:     768768
{ common_pid: bash            [N] } hitcount:          5  size:    5000000
END
cmp -s wanted rows || fail "the histogram's rows are others"
