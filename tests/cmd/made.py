# SPDX-License-Identifier: MIT
"""Make trace files for tests of commands: made.py KIND FILE.

mem        allocations that are freed, are not, are freed twice, and of places without a name
functions  what the tracer `function` writes, with an interrupt in between
stacks     events with and without stacks
calls      function_graph, with events inside
"""

import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "report"))
from dat import Event, File  # noqa: E402
from scene import BASE, T0, Ftrace, enter_event, exit_event, symbols, tasks  # noqa: E402


class Clock:
    """Adds events to the top buffer, a microsecond apart."""

    def __init__(self, f):
        self.f, self.now = f, T0
        tasks(f, 10, 11)

    def add(self, event, who, /, cpu=0, **values):
        self.now += 1000
        self.f.top.add(cpu, self.now, event, who, 0, 0, **values)


def alloc_event(name, number):
    return Event(name, number, ["unsigned long call_site", "const void * ptr", "size_t bytes_req",
                                "size_t bytes_alloc", "int node"],
                 '"call_site=%pS ptr=%p", (void *)REC->call_site, REC->ptr')


def free_event(name, number):
    return Event(name, number, ["unsigned long call_site", "const void * ptr"],
                 '"call_site=%pS ptr=%p", (void *)REC->call_site, REC->ptr')


def mem():
    f = File()
    symbols(f)
    kmalloc, node, cache, kfree, cache_free = f.define(
        "kmem", alloc_event("kmalloc", 500), alloc_event("kmalloc_node", 501),
        alloc_event("kmem_cache_alloc", 502), free_event("kfree", 503),
        free_event("kmem_cache_free", 504))
    c = Clock(f)

    def alloc(event, at, ptr, req, size):
        c.add(event, 10, call_site=BASE + at, ptr=ptr, bytes_req=req, bytes_alloc=size, node=0)

    def free(event, ptr):
        c.add(event, 11, call_site=BASE, ptr=ptr)

    alloc(kmalloc, 0x110, 0x1000, 100, 128)     # kept
    alloc(kmalloc, 0x120, 0x2000, 10, 16)       # the same function, freed
    alloc(node, 0x210, 0x3000, 60, 64)
    free(kfree, 0x2000)
    free(kfree, 0x2000)                         # twice
    free(kfree, 0)
    alloc(cache, 0x310, 0x4000, 200, 256)
    alloc(cache, 0x310, 0x5000, 200, 256)
    free(cache_free, 0x4000)
    free(cache_free, 0x9000)                    # from before the trace
    alloc(kmalloc, 0x410, 0x1000, 1, 8)         # an address again: its end was not seen
    free(kfree, 0x1000)
    return f


def functions():
    f = File()
    symbols(f)
    function = Ftrace(f).function
    c = Clock(f)

    def call(ip, parent, who=10):
        c.add(function, who, ip=BASE + ip, parent_ip=BASE + parent)

    for _ in range(3):
        call(0x100, 0x810)      # __x64_sys_read: do_one
        call(0x200, 0x110)      # do_one: do_two
        call(0x300, 0x210)      # do_two: vfs_read
        call(0x400, 0x110)      # do_one: vfs_write
    call(0x100, 0x810)
    call(0x500, 0x610)          # do_idle has interrupted: schedule
    call(0x200, 0x110)          # and do_one goes on
    call(0x300, 0x210, 11)      # another task
    return f


def stacks():
    f = File()
    symbols(f)
    stack = Ftrace(f).kernel_stack
    enter, leave = f.define("raw_syscalls", enter_event(), exit_event())
    c = Clock(f)

    def trace(who, *addrs):
        c.add(stack, who, size=len(addrs), caller=[BASE + a for a in addrs] + [0] * (8 - len(addrs)))

    for i in range(4):
        c.add(enter, 10, id=i, args=[0] * 6)
        trace(10, 0x110, 0x210, 0x310 if i else 0x410, 0x510)
        c.add(leave, 10, id=i, ret=0)
    c.add(enter, 11, id=7, args=[0] * 6)
    c.add(leave, 11, id=7, ret=0)
    trace(11, 0x120, 0x510)
    return f


def calls():
    f = File()
    symbols(f)
    ftrace = Ftrace(f)
    enter = f.define("raw_syscalls", enter_event(), exit_event())[0]
    c = Clock(f)

    def entry(func, depth):
        c.add(ftrace.entry, 10, func=BASE + func, depth=depth)

    def end(func, depth):
        c.add(ftrace.exit, 10, func=BASE + func, depth=depth, overrun=0, calltime=c.now - 1000,
              rettime=c.now)

    for _ in range(2):
        entry(0x100, 0)
        entry(0x200, 1)
        c.add(enter, 10, id=1, args=[0] * 6)
        end(0x200, 1)
        entry(0x300, 1)
        entry(0x200, 2)
        end(0x200, 2)
        end(0x300, 1)
        end(0x100, 0)
    c.add(enter, 10, id=1, args=[0] * 6)
    return f


if __name__ == "__main__":
    globals()[sys.argv[1]]().save(sys.argv[2])
