#!/usr/bin/python3
"""What is arriving at a listener is printed as it comes: by `report --follow`, across files where the listener rotates, and by `show -p -i` as
trace_pipe has it. Each event comes once, and all are there when the recording has ended."""

import atexit
import glob
import json
import os
import re
import signal
import subprocess
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import peers
from peers import SCRATCH, Machine, fail

COUNT = 20000000 if peers.LONG else 300000
STORE = SCRATCH + "/store"


def finish(recorder):
    """Its command goes on without it."""
    try:
        os.killpg(recorder.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def begin(count, *listens, pause="10000"):
    """A listener and a board that records to it; the first file, when it is there."""
    where = peers.port()
    listener = station.serve(where, "listen", "-q", "-d", STORE, *listens)
    recorder = board.start("record", "-q", "-e", "ticks", "-i", "-N", "127.0.0.1:%d" % where, "--tls", peers.TICKS, str(count), pause,
                           start_new_session=True)
    atexit.register(finish, recorder)
    while recorder.poll() is None and not glob.glob(STORE + "/board/*.dat"):
        time.sleep(0.01)
    return listener, recorder


def follow(name, *words):
    """Begins at once, whatever is in the file by now."""
    return subprocess.Popen([peers.RINGSIDE, *words], stdout=open(SCRATCH + "/" + name, "w"), stderr=open(SCRATCH + "/" + name + ".log", "w"))


def end(listener, recorder, *followers):
    if recorder.wait(120):
        fail("the recorder fails")
    for follower in followers:
        try:
            if follower.wait(60):
                fail("follows to the end and fails:", follower.args)
        except subprocess.TimeoutExpired:
            follower.kill()
            fail("does not end with the recording:", follower.args)
    listener.terminate()
    listener.wait()
    files = sorted(glob.glob(STORE + "/board/*.dat"), key=os.path.getmtime)
    seen, lost = peers.ticks_of(*files)
    for name in files:
        os.rename(name, name + ".old")
    return len(files), seen, lost


def numbers(name, pattern):
    return [int(number) for number in re.findall(pattern, open(SCRATCH + "/" + name).read(), re.M)]


def same(name, pattern, seen):
    got = numbers(name, pattern)
    if sorted(got) != sorted(seen):
        gone = sorted(set(seen) - set(got))
        fail(name, "has %d events, %d of them once, of %d; the first and last that are missing:" % (len(got), len(set(got)), len(seen)), *gone[:1], *gone[-1:])
    log = open(SCRATCH + "/" + name + ".log").read()
    if log and "lost" not in log:
        fail(name, "says:", log)


def await_events(name, pattern, process, before):
    """They come while it records."""
    while process.poll() is None:
        if numbers(name, pattern):
            return
        time.sleep(0.05)
    if before:
        fail("nothing is printed before the recording has ended")


peers.build_ticks()
station, board = Machine("station"), Machine("board")
station.trusts(board)
board.trusts(station, called="127.0.0.1")

# Who it is may not be known yet.
REPORT = r"^ +(?:ticks|<\.\.\.>)-\d+ +\[\d+\] \S+ +\d+\.\d+: tick: +nr=(\d+) more=\d+$"
PIPE = r"^ +(?:ticks|<\.\.\.>)-\d+ +\[\d+\] \S+ +\d+\.\d+: tick: nr=(\d+) more=\d+$"
# By name, by its directory, and as JSON.
listener, recorder = begin(COUNT)
path = glob.glob(STORE + "/board/*.dat")[0]
all_of = [follow("report", "report", "--follow", path), follow("pipe", "show", "-p", "-i", STORE + "/board"),
          follow("json", "show", "-p", "--json", "-i", path), follow("csv", "report", "--follow", "--csv", path)]
await_events("pipe", PIPE, recorder, True)
files, seen, lost = end(listener, recorder, *all_of)
if files != 1 or len(seen) + lost != COUNT:
    fail("%d files, %d events, %d lost" % (files, len(seen), lost))
same("report", REPORT, seen)
same("pipe", PIPE, seen)
same("json", r'"nr":(\d+)', seen)
same("csv", r"nr=(\d+) more", seen)
for line in open(SCRATCH + "/json"):
    json.loads(line)
if open(SCRATCH + "/report").read().count("cpus=") != 1 or open(SCRATCH + "/csv").read().count("ts,cpu,pid") != 1:
    fail("what stands above the events is there more than once")

# Across files.
listener, recorder = begin(COUNT, "--rotate", "1M")
path = glob.glob(STORE + "/board/*.dat")[0]
files, seen, lost = end(listener, recorder, follow("turned", "report", "--follow", "-q", path), follow("turned_pipe", "show", "-p", "-i", path))
if files < 3:
    fail("does not rotate")
same("turned", REPORT, seen)
same("turned_pipe", PIPE, seen)

# Until a time, until a signal: what is there by then is printed.
listener, recorder = begin(2000, pause="600000000")
path = glob.glob(STORE + "/board/*.dat")[0]
timed = follow("timed", "show", "-p", "-i", path, "-t", "2")
if timed.wait(60) or not numbers("timed", PIPE):
    fail("does not end in time, or prints nothing")
for words, pattern in ((("show", "-p", "-i", path), PIPE), (("report", "--follow", path), REPORT)):
    stopped = follow("stopped", *words)
    await_events("stopped", pattern, stopped, True)
    stopped.send_signal(signal.SIGINT)
    if stopped.wait(60):
        fail("a signal is a failure:", words)
recorder.send_signal(signal.SIGINT)
end(listener, recorder)
finish(recorder)

# A file that stands still is printed, and that is it.
old = sorted(glob.glob(STORE + "/board/*.old"))[0]
if not station.run("show", "-p", "-i", old).stdout:
    fail("nothing is printed of a file that is whole")

# Wrong words.
os.mkdir(SCRATCH + "/empty")
for words, status, wanted in ((["show", "-i", old], 2, "-i goes with -p"), (["show", "-p", "-i", old, "-s"], 2, "do not go together"),
                              (["show", "-p", "-i", old, "-i", old], 2, "one file at a time"), (["show", "-p", "-i", old, "--kernel"], 2, "--kernel"),
                              (["show", "-p", "-i", old, "-c", "x"], 2, "the number of a CPU"), (["show", "-p", "-i", SCRATCH + "/none.dat"], 1, "No such file"),
                              (["show", "-p", "-i", SCRATCH + "/empty"], 1, "there is no recording"),
                              (["report", "--follow", SCRATCH + "/empty"], 1, "there is no recording"),
                              (["report", "--follow", "--tail", "3", old], 2, "do not go together")):
    done = station.run(*words, check=False)
    if done.returncode != status or wanted not in done.stderr:
        fail("ends with %d:" % done.returncode, words, done.stderr)
print("%d events as they come" % len(seen))
