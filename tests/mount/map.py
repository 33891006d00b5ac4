#!/usr/bin/python3
"""trace_pipe_raw mapped, as the kernel's: a page of numbers, then pages; an ioctl turns to the next. Where the kernel maps
no file in the place of ours, or for root only, mapping is refused and the file is read as ever."""

import errno
import fcntl
import mmap
import os
import struct

from tree import CannotRun, check, path, run, write

GET_READER = ord("R") << 8 | 0x20
META = struct.Struct("=IIIIQIIQQQQQQ")
NAMES = ("meta_size", "meta_len", "page_size", "pages", "lost", "id", "page_read", "flags", "entries",
         "overrun", "read", "reserved1", "reserved2")


class Mapping:
    """One CPU's file, mapped."""

    def __init__(self, cpu):
        self.fd = os.open(path("per_cpu/cpu%d/trace_pipe_raw" % cpu), os.O_RDONLY | os.O_NONBLOCK)
        try:
            self.head = mmap.mmap(self.fd, 4096, mmap.MAP_SHARED, mmap.PROT_READ)
        except OSError:
            os.close(self.fd)
            raise
        meta = self.meta()
        self.data = mmap.mmap(self.fd, meta["page_size"] * meta["pages"], mmap.MAP_SHARED, mmap.PROT_READ,
                              offset=meta["meta_size"])

    def meta(self):
        return dict(zip(NAMES, META.unpack_from(self.head)))

    def turn(self):
        fcntl.ioctl(self.fd, GET_READER)
        return self.meta()

    def page(self):
        meta = self.meta()
        start = meta["id"] * meta["page_size"]
        return self.data[start:start + meta["page_size"]]

    def close(self):
        self.data.close()
        self.head.close()
        os.close(self.fd)


def markers(text, count):
    for i in range(count):
        write("trace_marker", "%s %d" % (text, i))


def look(cpu, kb):
    """What the kernel's own test looks at, and what is in the pages."""
    write("buffer_subbuf_size_kb", str(kb))
    mapping = Mapping(cpu)
    meta = mapping.meta()
    check(meta["meta_len"] == META.size and meta["page_size"] == kb * 1024, meta)
    check((meta["id"], meta["entries"], meta["read"], meta["overrun"]) == (0, 0, 0, 0), meta)
    check(mapping.turn()["id"] == 0, "turned, and there is nothing")
    markers("sixteen", 16)
    for _ in range(2):
        meta = mapping.turn()
        check((meta["id"], meta["entries"], meta["read"]) == (1, 16, 16), meta)
    page = mapping.page()
    commit = struct.unpack_from("=Q", page, 8)[0] & 0xfffffff
    check(page[16:16 + commit].count(b"sixteen ") == 16, "not the sixteen")
    # Round all pages: what was there stays until its turn comes again.
    seen = 0
    for turn in range(meta["pages"] + 3):
        markers("round%d" % turn, 1)
        meta = mapping.turn()
        check(b"round%d 0" % turn in mapping.page(), "not the marker of turn %d" % turn)
        check(0 <= meta["id"] < meta["pages"] and meta["lost"] == 0, meta)
        seen += 1
    check(meta["read"] == 16 + seen, meta)
    mapping.close()


def read_after(cpu):
    """Who reads gets what nobody turned to, and only that."""
    mapping = Mapping(cpu)
    markers("turned", 1)
    mapping.turn()
    check(b"turned 0" in mapping.page(), "not the marker")
    mapping.close()
    markers("read", 1)
    fd = os.open(path("per_cpu/cpu%d/trace_pipe_raw" % cpu), os.O_RDONLY)
    page = os.read(fd, 65536)
    check(b"read 0" in page and b"turned" not in page, "the page does not follow")
    os.close(fd)


def may_map(cpu):
    """If not, the file can be read as ever."""
    try:
        Mapping(cpu).close()
    except OSError as e:
        check(e.errno == errno.ENODEV, e)
        markers("as ever", 1)
        fd = os.open(path("per_cpu/cpu%d/trace_pipe_raw" % cpu), os.O_RDONLY)
        check(b"as ever 0" in os.read(fd, 4096), "cannot be read either")
        os.close(fd)
        raise CannotRun("the kernel maps no file in the place of ours: %s" % e) from e


def test():
    cpu = min(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {cpu})
    write("buffer_size_kb", "32")
    may_map(cpu)
    look(cpu, 4)
    look(cpu, 8)
    read_after(cpu)


run(test)
