#!/usr/bin/python3
"""A listener, or who talks for it or for the board, is killed again and again while a board records: what was taken is in the files once, what was
lost is told where it is missing, and both together are all there was."""

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
COUNT = 2000000


def children(pid, name):
    listed = subprocess.run(["pgrep", "-P", str(pid), "-x", name], stdout=subprocess.PIPE, text=True, check=False).stdout
    return [int(child) for child in listed.split()]


def kill(pids, draw):
    if pids:
        try:
            os.kill(draw.choice(pids), 9)
        except ProcessLookupError:
            pass


peers.build_ticks()
station, board = Machine("station"), Machine("board")
station.trusts(board)
board.trusts(station, called="127.0.0.1")
where = peers.port()
kills = 0
for number in range(ROUNDS):
    draw = random.Random(number)
    store = SCRATCH + "/store"
    words = ["listen", "-q", "-d", store] + (["--rotate", "15M"] if number % 4 > 1 else [])
    listener = station.serve(where, *words)
    recorder = board.start("record", "-e", "ticks", "-i", "-N", "127.0.0.1:%d" % where, *(["--tls"] if number % 2 else []), "--spool",
                           draw.choice(["256K", "1M", "8M"]), peers.TICKS, str(COUNT), "300", stdout=subprocess.PIPE)
    while recorder.poll() is None:
        time.sleep(draw.random() * 0.25)
        what = draw.randrange(4)
        if what < 2:
            listener.kill()
            listener.wait()
            time.sleep(draw.random() * 0.2)
            listener = station.serve(where, *words)
        elif what == 2:
            kill(children(listener.pid, "session"), draw)
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
        done = station.run("listen", "--list", "-d", store).stdout
        if "arriving" not in done and "cut off" not in done:
            break
        time.sleep(0.05)
    files = sorted(glob.glob(store + "/board/*.dat")) or sorted(glob.glob(store + "/*/*.dat"))
    seen, dropped = peers.ticks_of(*files)
    if len(set(seen)) != len(seen):
        fail("round %d: %d are there twice" % (number, len(seen) - len(set(seen))))
    if len(seen) != events or dropped != lost or events + lost != COUNT:
        fail("round %d: %d events are there and %d were told, %d and %d lost, of %d, in %d files" % (number, len(seen), events, dropped, lost, COUNT, len(files)))
    if shutil.which("trace-cmd"):
        for path in files:
            if subprocess.run(["trace-cmd", "report", "-i", path], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False).returncode:
                fail("round %d: trace-cmd cannot read %s" % (number, path))
    listener.terminate()
    listener.wait()
    shutil.rmtree(store)
print("%d kills in %d recordings" % (kills, ROUNDS))
