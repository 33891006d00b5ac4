"""Small trace files of version 7 made by hand, without any of our code.

usage: make.py [-b] KIND FILE

  host    two CPUs on which the threads 501 and 502 run the virtual CPUs 0 and 1 of a guest, and
          another guest's thread 601 its CPU 0; cycles, with what makes nanoseconds of them
  told    the same, and kvm's word about the guest's counter
  guest   two CPUs; its cycles are the host's less 900000
  scaled  the same, but its counter runs at two thirds of the host's
  lost    one CPU whose pages tell of losses, counted and not, one of them before a time extend

-b: for a machine with the big end first
"""

import struct
import sys

PAGE = 4096
COMMON = ("\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
          "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
          "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
          "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n")
TICK, ENTRY, EXIT, OFFSET = 100, 101, 102, 103


def event_format(name, number, fields, show):
    """The text of a format; FIELDS are (type, name, size)."""
    text = "name: %s\nID: %d\nformat:\n" % (name, number) + COMMON
    at = 8
    for kind, field, size in fields:
        text += "\tfield:%s %s;\toffset:%d;\tsize:%d;\tsigned:%d;\n" % (
            kind, field, at, size, kind == "int")
        at += size
    return text + "\nprint fmt: " + show + "\n"


FORMATS = {
    "test": [event_format("tick", TICK, [("int", "n", 4)], '"n=%d", REC->n')],
    "kvm": [event_format("kvm_entry", ENTRY, [("unsigned int", "vcpu_id", 4)],
                         '"vcpu %u", REC->vcpu_id'),
            event_format("kvm_exit", EXIT, [("unsigned int", "vcpu_id", 4)],
                         '"vcpu %u", REC->vcpu_id'),
            event_format("kvm_write_tsc_offset", OFFSET,
                         [("unsigned int", "vcpu_id", 4), ("__u64", "previous_tsc_offset", 8),
                          ("__u64", "next_tsc_offset", 8)],
                         '"vcpu=%u next=%llu", REC->vcpu_id, REC->next_tsc_offset')],
}


