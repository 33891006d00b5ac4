#!/bin/sh
# Probes in code of programs that know nothing of us: the files that list them, what is refused and how, several points of one event,
# what they record and count, and that each file forgets its own kind alone.
# Variables in quotes are those of probes.
# shellcheck disable=SC2016
. "$RINGSIDE_SOURCE/tests/cmd/room.sh"

with_functions

cd "$RINGSIDE_SCRATCH" || exit 1
cat >shop.c <<'END'
#include <stdio.h>

struct item { int n; const char *name; } item = { 5, "tea" };

int shop_place(struct item *item, const char *who, long count) { return item->n + (int)count + who[0]; }
void shop_close(int how, double price) { printf("%d %g\n", how, price); }
static int shop_twice(int n) { return n + 1; }
int (*shop_call)(int) = shop_twice;

int main(int argc, char **argv)
{
	int sum = 0;

	(void)argv;
	for (int i = 0; i < 3; i++)
		sum += shop_place(&item, "alice", i + argc);
	shop_close(shop_call(sum), 2.5);
	return 0;
}
END
# shellcheck disable=SC2086
$CC -g -O1 -fno-inline shop.c -o shop || fail "shop does not compile"
shop=$RINGSIDE_SCRATCH/shop
./shop >want.out || fail "shop does not run"
want 0 start -e none

# add FILE LINE, or with what it says when it is refused: deny FILE LINE TEXT...
add() {
	want 0 write -a "$1" "$2"
}
deny() {
	file=$1 line=$2
	shift 2
	refuse 1 write -a "$file" "$line" -- "$file: " "$@"
}
# The last refusal in error_log: who refused, why, and where in the line, by a ^ before it.
logged() {
	want 0 cat error_log
	tail -n 3 "$out" >last
	head -n 1 last | grep -qF "$1: error: $2" || fail "error_log does not say: $1: $2"
	plain=$(printf '%s' "$3" | tr -d '^')
	before=${3%%^*}
	[ "$(sed -n 2p last)" = "  Command: $plain" ] || fail "error_log has another line than $plain"
	[ "$(sed -n 3p last)" = "$(printf '%*s^' $((11 + ${#before})) '')" ] || fail "the caret of $3 is elsewhere"
}

# What nobody has is refused; a file that is named may still come.
deny kprobe_events 'p:a shop_place' 'Invalid probed address or symbol'
add kprobe_events 'p:early shop:shop_place n=$arg3'
want 0 record -q -o nothing.dat -e nothing "$shop"
cmp -s want.out "$out" || fail "shop says something else"

# Each list has its kind; dynamic_events has them all.
add kprobe_events 'p:a shop_place $arg* n=+0(item):s32 name=+0(+8(item)):string'
add kprobe_events 'r10:b shop_place $retval who:string'
add dynamic_events 'f:c shop_close how'
add dynamic_events 'p:d shop_twice a=%di:u8 b=$comm c=\7 d=\"x"'
entry=0x$(nm shop | sed -n 's/^0*\([0-9a-f]*\) T shop_close$/\1/p')
# What calls printf() has five bytes.
call=$(objdump -d --no-show-raw-insn shop | sed -n '/<shop_close>:/,/^$/s/^ *\([0-9a-f]*\):.*printf.*/0x\1/p' | head -n 1)
add uprobe_events "p:u $shop:$entry how=%di:s32"
add uprobe_events "r:v $shop:$entry"
want 0 cat kprobe_events
says 'p:kprobes/early shop:shop_place n=$arg3
p:kprobes/a shop_place item=item who=who count=count n=+0(item):s32 name=+0(+8(item)):string
r10:kprobes/b shop_place arg1=$retval who=who:string
p:kprobes/d shop_twice a=%di:u8 b=$comm c=\7 d=\"x"'
want 0 cat uprobe_events
says "p:uprobes/u $shop:$(printf '0x%016x' "$entry") how=%di:s32
r:uprobes/v $shop:$(printf '0x%016x' "$entry")"
want 0 cat dynamic_events
[ "$(grep -c . "$out")" -eq 7 ] || fail "not all are in dynamic_events"
want 0 list -e 'kprobes:*'
says 'kprobes:a
kprobes:b
kprobes:d
kprobes:early'
want 0 cat events/kprobes/a/format
grep -q 'field:unsigned long __probe_ip;	offset:8;	size:8;	signed:0;' "$out" || fail "no address"
grep -q 'field:u64 count;\|field:s64 count;' "$out" || fail "no argument"
grep -qF 'print fmt: "(%lx) item=0x%Lx' "$out" || fail "no print format"

