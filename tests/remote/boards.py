"""What tests of real firmware share: boards in QEMU, what is read of them live, and a watch on that which takes nothing on trust.

The firmware is examples/firmware/. Everything that it counts is checked: no number is missing but those that are told to be lost, and these are as many
as were told. Waits are for conditions, since an emulator may be slow.
"""

import collections
import ctypes
import os
import re
import shutil
import signal
import struct
import subprocess
import sys
import time

SOURCE = os.environ["RINGSIDE_SOURCE"]
BUILD = os.environ["RINGSIDE_BUILD"]
SCRATCH = os.environ["RINGSIDE_SCRATCH"]
RINGSIDE = os.environ["RINGSIDE"]
LONG = bool(os.environ.get("RINGSIDE_LONG"))
FIRMWARE = SOURCE + "/examples/firmware"
TALK = BUILD + "/examples/talk"
PATIENCE = 60
# Where the host sees it: board.h, and the linker scripts.
HEADER = 0x100040

KIND = collections.namedtuple("KIND", "compiler qemu cores words discard address")
BOARDS = {
    "mps2-an385": KIND("arm-none-eabi-gcc", "qemu-system-arm", 1, "little-endian, 32 bits", False, 0x21100040),
    "mps2-an385-m0plus": KIND("arm-none-eabi-gcc", "qemu-system-arm", 1, "little-endian, 32 bits", False, 0x21100040),
    "aarch64-virt": KIND("aarch64-linux-gnu-gcc", "qemu-system-aarch64", 2, "little-endian, 64 bits", False, 0x40100040),
    "aarch64-virt-be": KIND("aarch64-linux-gnu-gcc", "qemu-system-aarch64", 2, "big-endian, 64 bits", False, 0x40100040),
    "riscv32-virt": KIND("riscv64-unknown-elf-gcc", "qemu-system-riscv32", 1, "little-endian, 32 bits", True, 0x80100040),
}


def fail(words, text=""):
    print("FAIL: %s" % words)
    if text:
        print(text if len(text) < 4000 else text[:2000] + "\n...\n" + text[-2000:])
    sys.exit(1)


def need(*programs):
    """Without one of them there is nothing to be tested."""
    for program in programs:
        if not shutil.which(program):
            print("skip: %s is not installed" % program)
            sys.exit(77)


def need_boards(*names):
    for name in names or BOARDS:
        need(BOARDS[name].compiler, BOARDS[name].qemu)


def wait(words, condition, each=0.01):
    """What it comes to, as soon as it is something."""
    until = time.monotonic() + PATIENCE
    while True:
        got = condition()
        if got:
            return got
        if time.monotonic() > until:
            fail("in vain: %s" % words)
        time.sleep(each)


def command(*args, status=0, **how):
    """Runs the command: what it says on stdout, and on stderr. `status` None: it may end as it likes."""
    done = subprocess.run([RINGSIDE] + list(args), stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL,
                          text=True, check=False, **how)
    if status is not None and done.returncode != status:
        fail("ringside %s: exit %d, not %d" % (" ".join(args), done.returncode, status), done.stdout + done.stderr)
    return done.stdout, done.stderr


def refused(text, *args, **how):
    """The command does nothing, and says so in one line with this text in it."""
    out, err = command(*args, status=1, **how)
    if out or not err.startswith("ringside: ") or err.count("\n") != 1 or text not in err:
        fail("ringside %s does not say '%s'" % (" ".join(args), text), out + err)


