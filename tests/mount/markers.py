#!/usr/bin/python3
"""A marker written through the mount is its writer's: with the thread, its process, its name and its CPU."""

import errno
import os
import re
import threading

from tree import check, path, refused, run, text_of, write


def expect(name, tid, cpu, words):
    """One line of the trace, from that thread on that CPU."""
    line = r"^ *%s-%d +(?:\( *\d+\) )?\[%03d\] .*: %s$" % (re.escape(name), tid, cpu, re.escape(words))
    found = re.findall(line, text_of("trace"), re.M)
    check(len(found) == 1, "%s in:\n%s" % (line, text_of("trace")))


def rename(name):
    with open("/proc/self/task/%d/comm" % threading.get_native_id(), "w") as f:
        f.write(name)


def each_cpu(cpus):
    fd = os.open(path("trace_marker"), os.O_WRONLY)
    for cpu in cpus * 3:
        os.sched_setaffinity(0, {cpu})
        words = "here %d %d" % (cpu, os.lseek(fd, 0, os.SEEK_CUR))
        check(os.write(fd, words.encode()) == len(words), "a short write")
        expect("writer (a) b", os.getpid(), cpu, "tracing_mark_write: " + words)
    os.close(fd)


def threads():
    tids = []

    def mark():
        rename("thread")
        tids.append(threading.get_native_id())
        with open(path("trace_marker"), "w") as f:
            f.write("of a thread\n")

    thread = threading.Thread(target=mark)
    thread.start()
    thread.join()
    check(re.search(r"^ *thread-%d .*: of a thread$" % tids[0], text_of("trace"), re.M),
          text_of("trace"))
    check("%d %d\n" % (tids[0], os.getpid()) in text_of("saved_tgids"), text_of("saved_tgids"))


def raw(cpu):
    os.sched_setaffinity(0, {cpu})
    fd = os.open(path("trace_marker_raw"), os.O_WRONLY)
    check(os.write(fd, b"\x2a\0\0\0abc") == 7, "a short write")
    expect("writer (a) b", os.getpid(), cpu, "# 2a buf: 61 62 63 00")
    refused(errno.EINVAL, os.write, fd, b"abc")
    os.close(fd)


def long_one():
    """What does not fit into one record takes several writes."""
    fd = os.open(path("trace_marker"), os.O_WRONLY)
    words, n = b"x" * 9000, 0
    while n < len(words):
        some = os.write(fd, words[n:])
        check(0 < some <= 4096, "%d bytes at once" % some)
        n += some
    os.close(fd)
    check(text_of("trace").count("x") >= 9000, "some are lost")


def test():
    cpus = sorted(os.sched_getaffinity(0))
    write("options/record-tgid", "1")
    rename("writer (a) b")
    each_cpu(cpus)
    threads()
    raw(cpus[-1])
    long_one()


run(test)