# Refusals, with the kernel's carets.
deny kprobe_events 'p shop_place $none' 'Invalid $-variable'
logged trace_kprobe 'Invalid $-variable specified' 'p shop_place ^$none'
deny uprobe_events "p $shop:1x" 'Invalid uprobe offset'
logged trace_uprobe 'Invalid uprobe offset' "p $shop:^1x"
deny uprobe_events "p $shop:$((call + 1))" 'in the middle of an instruction'
logged trace_uprobe 'Probe point is not an instruction boundary' "p ^$shop:$((call + 1))"
deny kprobe_events "p shop_close+$((call - entry + 1))" 'in the middle of an instruction'
deny uprobe_events "p $shop:4" 'no code is at 0x4'
# Our own text, and what the kernel may begin again in the middle.
own=$(readlink -f "$RINGSIDE_BUILD/libringside.so.0")
deny uprobe_events "p $own:0x$(nm -D "$own" | awk '$3 == "ringside_emit" { print $1 }')" 'is our own runtime'
deny kprobe_events 'p libringside.so.0:ringside_emit' 'is our own runtime'
cat >again.s <<'END'
	.globl main
main:
1:	incl counter(%rip)
	incl counter(%rip)
2:	xorl %eax, %eax
	ret
	.comm counter, 4
	.section __rseq_cs, "aw"
	.p2align 5
	.long 0, 0
	.quad 1b, 2b - 1b, 2b
	.section .note.GNU-stack, "", @progbits
END
# CC is a command line.
# shellcheck disable=SC2086
$CC again.s -o again || exit 1
deny uprobe_events "p $PWD/again:0x$(nm again | awk '$3 == "main" { print $1 }')" 'part of a restartable sequence'
deny uprobe_events "p $RINGSIDE_SCRATCH/shop.c:16" 'is no ELF file'
deny uprobe_events "r $shop:$call" 'no function begins there'
deny kprobe_events "p $shop:16" 'no probe for this file'
deny uprobe_events 'p shop_place' 'no probe for this file'
deny kprobe_events 'f shop_place' 'no probe for this file'
deny kprobe_events 'p shop_close price' 'no general register'
deny kprobe_events 'p shop_place a=%di:symstr' 'say symbol'
deny kprobe_events 'p 0x1000' 'No function is known there'
deny dynamic_events 'f nobody' 'Failed to register probe event'
logged trace_fprobe 'Failed to register probe event' 'f ^nobody'
deny dynamic_events 't nobody' 'Tracepoint is not found'
deny dynamic_events 'x:y shop_place' 'no probe for this file'
want 0 list -f --why
trapped=$(sed -n 's/^\([a-z_]*\) \[libc\.so\.6\]: by a trap: .*/\1/p' "$out" | head -n 1)
[ -z "$trapped" ] || deny kprobe_events "p libc.so.6:$trapped" 'where only a jump may be'
want 0 cat kprobe_events
[ "$(grep -c . "$out")" -eq 4 ] || fail "what was refused is there"

# Several points of one event; they are all there, or none is.
add kprobe_events 'p:m shop_place a=%di'
add kprobe_events 'p:m shop_close a=%di'
deny kprobe_events 'p:m shop_close a=%di' 'exact same probe'
deny kprobe_events 'p:m shop_twice b=%di' 'Argument type or name'
logged trace_kprobe 'Argument type or name is different from existing probe' 'p:m shop_twice ^b=%di'
deny kprobe_events 'r:m shop_twice a=%di' 'Probe type is different'
deny dynamic_events 'f:kprobes/m shop_twice' 'already used by another event'
# Lines before one that is refused stay.
want 1 write -a kprobe_events 'p:n1 shop_place
p:n2 nobody_at_all
p:n3 shop_place'
want 0 cat kprobe_events
grep -q kprobes/n1 "$out" || fail "what stood before it is gone"
! grep -q 'n2\|n3' "$out" || fail "what stood behind it is there"
add kprobe_events '-:n1'

