#!/bin/sh
# Definitions by name on the real kernel: its uprobes fetch what the source says, and a semaphore tells the program that somebody
# listens. In an instance of our own, with a group of our own; both go away with the test.
. "$RINGSIDE_SOURCE/tests/cmd/room.sh"

top=$(awk '$3 == "tracefs" { print $2; exit }' /proc/mounts)
[ -n "$top" ] && [ "$(id -u)" -eq 0 ] && [ -w "$top/uprobe_events" ] && [ "$(uname -m)" = x86_64 ] || skip "no uprobes here"
cd "$RINGSIDE_SCRATCH" || exit 1
cc=${CC%% *}
"$cc" -O2 -g "$RINGSIDE_SOURCE/tests/cmd/probe_shop.c" -o shop && "$cc" -O0 -g "$RINGSIDE_SOURCE/tests/cmd/probe_shop.c" -o slow &&
	"$cc" -O2 "-I$RINGSIDE_SOURCE/include" "$RINGSIDE_SOURCE/tests/cmd/probe_notes.c" -o notes || exit 1
"$RINGSIDE" probe -x shop -V main 2>&1 | grep -q 'not built in' && skip "this build reads no debug information"
mine=ringside_test_$$
instance=$top/instances/$mine
mkdir "$instance" 2>/dev/null || skip "no instance can be made in $top"
trap 'for g in $mine ${mine}b; do echo 0 >"$instance/events/$g/enable"; "$RINGSIDE" probe --kernel -d "$g:*"; done >/dev/null 2>&1
	rmdir "$instance"' EXIT
# Where a kernel has no uprobes on this file system it says so.
"$RINGSIDE" probe --kernel -x shop "$mine:try=main" >"$out" 2>"$err" || skip "$(cat "$err")"

want 0 probe --kernel -x shop "$mine:fast=shop_place order->customer->name:string order->items[1].number placed greeting:string shelf order->matrix[1][2] count order->code[0]"
want 0 probe --kernel -x slow "$mine:slow=shop_place order->customer->name:string order->items[1].number placed greeting:string shelf order->matrix[1][2] count order->code[0]"
want 0 probe --kernel -x shop "$mine:back=shop_place%return \$retval->number \$retval->state"
want 0 probe --kernel -x ./notes "${mine}b:order=sdt_shop:order"
want 0 probe --kernel -l "$mine:*"
grep -q "$mine:fast  *(on shop_place@probe_shop.c in $(realpath shop) with name number placed" "$out" || fail "the list"
echo 1 >"$instance/events/$mine/enable" && echo 1 >"$instance/events/${mine}b/enable" || fail "not enabled"
./shop >/dev/null && ./slow >/dev/null || fail "the shops do not run"
./notes >printed
grep -qx 'somebody listens' printed || fail "the semaphore is not counted"
grep -v '^#' "$instance/trace" >"$out"
for name in fast slow; do
	grep -q " $name: (0x[0-9a-f]*) name=\"ann\" number=2 placed=0 greeting=\"welcome\" shelf={1,2,3,4,5,6,7,8} matrix=6 count=3 code='K'\$" "$out" ||
		fail "$name"
done
grep -q ' back: (0x[0-9a-f]* <- 0x[0-9a-f]*) number=-40 state=7$' "$out" || fail "what is returned"
[ "$(grep -c ' order: .* arg2=-5 arg3=250 arg4=-9 ' "$out")" -eq 3 ] || fail "probes of the file's own"
echo 0 >"$instance/events/${mine}b/enable"
./notes >printed
[ ! -s printed ] || fail "the semaphore is not counted down"
exit 0
