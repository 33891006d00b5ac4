# SPDX-License-Identifier: MIT
"""Trace files of all kinds of machines, pages, buffers, clocks and options."""

from dat import Event, File
from scene import SEC, T0, case, scene, tasks

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
    c.padding(16, 1)
    c.add(now + 510, number.pack(f, 10, {"n": 101}))
    c.padding(40, 7)
    c.padding(8, 1)
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
    # Padding without a time is where a page ends before its bytes do.
    c.padding(c.room())
    c.open_page(now + (1 << 37))
    c.add(now + (1 << 37), number.pack(f, 11, {"n": 107}))
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
        for i, lost in enumerate([-1, None, 1, 5, 1000, 123456, -1, None, 2000000000]):
            now += 1000
            c.open_page(now, lost)
            c.add(now, number.pack(f, 10, {"n": i}))
            c.add(now + 100, number.pack(f, 11, {"n": i}))
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


@case
def lost_hidden():
    """Lost events before pages that begin with something else than a record."""
    f = File()
    number, _ = numbers(f)
    c = f.top.cpu(0)
    c.open_page(T0, 77)
    c.extend(T0 + (1 << 28))
    c.add(T0 + (1 << 28), number.pack(f, 10, {"n": 1}))
    c.open_page(T0 + (1 << 29), 78)
    c.padding(16, 1)
    c.add(T0 + (1 << 29) + 1, number.pack(f, 10, {"n": 2}))
    c.open_page(T0 + (1 << 30), -1)
    c.absolute(T0 + (1 << 30))
    c.add(T0 + (1 << 30), number.pack(f, 10, {"n": 3}))
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


def shifted(f, rows, flags=0, fraction=True):
    """Make it the file of a guest, with samples of time, offset, scale and fraction."""
    f.option(11, f.num("Q", 0x2222))
    data = f.num("QII", 0x1111, flags, f.cpus)
    for _ in range(f.cpus):
        data += f.num("I", len(rows)) + b"".join(f.num("%dq" % len(rows), *col) for col in list(zip(*rows))[:3])
    if fraction:
        for _ in range(f.cpus):
            data += f.num("%dq" % len(rows), *[r[3] for r in rows])
    f.option(12, data)


def pair(guest, **shift):
    """A host's file or its guest's, whose times are those of the host less some."""
    f = scene(File(clock="mono"), count=20, seed=8 + guest, start=T0 + (0 if guest else 5000000))
    if guest:
        shifted(f, **shift)
    else:
        f.option(11, f.num("Q", 0x1111))
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


def steps(**shift):
    """A guest whose records lie before, between and after its samples."""
    f = File(clock="mono")
    number, _ = numbers(f)
    shifted(f, rows=[(T0 + 10000000, SEC, 1, 0), (T0 + 20000000, 2 * SEC, 1, 0), (T0 + 40000000, 4 * SEC, 1, 0)], **shift)
    for i in range(0, 60, 5):
        f.top.add(i & 1, T0 + i * 1000000 + i, number, 10, n=i)
    return f


@case
def guest_steps():
    """Samples between which the offset stays."""
    return steps()


@case
def guest_slope():
    """Samples between which the offset grows."""
    return steps(flags=1)


@case
def options():
    """Every option that is text or a number, and ids that nobody knows."""
    f = scene(File(), count=10)
    f.option(5, "Linux box 6.1.0 #1 SMP x86_64")
    f.option(9, "9.8.7 abcdef")
    f.option(6, "raw_syscalls:sys_enter,id/raw_syscalls:sys_exit,id")
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


# Text in place of records.

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
