#!/bin/sh
# Probes in a kernel by its types, of a kernel that is not: what is made of places and arguments, for kernels that know much and
# for one that knows little; events of events; lines as they are; what comes and goes in a tree; and what is refused.
. "$RINGSIDE_SOURCE/tests/cmd/room.sh"
. "$RINGSIDE_SOURCE/tests/cmd/tree.sh"

[ "$(uname -m)" = x86_64 ] || { echo "parameters are looked for where x86-64 has them"; exit 77; }
cd "$RINGSIDE_SCRATCH" || exit 1
# The first byte is the fuzzer's. What is in there tests/symbol/btf_shop.h tells.
tail -c +2 "$RINGSIDE_SOURCE/fuzz/seeds/btf/shop" >shop.btf

# Makes TEXT the line LINE: made TEXT LINE
made() {
	want 0 probe --btf shop.btf -D "$1"
	says "$2"
	[ ! -s "$err" ] || fail "words beside it"
}

made 'shop_place order->customer->name' 'p:probe/shop_place shop_place name=+0(+16($arg1)):string'
made 'shop_place dev=order->number order->kind order->b quick pair.b' \
	'p:probe/shop_place shop_place dev=+0($arg1):s32 kind=+4($arg1):b3@0/8 b=+14($arg1):u16 quick=$arg5:u8 pair_b=$arg2:b32@32/64'
made 'my:ev=shop_place $arg1 $arg1->number +0(+16($arg1)):string %di $comm @jiffies:u64' \
	'p:my/ev shop_place arg1=$arg1:x64 number=+0($arg1):s32 +0(+16($arg1)):string di=%di comm=$comm jiffies=@jiffies:u64'
made 'shop_next%return $retval->number after->customer->since' \
	'r:probe/shop_next__return shop_next number=+0($retval):s32 since=+16(+16($arg1)):u64'
made 'shop_next $params' 'p:probe/shop_next shop_next after=$arg1:x64'
made 'shop_place+0x12 %ax' 'p:probe/shop_place shop_place+0x12 ax=%ax'
made 'some_module:late $arg2:u32' 'p:probe/late some_module:late arg2=$arg2:u32'
made '0xffffffff81000000 %di' 'p:probe/abs_ffffffff81000000 0xffffffff81000000 di=%di'
made 'odd.isra.0 $arg1' 'p:probe/odd_isra_0 odd.isra.0 arg1=$arg1'
made 'shop_place (struct customer *)a->since x=(customer)(order->user)->since' \
	'p:probe/shop_place shop_place since=+16($arg6):u64 x=+16(+64($arg1)):u64'
want 0 probe --btf shop.btf -D -a 'shop_close' -a 'shop_next after'
says 'p:probe/shop_close shop_close
p:probe/shop_next shop_next after=$arg1:x64'
want 0 probe --btf shop.btf -D 'shop_place $params'
says 'p:probe/shop_place shop_place order=$arg1:x64 quick=$arg5:u8 a=$arg6:u64 b=$arg10:u16'
grep -q '3 of what there is at shop_place' "$err" || fail "nothing is said of structs"

want 0 probe --btf shop.btf -V shop_next
says 'Available variables at shop_next
	@<shop_next>
		const volatile struct order*const	after'
want 0 probe --btf shop.btf -V shop_next%return
grep -qx '		struct order\*	$retval' "$out" || fail "what is returned is not listed"
want 0 probe --btf shop.btf -V 'struct customer'
says 'struct customer (40 bytes)
	@0	char name[16]
	@16	long unsigned int since
	@24	void (*call)(int)
	@32	const char *note'
want 0 probe --btf shop.btf -V 'struct order'
grep -qx '	@4.3	u8 state : 5' "$out" && grep -qx '	@14	short unsigned int b' "$out" || fail "members"
want 0 probe --btf shop.btf -F 'shop_[cn]*'
says 'shop_close
shop_next'