def end_with_us():
    """A board does not outlive its test."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)


class Board:
    """One board, its firmware and its RAM. `options` are the compiler's, `title` tells it from others of its name."""

    def __init__(self, name, *options, title=None, ram=None, elf=None, env=None):
        self.name, self.kind = name, BOARDS[name]
        self.title = title or name
        self.folder = "%s/%s" % (SCRATCH, self.title)
        self.ram = ram or self.folder + "/ram"
        self.elf = elf or "%s/%s.elf" % (self.folder, name)
        self.qemu = None
        os.makedirs(self.folder, exist_ok=True)
        if not elf:
            done = subprocess.run([FIRMWARE + "/build", name, self.folder, "-Werror"] + list(options), stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True, check=False, env=dict(os.environ, **(env or {})))
            if done.returncode or done.stdout:
                fail("%s: the firmware is not built" % self.title, done.stdout)

    def start(self, *options):
        self.qemu = subprocess.Popen([FIRMWARE + "/run", self.name, self.elf, self.ram] + list(options), stdin=subprocess.DEVNULL,
                                     preexec_fn=end_with_us)
        return self

    def kill(self):
        self.qemu.kill()
        self.qemu.wait()

    def file(self, path):
        return "remotes/%s/%s" % (self.title, path)

    def event(self, name):
        return self.file("events/%s/%s/enable" % (self.title, name))

    def add(self):
        """As soon as it has begun to trace."""
        def added():
            if self.qemu.poll() is not None:
                fail("%s: QEMU has ended" % self.title)
            return not subprocess.run([RINGSIDE, "remote", "add", self.title, "--mem", self.ram, "--elf", self.elf],
                                      stderr=subprocess.DEVNULL, check=False).returncode
        wait("%s begins to trace" % self.title, added)
        return self

    def switch_on(self):
        command("write", self.file("events/enable"), "1")
        command("write", self.file("tracing_on"), "1")
        return self

    def restart(self):
        """The power stays on: memory is what it was."""
        self.kill()
        return self.start()

    def listed(self):
        """What `remote list` says of it."""
        text = command("remote", "list")[0]
        return "".join(part for part in re.split(r"^(?=\S)", text, flags=re.M) if part.startswith(self.title + "\n"))

    def rings(self):
        """Of each core: how many events there were so far, and how many before the oldest page that there is."""
        order = ">" if "big" in self.kind.words else "<"
        with open(self.ram, "rb") as memory:
            def words(at, form):
                memory.seek(at)
                return struct.unpack(order + form, memory.read(struct.calcsize(form)))
            memory.seek(HEADER)
            head = memory.read(64)
            shift, nr = head[14], struct.unpack(order + "H", head[12:14])[0]
            self_at, rings_at = struct.unpack(order + "QQ", head[16:32])
            told = []
            for i in range(nr):
                ring = rings_at - self_at + HEADER + i * 64
                tail, first, count = words(ring, "III")
                pages, mask = words(ring + 48, "QI")
                oldest = tail - mask if tail - first > mask else first
                page = pages - self_at + HEADER + (oldest & mask) * (1 << shift)
                told.append((count, words(page + (1 << shift) - 8, "II")[1]))
            return told


class Pipe:
    """Takes events out of a board as they come, with a watch on them."""

    def __init__(self, board, watch=None):
        self.watch = watch or Watch(board)
        self.rest = b""
        self.command = subprocess.Popen([RINGSIDE, "cat", "-f", board.file("trace_pipe")], stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, preexec_fn=end_with_us)
        os.set_blocking(self.command.stdout.fileno(), False)

    def take(self):
        """What there is. False: it has ended."""
        while True:
            some = self.command.stdout.read(1 << 16)
            if not some:
                return some is None
            lines = (self.rest + some).split(b"\n")
            self.rest = lines.pop()
            for line in lines:
                self.watch.line(line.decode())

    def wait(self):
        """It ends by itself: its status, and its words."""
        wait("the reader ends", lambda: not self.take())
        return self.command.wait(), self.command.stderr.read().decode()

    def until(self, words, condition):
        def seen():
            if not self.take():
                fail("%s: the reader has ended" % words, self.command.stderr.read().decode())
            return condition(self.watch)
        wait(words, seen)

    def signal(self, number):
        self.command.send_signal(number)

    def close(self):
        self.command.send_signal(signal.SIGINT)
        out, err = self.command.communicate()
        for line in (self.rest + out).decode().splitlines():
            self.watch.line(line)
        if self.command.returncode not in (0, 130) or err:
            fail("the reader ends with %d" % self.command.returncode, err.decode())
        return self.watch


