#!/bin/sh
# A person's session: start before the program, run it, look at it in every way there is.
. "$RINGSIDE_SOURCE/tests/cmd/room.sh"

program shop <<'EOF'
#include <ringside/ringside.h>

RINGSIDE_EVENT(shop, order, field(int, item), string(who), print("item=%d who=%s", item, who))
RINGSIDE_EVENT(shop, pay, field(int, cents))

int main(void)
{
	for (int i = 0; i < 10; i++) {
		trace_shop_order(i, "ann");
		trace_shop_pay(i * 100);
	}
	ringside_printf("sold %d", 10);
	return 0;
}
EOF

# Nothing is missed by a program that starts later; unknown names are told.
want 0 start -e shop:order
grep -q 'shop:order' "$err" || fail "an unknown event is not told"
"$RINGSIDE_SCRATCH/shop"
want 0 show
[ "$(grep -c ': order: item=[0-9] who=ann$' "$out")" -eq 10 ] || fail "not ten orders"
! grep -q ': pay:' "$out" || fail "pay is not on"
grep -q 'shop-[0-9 ]* \[[0-9]*\] \.\.\.\.\.  *[0-9]*\.[0-9]*: main: sold 10$' "$out" || fail "printf"
grep -q '^# entries-in-buffer/entries-written: 11/11   #P:' "$out" || fail "header"

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
shop:pay'
want 0 list -e PAY
says shop:pay
want 0 list -s shop
says shop
want 0 list -e nosuch
[ ! -s "$out" ] || fail "nosuch is listed"
want 0 list -e order -F
grep -q '^	field:int item;' "$out" || fail "no fields"
! grep -q 'print fmt' "$out" || fail "print format without --full"
want 0 list -e order --full
grep -q '^print fmt: "item=%d who=%s"' "$out" || fail "no print format"
want 0 list --json
[ "$(grep -c '"enabled":true' "$out")" -eq 1 ] || fail "one is enabled"

# By CPU: the parts make the whole.
want 0 show
grep -v '^#' "$out" | sort >"$out.all"
: >"$out.parts"
for cpu in $("$RINGSIDE" cat per_cpu | tr -d '/' | sed 's/cpu//'); do
	want 0 show -c "$cpu"
	grep -v '^#' "$out" >>"$out.parts"
done
sort "$out.parts" | cmp -s - "$out.all" || fail "the CPUs' parts are not the whole"
refuse 1 show -c 99999 -- 99999

# JSON is JSON.
want 0 show --json
[ "$(grep -c '"event":"order"' "$out")" -eq 10 ] || fail "ten orders in JSON"
if command -v python3 >/dev/null; then
	python3 -c 'import json, sys
rows = [json.loads(line) for line in sys.stdin]
assert [r["fields"]["item"] for r in rows if r["event"] == "order"] == list(range(10)), rows
assert all(a["ts"] <= b["ts"] for a, b in zip(rows, rows[1:]))' <"$out" 2>"$err" || fail "JSON"
fi

# On top of it, off, and off for good.
want 0 start -e shop:pay
[ ! -s "$err" ] || fail "shop:pay is known"
want 0 clear
"$RINGSIDE_SCRATCH/shop"
want 0 show
[ "$(grep -c ': pay: cents=' "$out")" -eq 10 ] && [ "$(grep -c ': order:' "$out")" -eq 10 ] ||
	fail "order and pay"
want 0 stop
"$RINGSIDE_SCRATCH/shop"
want 0 cat trace
grep -q '^# entries-in-buffer/entries-written: 21/21' "$out" || fail "stopped, but it records"
want 0 write events/shop/order/enable 0
want 0 cat set_event
says shop:pay
want 0 start -e shop:pay

# Raw pages are the kernel's bytes and are taken away.
total=0
for cpu in $("$RINGSIDE" cat per_cpu); do
	want 0 cat "per_cpu/${cpu}trace_pipe_raw"
	size=$(wc -c <"$out")
	[ $((size % 4096)) -eq 0 ] || fail "$size bytes are no pages"
	total=$((total + size))
done
[ $total -ge 4096 ] || fail "no pages"
want 0 show
grep -q '^# entries-in-buffer/entries-written: 0/0' "$out" || fail "still there"

want 0 reset
want 0 cat set_event tracing_on buffer_size_kb
says '1
0 (expanded: 1410)'
"$RINGSIDE_SCRATCH/shop"
want 0 show
grep -q '^# entries-in-buffer/entries-written: 0/0' "$out" || fail "reset, but it records"
want 0 start
"$RINGSIDE_SCRATCH/shop"
want 0 show
[ "$(grep -c ': order: item=' "$out")" -eq 10 ] || fail "start without -e is not everything"
exit 0
