#!/usr/bin/python3
"""Reads that wait: they end at once when a signal comes, when there is something, when told to, and take
nothing with them; no other file waits with them; poll(2) tells when to read; nobody waits with O_NONBLOCK."""

import errno
import fcntl
import os
import select
import signal
import subprocess
import sys
import threading
import time

from tree import CannotRun, check, path, refused, run, write

READ = {"x86_64": "0", "aarch64": "63"}.get(os.uname().machine)


def await_read(pid, tid):
    """Until that thread waits for the answer to a read(2)."""
    while True:
        with open("/proc/%d/task/%d/syscall" % (pid, tid)) as f:
            reads = f.read().split()[0] == READ
        with open("/proc/%d/task/%d/wchan" % (pid, tid)) as f:
            where = f.read()
        # Who may not know where it waits has to guess.
        if reads and where in ("", "0"):
            time.sleep(0.5)
        if reads and where in ("", "0", "request_wait_answer"):
            return
        time.sleep(0.01)


class Reader(threading.Thread):
    """One read in a thread of its own."""

    def __init__(self, fd):
        super().__init__(daemon=True)
        self.fd, self.got = fd, None
        self.start()
        while not self.native_id:
            time.sleep(0.01)
        await_read(os.getpid(), self.native_id)

    def run(self):
        try:
            self.got = os.read(self.fd, 4096)
        except OSError as e:
            self.got = e

    def result(self):
        self.join(60)
        check(not self.is_alive(), "the read does not end")
        return self.got


def signals():
    """A reader that is killed is gone, and has taken nothing."""
    for number in signal.SIGTERM, signal.SIGKILL:
        with subprocess.Popen(["cat", path("trace_pipe")], stdout=subprocess.PIPE) as cat:
            await_read(cat.pid, cat.pid)
            cat.send_signal(number)
            check(cat.wait(60) == -number, "cat ended otherwise")
            check(cat.stdout.read() == b"", "cat has read something")
        write("trace_marker", "after %d" % number)
        fd = os.open(path("trace_pipe"), os.O_RDONLY)
        check(b": after %d\n" % number in os.read(fd, 4096), "the signal has eaten the event")
        os.close(fd)


def handler():
    """A handler runs and the same read goes on."""
    ran = []
    fd = os.open(path("trace_pipe"), os.O_RDONLY)

    def on_signal(*_):
        ran.append(1)
        if len(ran) == 3:
            write("trace_marker", "handled")

    signal.signal(signal.SIGALRM, on_signal)
    signal.setitimer(signal.ITIMER_REAL, 0.1, 0.1)
    # Python reads again after EINTR; three handlers run before there is anything to read.
    check(b": handled\n" in os.read(fd, 4096), "not the marker")
    signal.setitimer(signal.ITIMER_REAL, 0)
    check(len(ran) >= 3, "handlers did not run")
    os.close(fd)


def nonblock():
    fd = os.open(path("trace_pipe"), os.O_RDONLY | os.O_NONBLOCK)
    refused(errno.EAGAIN, os.read, fd, 4096)
    write("trace_marker", "there")
    check(b": there\n" in os.read(fd, 4096), "not the marker")
    refused(errno.EAGAIN, os.read, fd, 4096)
    # The flag may change while it is open.
    os.set_blocking(fd, True)
    reader = Reader(fd)
    write("trace_marker", "for it")
    check(b": for it\n" in reader.result(), "not the marker")
    refused(errno.ESPIPE, os.lseek, fd, 0, os.SEEK_SET)
    os.close(fd)


