#!/bin/sh
# The sites carry USDT notes: readelf lists them with their arguments, gdb and bpftrace know them, and
# bpftrace, where it may run, reads what a traced event was called with while Ringside is off.

set -eu
cd "$RINGSIDE_SCRATCH"

cat >prog.c <<'EOF'
#include <stdlib.h>
#include <unistd.h>
#include <ringside/event.h>
RINGSIDE_EVENT(usdt, test,
	field(int, i),
	field(unsigned char, c),
	string(text),
	field(long long, wide),
	field(double, d),
	sequence(short, s))
RINGSIDE_EVENT(usdt, many,
	field(int, a), field(int, b), field(int, c), field(int, d), field(int, e), field(int, f),
	field(int, g), field(int, h), field(int, i), field(int, j), field(int, k), field(int, l),
	field(int, m), field(int, n))
RINGSIDE_EVENT(usdt, none, print("nothing"))
int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 1;

	for (int i = 0; i < n; i++) {
		trace_usdt_test(-i - 7, 200, "words", -5000000000ll, 1.0, NULL, 0);
		trace_usdt_many(i, i, i, i, i, i, i, i, i, i, i, i, i, i);
		trace_usdt_none();
		if (n > 1)
			usleep(10000);
	}
	return 0;
}
EOF
# $CC is a command with options.
# shellcheck disable=SC2086
$CC -std=gnu11 -O2 -g -Wall -Wextra -Werror -I"$RINGSIDE_SOURCE/include" prog.c -o prog \
	-L"$RINGSIDE_BUILD" -Wl,-rpath,"$RINGSIDE_BUILD" -lringside

fail() {
	echo "FAIL $*"
	exit 1
}

readelf -n prog >notes
args() {
	awk -v name="$1" '/Provider: usdt/ { p = 1 } /Name:/ { n = $2 }
		/Arguments:/ && p && n == name { sub(/ *Arguments: */, ""); print; p = 0; exit }' notes
}
sizes() {
	args "$1" | tr ' ' '\n' | sed -n 's/@.*//p' | tr '\n' ' '
}
case $(file -L prog 2>/dev/null || readelf -h prog) in
*32-bit*|*ELF32*) word=4 ;;
*) word=8 ;;
esac
[ "$(sizes test)" = "-4 1 $word -8 8 $word $word " ] || fail "arguments of test: $(args test)"
[ "$(sizes many)" = '-4 -4 -4 -4 -4 -4 -4 -4 -4 -4 -4 -4 ' ] || fail "arguments of many: $(args many)"
grep -q 'Name: none' notes || fail "no note for none"
./prog || fail "it ends with $? when nobody looks"

if command -v gdb >/dev/null; then
	# It has counted the semaphore up, so the probe is hit.
	gdb -nx -batch -ex 'set debuginfod enabled off' -ex 'break -probe-stap usdt:test' -ex run \
		-ex 'print $_probe_arg0' -ex 'print $_probe_argc' ./prog >gdb.out 2>&1 || :
	if grep -q 'Breakpoint 1, ' gdb.out; then
		grep -q '^\$1 = -7$' gdb.out || fail "gdb: $(cat gdb.out)"
	elif ! grep -q 'ptrace' gdb.out; then
		fail "gdb: $(cat gdb.out)"
	fi
fi

if ! command -v bpftrace >/dev/null || [ "$(id -u)" -ne 0 ]; then
	echo "no bpftrace, or not root"
	exit 77
fi
bpftrace -l "usdt:./prog:*" >list 2>&1 || fail "bpftrace -l: $(cat list)"
for name in test many none; do
	grep -q "usdt:./prog:usdt:$name" list || fail "bpftrace -l: $(cat list)"
done
./prog 3000 &
pid=$!
trap 'kill $pid 2>/dev/null || :' EXIT
cat >look.bt <<EOF
usdt:$PWD/prog:usdt:test {
	printf("hit %d %d %s %ld %lu\\n", (int32)arg0 < 0, arg1, str(arg2), (int64)arg3, (uint64)arg4);
	exit();
}
EOF
# In a mount namespace of its own: the tracefs it needs may not be mounted.
# shellcheck disable=SC2016
timeout 30 unshare -m --propagation private sh -c '
	[ -e /sys/kernel/tracing/uprobe_events ] || mount -t tracefs nodev /sys/kernel/tracing
	exec bpftrace -p "$1" look.bt' sh $pid >bpf.out 2>&1 || :
if grep -q 'hit ' bpf.out; then
	grep -q 'hit 1 200 words -5000000000 4607182418800017408' bpf.out || fail "bpftrace: $(cat bpf.out)"
elif grep -qE 'not permitted|Permission denied|uprobe_events|not supported by the kernel' bpf.out; then
	echo "bpftrace cannot attach here: $(tail -n 1 bpf.out)"
	exit 77
else
	fail "bpftrace: $(cat bpf.out)"
fi
