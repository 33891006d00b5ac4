#!/usr/bin/python3
"""One timeline of machines whose clocks differ: time namespaces that are ahead of this machine's by known amounts, and a board whose clock runs fast
and then slow. What they do takes turns, so that its order is known. The offset is never farther off than it is said to be, and that is little."""

import os
import re
import shlex
import statistics
import subprocess
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import peers
from peers import RINGSIDE, SCRATCH, Machine, fail

TURNS = SCRATCH + "/turns"
DRIFT = SCRATCH + "/drift.so"
# What a bound should be on a loopback; in a machine that is busy with other things it may not come out at the first try.
LITTLE = 20000
TRIES = 10
# From turn to turn; clocks that are matched as well as that tell their order.
REST = 1000000
ROUNDS = 20 if not peers.LONG else 400
cc = shlex.split(os.environ.get("CC", "cc"))


class Shifted(Machine):
    """Its clock is ahead by so many seconds, and so is that of what runs on it."""

    def __init__(self, name, ahead):
        super().__init__(name)
        self.ahead = ahead
        self.inside = None

    def start(self, *words, cwd=None, **how):
        process = subprocess.Popen(["unshare", "-T", "--fork", "--kill-child", "--monotonic", str(self.ahead), "--boottime", "7", RINGSIDE, *words], env=self.env,
                                   stderr=open(SCRATCH + "/" + self.name + ".log", "a"), cwd=cwd, **how)
        peers.started.append(process)
        self.inside = process.pid
        return process

    def within(self):
        """What is put before a program's words for it to run there."""
        child = subprocess.run(["pgrep", "-P", str(self.inside)], stdout=subprocess.PIPE, text=True, check=True).stdout.split()[0]
        return ["nsenter", "-T", "-t", child, "--"]


def until(is_so, what):
    for _ in range(3000):
        if is_so():
            return
        time.sleep(0.02)
    fail("not in time:", what)


def take_turns(machines, rounds, env=None):
    """Each machine's program in turn, in a ring of pipes: the words of a shell that does it."""
    pipes = [SCRATCH + "/turn%d" % i for i in range(len(machines))]
    for pipe in pipes:
        if not os.path.exists(pipe):
            os.mkfifo(pipe)
    lines = []
    for i, machine in enumerate(machines):
        words = (machine.within() if isinstance(machine, Shifted) else []) + [TURNS, str(rounds), str(i), str(len(machines))]
        settings = dict({"RINGSIDE_DIR": machine.env["RINGSIDE_DIR"]}, **(env or {}).get(machine.name, {}))
        lines.append("%s %s <>%s >%s &" % (" ".join(k + "=" + shlex.quote(v) for k, v in settings.items()), " ".join(words), pipes[i],
                                           pipes[(i + 1) % len(machines)]))
    # All of them have begun by then; what is in a pipe waits, as long as somebody holds it.
    return "exec 9<>%s; %s\nsleep 0.5; printf x >&9; wait" % (pipes[0], "\n".join(lines))


def dumped_shift(path):
    """Points of the first CPU: what is added, at which time."""
    done = subprocess.run([RINGSIDE, "dump", "--options", path], stdout=subprocess.PIPE, text=True, check=True)
    return [(int(at), int(offset)) for offset, at in re.findall(r"^\t(-?\d+) 1 0 (-?\d+)\[", done.stdout, re.M)]


def bound_of(text):
    n, unit = re.search(r"clock (?:is )?matched to (\d+) ([nu]s)", text).groups()
    return int(n) * (1 if unit == "ns" else 1000)


def check_shift(machine, path, bound):
    points = dumped_shift(path)
    off = max(abs(offset + machine.ahead * 10**9) for _, offset in points)
    print("%s: off by %d ns, matched to %d" % (machine.name, off, bound))
    if off > bound:
        fail(path, "is off by %d ns, and matched to %d" % (off, bound))


