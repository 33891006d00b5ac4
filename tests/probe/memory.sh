#!/bin/sh
# malloc and its like as kmem:kmalloc and kmem:kfree: as many as the program counts, from where it called, each piece of memory given back
# once; by whichever library; in programs that know nothing of it; and gone when they are switched off.
. "$RINGSIDE_SOURCE/tests/probe/room.sh"

# CC is a command line.
# shellcheck disable=SC2086
{
	$CC -O2 -fno-builtin "$RINGSIDE_SOURCE/tests/probe/memory.c" -o memory -pthread -ldl || exit 1
	$CC -O2 -fno-builtin -fPIC -shared "$RINGSIDE_SOURCE/tests/probe/memory_counts.c" -o counts.so -ldl || exit 1
}
want 0 write buffer_size_kb 32768

# Memory that is given back without having been got, or got twice without having been given back: balanced FILE, of one program.
balanced() {
	awk '
		!/: (kmalloc|kfree): / || /ptr=(0x0|\(nil\)|0+)( |$)/ { next }
		{ match($0, /ptr=[^ ]*/); place = substr($0, RSTART, RLENGTH); n++ }
		/: kmalloc: / && live[place]++ { print "got twice: " $0; bad = 1; exit }
		/: kfree: / && !live[place]-- { print "never got: " $0; bad = 1; exit }
		END { if (!bad && n < 10) print "only " n + 0 " records"; exit bad || n < 10 }' "$1" >"$out" || fail "$1 does not balance"
}

# As run, and nothing else is traced: alone COMMAND...
alone() {
	timeout 100 env COUNTS=counts.txt LD_PRELOAD="$library $also" "$@" >"$out" 2>"$err" || fail "$*: exit $?"
}
also=

# Histograms come, or go: histograms ''|!
histograms() {
	want 0 write events/kmem/kmalloc/trigger "$1hist:keys=call_site.sym:vals=bytes_req,bytes_alloc:size=4096"
	want 0 write events/kmem/kfree/trigger "$1hist:keys=call_site.sym:size=4096"
}

# What histograms of call sites counted in the functions of memory.c, as it says it itself.
counted() {
	for event in kmalloc kfree; do
		"$RINGSIDE" cat events/kmem/$event/hist | sed -En \
			-e 's/^\{ call_site: \[[0-9a-f]+\] (by_[a-z]+|give_back|round_of) .*hitcount: +([0-9]+)/'$event' \1 \2/' \
			-e 's/ (bytes_req|bytes_alloc): +/ /g' -e '/^k[a-z]* [a-z_]* [0-9]/p'
	done | awk '
		{ key = $1 " " $2; times[key] += $3; asked[key] += $4; usable[key] += $5 }
		END { for (key in times) print key, times[key] (key ~ /^kmalloc/ ? " " asked[key] " " usable[key] : "") }' | sort
}

# ---- as often as the program counts, by call site ----

histograms ''
want 0 start -e kmem:kmalloc -e kmem:kfree
alone ./memory 4 400
sort "$out" >says
[ "$(wc -l <says)" -eq 16 ] || fail "the program ran otherwise"
counted >sees
cmp -s says sees || { cp says "$out"; cp sees "$err"; fail "histograms do not say what the program does"; }
want 0 cat trace
cp "$out" trace.txt
balanced trace.txt
grep -q ': kmalloc: call_site=by_calloc+[0-9a-fx/]* ptr=[0-9a-f]* bytes_req=3 bytes_alloc=24 gfp_flags=none node=-1 ' trace.txt ||
	fail "no record says what calloc(3, 1) is"
grep -q 'LOST' trace.txt && fail "records were lost"

# The library that it was planned for is the one that programs have.
want 0 list -f ^malloc$
says 'malloc [libc.so.6]'

# ---- with tracers of functions at the same places ----

histograms '!'
histograms ''
want 0 write trace ''
want 0 start -p function_graph -l malloc -l free -l realloc -l 'by_*'
alone ./memory 2 50
sort "$out" >says
counted >sees
cmp -s says sees || { cp says "$out"; cp sees "$err"; fail "histograms do not say what the program does, with function_graph"; }

# And a handler, traced as well, at each instruction of all that: on a stack right above the one that it interrupts.
histograms '!'
histograms ''
[ -n "${RINGSIDE_LONG-}" ] && rounds=2 || rounds=1
alone ./memory step $rounds
sort "$out" >says
counted >sees
cmp -s says sees || { cp says "$out"; cp sees "$err"; fail "histograms do not say what the program does step by step"; }
want 0 start -p nop
histograms '!'

# ---- another library's malloc, which calls itself ----

# Its functions are known once it was there.
also=./counts.so
alone ./memory 1 1
want 0 list -f
want 0 write trace ''
alone ./memory 3 200
also=
want 0 cat trace
cp "$out" trace.txt
for event in kmalloc kfree; do
	echo "$event $(grep -c ": $event: " trace.txt)"
done >sees
cmp -s counts.txt sees || { cp counts.txt "$out"; cp sees "$err"; fail "records are not what the library counted"; }

# ---- filtered, and one without the other ----

