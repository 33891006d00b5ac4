#!/usr/bin/python3
"""A machine that is killed at any moment leaves a memory that reads: up to its last event, none of them torn, none missing; whether somebody was
reading meanwhile or comes later."""

import os
import random
import re
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import boards
from boards import command, fail

ROUNDS = 200 if boards.LONG else 10
# All of some seconds.
PAGES = {"mps2-an385": 4096, "mps2-an385-m0plus": 8192, "aarch64-virt": 512, "aarch64-virt-be": 512, "riscv32-virt": 2048}


def check_end(board, watch):
    """It is all that there was. What was counted and not yet there when it died is one event of a core at most."""
    for cpu, (count, before) in enumerate(board.rings()):
        seen = watch.cores[cpu].events
        if seen not in (count - before, count - before - 1):
            fail("%s: cpu %d has %d events of %d" % (board.title, cpu, seen, count - before), watch.now)


def check_later(board):
    """Who comes later sees it all, as often as wanted, and takes it out once."""
    lines = None
    for path in ("trace", "trace", "trace_pipe"):
        out, err = command("cat", board.file(path))
        if err:
            fail("%s: %s says something" % (board.title, path), err)
        watch = boards.Watch(board)
        for line in out.splitlines():
            watch.line(line)
        check_end(board, watch)
        # Before the first one it has lost what was overwritten, of which nobody tells.
        if watch.losses or watch.restarts or (lines or out) != out:
            fail("%s: %s is another thing" % (board.title, path), out)
        lines = out
    out, err = command("cat", board.file("trace"))
    if out or err:
        fail("%s: it is not taken out" % board.title, out + err)
    return watch.events()


def check_watched(board, draw):
    """Who reads while it dies has the last event as well."""
    pipe = boards.Pipe(board.add())
    time.sleep(draw.random() * 0.3)
    board.kill()
    rings = board.rings()
    pipe.until("the last event", lambda watch: all(core.events + 1 >= count - before for core, (count, before) in zip(watch.cores, rings)))
    watch = pipe.close()
    # But on a machine so slow that some were overwritten, it began with the first one.
    if not any(before for _, before in rings):
        check_end(board, watch)
        if watch.losses or not watch.counts["boot"]:
            fail("%s: something is missing" % board.title)
    if watch.restarts:
        fail("%s: it was never started again" % board.title)
    out, err = command("cat", board.file("trace_pipe"))
    if out or err:
        fail("%s: something is left" % board.title, out + err)
    return watch.events()


def check_round(board, draw):
    if os.path.exists(board.ram):
        os.unlink(board.ram)
    board.start()
    if draw.random() < 0.3:
        # Perhaps before there is anything.
        time.sleep(draw.random() * 0.4)
        board.kill()
        out, err = command("remote", "add", board.title, "--mem", board.ram, "--elf", board.elf, status=None)
        if err and not re.search("the target was not started|damaged|No such file", err):
            fail("%s: refused for another reason" % board.title, err)
        if err:
            return 0
        events = check_later(board)
    elif draw.random() < 0.5:
        board.add()
        time.sleep(draw.random() * 0.3)
        board.kill()
        events = check_later(board)
    else:
        events = check_watched(board, draw)
    command("remote", "remove", board.title)
    return events


def main():
    boards.need_boards()
    seed = int(os.environ.get("RINGSIDE_SEED", random.SystemRandom().randrange(1 << 32)))
    print("RINGSIDE_SEED=%d" % seed)
    draw = random.Random(seed)
    all_boards = [boards.Board(name, "-DRINGSIDE_FW_ON=1", "-DRINGSIDE_FW_PAGES=%d" % PAGES[name]) for name in boards.BOARDS]
    events = []
    for n in range(ROUNDS):
        events.append(check_round(all_boards[n % len(all_boards)], draw))
    print("killed %d times, %s events" % (ROUNDS, " ".join(map(str, events))))
    if not sum(events):
        fail("never a single event")


main()
