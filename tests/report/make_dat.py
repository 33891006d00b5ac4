# SPDX-License-Identifier: MIT
"""Make trace files in which all that a reader has to know of occurs.

usage: make_dat.py LIST         the names of all cases, one a line
       make_dat.py CASE FILE    write that one
       make_dat.py ALL DIR      write all of them as DIR/CASE.dat

A case is a function below; its first line says what it is about. The same bytes come out each time.
"""

import os
import random
import struct
import sys

from dat import Event, File

CASES = {}
SEC = 1000000000
T0 = 1000 * SEC


def case(make):
    CASES[make.__name__] = make
    return make


# Events as kernels have them.

def switch_event(number=372):
    states = ", ".join('{ 0x%08x, "%s" }' % (1 << i, c) for i, c in enumerate("SDTtXZPI"))
    return Event("sched_switch", number, [
        "char prev_comm[16]", "pid_t prev_pid", "int prev_prio", "long prev_state",
        "char next_comm[16]", "pid_t next_pid", "int next_prio"],
        '"prev_comm=%s prev_pid=%d prev_prio=%d prev_state=%s%s ==> next_comm=%s next_pid=%d next_prio=%d", '
        'REC->prev_comm, REC->prev_pid, REC->prev_prio, (REC->prev_state & 0xff) ? '
        '__print_flags(REC->prev_state & 0xff, "|", ' + states + ') : "R", REC->prev_state & 0x100 ? "+" : "", '
        'REC->next_comm, REC->next_pid, REC->next_prio')


def wakeup_event(name="sched_wakeup", number=374):
    return Event(name, number, ["char comm[16]", "pid_t pid", "int prio", "int target_cpu"],
                 '"comm=%s pid=%d prio=%d target_cpu=%03d", REC->comm, REC->pid, REC->prio, REC->target_cpu')


def enter_event():
    return Event("sys_enter", 401, ["long id", "unsigned long args[6]"],
                 '"NR %ld (%lx, %lx, %lx, %lx, %lx, %lx)", REC->id, REC->args[0], REC->args[1], REC->args[2], '
                 'REC->args[3], REC->args[4], REC->args[5]')


def exit_event():
    return Event("sys_exit", 400, ["long id", "long ret"], '"NR %ld = %ld", REC->id, REC->ret')


def softirq_event(name, number):
    names = ", ".join('{ %d, "%s" }' % x for x in enumerate(
        "HI TIMER NET_TX NET_RX BLOCK IRQ_POLL TASKLET SCHED HRTIMER RCU".split()))
    return Event(name, number, ["unsigned int vec"],
                 '"vec=%u [action=%s]", REC->vec, __print_symbolic(REC->vec, ' + names + ')')


def irq_events():
    return (Event("irq_handler_entry", 150, ["int irq", "__data_loc char[] name"],
                  '"irq=%d name=%s", REC->irq, __get_str(name)'),
            Event("irq_handler_exit", 149, ["int irq", "int ret"],
                  '"irq=%d ret=%s", REC->irq, REC->ret ? "handled" : "unhandled"'))


STACK = ('"\\t=> %ps\\n\\t=> %ps\\n\\t=> %ps\\n" "\\t=> %ps\\n\\t=> %ps\\n\\t=> %ps\\n" "\\t=> %ps\\n\\t=> %ps\\n", ' +
         ", ".join("(void *)REC->caller[%d]" % i for i in range(8)))


class Ftrace:
    """The events that are no tracepoints, by name."""

    def __init__(self, f):
        self.function = Event("function", 1, ["unsigned long ip", "unsigned long parent_ip"],
                              '" %ps <-- %ps", (void *)REC->ip, (void *)REC->parent_ip')
        self.kernel_stack = Event("kernel_stack", 4, ["int size", "unsigned long caller[8]"], STACK)
        self.user_stack = Event("user_stack", 13, ["unsigned int tgid", "unsigned long caller[8]"], STACK)
        self.print = Event("print", 5, ["unsigned long ip", "char buf[]"], '"%ps: %s", (void *)REC->ip, REC->buf')
        self.bprint = Event("bprint", 6, ["unsigned long ip", "const char * fmt", "u32 buf[]"],
                            '"%ps: %s", (void *)REC->ip, REC->fmt')
        self.bputs = Event("bputs", 15, ["unsigned long ip", "const char * str"],
                           '"%ps: %s", (void *)REC->ip, REC->str')
        self.raw_data = Event("raw_data", 19, ["unsigned int id", "char buf[]"],
                              '"id:%04x %08x", REC->id, (int)REC->buf[0]')
        self.repeats = Event("func_repeats", 20, ["unsigned long ip", "unsigned long parent_ip", "u16 count",
                             "u16 top_delta_ts", "u32 bottom_delta_ts"],
                             '" %ps <-%ps\\t(repeats:%u  delta: -%llu)", (void *)REC->ip, (void *)REC->parent_ip, '
                             'REC->count, (((u64)(REC)->top_delta_ts << 32) | (REC)->bottom_delta_ts)')
        self.entry = Event("funcgraph_entry", 11, ["unsigned long func", "int depth"],
                           '"--> %ps (%d)", (void *)REC->func, REC->depth')
        self.exit = Event("funcgraph_exit", 10, ["unsigned long func", "int depth", "unsigned int overrun",
                          "unsigned long long calltime", "unsigned long long rettime"],
                          '"<-- %ps (%d) (start: %llx  end: %llx) over: %d", (void *)REC->func, REC->depth, '
                          'REC->calltime, REC->rettime, REC->depth')
        words = ["unsigned int prev_pid", "unsigned int next_pid", "unsigned int next_cpu", "unsigned char prev_prio",
                 "unsigned char prev_state", "unsigned char next_prio", "unsigned char next_state"]
        args = ('REC->prev_pid, REC->prev_prio, REC->prev_state, REC->next_pid, REC->next_prio, REC->next_state, '
                'REC->next_cpu')
        self.context = Event("context_switch", 2, words, '"%u:%u:%u  ==> %u:%u:%u [%03u]", ' + args)
        self.wakeup = Event("wakeup", 3, words, '"%u:%u:%u  ==+ %u:%u:%u [%03u]", ' + args)
        f.define("ftrace", *vars(self).values())


BASE = 0xffffffff81000000
NAMES = ["_text", "do_one", "do_two", "vfs_read", "vfs_write", "schedule", "do_idle", "a.isra.0", "__x64_sys_read"]