want 0 write trace ''
want 0 write events/kmem/kfree/enable 0
want 0 write events/kmem/kmalloc/filter 'bytes_req == 1048576'
alone ./memory 1 65
[ "$(records kmalloc | wc -l)" -eq 2 ] || fail "not the two that the filter lets through"
[ "$(records kfree | wc -l)" -eq 0 ] || fail "kfree is off"
want 0 write events/kmem/kmalloc/filter 0
want 0 write events/kmem/kmalloc/enable 0
want 0 write events/kmem/kfree/enable 1
want 0 write trace ''
alone ./memory 1 65
[ "$(records kfree | grep -c 'call_site=round_of')" -eq 65 ] || fail "what realloc() gives back is not recorded once"
[ "$(records kmalloc | wc -l)" -eq 0 ] || fail "kmalloc is off"
want 0 write events/kmem/kfree/enable 0

# ---- switched while it runs ----

# The next line of the program that runs: ask
ask() {
	echo >&3
	read -r line <&4
}

want 0 write trace ''
mkfifo to from
LD_PRELOAD=$library ./memory wait <to >from 2>"$err" &
pid=$!
trap 'kill $pid 2>/dev/null' EXIT
exec 3>to 4<from
ask
before=$line
want 0 start -e kmem:kmalloc -e kmem:kfree
ask
[ "$line" != "$before" ] || fail "nothing in a program that was running is patched"
ask
want 0 write events/kmem/enable 0
ask
[ "$line" = "$before" ] || fail "switched off, malloc is not what it was"
ask
n=$(records kmalloc | grep -c 'call_site=by_malloc+[0-9a-fx/]* .* bytes_req=1234 ')
# The line before it was switched off may have been answered before that was allocated.
[ "$n" -eq 1 ] || [ "$n" -eq 2 ] || fail "$n records of a program that was running"
exec 3>&-
wait $pid || fail "the program that was running failed"
trap - EXIT

# ---- programs that know nothing of it ----

# As it is without us, and balanced: same NAME COMMAND...
same() {
	name=$1
	shift
	"$@" >plain.out 2>&1 </dev/null || fail "$name does not run here"
	"$RINGSIDE" record -q -b 65536 -o "$name.dat" -e kmem:kmalloc -e kmem:kfree "$@" >"$out" 2>"$err" </dev/null || fail "$name: exit $?"
	cmp -s plain.out "$out" || fail "$name says something else"
	"$RINGSIDE" report "$name.dat" >"$name.txt" || fail "$name: no report"
	balanced "$name.txt"
}

cat >work.py <<'END'
import json, re, threading
def work(n):
    return len(json.dumps([re.sub("1", "one", str(i)) for i in range(n)]))
threads = [threading.Thread(target=work, args=(1000,)) for _ in range(4)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
print(work(5000), sum(len(bytes(100000 + i)) for i in range(100)))
END
[ ! -x /usr/bin/python3 ] || same python3 /usr/bin/python3 -S work.py
! command -v sqlite3 >"$out" || same sqlite3 "$(command -v sqlite3)" :memory: 'create table t(a, b);
	with recursive c(x) as (select 1 union all select x + 1 from c where x < 3000) insert into t select x, hex(x) from c;
	create index i on t(b); select count(*), sum(a), max(b) from t;'

# ---- one that has a malloc of its own, and jumps out of it ----

cat >own.c <<'END'
#include <setjmp.h>
#include <stddef.h>
#include <stdio.h>
static _Alignas(16) char room[1 << 20];
static size_t used;
static jmp_buf out;
__attribute__((noinline)) void *malloc(size_t n)
{
	char *at = room + used;

	if (n == 666)
		longjmp(out, 1);
	used += (n + 15) & ~(size_t)15;
	return at;
}
__attribute__((noinline)) void free(void *p) { (void)p; __asm__ volatile(""); }
__attribute__((noinline)) void spend(size_t n) { void *p = malloc(n); __asm__ volatile("" : "+r"(p)); free(p); __asm__ volatile(""); }
int main(void)
{
	if (!setjmp(out))
		*(volatile char *)malloc(666) = 0;
	for (size_t i = 0; i < 5; i++)
		spend(40 + i);
	puts("through");
	return 0;
}
END
# shellcheck disable=SC2086
$CC -O2 -fno-builtin -rdynamic own.c -o own || exit 1
want 0 record -o own.dat -e kmem:kmalloc -e kmem:kfree ./own
grep -qx through "$out" || fail "a program with a malloc of its own"
want 0 report own.dat
[ "$(grep -c 'kmalloc: .*call_site=spend+0x.* bytes_req=4\([0-4]\) bytes_alloc=4\1 ' "$out")" -eq 5 ] || fail "not its own malloc"
[ "$(grep -c 'kfree: .*call_site=spend+0x' "$out")" -eq 5 ] || fail "not its own free"

# ---- one that is linked statically runs as ever, and who records is told why there is nothing ----

# shellcheck disable=SC2086
if $CC -O2 -static own.c -o static 2>"$err"; then
	want 0 record -o static.dat -e kmem:kmalloc -e kmem:kfree ./static
	grep -qx through "$out" || fail "a static program"
	grep -q 'nothing in ./static is traced: it is static' "$err" || fail "why nothing is told of a static program"
fi
exit 0
