# SPDX-License-Identifier: MIT
"""Trace files about tasks: their names, what interrupts them, when they run and sleep."""

import random
import struct

from case_files import numbers
from dat import Event, File
from scene import T0, case, on_machines, scene, softirq_event, switch_event, tasks, wakeup_event

@on_machines
def comms(f):
    """Tasks without a name, with odd names, with long ones, and such as only a switch names."""
    switch = f.define("sched", switch_event())
    number, _ = numbers(f)
    f.cmdlines = "1 init\n2 a b\n3 0123456789abcdefghij\n5 <x>\n77777 big\n1000000 huge\n6 once\n"
    for i, pid in enumerate([1, 2, 3, 4, 5, 6, 7, 77777, 1000000, 4194303, -1, 0, 2147483647]):
        f.top.add(0, T0 + i * 1000, number, pid, n=i)
        f.top.add(1, T0 + i * 1000 + 10, switch, pid, prev_comm="was%d" % i, prev_pid=pid, prev_prio=120,
                  next_comm="new%d" % i, next_pid=500 + i, next_prio=120)
        f.top.add(1, T0 + i * 1000 + 20, number, 500 + i, n=i)
    return f


@case
def nameless():
    """A task whose name is empty, before one that has a name."""
    f = File()
    number, _ = numbers(f)
    f.cmdlines = "1 init\n2 \n3 last\n"
    for pid in (1, 2, 3):
        f.top.add(0, T0 + pid * 1000, number, pid, n=pid)
    return f


@case
def flags():
    """Every flag and count that a record carries, for the latency layout."""
    f = File()
    number, _ = numbers(f)
    for i in range(256):
        f.top.add(0, T0 + i * 1000, number, 10, i, 0, n=i)
        f.top.add(1, T0 + i * 1000 + 5, number, 11, 0, i, n=i)
    return f


@case
def flags_more():
    """The common fields that only some kernels have."""
    f = File(version=6)
    tasks(f, 10)
    more = Event("number", 500, ["int n"], '"n=%d", REC->n',
                 common=["unsigned char common_migrate_disable", "unsigned char common_preempt_lazy_count"])
    f.define("test", more)
    for i in range(20):
        data = bytearray(more.pack(f, 10, {"n": i}, i & 1, i & 3))
        data[8], data[9] = i % 5, i % 3
        f.top.cpu(0).add(T0 + i * 1000, bytes(data))
    return f


@case
def lock_depth():
    """A kernel that tells the depth of its big lock."""
    f = File(version=6)
    tasks(f, 10)
    more = Event("number", 500, ["int n"], '"n=%d", REC->n', common=["int common_lock_depth"])
    f.define("test", more)
    for i in range(-1, 12):
        data = bytearray(more.pack(f, 10, {"n": i}, 0, 1))
        data[8:12] = struct.pack("<i", i)
        f.top.cpu(0).add(T0 + (i + 1) * 1000, bytes(data))
    return f


@on_machines
def wakeups(f):
    """Wakeups and switches in pairs, of ordinary and of real-time tasks."""
    switch, wakeup, new = f.define("sched", switch_event(), wakeup_event(), wakeup_event("sched_wakeup_new", 373))
    tasks(f, 10, 11, 12, 13)
    # As the table has them: trace-cmd loses the last name of the table when it learns of a smaller number.
    names = {10: "shell", 11: "worker", 12: "kworker/0:1H-blk", 13: "a b c"}
    rnd = random.Random(9)
    now = T0
    for i in range(100):
        now += rnd.randrange(100, 90000)
        pid, prio = rnd.choice([(10, 120), (11, 120), (12, 98), (13, 50)])
        cpu = rnd.randrange(2)
        f.top.add(cpu, now, rnd.choice([wakeup, wakeup, new]), 0, 1, 1, comm=names[pid], pid=pid, prio=prio,
                  target_cpu=cpu)
        now += rnd.randrange(100, 90000)
        if rnd.randrange(4):
            f.top.add(cpu, now, switch, 0, prev_comm="swapper/%d" % cpu, prev_pid=0, prev_prio=120,
                      prev_state=rnd.choice([0, 1, 2]), next_comm=names[pid], next_pid=pid, next_prio=prio)
            now += 1000
            f.top.add(cpu, now, switch, pid, prev_comm=names[pid], prev_pid=pid, prev_prio=prio,
                      prev_state=rnd.choice([0, 1, 2, 16]), next_comm="swapper/%d" % cpu, next_pid=0, next_prio=120)
    return f


@case
def at_work():
    """Two CPUs that switch, wake, call and are interrupted in an order that makes sense, for a profile."""
    f = scene(File(), count=0)
    switch, wakeup, _, enter, leave, irq, irq_end, soft, soft_end = f.scene
    raise_soft = f.define("irq", softirq_event("softirq_raise", 146))
    names = {10: "shell", 11: "worker", 12: "kworker/0:1H-blk", 13: "a b c"}
    rnd = random.Random(21)
    ready, asleep = [10, 11, 12, 13], []
    running, now = {0: 0, 1: 0}, T0

    def name(pid, cpu):
        return names.get(pid, "swapper/%d" % cpu)

    for _ in range(300):
        cpu = rnd.randrange(2)
        pid = running[cpu]
        now += rnd.randrange(500, 40000)
        what = rnd.randrange(6)
        if what == 0 and asleep:
            woken = asleep.pop(rnd.randrange(len(asleep)))
            f.top.add(cpu, now, wakeup, pid, 1, 1, comm=names[woken], pid=woken, prio=120, target_cpu=cpu)
            ready.append(woken)
        elif what < 3:
            state = rnd.choice([0, 1, 2]) if pid else 0
            other = ready.pop(rnd.randrange(len(ready))) if ready and (not pid or rnd.randrange(3)) else 0
            if other == pid:
                continue
            f.top.add(cpu, now, switch, pid, 1, prev_comm=name(pid, cpu), prev_pid=pid, prev_prio=120, prev_state=state,
                      next_comm=name(other, cpu), next_pid=other, next_prio=120)
            if pid:
                (asleep if state else ready).append(pid)
            running[cpu] = other
        elif what == 3 and pid:
            number = rnd.randrange(3)
            f.top.add(cpu, now, enter, pid, id=number, args=[1, 2, 3, 4, 5, 6])
            now += rnd.randrange(200, 9000)
            f.top.add(cpu, now, leave, pid, id=number, ret=0)
        elif what == 4:
            f.top.add(cpu, now, irq, pid, 8, irq=cpu + 1, name="timer")
            now += rnd.randrange(200, 9000)
            f.top.add(cpu, now, irq_end, pid, 8, irq=cpu + 1, ret=1)
        else:
            vec = rnd.choice([1, 7, 9])
            for event in (raise_soft, soft, soft_end):
                f.top.add(cpu, now, event, pid, 17, vec=vec)
                now += rnd.randrange(200, 9000)
    return f


@case
def states():
    """All states that a task can be switched away in."""
    f = File()
    tasks(f, 10)
    switch = f.define("sched", switch_event())
    values = list(range(17)) + [1 << i for i in range(4, 20)] + [0x60, 0xff, 0x101, 0x1ff, 0x402, 0x1000001, -1]
    for i, state in enumerate(values):
        f.top.add(0, T0 + i * 1000, switch, 10, prev_comm="a", prev_pid=10, prev_prio=120, prev_state=state, next_comm="b", next_pid=11,
                  next_prio=98)
    return f
