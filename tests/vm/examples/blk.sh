#!/bin/sh
# What becomes of a request to a disk, from the queue to its end.
. room
cd $tracing || exit 1
want mke2fs /dev/vda 8192

# Someone waits for what comes while another one reads.
look() {
	cat trace_pipe >"$RINGSIDE_SCRATCH/pipe" &
	reader=$!
	want dd if=/dev/vda of=/dev/null bs=4k count=1 skip=3 iflag=direct
	# Its end is told by whoever is interrupted for it, some time later where the machine is slow.
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		sleep 0.6
		grep -q ': 254,0 *C ' "$RINGSIDE_SCRATCH/pipe" && break
	done
	kill $reader
	wait $reader
	cp "$RINGSIDE_SCRATCH/pipe" "$out"
	for action in Q G; do
		has " [^ ]+-[0-9]+ .*: 254,0 +$action +R[A-Z]* 24 \+ 8 \[dd\]\$"
	done
	# By a worker of the kernel's where dd has come to another CPU meanwhile.
	has ': 254,0 +D +R[A-Z]* 24 \+ 8 \[[^]]+\]$'
	has ': 254,0 +C +R[A-Z]* 24 \+ 8 \[[0-9]+\]$'
}

want cat available_tracers
has '(^| )blk '
put /sys/block/vda/trace/enable 1
put current_tracer blk
look
put current_tracer nop

want ringside start -p blk
look
put /sys/block/vda/trace/enable 0
left
