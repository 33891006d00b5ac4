#!/bin/sh
# An event of which only a few bytes are of interest: as it is, and as one of one's own. A talk has a module of the kernel's for the second;
# a probe of the event does the same.
. room
cd $tracing || exit 1

want ringside list -e sched_switch -F
has '^system: sched$'
has '^name: sched_switch$'
has '	field:char prev_comm\[(16|TASK_COMM_LEN)\];	offset:8;	size:16;	signed:[01];'
has '	field:long prev_state;	offset:32;	size:8;	signed:1;'
has '	field:int next_prio;	offset:60;	size:4;	signed:1;'
hasnt '^print fmt'

put dynamic_events 'e:custom/sched_switch sched/sched_switch prev_prio=$prev_prio:u16 next_prio=$next_prio:u16 next_pid=$next_pid:s32'
want ringside list -e custom:sched_switch -F
[ "$(count '^system: ')" -eq 1 ] || fail "more than that one"
has '^system: custom$'
has '^name: sched_switch$'
has '	field:u16 prev_prio;	offset:8;	size:2;	signed:0;'
has '	field:u16 next_prio;	offset:10;	size:2;	signed:0;'
has '	field:s32 next_pid;	offset:12;	size:4;	signed:1;'
want ringside start -e custom:sched_switch
sleep 0.1
want ringside show
all_are ': sched_switch: \(sched\.sched_switch\) prev_prio=[0-9]+ next_prio=[0-9]+ next_pid=[0-9]+$'
left