LINE = re.compile(r"\[(\d+)\]\s+(\d+)\.(\d{6}): (\w+) ?(.*)")
REPORTED = re.compile(r"\s*(?:(\S+): +)?(\S+)-(\d+) +\[(\d+)\] (?:\S+ )? *(\d+)\.(\d{6}): (\w+): +(.*)")
LOST = re.compile(r"(?:\S+: +)?CPU:(\d+) \[(?:LOST (\d+) EVENTS|(TARGET RESTARTED)|(\d+) EVENTS DROPPED)\]")
# main.c: turns of the loop, until it tells how long they took.
TURNS_EACH = 1024
STATES = {}


def state_of(cpu, seq):
    """What main.c has in `state` at that turn of the loop."""
    states = STATES.setdefault(cpu, [cpu + 1])
    while len(states) <= seq + 1:
        s = states[-1]
        s ^= s << 13 & 0xffffffff
        s ^= s >> 17
        states.append((s ^ s << 5) & 0xffffffff)
    return states[seq + 1]


class Core:
    """What was seen of one CPU."""

    def __init__(self):
        self.time = self.events = self.nested = 0
        self.next = {}          # of each source of events, the number that its next one has
        self.missing = 0        # numbers that did not come
        self.lost = 0           # and as many as were told
        self.unseen = set()     # sources that were not heard of since
        self.leaps = set()      # sources that may leave some out, once
        self.forget()

    def forget(self):
        """Something may have come between."""
        self.stack = None       # interrupts that run
        self.guest = None       # "in", "called", "interrupted"