refuse 1 probe --btf shop.btf -D 'shop_place odrer->number' -- "did you mean 'order'"
refuse 1 probe --btf shop.btf -D 'shop_place order->nmber' -- "did you mean 'number'" "struct order"
refuse 1 probe --btf shop.btf -D 'nobody order' -- 'do not tell of this function' '$arg1'
refuse 1 probe --btf shop.btf -D 'shop_place+4 order' -- 'first instruction'
refuse 1 probe --btf shop.btf -D 'shop_place+4 $arg1' -- 'first instruction'
refuse 1 probe --btf shop.btf -D 'shop_place $retval' -- '%return'
refuse 1 probe --btf shop.btf -D 'shop_close%return $retval' -- 'returns nothing'
refuse 1 probe --btf shop.btf -D 'shop_place%return+4' -- 'not understood'
refuse 1 probe --btf shop.btf -D 'shop_place+4%return' -- 'as a whole'
refuse 1 probe --btf shop.btf -D 'shop_place:4' -- 'source lines'
refuse 1 probe --btf shop.btf -D 'shop.c:4' -- 'source lines'
refuse 1 probe --btf shop.btf -D 'shop_place 5' -- '\5'
refuse 1 probe --btf shop.btf -D 'shop_place $arg0' -- '$arg1'
refuse 1 probe --btf shop.btf -D 'shop_place a=quick a=order' -- "two arguments are called 'a'"
refuse 1 probe --btf shop.btf -D '0xzz' -- 'no address'
refuse 1 probe --btf shop.btf -V shop_plce -- "did you mean 'shop_place'"
refuse 1 probe --btf shop.btf -V 'struct ordr' -- "did you mean 'order'"
refuse 1 probe --btf shop.btf -V 'struct order *' -- 'no struct'
refuse 1 probe --btf shop.btf --kernel -L shop_place -- 'source lines'
refuse 1 probe --btf nowhere -D 'shop_place order' -- nowhere 'No such file'
refuse 1 probe --btf "$0" -D 'shop_place order' -- 'no BTF'
refuse 2 probe --btf shop.btf shop_place -- '--btf by itself'
refuse 2 probe --btf shop.btf -x ./x -D main -- 'without -x'

# ---- a tree ----
: >"$tree/kprobe_events"
: >"$tree/uprobe_events"
: >"$tree/dynamic_events"
on="--btf shop.btf --tracefs $tree"
# Options are words.
# shellcheck disable=SC2086
{
want 0 probe $on 'shop_place order->number'
grep -qx '  probe:shop_place (on shop_place with number)' "$out" || fail "what was added"
grep -qF "\`ringside record --tracefs $tree -e probe:shop_place\`" "$out" || fail "how it is recorded there"
holds kprobe_events 'p:probe/shop_place shop_place number=+0($arg1):s32'
: >"$tree/kprobe_events"
want 0 probe $on 'shop_place%return $retval'
holds kprobe_events 'r:probe/shop_place__return shop_place retval=$retval:s32'
# As it is.
want 0 probe $on 't:mine/tp   order  a=$arg1' 
holds dynamic_events 't:mine/tp   order  a=$arg1'
: >"$tree/dynamic_events"
want 0 probe $on 'f:fp shop_place%return $retval'
grep -qx '  fprobes:fp (on shop_place%return with $retval)' "$out" || fail "a line's names"
holds dynamic_events 'f:fp shop_place%return $retval'
: >"$tree/kprobe_events"
want 0 probe $on 'r10:r/many shop_place' 
holds kprobe_events 'r10:r/many shop_place'
# Of an event.
: >"$tree/dynamic_events"
want 0 probe $on 'shop/order item if item > 3'
holds dynamic_events 'e:probe/order shop.order item=$item:s32 if item > 3'
want 0 probe $on -D 'my:o=web.hit n=$item:u8 $comm'
says 'e:my/o web.hit n=$item:u8 comm=$comm'
want 0 probe $on -D 'web:hit (struct customer *)item->since'
says 'e:probe/hit web.hit since=+16($item):u64'
want 0 probe $on -V web/hit
says 'Fields of web:hit
		int	item'
# A name that no tree would take for an argument.
sed 's/int item;/&	offset:8;	size:4;	signed:1;\n	field:int of_which_the_name_is_longer_than_others;/' "$tree/events/web/hit/format" >long
cp "$tree/events/web/hit/format" short
cp long "$tree/events/web/hit/format"
want 0 probe $on -D 'web/hit of_which_the_name_is_longer_than_others $of_which_the_name_is_longer_than_others:u8'
says 'e:probe/hit web.hit of_which_the_name_is_longer_than=$of_which_the_name_is_longer_than_others:s32'\
' of_which_the_name_is_longer_tha=$of_which_the_name_is_longer_than_others:u8'
cp short "$tree/events/web/hit/format"
refuse 1 probe $on -D 'web/hit itm' -- "did you mean 'item'"
refuse 1 probe $on -D 'web/hit $itm' -- 'no such field' web/hit
refuse 1 probe $on -D 'web/hit item->x' -- "'int'" '(struct NAME *)item'
refuse 1 probe $on -D 'web/hit %di' -- 'no registers'
refuse 1 probe $on -D 'web/hat item' -- 'no event web:hat' 'nearest is web:hit'
# What is there.
cat >"$tree/dynamic_events" <<'END'
p:probe/place shop_place number=+0($arg1):s32
r4:probe/back shop:shop_place+0
e:probe/order shop.order item=$item:s32 if item > 3
t:mine/tp order a=$arg1
s:synthetic/some int x;
p:up/x /bin/true:0x10 a=%di
END
want 0 probe $on -l
says '  probe:place                    (on shop_place with number)
  probe:back                     (on shop:shop_place+0%return)
  probe:order                    (on event shop.order with item if item > 3)
  mine:tp                        (on tracepoint order with a)
  up:x                           (on 0x10 in /bin/true with a)'
want 0 probe $on -d 'probe:*' tp
grep -qx -e '-:probe/back' "$tree/dynamic_events" && grep -qx -e '-:mine/tp' "$tree/dynamic_events" || fail "not removed"
refuse 1 probe $on 'probe:place=shop_close' -- 'already'
# An old kernel: one file for each kind, no numbers, no char, and nothing is kept for returns.
rm "$tree/dynamic_events"
echo '$stack<index>, $stack, $retval, $comm,' >"$tree/README"
want 0 probe $on -D 'shop_place order->number $arg2:u32 +0(+16($arg1)):string order->customer->name[1] b'
says 'p:probe/shop_place shop_place number=+0(%di):s32 arg2=%si:u32 +0(+16(%di)):string name=+1(+16(%di)):s8 b=$stack4:u16'
refuse 1 probe $on -D 'shop_next%return after->number' -- 'keeps no parameters'
refuse 1 probe $on -D 'shop_next%return $arg1' -- 'keeps no parameters'
want 0 probe $on -D 'shop_next%return $retval->number'
says 'r:probe/shop_next__return shop_next number=+0($retval):s32'
printf 'p:probe/k shop_place\n' >"$tree/kprobe_events"
printf 'p:probe/u /bin/true:0x10\n' >"$tree/uprobe_events"
want 0 probe $on -d 'probe:*'
grep -qx -e '-:probe/k' "$tree/kprobe_events" && grep -qx -e '-:probe/u' "$tree/uprobe_events" || fail "each from its file"
rm "$tree/kprobe_events"
refuse 1 probe $on shop_close -- kprobe_events CONFIG_KPROBE_EVENTS
refuse 1 probe $on 'shop/order item' -- dynamic_events
}

