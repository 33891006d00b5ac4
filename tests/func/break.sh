#!/bin/sh
# Little room, few rights, other tools in the same program, and compilers that had plans of their own with functions: traced programs do
# what they do untraced, or are refused with a word.
. "$RINGSIDE_SOURCE/tests/func/stage.sh"

compile hard -O2 -rdynamic || { cat "$dir/errors"; exit 1; }
# shellcheck disable=SC2086
$CC -O2 -shared -fPIC "$cases/libhard.c" -o libhard.so || exit 1

# ---- Other ways to compile ----

some='jumps contexts deep traces returns loads at_once'
while read -r name options; do
	# Not all compilers have all of them.
	# shellcheck disable=SC2086
	if ! compile "$name" $options; then
		without "$options: $(head -n 1 "$dir/errors")"
		continue
	fi
	# shellcheck disable=SC2086
	same "$options" "./$name" $some
done <<'END'
profiled -O1 -pg
fentry -O1 -pg -mfentry
instrumented -O1 -finstrument-functions
patchable -O2 -fpatchable-function-entry=5
patchable_before -O2 -fpatchable-function-entry=16,11
protected -O2 -fcf-protection=full
plain -O0
fast -O3 -fno-plt
fixed -O2 -no-pie
split -O2 -fsplit-stack
END
rm -f gmon.out

# ---- What is of another kind runs as it is ----

refused() {
	"$RINGSIDE" record -p function_graph -m 256 -o trace.dat "$1" works >got.out 2>words || fail "$1: exit $?"
	"$1" works | cmp -s - got.out || fail "$1: says something else"
	grep -q "nothing in $1 is traced: $2" words || fail "$1: no word about it: $(cat words)"
}
if compile static -O2 -static-pie; then refused ./static 'it is static'; else without static-pie; fi
if compile narrow -O2 -m32 -idirafter /usr/include/x86_64-linux-gnu; then
	refused ./narrow 'it is made for another machine'
else
	without '32-bit code'
fi
cat >small.c <<'END'
#include <stdio.h>
int main(void) { puts("works"); return 0; }
END
if have musl-gcc && musl-gcc small.c -o musl; then refused ./musl 'it is made for another machine or another libc'; fi
if compile sanitized -O1 -fsanitize=address && ./sanitized works >want.out 2>&1; then
	"$RINGSIDE" record -p function_graph -m 256 -o trace.dat ./sanitized works >got.out 2>words || fail "sanitized: exit $?"
	# As what is started by what is traced it is traced, too.
	ASAN_OPTIONS=detect_leaks=0 same 'sanitized, below' sh -c './sanitized works jumps traces loads; ./sanitized at_once; exit $?'
else
	without 'a sanitizer'
fi
# shellcheck disable=SC2086
if $CC -w -O2 "$cases/writes.c" -o writes 2>errors; then same 'code that is written' ./writes; else without 'code that is written'; fi

# ---- Little room ----

for limit in '-v 60000' '-v 400000' '-s 128' '-n 5' '-d 4000' '-l 0'; do
	same "ulimit $limit" sh -c "ulimit $limit; exec ./hard works jumps contexts"
done
same 'no descriptors' sh -c 'exec ./hard works 0<&- 2>&-'

# The directory is on a file system that is full, or soon will be.
cat >tiny.sh <<'END'
size=$1
fail() {
	echo "FAIL $*"
	exit 1
}
mkdir -p tiny && mount -t tmpfs -o "size=$size" none tiny || fail "tiny $size: cannot be mounted"
export RINGSIDE_DIR="$PWD/tiny/trace"
"$RINGSIDE" start -p function_graph >words 2>&1 || [ -s words ] || fail "tiny $size: refused without a word"
for how in tiny full; do
	LD_PRELOAD=$RINGSIDE_BUILD/libringside.so.0 ./hard works jumps processes >got.out 2>&1 || fail "$how $size: exit $?"
	cmp -s want.out got.out || fail "$how $size: $(diff want.out got.out | head -n 3)"
	# It ends when there is no more room, which is meant.
	dd if=/dev/zero of=tiny/rest bs=4k 2>rest || :
done
END
./hard works jumps processes >want.out
if unshare -m true 2>/dev/null; then
	for size in 64k 1m 4m 16m; do
		unshare -m sh tiny.sh "$size" || bad=1
	done
else
	without 'file systems of its own'
fi

# ---- Few rights ----

if [ "$(id -u)" -eq 0 ] && have setpriv; then
	chmod 755 "$dir" hard libhard.so
	same 'another user' setpriv --reuid=65534 --regid=65534 --clear-groups ./hard works jumps
	same 'no new rights' setpriv --no-new-privs ./hard works jumps
	cp hard raised && chmod 4755 raised
	same 'set-user-ID' setpriv --reuid=65534 --regid=65534 --clear-groups ./raised works
	same 'namespaces' unshare -m -n -p -f ./hard works processes
fi

# ---- In company ----

jemalloc=
for file in /usr/lib/*/libjemalloc.so.2; do
	[ ! -e "$file" ] || jemalloc=$file
done
if [ -n "$jemalloc" ]; then
	export LD_PRELOAD="$jemalloc"
	same jemalloc ./hard jumps loads processes
	unset LD_PRELOAD
else
	without libjemalloc2
fi
if have gdb; then
	cat >gdb.txt <<-'END'
	set confirm off
	set debuginfod enabled off
	break main
	run
	break inner
	break leaf
	continue
	continue
	delete
	continue
	END
	compile debugged -g -O0
	gdb -q -nx -batch -x gdb.txt --args ./debugged works jumps >want.out 2>&1
	for tracer in function function_graph; do
		"$RINGSIDE" record -q -p "$tracer" -m 256 -o trace.dat gdb -q -nx -batch -x gdb.txt --args ./debugged works jumps >got.out 2>&1
		for word in '^works' '^jumps' 'exited normally'; do
			[ "$(grep "$word" want.out | sed 's/process [0-9]*//')" = "$(grep "$word" got.out | sed 's/process [0-9]*//')" ] ||
				fail "gdb, $tracer: $(tail -n 4 got.out)"
		done
	done
fi
if have valgrind; then
	same valgrind valgrind -q --error-exitcode=9 ./hard returns traces
fi
if have strace; then
	same strace strace -f -o strace.out ./hard returns traces processes
fi
exit "$bad"
