#!/usr/bin/python3
"""A reader that is slower than a board with small rings is told what it has lost, to the event: where the newest events stay, where the oldest do, by
trace_pipe and in a recording."""

import os
import re
import signal
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import boards
from boards import command, fail

LOSSES = 500 if boards.LONG else 25
# Rings of 2 KiB, and of 8 KiB where a page has 4: room for no more events than a tenth of that.
PAGES = {"mps2-an385": 4, "mps2-an385-m0plus": 8, "aarch64-virt": 2, "aarch64-virt-be": 2, "riscv32-virt": 2}


def check_pipe(board):
    """It is hardly ever there in time, and once sleeps for long."""
    pipe = boards.Pipe(board)
    enough = lambda watch: watch.losses >= LOSSES and watch.events() > 1000
    for n in range(2 * LOSSES):
        pipe.signal(signal.SIGSTOP)
        before = [count for count, _ in board.rings()]
        boards.wait("more than there is room for", lambda: all(
            count - old > (800 if board.name.startswith("aarch64") else 200) for (count, _), old in zip(board.rings(), before)), 0.002)
        pipe.signal(signal.SIGCONT)
        got = pipe.watch.events()
        pipe.until("events", lambda watch: watch.events() > got + 10 or watch.losses > n + LOSSES)
        if enough(pipe.watch):
            break
    pipe.until("losses, each followed by an event of each kind", lambda watch: watch.settled and not any(core.unseen for core in watch.cores))
    watch = pipe.close()
    if not enough(watch) or not watch.settled or watch.restarts:
        fail("%s: %d losses, %d of them to the end, %d events" % (board.title, watch.losses, watch.settled, watch.events()))
    return "%d events, %d lost, %d times, %d times exactly" % (watch.events(), watch.lost, watch.losses, watch.settled)


def check_recording(board):
    """The file says the same: where something is missing, and how much; and so does the recorder in the end."""
    path = board.folder + "/trace.dat"
    err = command("record", "--remote", board.title, "-o", path, "sh", "-c",
                  "for i in 1 2 3 4; do sleep 0.1; kill -STOP $PPID; sleep 0.1; kill -CONT $PPID; done")[1]
    watch = boards.Watch(board)
    for line in command("report", path)[0].splitlines():
        watch.reported(line)
    told = re.search(r": (\d+) events, .*, (\d+) lost\n", err)
    # No event of the file tells of those that no other came behind.
    behind = re.search(r"; (\d+) events were refused behind the last one that is there\n", err)
    missing = watch.lost + (int(behind[1]) if behind else 0)
    if not told or int(told[1]) < watch.events() or int(told[2]) != missing or not watch.settled or watch.losses < 4:
        fail("%s: %d events, %d lost in the file, %d times" % (board.title, watch.events(), watch.lost, watch.losses), err)


def main():
    boards.need_boards()
    for name in boards.BOARDS:
        board = boards.Board(name, "-DRINGSIDE_FW_PAGES=%d" % PAGES[name])
        board.start().add().switch_on()
        print("%s: %s" % (name, check_pipe(board)))
        check_recording(board)
        board.kill()
        command("remote", "remove", board.title)


main()