def two_readers():
    first = os.open(path("trace_pipe"), os.O_RDONLY)
    refused(errno.EBUSY, os.open, path("trace_pipe"), os.O_RDONLY)
    os.close(first)
    # However lately the one before was closed.
    for _ in range(100):
        os.close(os.open(path("trace_pipe"), os.O_RDONLY))
    cpus = sorted(os.sched_getaffinity(0))
    if len(cpus) < 2:
        return
    fds = [os.open(path("per_cpu/cpu%d/trace_pipe" % cpu), os.O_RDONLY) for cpu in cpus[:2]]
    readers = [Reader(fd) for fd in fds]
    for cpu, reader in reversed(list(zip(cpus, readers))):
        os.sched_setaffinity(0, {cpu})
        check(reader.is_alive(), "read something else")
        write("trace_marker", "on %d" % cpu)
        check(b": on %d\n" % cpu in reader.result(), "not the marker of that CPU")
    os.sched_setaffinity(0, cpus)
    for fd in fds:
        os.close(fd)


def many_wait():
    """More readers than the server has threads, each in a buffer of its own, and the tree can be used."""
    names = ["instances/wait%d" % i for i in range(40)]
    fds, readers = [], []
    for name in names:
        os.mkdir(path(name))
        fds.append(os.open(path(name + "/trace_pipe"), os.O_RDONLY))
        readers.append(Reader(fds[-1]))
    with open(path("tracing_on")) as f:
        check(f.read() == "1\n", "tracing_on")
    for name, reader in zip(names, readers):
        write(name + "/trace_marker", name)
        check(name.encode() in reader.result(), "not the marker")
    for name, fd in zip(names, fds):
        os.close(fd)
        os.rmdir(path(name))


def polls():
    write("buffer_percent", "0")
    fd = os.open(path("trace_pipe"), os.O_RDONLY)
    poll = select.poll()
    poll.register(fd, select.POLLIN)
    check(poll.poll(0) == [], "readable, and there is nothing")
    told = []
    waiter = threading.Thread(target=lambda: told.extend(poll.poll(60000)), daemon=True)
    waiter.start()
    write("trace_marker", "polled")
    waiter.join(60)
    check(told == [(fd, select.POLLIN)], "poll says %s" % told)
    check(poll.poll(0) == [(fd, select.POLLIN)], "no longer readable")
    check(b": polled\n" in os.read(fd, 4096), "not the marker")
    check(poll.poll(0) == [], "still readable")
    os.close(fd)
    fd = os.open(path("tracing_on"), os.O_RDWR)
    poll = select.poll()
    poll.register(fd, select.POLLIN | select.POLLOUT)
    check(poll.poll(0) == [(fd, select.POLLIN | select.POLLOUT)], "a plain file is not ready")
    os.close(fd)


def wakes():
    """ioctl 0 and close end what waits, whatever the server is doing for it at that moment."""
    for i in range(30):
        fd = os.open(path("per_cpu/cpu0/trace_pipe_raw"), os.O_RDONLY)
        reader = Reader(fd)
        fcntl.ioctl(fd, 0)
        check(reader.result() == b"", "ioctl 0 gave something else than no bytes")
        reader = Reader(fd)
        time.sleep(i / 500)
        os.close(fd)
        check(reader.result() == b"", "close gave something else than no bytes")
    fd = os.open(path("per_cpu/cpu0/trace_pipe_raw"), os.O_RDONLY)
    refused(errno.ENOTTY, fcntl.ioctl, fd, 0x5240)
    os.close(fd)
    fd = os.open(path("trace"), os.O_RDONLY)
    refused(errno.ENOTTY, fcntl.ioctl, fd, 0)
    os.close(fd)


def gone():
    """Removed behind an inode that is still known, by somebody who knows nothing of the mount."""
    os.mkdir(path("instances/gone"))
    here = os.open(path("instances/gone"), os.O_RDONLY)
    subprocess.run([sys.executable, "-c", "import os, sys; os.rmdir(sys.argv[1])",
                    path("instances/gone")], check=True)
    refused(errno.ENODEV, os.fstat, here)
    os.close(here)
    refused(errno.ENOENT, os.open, path("instances/gone/tracing_on"), os.O_RDONLY)


def test():
    if not READ:
        raise CannotRun("the number of read(2) is not known for this machine")
    for part in signals, handler, nonblock, two_readers, many_wait, polls, wakes, gone:
        print(part.__name__, flush=True)
        part()


run(test)
