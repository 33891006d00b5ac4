# SPDX-License-Identifier: MIT
"""Write trace.dat files by hand: every byte of them is chosen here and none by a kernel.

For tests that compare readers. A File holds what a trace file holds (formats, symbols, options,
Buffers), a Buffer has Cpus, a Cpu takes records and lays them out on pages. File.save() writes
version 6 or 7, in either byte order, for kernels with longs of 4 or 8 bytes.

Nothing is checked on the way: wrong files are wanted as well.
"""

import re
import struct
import zlib

COMMON = ["unsigned short common_type", "unsigned char common_flags",
          "unsigned char common_preempt_count", "int common_pid"]
SIZES = {"char": 1, "signed char": 1, "unsigned char": 1, "u8": 1, "s8": 1, "bool": 1,
         "short": 2, "unsigned short": 2, "u16": 2, "s16": 2, "__u16": 2, "int": 4, "unsigned int": 4,
         "unsigned": 4, "u32": 4, "s32": 4, "__u32": 4, "pid_t": 4, "gfp_t": 4, "u64": 8, "s64": 8,
         "__u64": 8, "long long": 8, "unsigned long long": 8, "ktime_t": 8, "dev_t": 4}
SIGNED = {"char", "signed char", "s8", "short", "s16", "int", "s32", "pid_t", "long", "s64", "long long", "ktime_t"}
INTS = {1: "b", 2: "h", 4: "i", 8: "q"}


class Field:
    """One field of an event, from a C declaration as the kernel prints it, `DECL|BYTES` to be stored wider."""

    def __init__(self, decl, long_size):
        decl, _, size = decl.partition("|")
        self.decl = decl
        loc = re.match(r"__(data|rel)_loc (.*)\[\] (\w+)$", decl)
        array = re.match(r"(.*) (\w+)\[(\w*)\]$", decl)
        self.loc = loc.group(1) if loc else None
        self.count = 1
        if loc:
            kind, self.name = loc.group(2), loc.group(3)
        elif array:
            kind, self.name = array.group(1), array.group(2)
            self.count = int(array.group(3)) if array.group(3).isdigit() else 0
        else:
            kind, self.name = re.match(r"(.*[ *])(\w+)$", decl).groups()
        kind = kind.replace("const ", "").strip()
        if kind.endswith("*") or kind in ("long", "unsigned long", "size_t", "cpumask_t"):
            self.unit = long_size
        else:
            self.unit = SIZES.get(kind, 4)
        self.signed = kind in SIGNED
        self.text = kind == "char"
        if size:
            self.unit = int(size)
        self.size = 4 if self.loc else self.unit * self.count
        self.align = 4 if self.loc else self.unit


class Event:
    """An event's format and how its records are packed. print_fmt None leaves the line out."""

    def __init__(self, name, number, fields, print_fmt, flags="", common=()):
        self.name, self.id, self.fields, self.print_fmt = name, number, fields, print_fmt
        self.flags, self.common = flags, list(common)

    def lay_out(self, f):
        """Pairs of field and offset: those that all events share, and its own."""
        at, out = 0, []
        for decl in COMMON + self.common:
            field = Field(decl, f.long_size)
            out.append((field, at))
            at += field.size
        split = len(out)
        for decl in self.fields:
            field = Field(decl, f.long_size)
            at = (at + field.align - 1) // field.align * field.align
            out.append((field, at))
            at += field.size
        return out[:split], out[split:], at

    def text(self, f):
        def line(field, at):
            return "\tfield:%s;\toffset:%d;\tsize:%d;\tsigned:%d;\n" % (field.decl, at, field.size, field.signed)
        shared, own, _ = self.lay_out(f)
        head = "name: %s\nID: %d\nformat:\n" % (self.name, self.id)
        text = head + "".join(line(*x) for x in shared) + "\n" + "".join(line(*x) for x in own)
        if self.print_fmt is not None:
            text += "\nprint fmt: %s\n" % self.print_fmt
        return text

    def pack(self, f, pid, values, flags=0, preempt=0):
        """A record's bytes. Text and lists go to arrays and to the variable part, as declared."""
        _, own, size = self.lay_out(f)
        data = bytearray(size)
        struct.pack_into(f.order + "HBBi", data, 0, self.id, flags, preempt, pid)
        for field, at in own:
            value = values.get(field.name, 0)
            if field.loc:
                tail = pack_list(f, field, value)
                where = len(data) - (at + 4 if field.loc == "rel" else 0)
                struct.pack_into(f.order + "I", data, at, len(tail) << 16 | where)
                data += tail
            elif field.count == 0:
                data += pack_list(f, field, value)
            elif isinstance(value, (str, bytes, list, tuple)):
                data[at:at + field.size] = pack_list(f, field, value).ljust(field.size, b"\0")[:field.size]
            elif field.count == 1:
                struct.pack_into(f.order + INTS[field.unit], data, at, wrap(value, field.unit))
        return bytes(data)


