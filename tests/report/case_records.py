# SPDX-License-Identifier: MIT
"""Trace files whose records are of all kinds: special ones, every field, every print format."""

import random
import struct

from case_files import numbers
from dat import Event, File
from scene import BASE, SEC, T0, Ftrace, case, exit_event, on_machines, scene, switch_event, symbols, tasks

# Names of things.

@on_machines
def functions(f):
    """Functions, some in modules, some unknown, with parents and indentation."""
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


@on_machines
def stacks(f):
    """Stacks of the kernel and of programs, short, long and with ends of both kinds."""
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
    data = ftrace.kernel_stack.pack(f, 10, {"size": 12})[:8 + f.long_size]
    f.top.cpu(0).add(now, data + f.num("12" + f.long_code, *[base + 256 * (i % 9) + 1 for i in range(12)]))
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


FORMATS = 0xffffffff82000000


def words(*values):
    """Arguments as the kernel's binary printf packs them: (SIZE, NUMBER) at its alignment, int, or text."""
    out = b""
    for v in values:
        if isinstance(v, str):
            out += v.encode() + b"\0"
            continue
        size, number = v if isinstance(v, tuple) else (4, v)
        out += b"\0" * (-len(out) % size) + struct.pack("<Q" if size == 8 else "<I", number & ((1 << 8 * size) - 1))
    return out + b"\0" * (-len(out) % 4)


def printf_file(formats):
    """trace_printk with these formats, each with its arguments."""
    f = File()
    base = symbols(f)
    ftrace = Ftrace(f)
    tasks(f, 10, 11)
    f.printk = "".join('0x%x : "%s"\n' % (FORMATS + 64 * i, text) for i, (text, _) in enumerate(formats))
    for i, (_, args) in enumerate(formats):
        f.top.add(i & 1, T0 + 1000 * i, ftrace.bprint, 10, ip=base + 0x123, fmt=FORMATS + 64 * i, buf=words(*args))
    return f


@case
def printf():
    """trace_printk with ordinary conversions."""
    base = 0xffffffff81000000
    return printf_file([
        ("plain\\n", []), ("%d %u %x %X %o\\n", [-5, 6, 255, 255, 8]), ("%ld %lu %lx\\n", [(8, -5), (8, 5), (8, 255)]),
        ("%lld %llu %llx\\n", [(8, -7), (8, 7), (8, 1 << 40)]), ("%s and %s\\n", ["one", "two"]), ("%d%%\\n", [65]),
        ("%5d|\\n", [1]), ("%ps %pS\\n", [(8, base + 0x100), (8, base + 0x123)]), ("no line end", []),
        ("%u %s %llu\\n", [7, "odd", (8, 9)]), ("two\\nlines\\n", []), ("%s\\n", [""])])


def odd_format(number, text, args):
    def make():
        return printf_file([("%d\\n", [1]), (text, args), ("%d\\n", [2])])
    make.__name__ = "printf_odd_%d" % number
    make.__doc__ = "trace_printk with %s, between two ordinary ones." % text
    return make


# One file each: where trace-cmd cannot parse one, it gives up on all that come after it.
for number, (text, args) in enumerate([
        ("%#x %p\\n", [255, (8, 0xffffffff81000000)]), ("%.3s|%10s|%-10s|\\n", ["abcdef", "right", "left"]),
        ("%hd %hhd\\n", [70000, 300]), ("%*d|\\n", [6, 42]), ("%zu %td\\n", [(8, 12), (8, 13)]),
        ("tab\\tquote\\\"back\\\\\\n", []), ("%-*s|\\n", [8, "ab"]), ("%.*s|\\n", [2, "abcdef"]), ("%p %px\\n", [(8, 0), (8, 5)]),
        ("%c%c\\n", [65, 66]), ("%-5d|\\n", [1]), ("%05d|%+d|% d\\n", [3, 4, 5]), ("%i\\n", [5]), ("%pI4 %d\\n", ["1.2.3.4", 1]), ("%q\\n", [1])]):
    case(odd_format(number, text, args))


