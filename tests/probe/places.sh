#!/bin/sh
# Probes by an address of the symbol space, memory by the name of what lies there, and what the loader calls in a stripped file.
. "$RINGSIDE_SOURCE/tests/probe/room.sh"

cat >told.c <<'END'
#include <stdio.h>
char told[] = "by its name";
static long numbers[] = { 11, -22, 33 };
__attribute__((noinline)) long tell(long i) { __asm__ volatile("" : "+r"(i)); return numbers[i]; }
int main(void) { printf("%ld\n", tell(0) + tell(1)); return 0; }
END
# shellcheck disable=SC2086
$CC -O2 told.c -o told || exit 1
run ./told
address=$("$RINGSIDE" cat available_filter_functions_addrs | awk '$2 == "tell" { print $1 }')
[ -n "$address" ] || fail "nothing is known of the function"

# ---- by an address, which its listing has, too ----

put kprobe_events "p:at/first 0x$address i=%di:s64"
put kprobe_events "r:at/last 0x$address"
want 0 cat kprobe_events
grep -Eq "^p:at/first 0x0*$address i=%di:s64$" "$out" || fail "the address is not shown as it was written"
want 1 write -a kprobe_events "p:at/none 0x$(printf %x $((0x$address + 0x70000000)))"

# ---- memory by a name: functions and data, wherever the program has them ----

put kprobe_events "p:by/name tell text=@told:string rest=@told+3:string n=@numbers+8:s64 code=@tell:x8 far=@0x$address:x8"
want 1 write -a kprobe_events "p:by/nobody tell n=@nobody_has_this"
want 0 write events/at/enable 1
want 0 write events/by/enable 1
run ./told
grep -qx -- -11 "$out" || fail "the program says something else"
[ "$(records first | sed -E 's/^\(tell[^)]*\) //')" = "i=0
i=1" ] || fail "it was not come by twice"
[ "$(records last | wc -l)" -eq 2 ] || fail "its returns are not there"
records name | sed -E 's/^\([^)]*\) //' | sort -u >"$out"
[ "$(wc -l <"$out")" -eq 1 ] || fail "it reads something else each time"
grep -Eq '^text="by its name" rest="its name" n=-22 code=(0x[0-9a-f]+) far=\1$' "$out" || fail "that is not what lies there"

# ---- what a stripped file has without a name ----

want 0 write events/at/enable 0
want 0 write events/by/enable 0
cp told bare
strip bare
init=$(readelf -SW bare | sed -n 's/^.*\] \.init  *PROGBITS  *[0-9a-f]* \([0-9a-f]*\) .*/\1/p')
[ -n "$init" ] || exit 0
put uprobe_events "p:bare/init $PWD/bare:0x$init"
want 0 write events/bare/enable 1
run ./bare
grep -qx -- -11 "$out" || fail "the stripped program says something else"
[ "$(records init | wc -l)" -eq 1 ] || fail "it did not come by its beginning once"