def symbols(f):
    """Functions 256 bytes apart, some in modules; kinds that a reader leaves out."""
    base = BASE if f.long_size == 8 else 0xc1000000
    text = "".join("%0*x %s %s\n" % (f.long_size * 2, base + 256 * i, "Tt"[i & 1], n) for i, n in enumerate(NAMES))
    text += "%0*x A absolute\n%0*x a small_absolute\n%0*x t $x.12\n" % (
        f.long_size * 2, 0x1000, f.long_size * 2, 0x2000, f.long_size * 2, base + 0x50)
    for i, n in enumerate(["mod_init", "mod_work", "mod_exit"]):
        text += "%0*x t %s\t[some_module]\n" % (f.long_size * 2, base + 0x100000 + 256 * i, n)
    text += "%0*x d some_data\n" % (f.long_size * 2, base + 0x200000)
    f.kallsyms = text
    return base


def tasks(f, *pids):
    f.cmdlines = "".join("%d %s\n" % (p, n) for p, n in zip(pids, ["shell", "worker", "kworker/0:1H-blk", "a b c", "x"]))


def scene(f, buffer=None, seed=1, count=60, cpus=None, step=700, start=T0):
    """A machine at work: switches, calls and interrupts on all CPUs of a buffer."""
    rnd = random.Random(seed)
    buffer = buffer or f.top
    if "sched" not in f.systems:
        f.scene = (f.define("sched", switch_event(), wakeup_event(), wakeup_event("sched_waking", 375))
                   + f.define("raw_syscalls", enter_event(), exit_event()) + f.define("irq", *irq_events())
                   + f.define("irq", softirq_event("softirq_entry", 148), softirq_event("softirq_exit", 147)))
        if not f.cmdlines:
            tasks(f, 10, 11, 12, 13)
    switch, wakeup, waking, enter, leave, irq, irq_end, soft, soft_end = f.scene
    for cpu in cpus if cpus is not None else range(buffer.count):
        now = start + rnd.randrange(step)
        for _ in range(count):
            pid, other = rnd.choice([0, 10, 11, 12, 13, 99]), rnd.choice([0, 10, 11, 12, 13, 99])
            flags, depth = rnd.choice([0, 1, 4, 5, 9, 17, 25, 29]), rnd.choice([0, 1, 2, 0x10, 0x21, 15])
            kind = rnd.randrange(7)
            if kind == 0:
                buffer.add(cpu, now, switch, pid, flags, depth, prev_comm="task%d" % pid, prev_pid=pid,
                           prev_prio=120, prev_state=rnd.choice([0, 1, 2, 4, 16, 0x100, 128]),
                           next_comm="task%d" % other, next_pid=other, next_prio=rnd.choice([120, 98, 139]))
            elif kind == 1:
                buffer.add(cpu, now, rnd.choice([wakeup, waking]), pid, flags, depth, comm="task%d" % other,
                           pid=other, prio=120, target_cpu=cpu)
            elif kind == 2:
                buffer.add(cpu, now, enter, pid, flags, depth, id=rnd.randrange(300),
                           args=[rnd.randrange(1 << 40) >> rnd.randrange(40) for _ in range(6)])
            elif kind == 3:
                buffer.add(cpu, now, leave, pid, flags, depth, id=rnd.randrange(300), ret=rnd.choice([0, 5, -2, -110]))
            elif kind == 4:
                buffer.add(cpu, now, irq, pid, flags | 8, depth, irq=rnd.randrange(40), name="dev%d" % cpu)
            elif kind == 5:
                buffer.add(cpu, now, irq_end, pid, flags | 8, depth, irq=rnd.randrange(40), ret=rnd.randrange(2))
            else:
                buffer.add(cpu, now, rnd.choice([soft, soft_end]), pid, flags | 16, depth, vec=rnd.randrange(12))
            now += rnd.randrange(step) * rnd.choice([1, 1, 10, 1000])
    return f


# Files of all kinds of machines.

@case
def basic():
    """Version 7, as this machine would write it."""
    return scene(File())


@case
def basic_v6():
    """Version 6, as this machine would write it."""
    return scene(File(version=6))


@case
def big_v6():
    """Big endian, version 6."""
    return scene(File(version=6, order=">"))


@case
def big_v7():
    """Big endian, version 7."""
    return scene(File(order=">"))


@case
def small_long_v6():
    """A kernel with longs of four bytes."""
    return scene(File(version=6, long_size=4))


@case
def small_long_v7():
    """The same in version 7."""
    return scene(File(long_size=4))


@case
def big_small_long():
    """Big endian and longs of four bytes."""
    return scene(File(version=6, order=">", long_size=4))


@case
def pages_64k():
    """Pages of 64 KiB."""
    return scene(File(page_size=65536), count=1500)


@case
def pages_1k():
    """Pages of 1 KiB, many of them."""
    return scene(File(version=6, page_size=1024), count=400)


@case
def pages_4k():
    """The same on pages of 4 KiB."""
    return scene(File(version=6), count=400)


@case
def pages_16k_v7():
    """Pages of 16 KiB in version 7."""
    return scene(File(page_size=16384), count=900)


@case
def cpus_64():
    """Many CPUs."""
    return scene(File(cpus=64), count=10)


@case
def cpus_300():
    """CPU numbers of more than two digits."""
    return scene(File(version=6, cpus=300), count=3)


@case
def one_cpu():
    """One CPU."""
    return scene(File(cpus=1))


@case
def sparse_v7():
    """Eight CPUs, of which two have data."""
    return scene(File(cpus=8), cpus=[2, 5])


@case
def sparse_v6():
    """Eight CPUs, of which two have data, in version 6."""
    return scene(File(version=6, cpus=8), cpus=[2, 5])


@case
def nothing():
    """A file without a record."""
    f = scene(File(), count=0)
    return f


@case
def nothing_v6():
    """A file without a record, version 6."""
    return scene(File(version=6), count=0)


@case
def bare():
    """Version 7 with no more than has to be there."""
    f = scene(File(clock=None))
    f.leave_out = (8, 17, 19, 20, 21, 15)
    return f


@case
def packed():
    """Sections and data compressed by zlib."""
    f = scene(File(), count=2000)
    f.compress = True
    return f


@case
def unpacked():
    """The same as packed, not compressed."""
    return scene(File(), count=2000)


# Pages.

def numbers(f):
    """An event with a number and one with a text, to tell records apart by."""
    tasks(f, 10, 11)
    return f.define("test", Event("number", 500, ["int n"], '"n=%d", REC->n'),
                    Event("text", 501, ["int n", "__data_loc char[] s"], '"n=%d s=%s", REC->n, __get_str(s)'))


@case
def empty_pages():
    """Pages without records before, between and after those with some."""
    f = File(cpus=3)
    number, _ = numbers(f)
    for cpu in (0, 2):
        c = f.top.cpu(cpu)
        for i in range(4):
            c.open_page(T0 + i * 1000)
            if (i + cpu) % 3 == 1:
                c.add(T0 + i * 1000, number.pack(f, 10, {"n": i}))
                c.add(T0 + i * 1000 + 5, number.pack(f, 11, {"n": i}))
    f.top.cpu(1).open_page(T0)
    return f


