#!/bin/sh
# A buffer is put aside while recording goes on; and at the moment that an event names.
. room
cd $tracing || exit 1

want ringside start -e sched_process_exec
/bin/true
want ringside snapshot -s
/bin/false
want ringside snapshot
has 'sched_process_exec: filename=.*/true '
hasnt 'filename=.*/false '
want ringside show
has 'sched_process_exec: filename=.*/false '
hasnt 'filename=.*/true '
want ringside show -s
has 'filename=.*/true '
want ringside snapshot -r
want ringside snapshot
hasnt 'filename='
want ringside snapshot -f
want cat snapshot
has '^# \* Snapshot is freed \*$'

# By an event.
want ringside clear
put events/sched/sched_process_fork/trigger 'snapshot:1 if parent_comm == "snapshot.sh"'
/bin/true
/bin/false
want ringside cat snapshot
hasnt 'filename=.*/false '
want cat snapshot
has '^# +TASK-PID'
left