def check_order(count, *paths):
    seen = re.findall(r" turn: +nr=(\d+) ", peers.report(*paths))
    if [int(nr) for nr in seen] != list(range(count)):
        fail("not in order, or not all there:", paths, seen)
    stock = subprocess.run(["trace-cmd", "report", *[word for path in paths for word in ("-i", path)]], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                           text=True, check=False).stdout
    seen = re.findall(r" turn: +nr=(\d+) ", stock)
    if [int(nr) for nr in seen] != list(range(count)):
        fail("not in order, or not all there, as trace-cmd has it:", paths, stock[:3000])


def ping_pong():
    """Nanoseconds that a byte takes over a pipe and back, here and now, most times."""
    ours, theirs = os.pipe(), os.pipe()
    pid = os.fork()
    if not pid:
        os.close(ours[1])
        while os.read(ours[0], 1):
            os.write(theirs[1], b"x")
        os._exit(0)
    os.close(ours[0])
    took = []
    for _ in range(50):
        before = time.monotonic_ns()
        os.write(ours[1], b"x")
        os.read(theirs[0], 1)
        took.append(time.monotonic_ns() - before)
    os.close(ours[1])
    os.waitpid(pid, 0)
    return statistics.median(took)


def several(count, record):
    """Until all bounds are small: `record` makes files and says how well they are matched."""
    worst = []
    for _ in range(TRIES):
        worst.append(min(record(count)))
        if worst[-1] < LITTLE:
            return
    slow = ping_pong()
    if min(worst) > LITTLE + 3 * slow:
        fail("matched to no better than %d ns, where a byte takes %d to and fro" % (min(worst), slow))
    print("matched to no better than %d ns: the machine is busy, a byte takes %d to and fro" % (min(worst), slow))


def three_boards():
    """Driven in one command, beside what is recorded here."""
    driver = Machine("driver")
    boards = [Shifted("one", 1000), Shifted("two", 86400 * 365), Shifted("three", 5)]
    where = ["127.0.0.%d:%d" % (i + 2, peers.port()) for i in range(3)]
    for at, board in zip(where, boards):
        driver.trusts(board, called=at.split(":")[0])
        board.trusts(driver, "--may", "control")
        board.start("agent", "--at", at)
    until(lambda: all("ringside: " in open(SCRATCH + "/" + board.name + ".log").read() for board in boards), "the agents are there")
    words = ["record", "-o", SCRATCH + "/all.dat", "-i", "-e", "turns"]
    for at in where:
        words += ["-A", at, "--tls", "-i", "-e", "turns"]

    def record(rounds):
        for name in os.listdir(SCRATCH):
            if name.startswith("all"):
                os.unlink(SCRATCH + "/" + name)
        done = driver.run(*words, "sh", "-c", take_turns([driver, *boards], rounds))
        told = dict(re.findall(r"(%s/all\S*): .*(clock matched to \d+ [nu]s)" % SCRATCH, done.stderr))
        if len(told) != 3:
            fail("not all clocks are matched:", done.stderr)
        paths = sorted(told)
        bounds = []
        for path in paths:
            points = dumped_shift(path)
            board = min(boards, key=lambda b: abs(points[-1][1] + b.ahead * 10**9))
            bounds.append(bound_of(told[path]))
            check_shift(board, path, bounds[-1])
        if max(bounds) < REST:
            check_order(4 * rounds, SCRATCH + "/all.dat", *paths)
        return bounds

    several(ROUNDS, record)


