"""What tests of the network share: machines with keys of their own, which are directories here; listeners and agents that end with the test; and
what a file has of the events of `ticks`."""

import atexit
import os
import re
import shlex
import socket
import subprocess
import sys
import time

SCRATCH = os.environ["RINGSIDE_SCRATCH"]
RINGSIDE = os.environ["RINGSIDE"]
SOURCE = os.environ["RINGSIDE_SOURCE"]
BUILD = os.environ["RINGSIDE_BUILD"]
LONG = bool(os.environ.get("RINGSIDE_LONG"))
TICKS = SCRATCH + "/ticks"
started = []


@atexit.register
def end_all():
    for process in started:
        if process.poll() is None:
            process.kill()
            process.wait()


def fail(*words):
    print("FAIL:", *words, file=sys.stderr)
    for name in sorted(os.listdir(SCRATCH)):
        if name.endswith(".log"):
            print("---", name, "\n" + open(SCRATCH + "/" + name).read()[-2000:], file=sys.stderr)
    sys.exit(1)


def port():
    """One that nobody has just now."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        return free.getsockname()[1]


def build_ticks():
    subprocess.run([*shlex.split(os.environ.get("CC", "cc")), "-O2", "-I" + SOURCE + "/include", SOURCE + "/tests/net/ticks.c", "-o", TICKS, "-L" + BUILD,
                    "-lringside", "-Wl,-rpath," + BUILD], check=True)


class Machine:
    """One with a key and a tracing directory of its own."""

    def __init__(self, name):
        self.name = name
        self.keys = SCRATCH + "/" + name
        self.env = dict(os.environ, RINGSIDE_KEYS=self.keys, RINGSIDE_DIR=SCRATCH + "/" + name + "-dir")
        self.print = self.run("key").stdout.strip()

    def run(self, *words, check=True, timeout=120, cwd=None):
        done = subprocess.run([RINGSIDE, *words], env=self.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=timeout, cwd=cwd,
                              check=False)
        if check and done.returncode:
            fail(self.name, "ringside", *words, "\n" + done.stderr)
        return done

    def trusts(self, other, *may, called=None):
        self.run("trust", called or other.name, other.print, *may)

    def start(self, *words, cwd=None, **how):
        process = subprocess.Popen([RINGSIDE, *words], env=self.env, stderr=open(SCRATCH + "/" + self.name + ".log", "a"), cwd=cwd, **how)
        started.append(process)
        return process

    def serve(self, where, *words):
        """`listen` or `agent`, when it can be reached."""
        process = self.start(*words, "--at", "127.0.0.1:%d" % where)
        for more in range(1000):
            if is_door_of(process.pid, where):
                return process
            time.sleep(0.01)
            # A child of one that was killed may still be about to let go of the port.
            if process.poll() is not None and more < 200:
                process = self.start(*words, "--at", "127.0.0.1:%d" % where)
        return fail(self.name, "does not listen")


def is_door_of(pid, where):
    """Does that process listen there? Another may be there that is about to end."""
    inodes = [words[9] for words in map(str.split, open("/proc/net/tcp")) if words[3] == "0A" and words[1].endswith(":%04X" % where)]
    try:
        held = [os.readlink("/proc/%d/fd/%s" % (pid, fd)) for fd in os.listdir("/proc/%d/fd" % pid)]
    except OSError:
        return False
    return any("socket:[%s]" % inode in held for inode in inodes)


def report(*paths, machine=None):
    words = [word for path in paths for word in ("-i", path)]
    done = subprocess.run([RINGSIDE, "report", "-q", "-t", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        fail("cannot be read:", paths, done.stderr)
    return done.stdout


def ticks_of(*paths):
    """Numbers of the events, and how many are told as lost."""
    seen, lost = [], 0
    for path in paths:
        for line in report(path).splitlines():
            number = re.search(r" tick: +nr=(\d+) more=(\d+)$", line)
            gap = re.search(r"\[(\d+) EVENTS DROPPED\]", line)
            if number:
                seen.append(int(number[1]))
                if int(number[2]) != 3 * seen[-1]:
                    fail("torn:", line)
            elif gap:
                lost += int(gap[1])
            elif "DROPPED" in line:
                fail("lost without a count:", line)
    return seen, lost


def is_whole(path, count, times=1):
    """Numbers up to `count`, each so often."""
    seen, lost = ticks_of(path)
    if lost or sorted(seen) != sorted(list(range(count)) * times):
        fail(path, "has %d events of %d, and %d lost" % (len(seen), count * times, lost))


def by_turns(words, host, guest, count, phases):
    """Whose turn it was, in the order of times: each has so many events in his."""
    text = subprocess.run([*words, "-i", host, "-i", guest], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=True).stdout
    # Both name the file before each line of it.
    names = [line.split(":")[0].strip() for line in text.splitlines() if " tick: " in line]
    turns = [name for at, name in enumerate(names) if not at or names[at - 1] != name]
    if len(names) != phases * count or len(turns) != phases or turns[:2] != turns[2:]:
        fail(words[0], "does not have them on one timeline:", len(names), turns[:10])


def told(text):
    """Events and losses as the recorder tells them in the end."""
    words = re.search(r": (\d+) events, [^,]*, (none|\d+) lost\n", text)
    if not words:
        fail("nothing is told:", text)
    return int(words[1]), 0 if words[2] == "none" else int(words[2])