# What they record.
want 0 write events/kprobes/enable 1
want 0 write events/uprobes/enable 1
want 0 write events/fprobes/enable 1
want 0 record -q -o probed.dat -e kprobes -e uprobes -e fprobes "$shop"
cmp -s want.out "$out" || fail "shop says something else when it is probed"
want 0 report probed.dat
[ "$(grep -c ' a: .* count=[123] n=5 name="tea"' "$out")" -eq 3 ] || fail "not all entries"
[ "$(grep -c ' b: .* arg1=10[345] who="alice"' "$out")" -eq 3 ] || fail "not all returns"
[ "$(grep -c ' early: .* n=0x[123]$' "$out")" -eq 3 ] || fail "what was said ahead did not come"
grep -q ' c: .* how=313$' "$out" || fail "no fprobe"
grep -q ' d: .* b="shop" c=0x7 d="x"$' "$out" || fail "no static function"
grep -q ' u: .* how=313$' "$out" && grep -q ' v: ' "$out" || fail "no uprobes"
[ "$(grep -c ' m: ' "$out")" -eq 4 ] || fail "not both points"
address=$(sed -n 's/.* c: *(\([0-9a-f]*\)) .*/\1/p' "$out")
# As the kernel shows them, with names where there are any.
want 0 cat trace
grep -q ' a: (shop_place+0x0/0x[0-9a-f]*) item=0x' "$out" || fail "no function at entry"
grep -q ' b: (main+0x[0-9a-f]*/0x[0-9a-f]* <- shop_place) arg1=' "$out" || fail "no functions at return"
grep -q ' u: (0x[0-9a-f]*) how=313$' "$out" && grep -q ' v: (0x[0-9a-f]* <- 0x[0-9a-f]*)$' "$out" || fail "no addresses in files"
want 0 cat kprobe_profile
sort "$out" >profile
grep -qx '  a                                                          3               0' profile || fail "kprobe_profile"
[ "$(grep -c '^  m ' profile)" -eq 2 ] || fail "each point counts for itself"
want 0 cat uprobe_profile
grep -qx "  $shop u *1" "$out" || fail "uprobe_profile"

# An address of a record is a place, too.
add kprobe_events "p:address 0x$address how=%di:s32"
want 0 cat kprobe_events
grep -qx "p:kprobes/address 0x$address how=%di:s32" "$out" || fail "an address is shown in another way"
want 0 record -q -o address.dat -e kprobes:address "$shop"
want 0 report address.dat
grep -q " address: *($address) how=313\$" "$out" || fail "no probe by its address"
want 0 write events/kprobes/address/enable 0
add kprobe_events '-:address'

# In use; one point of several may go; emptying a file is about its own kind.
deny kprobe_events '-:a' 'in use'
add kprobe_events '-:m shop_close a=%di'
refuse 1 write kprobe_events '' -- 'in use'
want 0 write events/kprobes/enable 0
deny uprobe_events '-:a' 'no such event'
add kprobe_events '-:kprobes/m'
want 0 write kprobe_events 'p:last shop_place'
want 0 cat kprobe_events
says 'p:kprobes/last shop_place'
want 0 cat dynamic_events
[ "$(grep -c . "$out")" -eq 4 ] || fail "other kinds are gone, too"
refuse 1 write dynamic_events '' -- 'in use'
want 0 write events/enable 0
add dynamic_events '!p:kprobes/last shop_place'
want 0 write dynamic_events ''
want 0 cat dynamic_events
[ ! -s "$out" ] || fail "something stays"

# An instruction in a file that nobody has brought: the plan is made when it comes. It is the one behind `endbr64` or `push`.
sed 's/shop_/late_/g' shop.c >late.c
# shellcheck disable=SC2086
$CC -g -O1 -fno-inline -fcf-protection=none late.c -o late || fail "late does not compile"
push=$(objdump -d --no-show-raw-insn late | sed -n '/<late_close>:/{n;n;s/^ *\([0-9a-f]*\):.*/0x\1/p;q;}')
entry=0x$(nm late | sed -n 's/^0*\([0-9a-f]*\) T late_close$/\1/p')
add kprobe_events "p:late late:late_close+$((push - entry)) how=%di:s32"
want 0 record -q -o late.dat -e kprobes:late ./late
want 0 report late.dat
[ "$(grep -c ' late: .* how=' "$out")" -eq 1 ] || fail "what was to come did not"
want 0 write kprobe_events ''

# By `ringside probe`: parameters by number, wherever they are; in the middle of an instruction nothing, whatever else is there.
entry=0x$(nm shop | sed -n 's/^0*\([0-9a-f]*\) T shop_close$/\1/p')
want 0 probe -x shop 'asked=shop_place $arg3:s64 name=+0(+8($arg1)):string who=+0($arg2):string'
want 0 probe -x shop 'shop_close $arg1:s32'
cp shop shop_bare && strip -g shop_bare || exit 1
want 0 probe -x shop_bare 'bare=shop_place $arg3:s64'
want 0 probe -x "$(ldd shop | sed -n 's/.*=> \(.*libc\.[^ ]*\) .*/\1/p')" 'got=malloc $arg1:u64'
middle="shop_close+$((call - entry + 1))"
refuse 1 probe -x shop "$middle" -- "$middle" 'in the middle of an instruction'
refuse 1 probe -x shop -D "$middle" -- 'in the middle of an instruction'
refuse 1 probe -x shop shop_close -- already
want 0 record -q -o asked.dat -e probe_shop -e probe_libc sh -c './shop && ./shop_bare'
want 0 report asked.dat
[ "$(grep -c ' asked: .* arg3=[123] name="tea" who="alice"$' "$out")" -eq 3 ] || fail "no parameters by their numbers"
grep -q ' shop_close: .* arg1=313$' "$out" || fail "no parameter"
[ "$(grep -c ' bare: .* arg3=[123]$' "$out")" -eq 3 ] || fail "no parameters without debug information"
grep -q ' got: .* arg1=[1-9]' "$out" || fail "no parameter of a library"
want 0 probe -d 'probe_*:*'