@on_machines
def prints(f):
    """trace_puts, marks with and without a line end, raw marks."""
    base = symbols(f)
    ftrace = Ftrace(f)
    tasks(f, 10, 11)
    f.printk = '0x%x : "put this\\n"\n' % FORMATS
    now = T0
    if f.order == "<":
        f.top.add(1, now, ftrace.bputs, 11, ip=base + 0x234, str=FORMATS)
        f.top.add(1, now + 10, ftrace.bputs, 11, ip=base + 0x234, str=FORMATS + 0x9000)
    f.top.add(1, now + 20, ftrace.bprint, 11, ip=base + 0x234, fmt=FORMATS + 0x9000, buf=words(1, 2))
    for text in ["a line\n", "no end", "", "\n", "two\nlines\n", "x" * 900 + "\n", "\ttabs \x01\x7f\n", "%d %s\n"]:
        now += 1000
        f.top.add(0, now, ftrace.print, 10, ip=base + 0x345, buf=text)
        f.top.add(1, now + 7, ftrace.print, 10, ip=0, buf=text)
    # Longer than a small long they are in small_raw().
    for data in [b"\1\2\3\4", b"text of bytes", bytes(range(40))][:8 if f.long_size == 8 else 1]:
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


@on_machines
def graph(f):
    """A function graph."""
    return graph_in(f, 5, 400)


@case
def graph_pages():
    """A longer one, in which pages part calls from their ends, in version 6."""
    return graph_in(File(version=6), 6, 900)


# Fields and formats.

@on_machines
def scalars(f):
    """Numbers of every kind under the conversions that C allows for them."""
    tasks(f, 10)
    small = ["char", "signed char", "unsigned char", "bool", "u8", "s8", "short", "unsigned short"]
    groups = [(small, "d u x hd hhd 5d -5d 05d 3u 04x X o #x", 1), (["int", "unsigned int", "gfp_t", "enum color"], "d u x 5d -5d 05d 8u 08x X #x", 4),
              (["long", "unsigned long", "size_t"], "ld lu lx 12ld -12lu 016lx #lx zu zd", f.long_size),
              (["long long", "unsigned long long", "s64", "u64"], "lld llu llx 22lld -22llu 016llx #llx", 8),
              (["void *", "struct thing *", "unsigned long"], "p lx", f.long_size)]
    number, now = 600, T0
    for kinds, convs, size in groups:
        for kind in kinds:
            text = " ".join("%s=%%%s|" % (c.lstrip("-#"), c) for c in convs.split())
            name = "f_%s_%d" % (kind.replace(" ", "_").replace("*", "p"), number)
            event = f.define("test", Event(name, number, [kind + ("v" if kind[-1] == "*" else " v"), "int end"],
                                           '"%s"%s' % (text, ", REC->v" * len(convs.split()))))
            # Small negative numbers are in MISREAD, small longs in small_exit().
            values = [0, 1, 65, 127, 255, 32768, (1 << 31) - 1]
            if size == 1:
                values = values[:4]
            elif kind not in ("long", "size_t") or size == 8:
                values += [1 << 31, -1, -2, (1 << 8 * size - 1) - 1, 1 << 8 * size - 1]
            for i, v in enumerate(values):
                f.top.add(i & 1, now, event, 10, v=v, end=i)
                now += 1000
            number += 1
    return f


@case
def small_exit():
    """A negative number in a long of four bytes."""
    f = File(long_size=4)
    tasks(f, 10)
    f.top.add(0, T0, f.define("raw_syscalls", exit_event()), 10, id=3, ret=-2)
    return f


@case
def small_raw():
    """A raw mark on a machine with longs of four bytes."""
    f = File(long_size=4)
    tasks(f, 10)
    f.top.add(0, T0, Ftrace(f).raw_data, 10, id=9, buf=b"eight by")
    return f