class File:
    """A trace file under way."""

    def __init__(self, end):
        self.end = end
        self.out = bytearray(b"\x17\x08\x44tracing7\0")
        self.out += self.pack("BBI", 1 if end == ">" else 0, 8, PAGE) + b"none\0\0"
        self.next_options = len(self.out)
        self.out += self.pack("Q", 0)
        self.options = bytearray()

    def pack(self, fmt, *values):
        return struct.pack(self.end + fmt, *values)

    def option(self, number, value):
        self.options += self.pack("HI", number, len(value)) + value

    def section(self, number, payload):
        at = len(self.out)
        self.out += self.pack("HHIQ", number, 0, 0xffffffff, len(payload)) + payload
        return at

    def meta(self, comms, cpus, clock, traceid):
        page = ("\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
                "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
                "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
                "\tfield: char data;\toffset:16;\tsize:4080;\tsigned:1;\n").encode()
        head = b"header_page\0" + self.pack("Q", len(page)) + page
        head += b"header_event\0" + self.pack("Q", 0)
        events = self.pack("I", len(FORMATS))
        for system, texts in FORMATS.items():
            events += system.encode() + b"\0" + self.pack("I", len(texts))
            for text in texts:
                events += self.pack("Q", len(text)) + text.encode()
        for number, payload in ((16, head), (18, events),
                                (21, self.pack("Q", len(comms)) + comms)):
            self.option(number, self.pack("Q", self.section(number, payload)))
        self.option(4, clock + b"\0")
        self.option(8, self.pack("I", cpus))
        if traceid:
            self.option(11, self.pack("Q", traceid))

    def buffer(self, clock, cpus):
        """CPUS: bytes of pages of each."""
        at = self.section(3, b"")
        places = b""
        for cpu, pages in enumerate(cpus):
            self.out += bytes(-len(self.out) % PAGE)
            places += self.pack("IQQ", cpu, len(self.out), len(pages))
            self.out += pages
        self.out[at + 8:at + 16] = self.pack("Q", len(self.out) - at - 16)
        self.option(3, self.pack("Q", at) + b"\0" + clock + b"\0" +
                    self.pack("II", PAGE, len(cpus)) + places)

    def write(self, path):
        self.option(0, self.pack("Q", 0))
        self.out[self.next_options:self.next_options + 8] = self.pack(
            "Q", self.section(0, bytes(self.options)))
        with open(path, "wb") as f:
            f.write(self.out)

    def record(self, number, pid, *words):
        """WORDS: (format of struct, value)."""
        body = self.pack("HBBi", number, 0, 0, pid)
        for fmt, value in words:
            body += self.pack(fmt, value)
        return body + bytes(-len(body) % 4)

    def word(self, kind, delta):
        return self.pack("I", kind << 27 | delta if self.end == ">" else kind | delta << 5)

    def page(self, events, lost=None, extend=False):
        """EVENTS: (time, record). LOST: how many, -1 if none knows; EXTEND: a time comes first."""
        start = last = events[0][0] - (5 << 27 if extend else 0)
        data = self.word(30, 0) + self.pack("I", 5) if extend else b""
        last += 5 << 27 if extend else 0
        for time, record in events:
            data += self.word(len(record) // 4, time - last) + record
            last = time
        commit = len(data)
        if lost is not None:
            commit |= 1 << 31
        if lost is not None and lost >= 0:
            commit |= 1 << 30
            data += self.pack("Q", lost)
        return (self.pack("QQ", start, commit) + data).ljust(PAGE, b"\0")


def host(f, told):
    f.meta(b"501 vcpu-0\n502 vcpu-1\n601 other\n", 2, b"local [x86-tsc]", 0x1111)
    f.option(14, f.pack("IIQ", 1 << 10, 10, 0))
    cpus = []
    for cpu in range(2):
        events = []
        if told:
            events.append((900000 + cpu, f.record(OFFSET, 501 + cpu, ("I", cpu), ("Q", 0),
                                                  ("q", -900000))))
        for i in range(10):
            events.append((1000000 + i * 2000 + cpu, f.record(ENTRY, 501 + cpu, ("I", cpu))))
            events.append((1001000 + i * 2000 + cpu, f.record(EXIT, 501 + cpu, ("I", cpu))))
            if cpu and not told:
                events.append((1001500 + i * 2000, f.record(ENTRY, 601, ("I", 0))))
        cpus.append(f.page(events))
    f.buffer(b"tsc2nsec", cpus)


def guest(f, scaled):
    f.meta(b"1 init\n", 2, b"local [x86-tsc]", 0x2222)
    cpus = []
    for cpu in range(2):
        events = []
        for i in range(10):
            # Between the host's entry and exit.
            time = 1000500 + i * 2000 + cpu * 100
            time = (time - 700001) * 2 // 3 if scaled else time - 900000
            events.append((time, f.record(TICK, 1, ("i", cpu * 100 + i))))
        cpus.append(f.page(events))
    f.buffer(b"x86-tsc", cpus)


def lost(f):
    f.meta(b"1 init\n", 1, b"[local]", 0)
    pages = b""
    for i, (count, extend) in enumerate(((None, False), (7, False), (-1, False), (9, True))):
        start = (10 + i) << 30
        pages += f.page([(start + j * 1000, f.record(TICK, 1, ("i", i * 10 + j)))
                         for j in range(5)], count, extend)
    f.buffer(b"local", [pages])


def main():
    args = sys.argv[1:]
    end = "<"
    if args and args[0] == "-b":
        end = ">"
        del args[0]
    if len(args) != 2:
        sys.exit(__doc__)
    kind, path = args
    f = File(end)
    {"host": lambda: host(f, False), "told": lambda: host(f, True),
     "guest": lambda: guest(f, False), "scaled": lambda: guest(f, True),
     "lost": lambda: lost(f)}[kind]()
    f.write(path)


main()