class Watch:
    """Takes lines of trace_pipe, or of a report, and finds everything that cannot be."""

    def __init__(self, board):
        self.board = board
        self.sources = {"loop", "irq_entry 0", "irq_exit 0"}
        if board.name.startswith("mps2"):
            self.sources |= {"irq_entry 1", "irq_exit 1"}
        if board.name.startswith("aarch64"):
            self.sources |= {"guest_entry", "guest_exit"}
        self.cores = [Core() for _ in range(board.kind.cores)]
        self.counts = collections.Counter()
        self.restarts = 0
        self.losses = self.lost = 0         # how often, how much
        self.settled = 0                    # how often that was found to be exact
        self.bells = []                     # time, value
        self.now = self.before = ""

    def fail(self, words):
        fail("%s: %s" % (self.board.title, words), "%s\n%s" % (self.before, self.now))

    def line(self, line):
        """Of trace_pipe or trace."""
        self.before, self.now = self.now, line
        got = LINE.fullmatch(line)
        if got:
            self.event(int(got[1]), int(got[2]) * 1000000 + int(got[3]), got[4], got[5])
        else:
            self.words(line)

    def reported(self, line):
        """Of a report; false: it is not of this board."""
        got = REPORTED.fullmatch(line)
        if got[2] != self.board.title if got else not line.startswith(self.board.title + ": "):
            return False
        self.before, self.now = self.now, line
        if got:
            self.event(int(got[4]), int(got[5]) * 1000000 + int(got[6]), got[7], got[8])
        else:
            self.words(line)
        return True

    def words(self, line):
        got = LOST.fullmatch(line)
        if not got:
            self.fail("what is that?")
        if got[3]:
            self.restarts += 1
            self.cores = [Core() for _ in self.cores]
            return
        core = self.cores[int(got[1])]
        core.forget()
        self.losses += 1
        self.lost += int(got[2] or got[4])
        if core.next.keys() < self.sources:
            # How many of a kind came before, nobody knows: it begins here.
            core.next, core.unseen, core.lost, core.missing = {}, set(), 0, 0
            return
        core.lost += int(got[2] or got[4])
        core.unseen = set(self.sources)

    def emptied(self):
        """From now on some may be left out without a word: behind lines that come yet, and before the next loop that leaves some out."""
        for core in self.cores:
            core.leaps = self.sources | {"turns"}
            core.forget()

    def events(self):
        return sum(core.events for core in self.cores)

    def nested(self):
        return sum(core.nested for core in self.cores)

    # What is there.

    def skip(self, core, source, seq):
        """So many of a source were before; those that did not come are lost, if that was told."""
        gap = seq - core.next.get(source, seq)
        core.next[source] = seq
        if gap < 0:
            self.fail("%s %d comes behind %d" % (source, seq, seq - gap - 1))
        if gap and source in core.leaps:
            core.leaps.discard(source)
            return
        core.missing += gap
        if core.missing > core.lost:
            self.fail("%s: %d events are missing, %d were told to be lost" % (source, core.missing, core.lost))

    def count(self, core, source, seq):
        seq = int(seq)
        self.skip(core, source, seq)
        core.next[source] = seq + 1
        if not core.unseen:
            return
        core.unseen.discard(source)
        if not core.unseen and core.missing != core.lost:
            self.fail("%d events are missing, %d were told to be lost" % (core.missing, core.lost))
        self.settled += not core.unseen

    def event(self, cpu, ts, name, text):
        core = self.cores[cpu]
        if ts < core.time:
            self.fail("the time goes back")
        core.time = ts
        core.events += 1
        if "loop" in core.leaps:
            core.forget()
        self.counts[name] += 1
        getattr(self, "on_" + name)(cpu, core, dict(word.split("=") for word in text.split() if "=" in word), text)

    def in_loop(self, core):
        """No interrupt runs: it would be it that traces."""
        if core.stack:
            self.fail("interrupt %s has not ended" % (core.stack[-1],))
        core.stack = []

    def on_UNKNOWN(self, *_):
        self.fail("an event without a name")

    def on_boot(self, cpu, core, values, text):
        if cpu or core.next or text != "started" or values:
            self.fail("a beginning in the middle")
        self.in_loop(core)
        for source in self.sources | {"turns", "doorbell"}:
            core.next[source] = 0

    def on_loop(self, cpu, core, values, _):
        self.in_loop(core)
        if core.guest == "in":
            self.fail("the guest runs")
        seq = int(values["seq"])
        # The loop knows how often it has told of its turns.
        self.skip(core, "turns", seq // TURNS_EACH)
        self.count(core, "loop", seq)
        if int(values["state"], 16) != state_of(cpu, seq):
            self.fail("the state should be %#x" % state_of(cpu, seq))

    def on_turns(self, _, core, values, text):
        self.in_loop(core)
        if "turns" in core.next:
            self.count(core, "turns", values["seq"])
        times = [int(word) for word in text.split()[1:]]
        if len(times) != 16 or sum(times) != TURNS_EACH:
            self.fail("%d turns of %d" % (sum(times), TURNS_EACH))

    def on_doorbell(self, _, core, values, __):
        self.in_loop(core)
        self.count(core, "doorbell", values["seq"])
        self.bells.append((core.time, int(values["value"])))

    def on_irq_entry(self, _, core, values, __):
        irq = int(values["irq"])
        self.count(core, "irq_entry %d" % irq, values["seq"])
        if core.guest in ("in", "called"):
            self.fail("an interrupt that no guest was left for")
        if core.stack is None:
            return
        if core.stack and (irq, core.stack[-1][0]) != (1, 0):
            self.fail("over interrupt %s" % (core.stack[-1],))
        core.nested += len(core.stack) == 1
        core.stack.append((irq, values["seq"]))

    def on_irq_exit(self, _, core, values, __):
        irq = int(values["irq"])
        self.count(core, "irq_exit %d" % irq, values["seq"])
        if core.stack is not None and (not core.stack or core.stack.pop() != (irq, values["seq"])):
            self.fail("an end without a beginning")

    def on_guest_entry(self, _, core, values, __):
        self.in_loop(core)
        self.count(core, "guest_entry", values["seq"])
        if core.guest == "in":
            self.fail("the guest runs already")
        core.guest = "in"

    def on_guest_exit(self, _, core, values, __):
        self.in_loop(core)
        self.count(core, "guest_exit", values["seq"])
        if core.guest not in (None, "in") or values["reason"] not in ("0", "1"):
            self.fail("the guest was %s" % core.guest)
        core.guest = "interrupted" if values["reason"] == "1" else "called"