# ---- events of programs ----
program shopper <<'END'
#include <ringside/event.h>
RINGSIDE_EVENT(shop, order, field(int, item), string(customer), field(double, price), print("item=%d", item))
int main(void)
{
	for (int i = 0; i < 6; i++)
		trace_shop_order(i, i % 2 ? "ann" : "bob", 0.5);
	return 0;
}
END
want 0 record -e shop ./shopper
want 0 probe -V shop/order
grep -qx '		__data_loc char\[\]	customer' "$out" || fail "a field"
want 0 probe 'mine:some=shop/order item $customer if item > 3'
want 0 probe -l
says '  mine:some                      (on event shop.order with item customer)'
want 0 record -e mine ./shopper
want 0 report
[ "$(sed -n 's/.* some: *//p' "$out")" = '(shop.order) item=4 customer="bob"
(shop.order) item=5 customer="ann"' ] || fail "an event of an event"
want 0 probe -d mine:some
want 0 probe 'e:mine/raw shop.order n=$item:u8'
want 0 probe -l
says '  mine:raw                       (on event shop.order with n)'
want 0 probe -d raw
refuse 1 probe -D 'shop/order price' -- 'integers'
refuse 1 probe 'shop/ordr item' -- 'no event shop:ordr' shop:order
refuse 1 probe -D 'shop/order (struct x *)item->y' -- 'types of programs'

# ---- the kernel that runs ----
if [ -r /sys/kernel/btf/vmlinux ] && grep -qw vfs_read /proc/kallsyms; then
	want 0 probe --kernel -D 'vfs_read file count pos'
	says 'p:probe/vfs_read vfs_read file=$arg1:x64 count=$arg3:u64 pos=$arg4:x64'
	refuse 1 probe --kernel -D 'vfs_raed file' -- "did you mean 'vfs_read'"
	refuse 1 probe --kernel -D 'vfs_read file->f_inod' -- "did you mean 'f_inode'"
	want 0 probe --kernel -V vfs_read
	grep -qx '		struct file\*	file' "$out" || fail "a parameter of this kernel"
	want 0 probe --kernel -F 'vfs_rea?'
	grep -qx vfs_read "$out" || fail "a function of this kernel"
fi
exit 0
