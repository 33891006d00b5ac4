#!/bin/sh
# Ours beside the kernel's uprobes, on the same program: the same places are come by as often, with the same arguments. Not in the
# same process: whoever comes second finds the other's bytes in its place, and leaves them alone.
. "$RINGSIDE_SOURCE/tests/probe/room.sh"

kernel=/sys/kernel/tracing
group=ringside_$$
[ -w $kernel/uprobe_events ] || {
	echo "SKIP: the kernel's uprobe_events cannot be written: this needs root"
	exit 77
}

# What is left of one that was killed would be in the way of nobody: groups have the number of their process.
leave() {
	echo 0 >$kernel/instances/$group/events/$group/enable
	rmdir $kernel/instances/$group
	sed -n "s|^[pr]:GROUP/\([^ ]*\) .*|-:$group/\1|p" lines | while read -r line; do
		echo "$line" >>$kernel/uprobe_events
	done
} 2>/dev/null
trap leave EXIT

shop
place=$(offset shop shop_place)
many=$(offset shop shop_many)
price=$(offset shop shop_price)

# Events with arguments, and one for each instruction.
cat >lines <<END
p:GROUP/place $PWD/shop:$place n=%si:s64 id=+0(%di):s32 who=+0(+0(+8(%di))):string bits=+24(%di):b4@4/32 counts=+28(%di):s16[4] text=+0(%dx):string bad=+0(%si):string imm=\\42:u8 comm=\$comm
p:GROUP/many $PWD/shop:$many a=%di f=%r9:u64 g=\$stack1:u64 h=\$stack2:s8
r:GROUP/placed $PWD/shop:$place ret=\$retval:s64
r:GROUP/priced $PWD/shop:$price ret=\$retval:x32 bx=%bx:x64
END
for function in shop_place shop_price shop_many shop_below; do
	from=$(offset shop $function)
	objdump -d -w shop | awk -v name="<$function>:" '$2 == name { p = 1; first = strtonum("0x" $1); next } /^$/ { p = 0 }
		p && !/nop|xchg   %ax,%ax|^ *[0-9a-f]+:\t[0-9a-f ]*$/ { sub(":", "", $1); print strtonum("0x" $1) - first }' |
	while read -r at; do
		printf 'p:GROUP/%s_%d %s:0x%x\n' $function "$at" "$PWD/shop" $((from + at))
	done
done >>lines

want 0 write -a uprobe_events "$(sed "s/GROUP/$group/" lines)"
want 0 write events/$group/enable 1
run setarch -R ./shop 60 3
want 0 write events/$group/enable 0
"$RINGSIDE" cat uprobe_profile >profile.ours
want 0 write trace ''
want 0 write events/$group/enable 1
run setarch -R ./shop 60
"$RINGSIDE" cat trace >trace.ours

mkdir $kernel/instances/$group || exit 1
# Line by line: it takes a part of one for the whole.
sed "s/GROUP/$group/" lines | while read -r line; do
	printf '%s\n' "$line" >>$kernel/uprobe_events || echo "$line"
done >refused
[ ! -s refused ] || { echo "the kernel refuses $(cat refused)"; exit 1; }
echo 8192 >$kernel/instances/$group/buffer_size_kb
echo 1 >$kernel/instances/$group/events/$group/enable
setarch -R ./shop 60 3 >/dev/null
cat $kernel/uprobe_profile >profile.theirs
echo >$kernel/instances/$group/trace
setarch -R ./shop 60 >/dev/null
cat $kernel/instances/$group/trace >trace.theirs

for who in ours theirs; do
	sed -n "s|^ *$PWD/shop *\([^ ]*\) *\([0-9]*\)\$|\1 \2|p" profile.$who | sort >counts.$who
	sed -n 's/^.*: \(\(place\|many\|placed\|priced\): .*\)$/\1/p' trace.$who >text.$who
done
cp counts.ours "$out"
cp counts.theirs "$err"
[ "$(awk '{ n += $2 } END { print n }' counts.ours)" -gt 2000 ] || fail "hardly anything was counted"
cmp -s counts.ours counts.theirs || fail "counted differently: $(diff counts.ours counts.theirs | head -5)"
head -20 text.ours >"$out"
head -20 text.theirs >"$err"
[ "$(wc -l <text.ours)" -ge 200 ] || fail "not all records are there"
cmp -s text.ours text.theirs || fail "recorded differently: $(diff text.ours text.theirs | head -6)"
