#!/bin/sh
# Which system calls there are: a histogram of their numbers, and of their names.
. room

want ringside list -e raw_syscall:sys_enter -F --full
has '^system: raw_syscalls$'
has '	field:long id;	offset:8;	size:8;	signed:1;'
has '	field:unsigned long args\[6\];	offset:16;	size:48;	signed:0;'

cd $tracing || exit 1
put events/raw_syscalls/sys_enter/trigger 'hist:keys=id'
cat /etc/passwd >"$out"
want cat events/raw_syscalls/sys_enter/hist
has '^# trigger info: hist:keys=id:vals=hitcount:sort=hitcount:size=2048 \[active\]$'
has '^\{ id: +257 \} hitcount: +[0-9]+$'
sed -n 's/^{.* hitcount: *//p' "$out" | sort -nc || fail "not sorted"
sum=$(sed -n 's/^{.* hitcount: *//p' "$out" | awk '{ n += $1 } END { print n }')
has "^    Hits: $sum\$"
put events/raw_syscalls/sys_enter/trigger '!hist:keys=id'

put events/raw_syscalls/sys_enter/trigger 'hist:keys=id.syscall'
cat /etc/passwd >"$out"
want ringside cat events/raw_syscalls/sys_enter/hist
has '^\{ id: sys_openat +\[257\] \} hitcount: +[0-9]+$'
has '^\{ id: sys_execve +\[ 59\] \} hitcount: +[0-9]+$'
has '^    Dropped: 0$'
left