def wrap(value, size):
    """The value as a signed number of that many bytes."""
    value &= (1 << 8 * size) - 1
    return value - (1 << 8 * size) if value >> (8 * size - 1) else value


def pack_list(f, field, value):
    if isinstance(value, str):
        return value.encode("utf-8", "surrogateescape") + b"\0"
    if isinstance(value, bytes):
        return value
    if isinstance(value, int):
        value = [value]
    return b"".join(struct.pack(f.order + INTS[field.unit], wrap(x, field.unit)) for x in value)


class Cpu:
    """Records of one CPU on their way to pages. Each time is absolute; deltas are worked out."""

    def __init__(self, f, page_size):
        self.f, self.page_size = f, page_size
        self.head = 8 + f.long_size
        self.pages = []
        self.data = None
        self.lost = None
        self.stamp = self.now = 0

    def header(self, type_len, delta):
        if self.f.order == "<":
            return struct.pack("<I", type_len | delta << 5)
        return struct.pack(">I", type_len << 27 | delta)

    def open_page(self, now, lost=None):
        """Begin a page at that time. lost: events were lost before it, -1 if nobody knows how many."""
        self.close_page()
        self.data, self.stamp, self.now, self.lost = b"", now, now, lost

    def close_page(self):
        if self.data is None:
            return
        commit, tail = len(self.data), b""
        if self.lost is not None:
            commit |= 1 << 31
            if self.lost >= 0:
                commit |= 1 << 30
                tail = struct.pack(self.f.order + self.f.long_code, self.lost)
        page = struct.pack(self.f.order + "Q" + self.f.long_code, self.stamp, commit) + self.data + tail
        self.pages.append(page.ljust(self.page_size, b"\0")[:self.page_size])
        self.data = None

    def room(self):
        return self.page_size - self.head - len(self.data)

    def add(self, now, payload, long_form=False):
        """One data record, on a new page when this one is full."""
        payload += b"\0" * (-len(payload) % 4)
        if self.data is None or self.room() < len(payload) + 24:
            self.open_page(now)
        if not 0 <= now - self.now < 1 << 27:
            self.extend(now)
        if long_form or len(payload) > 28 * 4 or not payload:
            head = self.header(0, now - self.now) + struct.pack(self.f.order + "I", len(payload) + 4)
        else:
            head = self.header(len(payload) // 4, now - self.now)
        self.data += head + payload
        self.now = now

    def extend(self, now):
        delta = (now - self.now) & ((1 << 59) - 1)
        self.data += self.header(30, delta & 0x7ffffff) + struct.pack(self.f.order + "I", delta >> 27)
        self.now = now

    def absolute(self, now):
        low = now & ((1 << 59) - 1)
        self.data += self.header(31, low & 0x7ffffff) + struct.pack(self.f.order + "I", low >> 27)
        self.now = now

    def padding(self, size, delta=0):
        """A discarded record of that many bytes, its header included."""
        self.data += self.header(29, delta) + struct.pack(self.f.order + "I", size - 4) + b"\xa5" * (size - 8)
        self.now += delta

    def raw(self, data):
        self.data += data


class Buffer:
    def __init__(self, f, name="", clock="local", page_size=None, cpus=None):
        self.f, self.name, self.clock = f, name, clock
        self.page_size = page_size or f.page_size
        self.count = cpus or f.cpus
        self.cpus = {}

    def cpu(self, number):
        if number not in self.cpus:
            self.cpus[number] = Cpu(self.f, self.page_size)
        return self.cpus[number]

    def add(self, cpu, now, event, pid=0, flags=0, preempt=0, /, **values):
        self.cpu(cpu).add(now, event.pack(self.f, pid, values, flags, preempt))

    def bytes_of(self, number):
        cpu = self.cpus.get(number)
        if not cpu:
            return b""
        cpu.close_page()
        return b"".join(cpu.pages)


class File:
    def __init__(self, version=7, order="<", long_size=8, page_size=4096, cpus=2, clock="local"):
        self.version, self.order, self.long_size = version, order, long_size
        self.page_size, self.cpus, self.clock = page_size, cpus, clock
        self.long_code = "Q" if long_size == 8 else "I"
        self.ftrace, self.systems = [], {}
        self.texts = []
        self.kallsyms = self.printk = self.cmdlines = ""
        self.options = []
        self.top = Buffer(self)
        self.buffers = [self.top]
        self.latency = None
        self.compress = False
        self.leave_out = ()

    def define(self, system, *events):
        """Know these events; a string is the text of a format, right or wrong."""
        for event in events:
            text = event if isinstance(event, str) else event.text(self)
            if system == "ftrace":
                self.ftrace.append(text)
            else:
                self.systems.setdefault(system, []).append(text)
        return events[0] if len(events) == 1 else events

    def instance(self, name, **how):
        buffer = Buffer(self, name, **how)
        self.buffers.append(buffer)
        return buffer

    def option(self, number, data):
        self.options.append((number, data.encode() + b"\0" if isinstance(data, str) else data))

    def num(self, code, *values):
        return struct.pack(self.order + code, *values)

    # The parts that both versions have.

    def headers(self):
        long_size = self.long_size
        page = ("\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
                "\tfield: local_t commit;\toffset:8;\tsize:%d;\tsigned:1;\n"
                "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
                "\tfield: char data;\toffset:%d;\tsize:%d;\tsigned:1;\n"
                % (long_size, 8 + long_size, self.page_size - 8 - long_size)).encode()
        event = (b"# compressed entry header\n\ttype_len    :    5 bits\n\ttime_delta  :   27 bits\n"
                 b"\tarray       :   32 bits\n\n\tpadding     : type == 29\n"
                 b"\ttime_extend : type == 30\n\ttime_stamp : type == 31\n\tdata max type_len  == 28\n")
        return (b"header_page\0" + self.num("Q", len(page)) + page +
                b"header_event\0" + self.num("Q", len(event)) + event)

    def formats(self, texts):
        out = self.num("I", len(texts))
        for text in texts:
            out += self.num("Q", len(text)) + text.encode()
        return out

    def event_formats(self):
        out = self.num("I", len(self.systems))
        for name, texts in self.systems.items():
            out += name.encode() + b"\0" + self.formats(texts)
        return out

    def counted(self, code, text):
        data = text.encode("utf-8", "surrogateescape")
        return self.num(code, len(data)) + data

    def clock_text(self, clock):
        return " ".join("[%s]" % c if c == clock else c for c in ("local", "global", "counter", "uptime", "perf",
                        "mono", "mono_raw", "boot", "tai", "x86-tsc")) + ("" if clock in (
                        "local", "global", "counter", "uptime", "perf", "mono", "mono_raw", "boot", "tai",
                        "x86-tsc") else " [%s]" % clock)

    def save(self, path):
        with open(path, "wb") as out:
            out.write(self.version_6() if self.version == 6 else self.version_7())

    def start(self):
        return (b"\x17\x08\x44tracing" + b"%d\0" % self.version + (b"\0" if self.order == "<" else b"\1") +
                bytes([self.long_size]) + self.num("I", self.page_size))

    # Version 6: one stream, with offsets for the data only.

    def version_6(self):
        out = self.start() + self.headers() + self.formats(self.ftrace) + self.event_formats()
        out += self.counted("I", self.kallsyms) + self.counted("I", self.printk)
        out += self.counted("Q", self.cmdlines) + self.num("I", self.cpus)
        if self.latency is not None:
            return out + b"latency  \0" + self.latency.encode()
        instances = self.buffers[1:]
        options = list(self.options)
        if self.clock:
            options.append((4, self.clock_text(self.clock).encode() + b"\0"))
        for b in instances:
            options.append((3, None))
        fixups, text = [], b"options  \0"
        for number, data in options:
            if data is None:
                name = instances[len(fixups)].name.encode() + b"\0"
                fixups.append(len(out) + len(text) + 6)
                data = bytes(8) + name
            text += self.num("HI", number, len(data)) + data
        out = bytearray(out + text + self.num("H", 0))
        self.fly_6(out, self.top)
        for at, b in zip(fixups, instances):
            struct.pack_into(self.order + "Q", out, at, len(out))
            self.fly_6(out, b)
        return bytes(out)

    def fly_6(self, out, buffer):
        out += b"flyrecord\0"
        table = len(out)
        out += bytes(16 * buffer.count)
        if self.clock:
            clock = b"[%s]" % buffer.clock.encode() if buffer is not self.top else b"[%s]" % self.clock.encode()
            out += self.num("Q", len(clock)) + clock
        for n in range(buffer.count):
            data = buffer.bytes_of(n)
            out += bytes(-len(out) % buffer.page_size)
            struct.pack_into(self.order + "QQ", out, table + 16 * n, len(out), len(data))
            out += data

    # Version 7: sections, found by options.

    def section(self, out, number, data, name):
        at = len(out)
        flags = 0
        if self.compress and number not in (0, 15):
            small = zlib.compress(data, 9)
            data, flags = self.num("II", len(small), len(data)) + small, 1
        out += self.num("HHIQ", number, flags, self.named(name), len(data)) + data
        return at

    def named(self, name):
        at = sum(len(t) for t in self.texts)
        self.texts.append(name.encode() + b"\0")
        return at

    def options_section(self, out, options):
        """Ends with the offset of the next, which is written when that is known."""
        text = b"".join(self.num("HI", n, len(d)) + d for n, d in options) + self.num("HIQ", 0, 8, 0)
        at = len(out)
        out += self.num("HHIQ", 0, 0, self.named("options"), len(text)) + text
        struct.pack_into(self.order + "Q", out, self.link, at)
        self.link = len(out) - 8

    def fly_7(self, out, buffer):
        """The section of a buffer and the option that tells of it."""
        at = len(out)
        out += bytes(16)
        head = self.named("buffer flyrecord" + (" " + buffer.name if buffer.name else ""))
        rows = []
        for n in range(buffer.count):
            data = buffer.bytes_of(n)
            if not data:
                continue
            out += bytes(-len(out) % buffer.page_size)
            if self.compress:
                step = 10 * buffer.page_size
                chunks = [data[i:i + step] for i in range(0, len(data), step)]
                small = [zlib.compress(c, 9) for c in chunks]
                data = self.num("I", len(chunks)) + b"".join(
                    self.num("II", len(s), len(c)) + s for s, c in zip(small, chunks))
            rows.append((n, len(out), len(data)))
            out += data
        out += bytes(-len(out) % buffer.page_size)
        struct.pack_into(self.order + "HHIQ", out, at, 3, int(self.compress), head, len(out) - at - 16)
        value = self.num("Q", at) + buffer.name.encode() + b"\0" + buffer.clock.encode() + b"\0"
        value += self.num("II", buffer.page_size, len(rows)) + b"".join(self.num("IQQ", *r) for r in rows)
        return 3, value

    def version_7(self):
        out = bytearray(self.start())
        out += b"zlib\0001.2.13\0" if self.compress else b"none\0\0"
        self.link = len(out)
        out += bytes(8)
        parts = [(16, self.headers(), "headers"), (17, self.formats(self.ftrace), "ftrace events"),
                 (18, self.event_formats(), "events format"), (19, self.counted("I", self.kallsyms), "kallsyms"),
                 (20, self.counted("I", self.printk), "printk"), (21, self.counted("Q", self.cmdlines), "command lines")]
        found = [(n, self.num("Q", self.section(out, n, data, name)))
                 for n, data, name in parts if n not in self.leave_out]
        options = found + self.options
        if self.clock:
            options.append((4, self.clock_text(self.clock).encode() + b"\0"))
        if 8 not in self.leave_out:
            options.append((8, self.num("I", self.cpus)))
        self.options_section(out, options)
        if self.latency is not None:
            at = self.section(out, 22, self.latency.encode(), "buffer latency")
            self.options_section(out, [(22, self.num("Q", at) + b"\0" + self.clock.encode() + b"\0")])
        else:
            self.top.clock = self.clock or "local"
            for buffer in self.buffers:
                self.options_section(out, [self.fly_7(out, buffer)])
        texts = b"".join(self.texts)
        out += self.num("HHIQ", 15, 0, 0xffffffff, len(texts)) + texts
        return bytes(out)
