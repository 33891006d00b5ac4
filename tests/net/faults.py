#!/usr/bin/python3
"""Bad lines between a board and its listener: slow ones, such that are cut, that say nothing any more or only one way, and a listener that hangs. What was
taken is in the file once, what was lost is told, both together are all there was; the program that is traced notices nothing, and memory stays bounded."""

import glob
import os
import random
import shutil
import signal
import socket
import struct
import subprocess
import sys
import threading
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import peers
from peers import SCRATCH, Machine

ROUNDS = 17 if peers.LONG else 1
COUNT = 400000


class Line(threading.Thread):
    """Carries bytes both ways: some later, so many in a second, until somebody cuts it, or it loses what it carries and says nothing."""

    def __init__(self, where, delay=0.0, rate=0, seed=0):
        super().__init__(daemon=True)
        self.where, self.delay, self.rate = where, delay, rate
        self.draw = random.Random(seed)
        self.door = socket.create_server(("127.0.0.1", 0))
        self.port = self.door.getsockname()[1]
        self.up, self.pairs, self.dead, self.carried = True, [], set(), 0
        self.start()

    def run(self):
        while True:
            board, _ = self.door.accept()
            if not self.up:
                self.reset(board)
                continue
            try:
                station = socket.create_connection(("127.0.0.1", self.where), timeout=20)
                station.settimeout(None)
            except OSError:
                self.reset(board)
                continue
            self.pairs.append((board, station))
            for pair in ((board, station), (station, board)):
                threading.Thread(target=self.carry, args=pair, daemon=True).start()

    def carry(self, one, other):
        try:
            while some := one.recv(16384):
                if self.delay:
                    time.sleep(self.draw.uniform(0, 2 * self.delay))
                if self.rate:
                    time.sleep(len(some) / self.rate)
                # Where nothing arrives the sender is not told so.
                while one in self.dead:
                    time.sleep(0.05)
                other.sendall(some)
                self.carried += len(some)
            other.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    @staticmethod
    def reset(end):
        try:
            end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            end.shutdown(socket.SHUT_RDWR)
            end.close()
        except OSError:
            pass

    def cut(self):
        pairs, self.pairs = self.pairs, []
        for pair in pairs:
            for end in pair:
                self.reset(end)

    def hang(self, ways=2):
        """Those that are there: to the listener, or both ways."""
        for pair in self.pairs:
            self.dead.update(pair[:ways])
        self.pairs = []


class Run(threading.Thread):
    """One recording over a line of its own."""

    def __init__(self, number, what, fault, count=COUNT, spool="256K", buffer=512, **line):
        super().__init__()
        self.what, self.fault, self.count, self.wrong = what, fault, count, None
        self.name = "%s-%d" % (what.replace(" ", "-"), number)
        self.draw = random.Random(number)
        self.station, self.board = Machine(self.name + "-station"), Machine(self.name + "-board")
        self.station.trusts(self.board)
        self.board.trusts(self.station, called="127.0.0.1")
        self.store = SCRATCH + "/" + self.name
        where = peers.port()
        self.listener = self.station.serve(where, "listen", "-d", self.store)
        self.line = Line(where, seed=number, **line)
        self.ended = self.store + ".ended"
        work = "%s %d 500; date >%s" % (peers.TICKS, count, self.ended)
        self.recorder = self.board.start("record", "-b", str(buffer), "-e", "ticks", "-i", "-N", "127.0.0.1:%d" % self.line.port, "--tls", "--spool", spool,
                                         "sh", "-c", work)

    def has_ended(self):
        return os.path.exists(self.ended)

    def wait_ended(self):
        """Of the program that is traced."""
        for _ in range(6000):
            if self.has_ended() or self.recorder.poll() is not None:
                break
            time.sleep(0.02)
        if not self.has_ended():
            raise AssertionError("the program that is traced does not end")

    def wait_carried(self, some):
        until = self.line.carried + some
        for _ in range(6000):
            if self.line.carried >= until or self.recorder.poll() is not None:
                break
            time.sleep(0.01)

    def run(self):
        try:
            self.fault(self)
            if self.recorder.wait(150):
                raise AssertionError("the recorder fails")
            self.check()
        except (AssertionError, subprocess.TimeoutExpired, OSError) as wrong:
            self.wrong = wrong
        self.listener.kill()
        self.listener.wait()

    def check(self):
        events, lost = peers.told(open(SCRATCH + "/" + self.board.name + ".log").read())
        files = glob.glob(self.store + "/*/*.dat")
        seen, dropped = peers.ticks_of(*files)
        self.lost = lost
        if len(files) != 1 or len(set(seen)) != len(seen) or len(seen) != events or dropped != lost or events + lost != self.count:
            raise AssertionError("%d events are there, %d of them once, and %d were told; %d and %d lost; of %d, in %d files" %
                                 (len(seen), len(set(seen)), events, dropped, lost, self.count, len(files)))
        if shutil.which("trace-cmd"):
            subprocess.run(["trace-cmd", "report", "-i", files[0]], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)