@on_machines
def strings(f):
    """Texts in arrays, after the record, relative to their field; empty and with odd bytes."""
    tasks(f, 10)
    event = f.define("test", Event("texts", 650, [
        "char fixed[8]", "__data_loc char[] dyn", "__rel_loc char[] rel", "int end", "char one[1]", "u8 bytes[4]"],
        '"fixed=%s dyn=%s rel=%s end=%d wide=%10s|%-10s|%.3s one=%s", REC->fixed, __get_str(dyn), '
        '__get_rel_str(rel), REC->end, REC->fixed, __get_str(dyn), __get_str(dyn), REC->one'))
    texts = ["", "a", "abcdefg", "abcdefgh", "abcdefghijkl", "with blank", "tab\tline\nend", "\x01\x7f", "%d%s", "\udcff\udcfe"]
    for i, t in enumerate(texts):
        f.top.add(0, T0 + i * 1000, event, 10, fixed=t, dyn=t, rel=t[::-1], end=i, one="z", bytes=[i, 255, 0, 1])
    for i, t in enumerate([b"\0", b"in\0ner\0"]):
        f.top.add(1, T0 + i * 1000, event, 10, fixed=t, dyn=t, rel=t, end=i)
    return f


@on_machines
def helpers(f):
    """What print formats call: flags, symbols, hex, arrays, masks, ternaries, sizes."""
    tasks(f, 10)
    base = symbols(f)
    flag = '{ 0x1, "one" }, { 0x2, "two" }, { 0x4 | 0x8, "twelve" }, { 0x10, "sixteen" }'
    events = [
        ("flags", ["unsigned long v"], '"[%s] [%s]", __print_flags(REC->v, "|", ' + flag + '), __print_flags(REC->v & 3, "", ' + flag + ')',
         [{"v": x} for x in (0, 1, 3, 12, 16, 31, 32, 0xff, 1 << 40)]),
        ("symbolic", ["int v"], '"%s", __print_symbolic(REC->v, { 0, "zero" }, { 1, "one" }, { 1 << 4, "shift" })',
         [{"v": x} for x in (0, 1, 2, 16, 255)]),
        ("hex", ["u8 v[6]", "__data_loc u8[] d"], '"%s %s", __print_hex(REC->v, 6), __print_hex(__get_dynamic_array(d), __get_dynamic_array_len(d))',
         [{"v": [1, 2, 255, 0, 16, 9], "d": [1, 2, 3]}, {"v": [0] * 6, "d": []}]),
        ("hex_str", ["u8 v[6]"], '"%s", __print_hex_str(REC->v, 6)', [{"v": [1, 2, 255, 0, 16, 9]}]),
        ("array", ["u32 v[3]", "__data_loc u16[] d", "__data_loc u8[] e", "__data_loc u64[] g"],
         '"%s %s %s %s", __print_array(REC->v, 3, 4), __print_array(__get_dynamic_array(d), __get_dynamic_array_len(d) / 2, 2), '
         '__print_array(__get_dynamic_array(e), __get_dynamic_array_len(e), 1), __print_array(__get_dynamic_array(g), 2, 8)',
         [{"v": [1, 2, 0xffffffff], "d": [1, 2, 3], "e": [9], "g": [1 << 40, 5]}]),
        ("mask", ["__data_loc unsigned long[] m"], '"%s", __get_bitmask(m)', [{"m": [0b1011]}, {"m": [0]}, {"m": [1 << 63, 1]}]),
        ("cpumask", ["__data_loc cpumask_t[] m"], '"%s", __get_cpumask(m)', [{"m": [0b1011]}, {"m": [(1 << 64) - 1]}]),
        ("ternary", ["int a", "int b"], '"%s %d", REC->a ? "yes" : "no", REC->a > REC->b ? REC->a : REC->b', [{"a": a, "b": b} for a in (0, 1, 2, 3) for b in (0, 2)]),
        ("math", ["int a", "unsigned int b", "u64 c"], '"%d %d %d %d %d %u %u %llu %d %d", REC->a + 1, REC->a - 2, REC->a * 3, '
         'REC->a / 2, REC->a % 3, REC->b >> 2, REC->b << 2, REC->c / 1000, !REC->a, ~REC->a',
         [{"a": a, "b": a, "c": a} for a in (0, 7, 1 << 30)]),
        ("logic", ["int a", "int b"], '"%d %d %d %d %d %d %d", REC->a && REC->b, REC->a || REC->b, REC->a & REC->b, REC->a | REC->b, '
         'REC->a <= REC->b, REC->a != REC->b, (REC->a + REC->b) * 2', [{"a": a, "b": b} for a in (0, 3) for b in (0, 5)]),
        ("casts", ["u64 v"], '"%d %u %x", (int)REC->v, (u8)REC->v, (unsigned short)REC->v', [{"v": v} for v in (1, 0x1ff, 0xfffffffff)]),
        ("pointers", ["void * p", "unsigned long a"], '"%p %ps %pS %pf %pF", REC->p, (void *)REC->a, (void *)REC->a, '
         '(void *)REC->a, (void *)REC->a', [{"p": x, "a": x} for x in (0, base + 0x100, base + 0x123, 5)]),
        ("addresses", ["u8 v4[4]", "u8 v6[16]", "u8 mac[6]", "u8 uuid[16]"], '"%pI4 %pi4 %pI6 %pI6c %pM %pm %pU %pUb", REC->v4, REC->v4, '
         'REC->v6, REC->v6, REC->mac, REC->mac, REC->uuid, REC->uuid',
         [{"v4": [192, 168, 0, 1], "v6": [0x20, 1, 0xd, 0xb8] + [0] * 11 + [1], "mac": [0, 1, 2, 3, 4, 255], "uuid": list(range(16))}]),
        ("elements", ["u32 v[4]", "char c[4]"], '"%u %u %d", REC->v[0], REC->v[3], REC->c[2]', [{"v": [1, 2, 3, 4], "c": "abc"}]),
        ("widths", ["int v", "int w", "char s[8]"], '"%*d|%-*d|%0*d|%.*s|%#x", REC->w, REC->v, REC->w, REC->v, REC->w, REC->v, REC->w, '
         'REC->s, REC->v', [{"v": 42, "w": w, "s": "abcdef"} for w in (0, 3, 6)]),
        ("percent", ["int v"], '"100%% of %d%%", REC->v', [{"v": 5}]),
        ("lines", ["int v"], '"one\\ntwo\\t%d\\n", REC->v', [{"v": 5}]),
        ("no_args", ["int v"], '"nothing to see"', [{"v": 5}]),
        ("no_fields", [], '"no fields"', [{}]),
        ("joined", ["int v"], '"a" "b" "%d" "c", REC->v', [{"v": 5}]),
        ("constants", ["int v"], '"%d %d %x", 0x10, 010, 1UL << 12', [{"v": 5}]),
        ("floats", ["int v"], '"%d.%02d", REC->v / 100, REC->v % 100', [{"v": 1234}]),
        ("depth", ["u16 v"], '"%d", ((((REC->v))))', [{"v": 5}]),
        ("a_name_much_longer_than_the_column", ["int v"], '"v=%d", REC->v', [{"v": 5}]),
    ]
    return called(f, [row for row in events if f.order == "<" or row[0] not in ("array", "mask")])