# A file that was built again since: its probes are marked, not called by what is there now, and nobody records one unawares.
for id in sha1 none; do
	sed 's/^int main/int shop_new(int n) { return n * 7; }\nint main/' shop.c >again.c
	# shellcheck disable=SC2086
	$CC -g -O1 -fno-inline -Wl,--build-id=$id shop.c -o again || fail "it does not compile"
	want 0 probe -x again 'mark=shop_place'
	want 0 probe -x shop 'stays=shop_place'
	want 0 probe -l
	[ "$(grep -c changed "$out")" -eq 0 ] || fail "nothing has changed"
	want 0 record -o again.dat -e probe_again ./again
	! grep -q changed "$err" || fail "nothing has changed for who records"
	rm again
	# shellcheck disable=SC2086
	$CC -g -O1 -fno-inline -Wl,--build-id=$id again.c -o again || fail "it does not compile again"
	want 0 probe -l
	[ "$(grep -c 'changed' "$out")" -eq 1 ] || fail "not one has changed"
	grep -q "probe_again:mark *(on 0x[0-9a-f]* in $RINGSIDE_SCRATCH/again) (the file has changed since" "$out" || fail "not marked"
	want 0 record -o again.dat -e probe_again -e probe_shop ./again
	[ "$(grep -c 'probe_again:mark .*changed since' "$err")" -eq 1 ] || fail "nothing is said to who records"
	! grep -q 'probe_shop' "$err" || fail "another one is said to have changed"
	want 0 probe -d 'probe_*:*'
	want 0 probe -x again 'mark=shop_place'
	want 0 probe -l
	! grep -q changed "$out" || fail "it was set again"
	want 0 probe -d 'probe_*:*'
done

# Several names of one function are that function; several functions of one name are none.
cat >twin.c <<'END'
static __attribute__((noinline)) int twin_same(int a) { __asm__ volatile("" ::: "memory"); return a + PART; }
#if PART == 1
int twin_other(int a) { return twin_same(a); }
int twin_first(int a) { __asm__ volatile("" ::: "memory"); return a; }
int twin_second(int a) __attribute__((alias("twin_first")));
#else
int twin_other(int a);
int twin_second(int a);
int main(int argc, char **argv) { (void)argv; return twin_same(argc) + twin_other(argc) + twin_second(argc) != 6; }
#endif
END
# shellcheck disable=SC2086
$CC -g -O1 -DPART=1 -c twin.c -o twin1.o && $CC -g -O1 -DPART=2 twin.c twin1.o -o twin || fail "twin does not compile"
want 0 record -q -o twin.dat -e nothing ./twin
deny kprobe_events 'p:same twin_same' 'The symbol is not unique'
add kprobe_events 'p:first twin_first a'
add kprobe_events 'p:second twin_second a'
want 0 record -q -o twin.dat -e kprobes ./twin
want 0 report twin.dat
[ "$(grep -c ' first: .* a=1$\| second: .* a=1$' "$out")" -eq 2 ] || fail "one name was not found"
want 0 write kprobe_events ''

# More than a thousand, written at once.
i=0
while [ $i -lt 1100 ]; do
	i=$((i + 1))
	echo "p:many$i shop_place a=\$arg3"
done >many
want 0 write -a kprobe_events "$(cat many)"
want 0 cat kprobe_events
[ "$(grep -c . "$out")" -eq 1100 ] || fail "not all of many"
want 0 write events/kprobes/many1100/enable 1
want 0 record -q -o many.dat -e kprobes:many1100 "$shop"
want 0 report many.dat
[ "$(grep -c 'many1100: .* a=0x[123]$' "$out")" -eq 3 ] || fail "the last of many"
want 0 stat
want 0 reset
want 0 cat dynamic_events
[ ! -s "$out" ] || fail "reset leaves probes"
