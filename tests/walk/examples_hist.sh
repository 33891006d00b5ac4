#!/bin/sh
# What a talk about the kernel's histograms shows, one example after the other, on events of programs: counting by a key, with
# names of tasks, values and an order; the time between two events in a histogram of buckets; two synthetic events, the second
# made of the first, with a condition in between: what blocks longest; a probe that makes a text of a pointer, also of one that
# leads nowhere. `hist` reads as the kernel's.
. "$RINGSIDE_SOURCE/tests/cmd/room.sh"

program desk <<'END'
#include <ringside/ringside.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/types.h>
#include <unistd.h>

RINGSIDE_EVENT(desk, alloc, field(unsigned long, size))
RINGSIDE_EVENT(desk, waking, field(pid_t, pid))
RINGSIDE_EVENT(desk, run, field(pid_t, next_pid), string(next_comm))
RINGSIDE_EVENT(desk, enter, field(long, id))
RINGSIDE_EVENT(desk, away, field(pid_t, prev_pid), field(int, state))
RINGSIDE_EVENT(desk, back, field(pid_t, next_pid), string(next_comm))
RINGSIDE_EVENT(desk, send, field(const char *, name))

static void allocate(const char *comm, int times, unsigned long size)
{
	prctl(PR_SET_NAME, comm);
	for (int i = 0; i < times; i++)
		trace_desk_alloc(size);
}

/* A call that puts its task (its own number) aside, in a state; 2 is the one that counts. */
static void block(long id, int state)
{
	trace_desk_enter(id);
	trace_desk_away(getpid(), state);
	trace_desk_back(getpid(), "desk");
}

/* desk WHAT */
int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (!strcmp(what, "alloc")) {
		allocate("sshd", 2, 384);
		allocate("sshd", 1, 15);
	} else if (!strcmp(what, "bash")) {
		allocate("bash", 5, 1000);
	} else if (!strcmp(what, "wake")) {
		for (int pid = 100; pid < 106; pid++) {
			trace_desk_waking(pid);
			if (pid != 103)
				trace_desk_run(pid, pid % 2 ? "bash" : "kworker/0:1");
		}
		trace_desk_run(999, "nobody");
	} else if (!strcmp(what, "block")) {
		block(74, 2);
		block(202, 2);
		block(74, 2);
		block(1, 1);
	} else if (!strcmp(what, "send")) {
		trace_desk_send("eth0");
		trace_desk_send("lo");
		trace_desk_send("lo");
		trace_desk_send((const char *)16);
	}
	return 0;
}
END
desk=$RINGSIDE_SCRATCH/desk
"$desk"

# The text of a hist with every latency, which is whatever it is, as N.
hist() {
	want 0 cat "events/$1/hist"
	sed -i 's/\(lat\): *[0-9][0-9]*$/\1: N/' "$out"
}

# ---- counting by a key ----
want 0 write events/desk/alloc/trigger 'hist:keys=common_pid.execname:vals=size:sort=size'
"$desk" alloc &
ssh=$!
wait $ssh
"$desk" bash &
bash=$!
wait $bash
want 0 cat events/desk/alloc/hist
says "# event histogram
#
# trigger info: hist:keys=common_pid.execname:vals=hitcount,size:sort=size:size=2048 [active]
#

{ common_pid: sshd            [$(printf %10d $ssh)] } hitcount:          3  size:        783
{ common_pid: bash            [$(printf %10d $bash)] } hitcount:          5  size:       5000

Totals:
    Hits: 8
    Entries: 2
    Dropped: 0"

# ---- the time between two events, and a histogram of it ----
want 0 write synthetic_events 'wakeup_lat char name[]; pid_t pid; u64 latency'
want 0 write events/desk/waking/trigger 'hist:keys=pid:ts1=common_timestamp.usecs'
want 0 write events/desk/run/trigger \
	'hist:keys=next_pid:delta=common_timestamp.usecs-$ts1:onmatch(desk.waking).trace(wakeup_lat,next_comm,next_pid,$delta)'
want 0 write events/synthetic/wakeup_lat/trigger 'hist:keys=name,latency.buckets=1000000000000:sort=name,latency'
"$desk" wake
want 0 cat events/synthetic/wakeup_lat/hist
says "# event histogram
#
# trigger info: hist:keys=name,latency.buckets=1000000000000:vals=hitcount:sort=name,latency.buckets=1000000000000:size=2048 [active]
#

{ name: bash                                              , latency: ~ 0-999999999999 } hitcount:          2
{ name: kworker/0:1                                       , latency: ~ 0-999999999999 } hitcount:          3

Totals:
    Hits: 5
    Entries: 2
    Dropped: 0"

# ---- what blocks longest: two synthetic events, one out of the other ----
want 0 write -a synthetic_events 'sysname s64 id; pid_t prev_pid'
want 0 write -a synthetic_events 'offcpu s64 id; char comm[]; pid_t pid; u64 lat'
want 0 write events/desk/enter/trigger 'hist:keys=common_pid:id=id'
want 0 write events/desk/away/trigger \
	'hist:keys=prev_pid:id=desk.enter.$id:onmatch(desk.enter).trace(sysname,$id,prev_pid) if state == 2'
want 0 write events/synthetic/sysname/trigger 'hist:keys=prev_pid:ts=common_timestamp.usecs,id2=id'
want 0 write events/desk/back/trigger \
	'hist:keys=next_pid:lat=common_timestamp.usecs-$ts,id3=$id2:onmatch(synthetic.sysname).trace(offcpu,$id3,next_comm,next_pid,$lat)'
want 0 write events/synthetic/offcpu/trigger 'hist:keys=id.syscall,comm,pid:vals=lat'
"$desk" block &
pid=$!
wait $pid
hist synthetic/offcpu
# Numbers of system calls are those of x86-64, as the kernel's example has them.
if [ "$(uname -m)" = x86_64 ] && ! file -L "$RINGSIDE" 2>/dev/null | grep -q 'ELF 32'; then
	says "# event histogram
#
# trigger info: hist:keys=id.syscall,comm,pid:vals=hitcount,lat:sort=hitcount:size=2048 [active]
#

{ id: sys_futex                     [202], comm: desk                                              , pid: $(printf %10d $pid) } hitcount:          1  lat: N
{ id: sys_fsync                     [ 74], comm: desk                                              , pid: $(printf %10d $pid) } hitcount:          2  lat: N

Totals:
    Hits: 3
    Entries: 2
    Dropped: 0"
fi

# ---- a pointer becomes a text ----
want 0 write -a dynamic_events 'e:sent desk/send name=+0($name):ustring'
want 0 write events/eprobes/sent/trigger 'hist:keys=name'
want 0 write events/eprobes/sent/enable 1
"$desk" send
want 0 cat events/eprobes/sent/hist
says "# event histogram
#
# trigger info: hist:keys=name:vals=hitcount:sort=hitcount:size=2048 [active]
#

{ name: (fault)                                            } hitcount:          1
{ name: eth0                                               } hitcount:          1
{ name: lo                                                 } hitcount:          2

Totals:
    Hits: 4
    Entries: 3
    Dropped: 0"
want 0 show
[ "$(grep -c 'sent: .*name="lo"' "$out")" -eq 2 ] && grep -q 'sent: .*name=(fault)$' "$out" || fail "not the probe's records"
exit 0