@case
def big_arrays():
    """Numbers in arrays and a text's address, in the byte order of another machine."""
    f = File(version=6, order=">")
    symbols(f)
    ftrace = Ftrace(f)
    tasks(f, 10)
    f.printk = '0x%x : "put this\\n"\n' % FORMATS
    called(f, [
        ("array", ["u32 v[3]", "__data_loc u16[] d"], '"%s %s", __print_array(REC->v, 3, 4), __print_array(__get_dynamic_array(d), 3, 2)',
         [{"v": [1, 2, 0xffffffff], "d": [1, 2, 3]}]),
        ("mask", ["__data_loc unsigned long[] m"], '"%s", __get_bitmask(m)', [{"m": [1 << 63, 1]}])], cpus=1)
    f.top.add(0, T0 + 2000, ftrace.bputs, 10, ip=BASE + 0x234, str=FORMATS)
    return f


def called(f, events, cpus=2):
    """One record after the other: rows of name, fields, print format and the records' values."""
    now = T0
    for i, (name, fields, text, records) in enumerate(events):
        event = f.define("test", Event(name, 700 + i, fields, text))
        for values in records:
            f.top.add(i % cpus, now, event, 10, **values)
            now += 1000
    return f


@on_machines
def unused(f):
    """Fields that the print format does not use, of every type, for a reader that shows them all."""
    tasks(f, 10)
    base = symbols(f)
    rows = [("%s_%d" % (k.replace(" ", "_").replace("*", "p"), i), [k + ("v" if k[-1] == "*" else " v")], '"unused"',
             [{"v": v} for v in (5, -5, 200, base + 0x110)])
            for i, k in enumerate(["char", "signed char", "unsigned char", "bool", "u8", "s8", "short", "unsigned short", "u16", "int",
                                   "unsigned int", "u32", "pid_t", "gfp_t", "dev_t", "enum color", "long", "unsigned long", "size_t",
                                   "s64", "u64", "long long", "unsigned long long", "void *", "const char *", "unsigned long *"])]
    for i, k in enumerate(["char a[4]", "u8 a[4]", "s8 a[4]", "unsigned char a[4]", "u16 a[2]", "u32 a[2]", "unsigned long a[2]",
                           "__data_loc char[] a", "__data_loc u8[] a", "__data_loc u32[] a", "__data_loc s16[] a", "__rel_loc char[] a",
                           "bool a[2]", "int a[2]"]):
        values = [[65, 66, 0], [200, 1, 0], [65, 66, 0], []]
        rows.append(("array_%d" % i, [k], '"unused"', [{"a": bytes(v) if "char" in k else v} for v in values]))
    return called(f, rows)