def extends_in(f):
    number, _ = numbers(f)
    c = f.top.cpu(0)
    c.open_page(T0)
    now = T0
    for i, gap in enumerate([0, 1, (1 << 27) - 1, 1 << 27, 1 << 28, 1 << 34, 3, 1 << 40]):
        now += gap
        c.add(now, number.pack(f, 10, {"n": i}))
    c.absolute(now + 500)
    c.add(now + 500, number.pack(f, 10, {"n": 100}))
    c.padding(16)
    c.add(now + 510, number.pack(f, 10, {"n": 101}))
    c.padding(40, 7)
    c.padding(8)
    c.add(now + 520, number.pack(f, 10, {"n": 102}))
    c.absolute(now + (1 << 30))
    c.absolute(now + (1 << 31))
    c.add(now + (1 << 31) + 9, number.pack(f, 10, {"n": 103}))
    c.extend(now + (1 << 32))
    c.extend(now + (1 << 33))
    c.padding(12, 3)
    c.add(now + (1 << 33) + 10, number.pack(f, 10, {"n": 104}))
    c.open_page(now + (1 << 34))
    c.extend(now + (1 << 35))
    c.add(now + (1 << 35), number.pack(f, 10, {"n": 105}))
    c.open_page(now + (1 << 36))
    c.padding(64, 9)
    c.add(now + (1 << 36) + 11, number.pack(f, 11, {"n": 106}))
    return f


@case
def extends():
    """Time extends, absolute stamps, discarded records, in all places."""
    return extends_in(File())


@case
def extends_big():
    """The same with the other byte order."""
    return extends_in(File(version=6, order=">"))


@case
def high_stamps():
    """Times beyond 59 bits, where an absolute stamp lacks its top."""
    f = File()
    number, _ = numbers(f)
    c = f.top.cpu(0)
    base = 0x7000000000000000
    c.open_page(base)
    c.add(base, number.pack(f, 10, {"n": 1}))
    c.absolute(base + 1000)
    c.add(base + 1000, number.pack(f, 10, {"n": 2}))
    c.open_page(base + 2000)
    c.absolute(base + 3000)
    c.add(base + 3000, number.pack(f, 10, {"n": 3}))
    return f


@case
def long_records():
    """Records whose length does not fit their header, up to a whole page, and short ones in that form."""
    f = File()
    number, text = numbers(f)
    c = f.top.cpu(0)
    now = T0
    for size in [1, 90, 91, 92, 93, 94, 95, 96, 97, 98, 99, 100, 101, 500, 1000, 3000, 4000]:
        c.add(now, text.pack(f, 10, {"n": size, "s": "x" * size}))
        c.add(now + 3, number.pack(f, 11, {"n": size}), long_form=True)
        now += 1000
    return f


