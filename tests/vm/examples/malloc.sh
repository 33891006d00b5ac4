#!/bin/sh
# Memory that programs take: a probe in their libc, and who takes how much.
. room

want nm -D /lib64/libc.so.6
at=$(sed -n 's/^0*\([0-9a-f]*\) T malloc@@GLIBC.*/0x\1/p' "$out")
[ -n "$at" ] || fail "no malloc"

put $tracing/uprobe_events "p:malloc /lib64/libc.so.6:$at size=%di:u64"
want ringside list -e uprobes:malloc -F --full
has '^system: uprobes$'
has '	field:u64 size;	offset:16;	size:8;	signed:0;'
has '^print fmt: "\(%lx\) size=%Lu", REC->__probe_ip, REC->size$'
want ringside start -e malloc
bash -c 'true' || fail "bash"
want ringside show
has ' bash-[0-9]+ .*: malloc: \(0x7[0-9a-f]+\) size=[0-9]+$'

# What it returns.
want ringside reset -t
put $tracing/uprobe_events "p:malloc /lib64/libc.so.6:$at size=%di:u64"
add $tracing/uprobe_events "r:malloc_ret /lib64/libc.so.6:$at ret=%ax"
want ringside list -e uprobes
has '^uprobes:malloc$'
has '^uprobes:malloc_ret$'
want ringside start -e uprobes
bash -c 'true' || fail "bash"
want ringside stop
want ringside show
has ' bash-[0-9]+ .*: malloc_ret: \(0x[0-9a-f]+ <- 0x7[0-9a-f]+\) ret=0x[0-9a-f]+$'
grep ' bash-' "$out" | awk '/: malloc: / { if (open) exit 1; open = 1 } /: malloc_ret: / { if (!open) exit 1; open = 0; n++ }
	END { exit !n }' || fail "calls and returns of bash do not alternate"

# How much, by process and by program. The rows are sorted.
want ringside reset
cd $tracing || exit 1
put uprobe_events "p:malloc /lib64/libc.so.6:$at size=%di:u64"
put events/uprobes/malloc/trigger 'hist:keys=common_pid:vals=size:sort=size'
bash -c 'true; exit' & me=$!
wait $me
want cat events/uprobes/malloc/hist
has '^# trigger info: hist:keys=common_pid:vals=hitcount,size:sort=size:size=2048 \[active\]$'
has "^\{ common_pid: +$me \} hitcount: +[0-9]+  size: +[0-9]+\$"
sed -n 's/^{.* size: *//p' "$out" | sort -nc || fail "not sorted"
put events/uprobes/malloc/trigger '!hist:keys=common_pid:vals=size:sort=size'
put events/uprobes/malloc/trigger 'hist:keys=common_pid.execname:vals=size:sort=size'
bash -c 'echo $$ >"$0"' "$RINGSIDE_SCRATCH/pid"
me=$(cat "$RINGSIDE_SCRATCH/pid")
want ringside cat events/uprobes/malloc/hist
# The name is that of the process when it came first: it may still have been the shell's.
has "^\{ common_pid: (bash|malloc.sh) +\[ +$me\] \} hitcount: +[0-9]+  size: +[0-9]+\$"
has '^    Dropped: 0$'
cd / || exit 1
want ringside reset

# By its name, with the offset looked up.
want ringside probe -x /lib64/libc.so.6 malloc
want ringside start -e probe_libc:malloc
bash -c 'true' || fail "bash"
want ringside show
has ' bash-[0-9]+ .*: malloc: \(0x7[0-9a-f]+\)'
left