@on_machines
def used(f):
    """One field used in many ways: which of them a reader follows when it shows fields."""
    tasks(f, 10)
    base = symbols(f)
    texts = ['"%x", REC->v', '"0x%08X", REC->v', '"%d", (short)REC->v', '"%x", REC->v & 0xf', '"%llx", REC->v / 1000', '"%d %x", REC->v, REC->v',
             '"%x %d", REC->v, REC->v', '"%s", __print_symbolic(REC->v, { 1, "one" })', '"%s", __print_flags(REC->v, "|", { 1, "one" })',
             '"%s", REC->v ? "y" : "n"', '"%x", REC->v ? REC->v : REC->w', '"%x", REC->v + REC->w', '"%x", REC->w + REC->v', '"%x", !REC->v',
             '"%x", ~REC->v', '"%x", REC->v >> 4', '"%ps", REC->v', '"%pS", (void *)REC->v', '"%p", (void *)REC->v', '"%s", REC->v', '"%lu", REC->v',
             '"%5d|", REC->v', '"%-5d|", REC->v', '"%05d|", REC->v', '"%*d", REC->w, REC->v', '"%x", (REC->v)', '"%x", ((REC->v))',
             '"%x", (u8)(REC->v)', '"%x %d", 5, REC->v', '"%d %s %x", REC->w, REC->v ? "a" : "b", REC->v', '"%lld", (long long)REC->v', '"%hd", REC->v',
             '"%zu", REC->v', '"%i", REC->v', '"%o", REC->v', '"%#x", REC->v']
    # Of these trace-cmd knows but its own byte order.
    if f.order == ">":
        texts.remove('"%s", REC->v')
    rows = [("use_%d" % i, ["unsigned long v", "int w"], text, [{"v": v, "w": 7} for v in (5000, base + 0x110)]) for i, text in enumerate(texts)]
    texts = ['"%x", REC->a[1]', '"%s", __print_array(REC->a, 3, 4)', '"%s", __print_hex(REC->b, 4)', '"%s", REC->b', '"%10s|", REC->b', '"%.2s|", REC->b',
             '"%s", __get_str(d)', '"%10s|", __get_str(d)', '"%d", __get_dynamic_array_len(d)', '"%s", __print_array(__get_dynamic_array(d), 2, 1)']
    rows += [("array_%d" % i, ["u32 a[3]", "char b[8]", "__data_loc char[] d"], text, [{"a": [1, 255, 3], "b": "abcd", "d": "xyz"}])
             for i, text in enumerate(texts) if f.order == "<" or "__print_array(REC" not in text]
    return called(f, rows)


