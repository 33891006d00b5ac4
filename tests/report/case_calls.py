# SPDX-License-Identifier: MIT
"""Trace files of programs' functions, as our own recorder lays them out: addresses of the symbol space, modules that are
libraries, exits that have return values."""

import random

from dat import Event, File
from scene import SEC, T0, Ftrace, case, tasks

SPACE = 1 << 62
PROGRAM = ["main", "take_order", "lookup", "flush", "~shop::~shop()", "on_exit.cold"]
LIBRARY = ["malloc", "free", "memcpy@@GLIBC_2.14"]


def space(f):
    """A program and a library, each with a base of its own, and holes in which no function is; the functions' addresses."""
    lines, places = [], []
    for base, names, module in ((SPACE, PROGRAM, ""), (SPACE + (1 << 40), LIBRARY, "\t[libc.so.6]")):
        for i, name in enumerate(names):
            places.append(base + 0x1000 + 64 * i)
            lines.append("%016x T %s%s\n" % (places[-1], name, module))
        lines.append("%016x t [unknown]%s\n" % (base + 0x1000 + 64 * len(names), module or "\t[shop]"))
    f.kallsyms = "".join(lines)
    return places


class Own(Ftrace):
    """ftrace's events as a tracing directory has them."""

    def __init__(self, f):
        super().__init__(f)
        self.exit = Event("funcgraph_exit", 10, ["unsigned long func", "unsigned long retval", "int depth",
                          "unsigned int overrun", "unsigned long long calltime", "unsigned long long rettime"],
                          '"<-- %ps (%d) (start: %llx  end: %llx) over: %d retval: %lx", (void *)REC->func, REC->depth, '
                          'REC->calltime, REC->rettime, REC->depth, REC->retval')
        f.ftrace[:] = [e.text(f) for e in vars(self).values()]


class Thread:
    def __init__(self, pid, cpu):
        self.pid, self.cpu, self.calls = pid, cpu, []


def calls_in(f, seed, steps, moves=False, gaps=False):
    """Threads that call and return, turn about on their CPUs, with words and events of their own in between."""
    places, ftrace = space(f), Own(f)
    places += [SPACE + 0x1234567, 0x401000, SPACE + 0x1000 + 64 + 5]
    order = f.define("shop", Event("order", 0x4000, ["int n"], '"n=%d", REC->n'))
    tasks(f, 10, 11, 12, 13)
    rnd = random.Random(seed)
    threads = [Thread(10 + i, i % f.cpus) for i in range(5)]
    now = T0
    for step in range(steps):
        thread = rnd.choice(threads)
        if moves and not rnd.randrange(10):
            thread.cpu = rnd.randrange(f.cpus)
        # A thread goes on for a while: most calls that call nothing are not interrupted.
        for _ in range(rnd.randrange(1, 8)):
            now += rnd.choice([40, 90, 300, 999, 5000, 20000, 130000, 3000000, 2 * SEC])
            what, stack = rnd.randrange(20), thread.calls
            if what < 9 and len(stack) < 30:
                stack.append((rnd.choice(places), now))
                f.top.add(thread.cpu, now, ftrace.entry, thread.pid, func=stack[-1][0], depth=len(stack) - 1)
            elif what < 17 and stack:
                func, begin = stack.pop()
                f.top.add(thread.cpu, now, ftrace.exit, thread.pid, func=func, depth=len(stack), calltime=begin, rettime=now,
                          overrun=rnd.choice([0, 0, 2]), retval=rnd.choice([0, 1, -5, 0xfffffffb, SPACE]))
            elif what == 17:
                f.top.add(thread.cpu, now, ftrace.print, thread.pid, ip=SPACE + 0x1000, buf="words %d\n" % step)
            elif what == 18:
                f.top.add(thread.cpu, now, order, thread.pid, n=step)
            else:
                f.top.add(thread.cpu, now, ftrace.function, thread.pid, ip=rnd.choice(places), parent_ip=rnd.choice(places))
        if gaps and not rnd.randrange(30):
            # With a record of the page's own time: see lost_hidden().
            now += 100
            f.top.cpu(thread.cpu).open_page(now, rnd.choice([-1, 1, 77]))
            f.top.add(thread.cpu, now, order, thread.pid, n=step)
    return f


@case
def calls():
    """A graph of calls in programs."""
    return calls_in(File(), 11, 200)


@case
def calls_v6():
    """The same in version 6."""
    return calls_in(File(version=6), 11, 200)


@case
def calls_moved():
    """Threads that go to other CPUs in the middle of calls."""
    return calls_in(File(cpus=4), 12, 300, moves=True)


@case
def calls_lost():
    """Calls whose beginnings or ends are missing."""
    return calls_in(File(), 13, 300, gaps=True)


@case
def calls_functions():
    """The tracer `function` alone."""
    f = File()
    places, ftrace = space(f), Own(f)
    tasks(f, 10, 11)
    rnd = random.Random(14)
    for i in range(200):
        f.top.add(i & 1, T0 + i * 777, ftrace.function, rnd.choice([10, 11]), ip=rnd.choice(places),
                  parent_ip=rnd.choice(places) + rnd.choice([0, 5, 63]))
    return f
