#!/bin/sh
# Which files a program opens. A name that nobody has touched yet cannot be read when the call begins; when it ends, it can.
. room
cd $tracing || exit 1

want ringside list -e sys_enter_openat -F
has '^name: sys_enter_openat$'
has '^name: sys_enter_openat2$'
has '	field:const char \* filename;	offset:24;	size:8;	signed:0;'
put dynamic_events 'e:open syscalls/sys_enter_openat file=+0($filename):ustring'
want ringside list -e eprobes -F --full
has '	field:__data_loc char\[\] file;	offset:8;	size:4;	signed:1;'
want ringside start -e open
want ls /etc
want ringside show
has ' ls-[0-9]+ .*: open: \(syscalls\.sys_enter_openat\) file="/etc"$'

want ringside stop
want ringside clear
want ringside start -e open -F openat
want ringside show
all_are ' openat-[0-9]+ .*: open: \(syscalls\.sys_enter_openat\) file='
has 'libc\.so\.6"$'
has 'file=\(fault\)$'
hasnt '/etc/passwd'

want ringside list -e sys_exit_openat -F
has '	field:long ret;	offset:16;	size:8;	signed:1;'
want ringside reset
want ringside sqlhist -e -n myopen 'SELECT start.filename, end.ret
	FROM sys_enter_openat AS start JOIN sys_exit_openat AS end
	ON start.common_pid = end.common_pid'
want ringside list -e myopen -F
has '	field:u64 filename;	offset:8;	size:8;	signed:0;'
has '	field:s64 ret;	offset:16;	size:8;	signed:1;'
add dynamic_events 'e:open synthetic/myopen file=+0($filename):ustring ret=$ret'
want ringside start -e open -F openat
want ringside show
all_are ' openat-[0-9]+ .*: open: \(synthetic\.myopen\) file=".*" ret=0x[0-9a-f]+$'
has 'file="/etc/passwd" ret=0x3$'
left