# Rows of what a print format calls, what its record holds, what is right, and what trace-cmd makes of it.
MISREAD = [
    ("unknown", ["int v"], '"%s", __print_symbolic(REC->v, { 1, "one" })', {"v": -1}, "0xffffffffffffffff", "0xffffffff"),
    ("minus", ["int v"], '"%s", __print_symbolic(REC->v, { -1, "minus" })', {"v": -1}, "minus", "0xffffffff"),
    ("narrow", ["s8 a", "short b", "signed char c"], '"%d %d %hhd", REC->a, REC->b, REC->c', {"a": -1, "b": -300, "c": -3}, "-1 -300 -3", "255 65236 -3"),
    ("chain", ["int a"], '"%s", REC->a == 1 ? "one" : REC->a == 2 ? "two" : "many"', {"a": 1}, "one", "many"),
    ("compare", ["int a"], '"%s", REC->a > 3 ? "many" : "few"', {"a": -5}, "few", "many"),
    ("divide", ["int a"], '"%d %d", REC->a / 2, REC->a % 3', {"a": -7}, "-3 -1", "2147483644 0"),
    ("xor", ["int a", "int b"], '"%d", REC->a ^ REC->b', {"a": 3, "b": 5}, "6", "0"),
    ("extended", ["int s"], '"%lld", (long long)(int)REC->s', {"s": -1}, "-1", "4294967295"),
    ("letter", ["char c[4]"], '"%c %d", REC->c[1], REC->c[2]', {"c": "abc"}, "b 99", ">c< 98"),
    ("masked", ["int v"], '"%s", __print_flags(REC->v & (1 | 2), "|", { 1, "one" }, { 2, "two" })', {"v": 4}, "", "two"),
    ("sign", ["int v"], '"%+d|% d", REC->v, REC->v', {"v": 5}, "+5| 5", ">+<d|> <d"),
    ("size", ["int v", "u64 w"], '"%lu %lu", sizeof(REC->v), sizeof(u64)', {"v": 5}, "4 8", "[FAILED TO PARSE] v=5 w=0"),
    ("quoted", ["int v"], '"%d", (1 << 3) + \'a\'', {"v": 5}, "105", "8"),
    ("exact", ["void * p"], '"%px", REC->p', {"p": 0x1234}, "0000000000001234", "0x1234x"),
]


@case
def misread():
    """What trace-cmd misreads of print formats."""
    f = File()
    tasks(f, 10)
    return called(f, [(name, fields, text, [values]) for name, fields, text, values, _, _ in MISREAD])


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
    f.define("broken", "name: nothing\n", "rubbish")
    return f


@case
def half():
    """A format that ends within a line."""
    f = File()
    tasks(f, 10)
    f.define("broken", "name: half\nID: 860\nformat:\n\tfield:int x;\toffset:8;\n")
    f.top.cpu(1).add(T0, struct.pack("<HBBi", 860, 0, 0, 10) + b"abcd")
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


@on_machines
def plugins(f):
    """Events that trace-cmd knows by name and prints its own way."""
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
