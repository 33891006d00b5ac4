#!/usr/bin/python3
"""A listener, or who talks for it or for the board, is killed again and again while a board records: what was taken is in the files once, what was
lost is told where it is missing, and both together are all there was. So is the recorder: what it had said by then arrives, and the program that it
recorded goes on."""

import glob
import os
import random
import shutil
import subprocess
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import peers
from peers import SCRATCH, Machine, fail

ROUNDS = 100 if peers.LONG else 4
COUNT = 1000000


def children(pid, name):
    listed = subprocess.run(["pgrep", "-P", str(pid), "-x", name], stdout=subprocess.PIPE, text=True, check=False).stdout
    return [int(child) for child in listed.split()]


def kill(pids, draw):
    if pids:
        try:
            os.kill(draw.choice(pids), 9)
        except ProcessLookupError:
            pass


def read_by_trace_cmd(number, files):
    for path in files if shutil.which("trace-cmd") else ():
        if subprocess.run(["trace-cmd", "report", "-i", path], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False).returncode:
            fail("round %d: trace-cmd cannot read %s" % (number, path))


def files_of(store):
    return sorted(glob.glob(store + "/board/*.dat")) or sorted(glob.glob(store + "/*/*.dat"))


def others_are_killed(number, variant, draw):
    """All but the recorder: it has to come to a good end."""
    global kills
    words = ["listen", "-q", "-d", STORE] + (["--rotate", "8M"] if variant > 1 else [])
    listener = station.serve(where, *words)
    recorder = board.start("record", "-e", "ticks", "-i", "-N", "127.0.0.1:%d" % where, *(["--tls"] if variant % 2 else []), "--spool",
                           draw.choice(["256K", "1M", "8M"]), peers.TICKS, str(COUNT), "300", stdout=subprocess.PIPE)
    # Whoever is not there at all may be a mistake.
    while recorder.poll() is None and not glob.glob(STORE + "/*/*.dat"):
        time.sleep(0.01)
    most = kills + 40
    while recorder.poll() is None:
        time.sleep(draw.random() * 0.25)
        # Where it is called again slower than somebody is killed nothing would ever get through.
        if kills == most:
            continue
        what = draw.randrange(5)
        if what < 2:
            listener.kill()
            listener.wait()
            time.sleep(draw.random() * 0.2)
            listener = station.serve(where, *words)
        elif what == 2:
            kill(children(listener.pid, "session"), draw)
        elif what == 3:
            kill(children(recorder.pid, "courier"), draw)
        else:
            for courier in children(recorder.pid, "courier"):
                kill(children(courier, "courier"), draw)
        kills += 1
    log = open(SCRATCH + "/board.log").read()
    open(SCRATCH + "/board.log", "w").close()
    if recorder.returncode:
        fail("round %d: the recorder fails:" % number, log)
    events, lost = peers.told(log)
    for _ in range(100):
        done = station.run("listen", "--list", "-d", STORE).stdout
        if "arriving" not in done and "cut off" not in done:
            break
        time.sleep(0.05)
    files = files_of(STORE)
    seen, dropped = peers.ticks_of(*files)
    if len(set(seen)) != len(seen):
        fail("round %d: %d are there twice" % (number, len(seen) - len(set(seen))))
    if len(seen) != events or dropped != lost or events + lost != COUNT:
        fail("round %d: %d events are there and %d were told, %d and %d lost, of %d, in %d files" % (number, len(seen), events, dropped, lost, COUNT, len(files)))
    read_by_trace_cmd(number, files)
    listener.terminate()
    listener.wait()


def recorder_is_killed(number, draw):
    """What it had said arrives, also by a listener that is killed meanwhile."""
    global kills
    listener = station.serve(where, "listen", "-d", STORE)
    recorder = board.start("record", "-b", "1024", "-e", "ticks", "-i", "-N", "127.0.0.1:%d" % where, *(["--tls"] if number % 4 == 1 else []), "--spool", "8M")
    while not glob.glob(STORE + "/*/*.dat") or "arriving" not in station.run("listen", "--list", "-d", STORE).stdout:
        time.sleep(0.02)
    # On one CPU, so that numbers that are missing are those of a gap.
    cpu = draw.choice(sorted(os.sched_getaffinity(0)))
    ticks = subprocess.Popen([peers.TICKS, str(COUNT), "300"], env=board.env, preexec_fn=lambda: os.sched_setaffinity(0, [cpu]))
    couriers = children(recorder.pid, "courier")
    time.sleep(0.1 + draw.random() * 0.5)
    if number % 4 == 3:
        listener.kill()
        listener.wait()
    recorder.kill()
    recorder.wait()
    kills += 1
    if number % 4 == 3:
        listener = station.serve(where, "listen", "-d", STORE)
    for _ in range(1500):
        if not any(os.path.exists("/proc/%d" % courier) for courier in couriers) and "(cut off)" in station.run("listen", "--list", "-d", STORE).stdout:
            break
        time.sleep(0.02)
    else:
        fail("round %d: what a recorder had said that was killed does not arrive, or it is not told that it was cut off" % number)
    if ticks.wait(60):
        fail("round %d: the program that was recorded fails" % number)
    files = files_of(STORE)
    seen, dropped = peers.ticks_of(*files)
    if len(files) != 1 or seen != sorted(set(seen)):
        fail("round %d: events are there twice, or not in order" % number)
    # What came before it was switched on is not its own; and what was lost behind that is told before the first.
    missing = seen[-1] + 1 - seen[0] - len(seen) if seen else 0
    if not missing <= dropped <= missing + (seen[0] if seen else 0):
        fail("round %d: %d are missing between %d and the last, and %d are told as lost" % (number, missing, seen[0], dropped))
    read_by_trace_cmd(number, files)
    listener.terminate()
    listener.wait()
    # What it left behind is in nobody's way.
    board.run("record", "-q", "-e", "ticks", "-i", "-o", SCRATCH + "/next.dat", "true")
    return len(seen)


STORE = SCRATCH + "/store"
peers.build_ticks()
station, board = Machine("station"), Machine("board")
station.trusts(board)
board.trusts(station, called="127.0.0.1")
where = peers.port()
kills = 0
arrived = []
for number in range(ROUNDS):
    if number % 2:
        arrived.append(recorder_is_killed(number, random.Random(number)))
    else:
        others_are_killed(number, number // 2 * 3 % 4, random.Random(number))
    shutil.rmtree(STORE)
    open(SCRATCH + "/board.log", "w").close()
if not any(arrived):
    fail("nothing of a recorder that was killed has arrived")
print("%d kills in %d recordings; of those whose recorder was killed %d to %d events" % (kills, ROUNDS, min(arrived), max(arrived)))
