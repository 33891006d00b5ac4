# SPDX-License-Identifier: MIT
"""What made-up trace files are made of: events as kernels have them, names, and a machine at work.

CASES is filled by the modules that make files, with @case.
"""

import random

from dat import Event, File

CASES = {}
SEC = 1000000000
T0 = 1000 * SEC


def case(make):
    CASES[make.__name__] = make
    return make


def on_machines(make):
    """A case for this machine, for one of the other byte order, and for one with small longs."""
    def of(suffix, **how):
        CASES[make.__name__ + suffix] = lambda: make(File(**how))
    of("")
    of("_big", version=6, order=">")
    of("_32", long_size=4)
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
                buffer.add(cpu, now, leave, pid, flags, depth, id=rnd.randrange(300), ret=rnd.choice([0, 5, -2, -110] if f.long_size == 8 else [0, 5, 2, 110]))
            elif kind == 4:
                buffer.add(cpu, now, irq, pid, flags | 8, depth, irq=rnd.randrange(40), name="dev%d" % cpu)
            elif kind == 5:
                buffer.add(cpu, now, irq_end, pid, flags | 8, depth, irq=rnd.randrange(40), ret=rnd.randrange(2))
            else:
                buffer.add(cpu, now, rnd.choice([soft, soft_end]), pid, flags | 16, depth, vec=rnd.randrange(12))
            now += rnd.randrange(step) * rnd.choice([1, 1, 10, 1000])
    return f
