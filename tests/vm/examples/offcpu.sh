#!/bin/sh
# Which system call blocks longest: the call that a task was in when it went off the CPU for a device, and how long it was off.
. room
cd $tracing || exit 1

want ringside sqlhist -e -n sysname 'SELECT start.id, end.prev_pid FROM sys_enter AS start
	JOIN sched_switch AS end ON start.common_pid = end.prev_pid
	WHERE end.prev_state == 2'
want ringside sqlhist -e -n offcpu 'SELECT start.id, end.next_comm AS comm, end.next_pid AS pid,
	(end.TIMESTAMP_USECS - start.TIMESTAMP_USECS) AS lat FROM sysname AS start
	JOIN sched_switch AS end ON start.prev_pid = end.next_pid'
put events/synthetic/offcpu/trigger 'hist:keys=id.syscall,comm,pid:vals=lat'
want mke2fs /dev/vda 8192
want mount -t ext4 /dev/vda /mnt
want dd if=/dev/zero of=/mnt/file bs=64k count=4 conv=fsync
want umount /mnt
want ringside cat events/synthetic/offcpu/hist
has '^# trigger info: hist:keys=id\.syscall,comm,pid:vals=hitcount,lat:sort=hitcount:size=2048 \[active\]$'
has '^\{ id: sys_fsync +\[ 74\], comm: dd +, pid: +[0-9]+ \} hitcount: +[0-9]+  lat: +[0-9]+$'
has '^\{ id: sys_mount +\[165\], comm: mount +, pid: +[0-9]+ \} hitcount: +[0-9]+  lat: +[0-9]+$'
left