def nothing(_run):
    pass


def cuts(run):
    while run.recorder.poll() is None:
        run.wait_carried(run.draw.randrange(1 << 20))
        run.line.cut()
        run.line.up = False
        time.sleep(run.draw.uniform(0, 0.3))
        run.line.up = True


def long_cut(run):
    run.wait_carried(300000)
    run.line.up = False
    run.line.cut()
    run.wait_ended()
    time.sleep(30 if peers.LONG else 3)
    run.line.up = True


def half_open(run):
    run.wait_carried(200000)
    run.line.hang()
    run.wait_ended()


def one_way(run):
    run.wait_carried(200000)
    run.line.hang(ways=1)
    run.wait_ended()


def memory_of(pid):
    words = dict(line.split(":", 1) for line in open("/proc/%d/status" % pid).read().splitlines() if ":" in line)
    return int(words["VmHWM"].split()[0]) >> 10


def everybody(run):
    sessions = subprocess.run(["pgrep", "-P", str(run.listener.pid)], stdout=subprocess.PIPE, text=True, check=False).stdout.split()
    return [run.listener.pid] + [int(session) for session in sessions]


def hangs(run):
    """The listener itself, while far more is emitted than fits anywhere."""
    run.wait_carried(200000)
    before = memory_of(run.recorder.pid)
    stopped = everybody(run)
    for pid in stopped:
        os.kill(pid, signal.SIGSTOP)
    run.wait_ended()
    after = memory_of(run.recorder.pid)
    for pid in stopped:
        try:
            os.kill(pid, signal.SIGCONT)
        except ProcessLookupError:
            pass
    if after - before > 24:
        raise AssertionError("the recorder has grown from %d to %d MiB" % (before, after))


KINDS = (("delay", nothing, dict(delay=0.03)), ("1 Mbit", nothing, dict(rate=125000)), ("much that is left", nothing, dict(rate=3000000, buffer=16384)), ("cuts", cuts, {}), ("a long cut", long_cut, {}),
         ("half-open", half_open, {}), ("one way", one_way, {}), ("hangs", hangs, dict(count=2000000)))

peers.build_ticks()
# A listener that was lost without a word is given up after 15 seconds: all of them at once.
for number in range(ROUNDS):
    runs = [Run(number, what, fault, **how) for what, fault, how in KINDS]
    for run in runs:
        run.start()
    for run in runs:
        run.join()
    for run in runs:
        if run.wrong:
            peers.fail("round %d, %s:" % (number, run.what), run.wrong)
        shutil.rmtree(run.store)
print("%d recordings over bad lines; lost and told of the last of each kind: %s" %
      (ROUNDS * len(KINDS), ", ".join("%s %d" % (run.what, run.lost) for run in runs)))