def sender():
    """One that records to a listener, whose clock drifts as well."""
    listener, board = Machine("listener"), Machine("slow")
    listener.trusts(board, "--may", "record")
    board.trusts(listener, called="127.0.0.1")
    where = peers.port()
    into = SCRATCH + "/into"
    listener.serve(where, "listen", "-d", into)
    now = time.clock_gettime(time.CLOCK_MONOTONIC)
    drift = {"LD_PRELOAD": DRIFT, "DRIFT_PPM": "150", "DRIFT_SINCE": str(now), "DRIFT_TURN": str(now + 2.5)}
    board.env.update(drift)
    here = subprocess.Popen([RINGSIDE, "record", "-q", "-e", "turns", "-o", SCRATCH + "/here.dat"], env=listener.env)
    peers.started.append(here)
    until(lambda: os.path.exists(SCRATCH + "/here.dat"), "a recorder here")
    work = "".join("%s; sleep 0.5\n" % take_turns([listener, board], ROUNDS, {"slow": drift, "listener": {"LD_PRELOAD": ""}}) for _ in range(6))
    done = board.run("record", "-N", "127.0.0.1:%d" % where, "--tls", "-e", "turns", "sh", "-c", "unset LD_PRELOAD\n" + work)
    here.send_signal(2)
    here.wait()
    bound = bound_of(done.stderr)
    there = next(into + "/slow/" + name for name in os.listdir(into + "/slow") if not name.startswith("."))
    off, last = [], None
    for line in peers.report(SCRATCH + "/here.dat", there).splitlines():
        found = re.search(r" (\d+)\.(\d{9}): .*turn: +nr=(\d+) own=(\d+)", line)
        if not found:
            continue
        nr = int(found[3])
        if bound < REST and last is not None and nr != (last + 1) % (2 * ROUNDS):
            fail("not in order:", line)
        last = nr
        if nr % 2:
            off.append(int(found[1]) * 10**9 + int(found[2]) - int(found[4]))
    if len(off) != 6 * ROUNDS:
        fail("%d of %d events" % (len(off), 6 * ROUNDS))
    # From its clock to the event it takes little, most times.
    some = [statistics.median(off[i:i + ROUNDS]) for i in range(0, len(off), ROUNDS)]
    print("a clock that drifts: off by %s ns, matched to %d" % (" ".join("%d" % n for n in some), bound))
    if max(map(abs, some)) > bound + 2000:
        fail("off by", some, "and matched to", bound)


def cut_and_rotated():
    """Who goes on with a recording knows its clock from the beginning on, and each file of it says so."""
    listener, board = Machine("keeper"), Shifted("cut", 77)
    listener.trusts(board, "--may", "record")
    board.trusts(listener, called="127.0.0.1")
    where = peers.port()
    into = SCRATCH + "/kept"
    serves = listener.serve(where, "listen", "-d", into, "--rotate", "512K")
    firsts = set()
    recorder = board.start("record", "-N", "127.0.0.1:%d" % where, "--tls", "-e", "ticks", peers.TICKS, "150000", "20000")
    until(lambda: os.path.isdir(into + "/cut") and any("-2.dat" in name for name in os.listdir(into + "/cut")), "a second file")
    subprocess.run(["pkill", "-KILL", "-P", str(serves.pid), "-x", "session"], check=True)
    recorder.wait()
    if recorder.returncode:
        fail("cut off, it fails")
    bound = bound_of(open(SCRATCH + "/cut.log").read())
    files = sorted(name for name in os.listdir(into + "/cut") if not name.startswith("."))
    if len(files) < 3:
        fail("not rotated:", files)
    for name in files:
        check_shift(board, into + "/cut/" + name, bound if name == max(files, key=lambda n: os.stat(into + "/cut/" + n).st_mtime) else REST)
        firsts.add(dumped_shift(into + "/cut/" + name)[0][0])
    if len(firsts) != 1:
        fail("not all know its clock from the beginning on:", firsts)
    seen, lost = peers.ticks_of(*[into + "/cut/" + name for name in files])
    if len(seen) + lost != 150000:
        fail("%d events and %d lost of 150000" % (len(seen), lost))


if subprocess.run(["unshare", "-T", "--fork", "--monotonic", "5", "true"], stderr=subprocess.DEVNULL, check=False).returncode:
    print("no time namespaces here")
    sys.exit(77)
subprocess.run([*cc, "-O2", "-I" + peers.SOURCE + "/include", peers.SOURCE + "/tests/net/turns.c", "-o", TURNS, "-L" + peers.BUILD, "-lringside",
                "-Wl,-rpath," + peers.BUILD], check=True)
subprocess.run([*cc, "-O2", "-shared", "-fPIC", peers.SOURCE + "/tests/net/drift.c", "-o", DRIFT, "-ldl"], check=True)
peers.build_ticks()
three_boards()
sender()
cut_and_rotated()
