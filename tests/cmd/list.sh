#!/bin/sh
# list on a tracing directory: events and what else there is.
. "$RINGSIDE_SOURCE/tests/cmd/room.sh"

program shop <<'END'
#include <ringside/ringside.h>

RINGSIDE_EVENT(shop, order, field(int, item), string(who), print("item=%d who=%s", item, who))
RINGSIDE_EVENT(shop, pay, field(int, cents))
RINGSIDE_EVENT(till, open, field(int, n))

int main(void)
{
	trace_shop_order(1, "ann");
	return 0;
}
END

refuse 2 list -s -F -- -s -F
refuse 2 list -s --full -- --full
refuse 2 list -B -e -- -B
refuse 2 list -t -C -- -C
refuse 1 list -- "$RINGSIDE_DIR"
want 0 start -e shop:order
"$RINGSIDE_SCRATCH/shop"
want 0 list
says 'kmem:kfree
kmem:kmalloc
sched:sched_process_exec
sched:sched_process_exit
sched:sched_process_fork
sched:sched_switch
sched:sched_wakeup
sched:sched_waking
shop:order
shop:pay
till:open'
# What nobody has brought is told, and listed for those who ask.
grep -q "^ringside: [0-9]* events of the kernel's names are left out" "$err" || fail "nothing is left out"
n=$(sed -n 's/^ringside: \([0-9]*\) events of.*/\1/p' "$err")
want 0 list -a
[ "$(wc -l <"$out")" -eq $((n + 11)) ] || fail "-a does not list the $n that were left out"
[ ! -s "$err" ] || fail "-a leaves something out"
"$RINGSIDE" cat available_events | cmp -s - "$out" || fail "-a is not what there is"
want 0 list '^signal:'
says 'signal:signal_deliver
signal:signal_generate'
want 0 list -s -a
grep -qx syscalls "$out" || fail "no system syscalls"
want 0 list --json
[ ! -s "$err" ] || fail "words beside JSON"
want 0 list -e PAY
says shop:pay
# An expression for each side.
for re in op:^pa op/y 'shop:pa[[:alpha:]]$'; do
	want 0 list -e "$re"
	says shop:pay
done
want 0 list -e 'shop:^ay'
[ ! -s "$out" ] || fail "one that does not match"
want 0 list -s
says 'kmem
sched
shop
till'
want 0 list --json -s till
says '{"system":"till"}'
want 0 list --json
grep -q '^{"system":"shop","event":"order","id":[0-9]*,"enabled":true}$' "$out" || fail "order in JSON"
grep -q '^{"system":"shop","event":"pay","id":[0-9]*,"enabled":false}$' "$out" || fail "pay in JSON"
want 0 list -F 'shop:pay'
grep -q 'field:int cents;' "$out" && ! grep -q 'print fmt' "$out" || fail "fields"
want 0 list --full 'shop:pay'
grep -q 'print fmt:' "$out" || fail "print format"
refuse 2 list -s -l -- -l
refuse 2 list -B -R -- -B
want 0 write events/shop/order/filter 'item > 3'
want 0 write events/shop/order/trigger 'traceoff:2 if item == 9'
want 0 list -l shop:
says 'shop:order
item > 3

shop:pay
none
'
want 0 list -e -R shop:order
says 'shop:order
traceoff:count=2 if item == 9
'
want 0 list -l -R shop:order
says 'shop:order
item > 3
traceoff:count=2 if item == 9
'
want 0 list --json -l -R shop:
grep -q '"event":"order",.*,"filter":"item > 3","triggers":\["traceoff:count=2 if item == 9"\]}$' "$out" || fail "hooks in JSON"
grep -q '"event":"pay",.*,"filter":null,"triggers":\[\]}$' "$out" || fail "no hooks in JSON"
want 0 write events/shop/order/filter 0
want 0 write events/shop/order/trigger '!traceoff'
want 0 list -p
cp "$out" old
want 0 list -t
cmp -s old "$out" || fail "-p and -t differ"
grep -qx nop "$out" || fail "no tracer nop"
want 0 list -C
grep -q '^\[local\]$' "$out" || fail "no clock"
want 0 list -o '^(no)?overwrite$'
says overwrite
want 0 list -B
[ ! -s "$out" ] || fail "instances from nowhere"
want 0 start -B blue -B green
want 0 list -B
says 'blue
green'
want 0 list -B --json gr
says '{"instance":"green"}'
exit 0