@case
def full_pages():
    """Pages filled to the last byte."""
    f = File(page_size=4096)
    number, _ = numbers(f)
    c = f.top.cpu(1)
    now = T0
    for page in range(4):
        c.open_page(now)
        for i in range(4080 // 16):
            c.data += c.header(3, 10 if i else 0) + number.pack(f, 10, {"n": page * 1000 + i})
            now += 10
    return f


@case
def equal_times():
    """The same times on several CPUs and in several buffers."""
    f = File(cpus=4)
    number, _ = numbers(f)
    other = f.instance("other")
    for i in range(6):
        for cpu in (3, 1, 0, 2):
            f.top.add(cpu, T0 + i * 1000, number, 10, n=i * 10 + cpu)
            other.add(cpu, T0 + i * 1000, number, 11, n=i * 10 + cpu)
            f.top.add(cpu, T0 + i * 1000, number, 11, n=i * 10 + cpu)
    return f


@case
def backwards():
    """Times that go back, between pages."""
    f = File()
    number, _ = numbers(f)
    c = f.top.cpu(0)
    for i, now in enumerate([T0 + 5000, T0 + 3000, T0 + 9000, T0 + 8000]):
        c.open_page(now)
        c.add(now, number.pack(f, 10, {"n": i}))
        c.add(now + 700, number.pack(f, 10, {"n": i}))
    f.top.add(1, T0 + 4000, number, 11, n=7)
    f.top.add(1, T0 + 8100, number, 11, n=8)
    return f


@case
def rounding():
    """Nanoseconds that round up to the next microsecond and the next second; short and long times."""
    f = File()
    number, _ = numbers(f)
    times = [0, 1, 499, 500, 501, 999, 1000, 999999499, 999999500, 999999999, SEC, SEC + 999999500,
             99999 * SEC + 999999499, 99999 * SEC + 999999500, 123456789 * SEC + 1, 9223372036 * SEC]
    for i, now in enumerate(times):
        f.top.add(i & 1, now, number, 10, n=i)
    return f


def lost_in(f, buffer):
    number, _ = numbers(f)
    now = T0
    for cpu in (0, 1):
        c = buffer.cpu(cpu)
        for i, lost in enumerate([-1, None, 1, 5, 1000, 123456, -1, None, 0xffffffff]):
            now += 1000
            c.open_page(now, lost)
            c.add(now, number.pack(f, 10, {"n": i}))
            c.add(now + 100, number.pack(f, 11, {"n": i}))
    # A page that begins with something else than a record.
    c.open_page(now + 2000, 77)
    c.extend(now + (1 << 28))
    c.add(now + (1 << 28), number.pack(f, 10, {"n": 1000}))
    c.open_page(now + (1 << 29), 78)
    c.padding(16)
    c.add(now + (1 << 29), number.pack(f, 10, {"n": 1001}))
    c.open_page(now + (1 << 30), 79)
    c.open_page(now + (1 << 31), 80)
    c.add(now + (1 << 31), number.pack(f, 10, {"n": 1002}))
    return f


@case
def lost():
    """Lost events, told and not told how many."""
    f = File()
    return lost_in(f, f.top)


@case
def lost_v6():
    """Lost events with longs of four bytes in big endian."""
    f = File(version=6, order=">", long_size=4)
    return lost_in(f, f.top)


@case
def lost_instance():
    """Lost events in an instance beside a top buffer that lost nothing."""
    f = File()
    lost_in(f, f.instance("inst"))
    scene(f, count=10)
    return f


# Instances.

def instances_in(f):
    scene(f, seed=1, count=15)
    scene(f, f.instance("a"), seed=2, count=15)
    scene(f, f.instance("middle_one"), seed=3, count=15)
    scene(f, f.instance("a_very_long_name_of_an_instance_indeed"), seed=4, count=5)
    f.instance("silent")
    return f


@case
def instances_v7():
    """Several instances, one of them empty."""
    return instances_in(File())


@case
def instances_v6():
    """The same in version 6."""
    return instances_in(File(version=6))


@case
def instances_big():
    """The same in big endian version 6."""
    return instances_in(File(version=6, order=">"))


@case
def instance_only():
    """An instance beside an empty top buffer."""
    f = scene(File(), count=0)
    scene(f, f.instance("lonely"), count=30)
    return f


@case
def instance_pages():
    """An instance with larger pages than the top buffer."""
    f = scene(File(), count=100)
    scene(f, f.instance("large", page_size=16384), seed=5, count=400)
    return f


@case
def instance_cpus():
    """An instance with data on fewer CPUs."""
    f = scene(File(cpus=4), count=20)
    scene(f, f.instance("few"), seed=5, count=20, cpus=[3])
    return f


@case
def instance_clocks():
    """Instances with other clocks than the top buffer."""
    f = scene(File(clock="mono"), count=12)
    scene(f, f.instance("count", clock="counter"), seed=6, count=12)
    scene(f, f.instance("tsc", clock="x86-tsc"), seed=7, count=12)
    return f


# Clocks and shifts.

def clock_case(clock, version=7):
    def make():
        return scene(File(version=version, clock=clock), count=20)
    make.__name__ = "clock_%s%s" % (clock.replace("-", "_"), "_v6" if version == 6 else "")
    make.__doc__ = "The clock %s." % clock
    return make


for name in ("counter", "x86-tsc", "mono", "boot", "uptime", "perf", "tai", "global", "mono_raw", "tsc2nsec", "odd"):
    case(clock_case(name))
case(clock_case("counter", 6))
case(clock_case("tai", 6))


@case
def no_clock():
    """A file that does not name its clock."""
    return scene(File(version=6, clock=None), count=20)


@case
def date():
    """An offset from the time of day."""
    f = scene(File(), count=20)
    f.option(1, "0x5f5e1000abc")
    return f


@case
def offset():
    """An offset that the person gave."""
    f = scene(File(version=6), count=20)
    f.option(7, "123456789012")
    return f


@case
def offset_back():
    """An offset back in time, and a date."""
    f = scene(File(), count=20)
    f.option(7, "-500000000123")
    f.option(1, "0x1000")
    return f


@case
def tsc2nsec():
    """Cycles turned into nanoseconds by the file's own numbers."""
    f = scene(File(clock="x86-tsc"), count=20)
    f.option(14, f.num("IIQ", 838861, 21, 0))
    return f


def pair(guest, **shift):
    """A host's file or its guest's, whose times are those of the host less some."""
    f = scene(File(clock="mono"), count=20, seed=8 + guest, start=T0 + (0 if guest else 5000000))
    f.option(11, f.num("Q", 0x2222 if guest else 0x1111))
    if guest:
        rows = shift["rows"]
        data = f.num("QII", 0x1111, shift.get("flags", 0), f.cpus)
        for _ in range(f.cpus):
            data += f.num("I", len(rows)) + b"".join(f.num("%dq" % len(rows), *col) for col in list(zip(*rows))[:3])
        if shift.get("fraction", True):
            for _ in range(f.cpus):
                data += f.num("%dq" % len(rows), *[r[3] for r in rows])
        f.option(12, data)
    else:
        f.option(13, b"vm1\0" + f.num("QI", 0x2222, 2) + f.num("IIII", 0, 10, 1, 11))
    return f


@case
def host():
    """A host that knows its guest."""
    return pair(0)


@case
def guest_one():
    """A guest with one sample."""
    return pair(1, rows=[(T0, 5000000, 1, 0)])


@case
def guest_many():
    """A guest with several samples, interpolated."""
    return pair(1, flags=1, rows=[(T0, 5000000, 1, 0), (T0 + 20000, 5000100, 1, 0), (T0 + 9000000, 5100000, 1, 0)])


@case
def guest_scaled():
    """A guest whose time is scaled."""
    return pair(1, rows=[(T0, 5000000, 3 << 20, 21), (T0 + 1000000, 5002000, 3 << 20, 21)])


@case
def guest_old():
    """A guest from before there were fractions."""
    return pair(1, fraction=False, flags=1, rows=[(T0, 5000000, 1, 0), (T0 + 20000, 5000100, 1, 0)])


@case
def options():
    """Every option that is text or a number, and ids that nobody knows."""
    f = scene(File(), count=10)
    f.option(5, "Linux box 6.1.0 #1 SMP x86_64")
    f.option(9, "9.8.7 abcdef")
    f.option(6, "sched:sched_switch,prev_pid/sched:sched_switch,next_pid")
    for cpu in range(2):
        f.option(2, "CPU: %d\nentries: %d\noverrun: 0\ncommit overrun: 0\nbytes: 1234\n"
                    "oldest event ts:  1000.000000\nnow ts:  1001.000000\ndropped events: 0\nread events: 60\n" % (cpu, cpu))
    f.option(10, "a 2 /usr/bin/prog\n400000 500000 /usr/bin/prog\n7f0000000000 7f0000100000 /lib/libc.so.6\n")
    f.option(11, f.num("Q", 0x1234567890))
    f.option(200, "from the future")
    f.option(201, b"")
    return f


@case
def options_v6():
    """Every option that is text or a number, in version 6."""
    f = options()
    f.version = 6
    return f


# Names of things.

@case
def functions():
    """Functions, some in modules, some unknown, with parents and indentation."""
    f = File()
    base = symbols(f)
    ftrace = Ftrace(f)
    tasks(f, 10, 11)
    rnd = random.Random(3)
    places = [base + 256 * i for i in range(9)] + [base + 0x100000 + 256 * i for i in range(3)] + [base + 3, 0, 1, base - 1]
    places += [base + 256 * i + 17 for i in range(9)] + [base + 0x300000, 0xffffffffffffffff]
    for i in range(120):
        f.top.add(i & 1, T0 + i * 777, ftrace.function, rnd.choice([10, 11]), 0, 0,
                  ip=rnd.choice(places), parent_ip=rnd.choice(places))
    return f


@case
def functions_32():
    """Functions of a kernel with small longs."""
    f = File(version=6, long_size=4)
    base = symbols(f)
    ftrace = Ftrace(f)
    tasks(f, 10, 11)
    for i in range(30):
        f.top.add(i & 1, T0 + i * 777, ftrace.function, 10, ip=base + 256 * (i % 9), parent_ip=base + 256 * (i % 7) + 9)
        f.top.add(i & 1, T0 + i * 777 + 5, ftrace.kernel_stack, 10, size=2, caller=[base + 256, base + 517, 0xffffffff])
    return f


@case
def stacks():
    """Stacks of the kernel and of programs, short, long and with ends of both kinds."""
    f = File()
    base = symbols(f)
    ftrace = Ftrace(f)
    scene(f, count=5)
    end = 0xffffffffffffffff
    now = T0 + SEC
    for size, callers in [(3, [base + 0x110, base + 0x220, base + 0x10]), (8, [base + 0x100 * i + 5 for i in range(8)]),
                          (0, []), (2, [base + 0x100000 + 7, end, 1, 2]), (1, [end]), (4, [0x1234, 0, 5, 6])]:
        f.top.add(0, now, ftrace.kernel_stack, 10, size=size, caller=callers)
        f.top.add(1, now + 100, ftrace.user_stack, 11, tgid=11, caller=[c & 0xffffffff for c in callers])
        now += 1000
    # A stack longer than its format says.
    data = ftrace.kernel_stack.pack(f, 10, {"size": 12})[:16]
    f.top.cpu(0).add(now, data + struct.pack("<12Q", *[base + 256 * (i % 9) + 1 for i in range(12)]))
    f.option(10, "b 1 /usr/bin/prog\n81000000 82000000 /usr/bin/prog\n")
    return f


@case
def repeats():
    """The functions' shorthand for the same call again."""
    f = File()
    base = symbols(f)
    ftrace = Ftrace(f)
    tasks(f, 10)
    for i in range(10):
        f.top.add(0, T0 + i * 1000, ftrace.function, 10, ip=base + 0x100, parent_ip=base + 0x200)
        f.top.add(0, T0 + i * 1000 + 500, ftrace.repeats, 10, ip=base + 0x100, parent_ip=base + 0x200, count=i,
                  top_delta_ts=0, bottom_delta_ts=i * 31)
    return f


@case
def prints():
    """trace_printk in its three forms, with every conversion."""
    f = File()
    base = symbols(f)
    ftrace = Ftrace(f)
    tasks(f, 10, 11)
    formats = ['plain\\n', '%d %u %x %X %o\\n', '%ld %lu %lx\\n', '%lld %llu %llx\\n', '%s and %s\\n', '%c%c%%\\n',
               '%5d|%-5d|%05d|%+d\\n', '%#x %p\\n', '%.3s|%10s|%-10s|\\n', '%hd %hhd\\n', '%ps %pS\\n', '%*d|\\n',
               'no line end', '%zu %td\\n', 'tab\\tquote\\"back\\\\\\n', '%-*s|\\n', '%.*s|\\n', '%p %px\\n']
    f.printk = "".join('0x%x : "%s"\n' % (0xffffffff82000000 + 64 * i, t) for i, t in enumerate(formats))
    f.printk += '0xffffffff82001000 : "put this\\n"\n'
    u32, u64 = "<I", "<Q"

    def words(*values):
        """Packed as the kernel's binary printf does: each value at its own alignment."""
        out = b""
        for v in values:
            if isinstance(v, str):
                out += v.encode() + b"\0"
                continue
            size, number = v if isinstance(v, tuple) else (4, v)
            out += b"\0" * (-len(out) % size) + struct.pack(u64 if size == 8 else u32, number & ((1 << 8 * size) - 1))
        return out + b"\0" * (-len(out) % 4)
    args = [words(), words(-5, 6, 255, 255, 8), words((8, -5 & (1 << 64) - 1), (8, 5), (8, 255)),
            words((8, (1 << 64) - 7), (8, 7), (8, 1 << 40)), words("one", "two"), words(65, 66), words(1, 2, 3, 4),
            words(255, (8, base)), words("abcdef", "right", "left"), words(70000, 300),
            words((8, base + 0x100), (8, base + 0x123)), words(6, 42), words(), words((8, 12), (8, 13)), words(),
            words(8, "ab"), words(2, "abcdef"), words((8, 0), (8, base))]
    now = T0
    for i, data in enumerate(args):
        f.top.add(0, now, ftrace.bprint, 10, ip=base + 0x123, fmt=0xffffffff82000000 + 64 * i, buf=data)
        now += 1000
    f.top.add(1, now, ftrace.bputs, 11, ip=base + 0x234, str=0xffffffff82001000)
    f.top.add(1, now + 10, ftrace.bputs, 11, ip=base + 0x234, str=0xffffffff82009000)
    f.top.add(1, now + 20, ftrace.bprint, 11, ip=base + 0x234, fmt=0xffffffff82009000, buf=words(1, 2))
    for text in ["a line\n", "no end", "", "\n", "two\nlines\n", "x" * 900 + "\n", "\ttabs \x01\x7f\n", "%d %s\n"]:
        now += 1000
        f.top.add(0, now, ftrace.print, 10, ip=base + 0x345, buf=text)
        f.top.add(1, now + 7, ftrace.print, 10, ip=0, buf=text)
    for data in [b"", b"\1\2\3\4", b"text of bytes", bytes(range(40))]:
        now += 1000
        f.top.add(0, now, ftrace.raw_data, 10, id=len(data), buf=data)
    for n in range(3):
        f.top.add(1, now + n, ftrace.context, 10, prev_pid=10, next_pid=11, next_cpu=1, prev_prio=120, prev_state=n,
                  next_prio=98, next_state=0)
        f.top.add(1, now + n, ftrace.wakeup, 10, prev_pid=10, next_pid=11, next_cpu=1, prev_prio=120, next_prio=98)
    return f


def graph_in(f, seed, steps):
    """Calls as a function graph, with the leaves, gaps and slips that make its layout hard."""
    base = symbols(f)
    ftrace = Ftrace(f)
    tasks(f, 10, 11, 12)
    switch = f.define("sched", switch_event())
    rnd = random.Random(seed)
    open_calls = {0: [], 1: []}
    pid, now = {0: 10, 1: 11}, {0: T0, 1: T0 + 333}
    for _ in range(steps):
        cpu = rnd.randrange(2)
        now[cpu] += rnd.choice([50, 300, 999, 5000, 20000, 200000, 3000000, 2 * SEC, 12345])
        stack = open_calls[cpu]
        what = rnd.randrange(12)
        if what < 5 and len(stack) < 12:
            func = base + 256 * rnd.randrange(9)
            f.top.add(cpu, now[cpu], ftrace.entry, pid[cpu], rnd.choice([0, 1, 8]), func=func, depth=len(stack))
            if rnd.randrange(2):
                begin = now[cpu]
                now[cpu] += rnd.choice([90, 999, 10000, 10001, 99999, 100001, 1000001, 10000001, 100000001, SEC + 1])
                f.top.add(cpu, now[cpu], ftrace.exit, pid[cpu], func=func, depth=len(stack), calltime=begin,
                          rettime=now[cpu])
            else:
                stack.append((func, now[cpu]))
        elif what < 9 and stack:
            func, begin = stack.pop()
            f.top.add(cpu, now[cpu], ftrace.exit, pid[cpu], func=func, depth=len(stack), calltime=begin,
                      rettime=now[cpu], overrun=rnd.choice([0, 0, 3]))
        elif what == 9:
            other = rnd.choice([10, 11, 12])
            f.top.add(cpu, now[cpu], switch, pid[cpu], prev_comm="t%d" % pid[cpu], prev_pid=pid[cpu], prev_prio=120,
                      next_comm="t%d" % other, next_pid=other, next_prio=120)
            pid[cpu] = other
        elif what == 10:
            f.top.add(cpu, now[cpu], ftrace.exit, pid[cpu], func=base + 0x300, depth=0, calltime=now[cpu] - 50,
                      rettime=now[cpu])
        else:
            f.top.add(cpu, now[cpu], ftrace.function, pid[cpu], ip=base + 0x100, parent_ip=base + 0x200)
    return f


@case
def graph():
    """A function graph."""
    return graph_in(File(), 5, 400)


@case
def graph_pages():
    """A longer one, in which pages part calls from their ends, in version 6."""
    return graph_in(File(version=6), 6, 900)


@case
def comms():
    """Tasks without a name, with odd names, with long ones, and such as only a switch names."""
    f = File()
    switch = f.define("sched", switch_event())
    number, _ = numbers(f)
    f.cmdlines = "1 init\n2 a b\n3 0123456789abcdefghij\n4 \n5 <x>\n77777 big\n1000000 huge\n-1 minus\n6 twice\n6 again\n"
    for i, pid in enumerate([1, 2, 3, 4, 5, 6, 7, 77777, 1000000, 4194303, -1, 0, 2147483647]):
        f.top.add(0, T0 + i * 1000, number, pid, n=i)
        f.top.add(1, T0 + i * 1000 + 10, switch, pid, prev_comm="was%d" % i, prev_pid=pid, prev_prio=120,
                  next_comm="new%d" % i, next_pid=500 + i, next_prio=120)
        f.top.add(1, T0 + i * 1000 + 20, number, 500 + i, n=i)
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


@case
def wakeups():
    """Wakeups and switches in pairs, of ordinary and of real-time tasks."""
    f = File()
    switch, wakeup, new = f.define("sched", switch_event(), wakeup_event(), wakeup_event("sched_wakeup_new", 373))
    tasks(f, 10, 11, 12, 13)
    rnd = random.Random(9)
    now = T0
    for i in range(100):
        now += rnd.randrange(100, 90000)
        pid, prio = rnd.choice([(10, 120), (11, 120), (12, 98), (13, 50)])
        cpu = rnd.randrange(2)
        f.top.add(cpu, now, rnd.choice([wakeup, wakeup, new]), 0, 1, 1, comm="task%d" % pid, pid=pid, prio=prio,
                  target_cpu=cpu)
        now += rnd.randrange(100, 90000)
        if rnd.randrange(4):
            f.top.add(cpu, now, switch, 0, prev_comm="swapper/%d" % cpu, prev_pid=0, prev_prio=120,
                      prev_state=rnd.choice([0, 1, 2]), next_comm="task%d" % pid, next_pid=pid, next_prio=prio)
            now += 1000
            f.top.add(cpu, now, switch, pid, prev_comm="task%d" % pid, prev_pid=pid, prev_prio=prio,
                      prev_state=rnd.choice([0, 1, 2, 16]), next_comm="swapper/%d" % cpu, next_pid=0, next_prio=120)
    return f


# Fields and formats.

@case
def scalars():
    """Numbers of every kind under every conversion."""
    f = File()
    tasks(f, 10)
    kinds = ["char", "signed char", "unsigned char", "bool", "u8", "s8", "short", "unsigned short", "int", "unsigned int",
             "long", "unsigned long", "long long", "unsigned long long", "s64", "u64", "size_t", "void *", "gfp_t",
             "enum color", "struct thing *"]
    number = 600
    for kind in kinds:
        blank = "" if kind.endswith("*") else " "
        event = f.define("test", Event("f_" + kind.replace(" ", "_").replace("*", "p"), number, [kind + " v" if blank else kind + "v", "int end"],
                                       '"d=%d u=%u x=%x ld=%ld lu=%lu lx=%lx lld=%lld llu=%llu llx=%llx h=%hd hh=%hhd c=%5d|%-5d|%05d p=%p", '
                                       + ", ".join(["REC->v"] * 14)))
        for i, v in enumerate([0, 1, 65, 127, 128, 255, 256, 32768, 1 << 31, (1 << 32) - 1, 1 << 63, (1 << 64) - 1]):
            f.top.add(i & 1, T0 + (number - 600) * 100000 + i * 1000, event, 10, v=v, end=i)
        number += 1
    return f


@case
def strings():
    """Texts in arrays, after the record, relative to their field; empty, unended and with odd bytes."""
    f = File()
    tasks(f, 10)
    event = f.define("test", Event("texts", 650, [
        "char fixed[8]", "__data_loc char[] dyn", "__rel_loc char[] rel", "int end", "char one[1]", "u8 bytes[4]"],
        '"fixed=%s dyn=%s rel=%s end=%d wide=%10s|%-10s|%.3s one=%s", REC->fixed, __get_str(dyn), '
        '__get_rel_str(rel), REC->end, REC->fixed, __get_str(dyn), __get_str(dyn), REC->one'))
    texts = ["", "a", "abcdefg", "abcdefgh", "abcdefghijkl", "with blank", "tab\tline\nend", "\x01\x7f", "%d%s", "\udcff\udcfe"]
    for i, t in enumerate(texts):
        f.top.add(0, T0 + i * 1000, event, 10, fixed=t, dyn=t, rel=t[::-1], end=i, one="z", bytes=[i, 255, 0, 1])
    for i, t in enumerate([b"", b"unended", b"in\0ner\0"]):
        f.top.add(1, T0 + i * 1000, event, 10, fixed=t, dyn=t, rel=t, end=i)
    return f


@case
def helpers():
    """What print formats call: flags, symbols, hex, arrays, masks, ternaries, sizes."""
    f = File()
    tasks(f, 10)
    base = symbols(f)
    flag = '{ 0x1, "one" }, { 0x2, "two" }, { 0x4 | 0x8, "twelve" }, { 0x10, "sixteen" }'
    events = [
        ("flags", ["unsigned long v"], '"[%s] [%s]", __print_flags(REC->v, "|", ' + flag + '), __print_flags(REC->v & 3, "", ' + flag + ')',
         [{"v": x} for x in (0, 1, 3, 12, 16, 31, 32, 0xff, 1 << 40)]),
        ("symbolic", ["int v"], '"%s", __print_symbolic(REC->v, { 0, "zero" }, { 1, "one" }, { -1, "minus" }, { 1 << 4, "shift" })',
         [{"v": x} for x in (0, 1, 2, -1, 16, 255)]),
        ("hex", ["u8 v[6]", "__data_loc u8[] d"], '"%s %s", __print_hex(REC->v, 6), __print_hex(__get_dynamic_array(d), __get_dynamic_array_len(d))',
         [{"v": [1, 2, 255, 0, 16, 9], "d": [1, 2, 3]}, {"v": [0] * 6, "d": []}]),
        ("hex_str", ["u8 v[6]"], '"%s", __print_hex_str(REC->v, 6)', [{"v": [1, 2, 255, 0, 16, 9]}]),
        ("array", ["u32 v[3]", "__data_loc u16[] d", "__data_loc u8[] e", "__data_loc u64[] g"],
         '"%s %s %s %s", __print_array(REC->v, 3, 4), __print_array(__get_dynamic_array(d), __get_dynamic_array_len(d) / 2, 2), '
         '__print_array(__get_dynamic_array(e), __get_dynamic_array_len(e), 1), __print_array(__get_dynamic_array(g), 2, 8)',
         [{"v": [1, 2, 0xffffffff], "d": [1, 2, 3], "e": [9], "g": [1 << 40, 5]}]),
        ("mask", ["__data_loc unsigned long[] m"], '"%s", __get_bitmask(m)', [{"m": [0b1011]}, {"m": [0]}, {"m": [1 << 63, 1]}]),
        ("cpumask", ["__data_loc cpumask_t[] m"], '"%s", __get_cpumask(m)', [{"m": [0b1011]}, {"m": [(1 << 64) - 1]}]),
        ("ternary", ["int a", "int b"], '"%s %d %s", REC->a ? "yes" : "no", REC->a > REC->b ? REC->a : REC->b, '
         'REC->a == 1 ? "one" : REC->a == 2 ? "two" : "many"', [{"a": a, "b": b} for a in (0, 1, 2, 3) for b in (0, 2)]),
        ("math", ["int a", "unsigned int b", "u64 c"], '"%d %d %d %d %d %u %u %llu %d %d", REC->a + 1, REC->a - 2, REC->a * 3, '
         'REC->a / 2, REC->a % 3, REC->b >> 2, REC->b << 2, REC->c / 1000, !REC->a, ~REC->a',
         [{"a": a, "b": a, "c": a} for a in (0, 7, -7, 1 << 30)]),
        ("logic", ["int a", "int b"], '"%d %d %d %d %d %d %d %d", REC->a && REC->b, REC->a || REC->b, REC->a & REC->b, REC->a | REC->b, '
         'REC->a ^ REC->b, REC->a <= REC->b, REC->a != REC->b, (REC->a + REC->b) * 2', [{"a": a, "b": b} for a in (0, 3) for b in (0, 5)]),
        ("casts", ["u64 v", "int s"], '"%d %u %x %lld", (int)REC->v, (u8)REC->v, (unsigned short)REC->v, (long long)(int)REC->s',
         [{"v": v, "s": -1} for v in (1, 0x1ff, 0xfffffffff)]),
        ("pointers", ["void * p", "unsigned long a"], '"%p %ps %pS %pf %pF %px", REC->p, (void *)REC->a, (void *)REC->a, '
         '(void *)REC->a, (void *)REC->a, REC->p', [{"p": x, "a": x} for x in (0, base + 0x100, base + 0x123, 5)]),
        ("addresses", ["u8 v4[4]", "u8 v6[16]", "u8 mac[6]", "u8 uuid[16]"], '"%pI4 %pi4 %pI6 %pI6c %pM %pm %pU %pUb", REC->v4, REC->v4, '
         'REC->v6, REC->v6, REC->mac, REC->mac, REC->uuid, REC->uuid',
         [{"v4": [192, 168, 0, 1], "v6": [0x20, 1, 0xd, 0xb8] + [0] * 11 + [1], "mac": [0, 1, 2, 3, 4, 255], "uuid": list(range(16))}]),
        ("elements", ["u32 v[4]", "char c[4]"], '"%u %u %c %d", REC->v[0], REC->v[3], REC->c[1], REC->c[2]', [{"v": [1, 2, 3, 4], "c": "abc"}]),
        ("widths", ["int v", "int w", "char s[8]"], '"%*d|%-*d|%0*d|%.*s|%#x|% d|%+d", REC->w, REC->v, REC->w, REC->v, REC->w, REC->v, REC->w, '
         'REC->s, REC->v, REC->v, REC->v', [{"v": 42, "w": w, "s": "abcdef"} for w in (0, 3, 6)]),
        ("percent", ["int v"], '"100%% of %d%%", REC->v', [{"v": 5}]),
        ("lines", ["int v"], '"one\\ntwo\\t%d\\n", REC->v', [{"v": 5}]),
        ("no_args", ["int v"], '"nothing to see"', [{"v": 5}]),
        ("no_fields", [], '"no fields"', [{}]),
        ("joined", ["int v"], '"a" "b" "%d" "c", REC->v', [{"v": 5}]),
        ("sizes", ["int v", "u64 w"], '"%lu %lu", sizeof(REC->v), sizeof(u64)', [{"v": 5}]),
        ("constants", ["int v"], '"%d %d %x %d", 0x10, 010, 1UL << 12, (1 << 3) + \'a\'', [{"v": 5}]),
        ("floats", ["int v"], '"%d.%02d", REC->v / 100, REC->v % 100', [{"v": 1234}]),
        ("depth", ["u16 v"], '"%d", ((((REC->v))))', [{"v": 5}]),
        ("a_name_much_longer_than_the_column", ["int v"], '"v=%d", REC->v', [{"v": 5}]),
    ]
    now = T0
    for i, (name, fields, text, records) in enumerate(events):
        event = f.define("test", Event(name, 700 + i, fields, text))
        for values in records:
            f.top.add(i & 1, now, event, 10, **values)
            now += 1000
    return f


@case
def broken():
    """Formats that cannot be parsed, events that are not described, records cut short."""
    f = File()
    tasks(f, 10)
    texts = ['"%s", no_such_function(REC->v)', '"%d", REC->nosuch', '"%d %d", REC->v', '"%d", REC->v, REC->v', '"%d", (REC->v',
             '"%d', 'REC->v', '"%q", REC->v', '"%s", REC->v', '"%d", ({ int x = REC->v; x; })', '"%s", __print_symbolic(REC->v, {0, })', '']
    now = T0
    for i, text in enumerate(texts):
        event = f.define("broken", Event("bad%d" % i, 800 + i, ["int v", "char s[8]"], text))
        f.top.add(0, now, event, 10, v=i, s="text")
        now += 1000
    none = f.define("broken", Event("no_print", 850, ["int v"], None))
    f.top.add(0, now, none, 10, v=1)
    hidden = Event("hidden", 851, ["int v"], '"%d", REC->v')
    f.top.add(1, now + 100, hidden, 10, v=1)
    f.define("broken", "name: nothing\n", "rubbish", "name: half\nID: 860\nformat:\n\tfield:int x;\toffset:8;\n")
    f.top.cpu(1).add(now + 200, struct.pack("<HBBi", 860, 0, 0, 10) + b"abcd")
    return f


@case
def cut_short():
    """Records shorter than their format, and texts that point out of them."""
    f = File()
    number, text = numbers(f)
    c = f.top.cpu(0)
    c.add(T0, text.pack(f, 10, {"n": 1, "s": "fine"}))
    c.add(T0 + 1000, text.pack(f, 10, {"n": 2, "s": "x"})[:12] + struct.pack("<I", 100 << 16 | 16))
    c.add(T0 + 2000, text.pack(f, 10, {"n": 3, "s": "x"})[:12] + struct.pack("<I", 4 << 16 | 4000))
    c.add(T0 + 3000, number.pack(f, 10, {"n": 4}))
    return f


@case
def plugins():
    """Events that trace-cmd knows by name and prints its own way."""
    f = File()
    base = symbols(f)
    tasks(f, 10)
    futex = Event("sys_enter_futex", 522, ["int __syscall_nr", "u32 * uaddr", "int op|8", "u32 val|8", "void * utime", "u32 * uaddr2", "u32 val3|8"],
                  '"uaddr: 0x%08lx, op: 0x%08lx", ((unsigned long)(REC->uaddr)), ((unsigned long)(REC->op))')
    start = Event("hrtimer_start", 460, ["void * hrtimer", "void * function", "s64 expires", "s64 softexpires"], '"hrtimer=%p", REC->hrtimer')
    expire = Event("hrtimer_expire_entry", 459, ["void * hrtimer", "s64 now", "void * function"], '"hrtimer=%p", REC->hrtimer')
    tlb = Event("tlb_flush", 188, ["int reason", "unsigned long pages"], '"pages:%ld", REC->pages')
    kmalloc = Event("kmalloc", 658, ["unsigned long call_site", "const void * ptr", "size_t bytes_req"],
                    '"call_site=%pS ptr=%p", (void *)REC->call_site, REC->ptr')
    kfree = Event("kfree", 657, ["unsigned long call_site", "const void * ptr"], '"call_site=%pS ptr=%p", (void *)REC->call_site, REC->ptr')
    jbd2 = Event("jbd2_checkpoint", 900, ["dev_t dev", "int result"], '"dev %s result %d", jbd2_dev_to_name(REC->dev), REC->result')
    scsi = Event("scsi_dispatch_cmd_start", 901, ["u32 host_no", "__data_loc u8[] cmnd", "u32 cmd_len"],
                 '"host=%u %s raw=%s", REC->host_no, scsi_trace_parse_cdb(p, __get_dynamic_array(cmnd), REC->cmd_len), '
                 '__print_hex(__get_dynamic_array(cmnd), REC->cmd_len)')
    xen = Event("xen_mc_entry", 902, ["unsigned int op"], '"op %u%s", REC->op, xen_hypercall_name(REC->op)')
    kvm_exit = Event("kvm_exit", 103, ["unsigned int exit_reason", "unsigned long guest_rip", "u32 isa", "u64 info1", "u64 info2"],
                     '"reason %u", REC->exit_reason')
    kvm_entry = Event("kvm_entry", 104, ["unsigned int vcpu_id", "unsigned long rip"], '"vcpu %u", REC->vcpu_id')
    insn = Event("kvm_emulate_insn", 85, ["__u64 rip", "__u32 csbase", "u8 len", "u8 insn[15]", "u8 flags", "u8 failed"], '"%llx", REC->rip')
    cfg = Event("cfg80211_x", 903, ["u16 proto"], '"%d", __le16_to_cpup(&REC->proto)')
    for system, events in [("syscalls", [futex]), ("timer", [start, expire]), ("tlb", [tlb]), ("kmem", [kmalloc, kfree]), ("jbd2", [jbd2]),
                           ("scsi", [scsi]), ("xen", [xen]), ("kvm", [kvm_exit, kvm_entry, insn]), ("cfg80211", [cfg])]:
        f.define(system, *events)
    now = T0
    for i in range(14):
        rows = [(futex, dict(uaddr=0x7fff0000, op=i | (128 if i & 1 else 0) | (256 if i & 2 else 0), val=i, utime=i * 16, uaddr2=5, val3=i)),
                (start, dict(hrtimer=base, function=base + 0x100 + i, expires=i * 1000, softexpires=i)),
                (expire, dict(hrtimer=base, now=i, function=base + 0x100000 + i)), (tlb, dict(reason=i - 1, pages=i - 2)),
                (kmalloc, dict(call_site=base + 0x100 + i, ptr=i, bytes_req=i)), (kfree, dict(call_site=base + 0x200 + i, ptr=base)),
                (jbd2, dict(dev=(8 << 20) | i, result=-i)), (xen, dict(op=i * 3)),
                (kvm_exit, dict(exit_reason=i * 5, guest_rip=0x1000 + i, isa=i % 3, info1=i, info2=1 << 32)),
                (kvm_entry, dict(vcpu_id=i, rip=0x1000)), (insn, dict(rip=0x1234, len=3, insn=[0x8b, 0x45, i], flags=i % 4, failed=i & 1)),
                (scsi, dict(host_no=i, cmnd=[[0x28, 0, 0, 0, 1, i, 0, 0, 8, 0], [0x88] + [i] * 15, [0x12, 0, 0, 0, 36, 0], [8, 1, 2, 3, 4, 0],
                                             [0x2a, 8, 0, 0, 1, i, 0, 0, 8, 0], [0x42] + [0] * 9][i % 6], cmd_len=6)),
                (cfg, dict(proto=i * 300))]
        for event, values in rows:
            f.top.add(i & 1, now, event, 10, **values)
            now += 500
    return f


LATENCY = """# tracer: irqsoff
#
# irqsoff latency trace v1.1.5 on 6.1.0
# --------------------------------------------------------------------
# latency: 259 us, #4/4, CPU#2 | (M:preempt VP:0, KP:0, SP:0 HP:0 #P:4)
#    -----------------
   ps-6143    2d...    0us!: trace_hardirqs_off_thunk <-(null)
   ps-6143    2d..1  259us+: trace_hardirqs_on <-schedule
"""


@case
def latency_v6():
    """The text of a latency tracer, version 6."""
    f = scene(File(version=6), count=0)
    f.latency = LATENCY
    return f


@case
def latency_v7():
    """The text of a latency tracer, version 7."""
    f = scene(File(), count=0)
    f.latency = LATENCY
    return f


def main():
    if sys.argv[1:] == ["LIST"]:
        print("\n".join(CASES))
    elif len(sys.argv) == 3 and sys.argv[1] == "ALL":
        for name, make in CASES.items():
            make().save(os.path.join(sys.argv[2], name + ".dat"))
    elif len(sys.argv) == 3 and sys.argv[1] in CASES:
        CASES[sys.argv[1]]().save(sys.argv[2])
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
