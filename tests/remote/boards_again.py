#!/usr/bin/python3
"""A board that starts again in the memory that it had is told as just that, to who reads meanwhile and to who comes later; what the host had switched on
stays on. Another firmware in that memory is refused with words. A buffer that is emptied while the board runs is empty, and goes on."""

import os
import shutil
import signal
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import boards
from boards import command, fail

TIMES = 20 if boards.LONG else 3


def loops(watch):
    return min(core.next.get("loop", 0) for core in watch.cores)


def check_watched(board):
    """Who reads on all the time sees each life of it, from its beginning."""
    pipe = boards.Pipe(board)
    pipe.until("events", lambda watch: loops(watch) > 300)
    for n in range(1, TIMES + 1):
        # Once it looks away, until the board is where it was before.
        if n == TIMES:
            pipe.signal(signal.SIGSTOP)
        before = [count for count, _ in board.rings()]
        board.restart()
        if n == TIMES:
            boards.wait("%s: it starts again" % board.title, lambda: any(count < old for (count, _), old in zip(board.rings(), before)))
            boards.wait("%s: it is where it was" % board.title, lambda: all(count > old + 200 for (count, _), old in zip(board.rings(), before)))
            pipe.signal(signal.SIGCONT)
        pipe.until("its next life", lambda watch: watch.restarts == n and loops(watch) > 300)
        if pipe.watch.losses or any(core.missing for core in pipe.watch.cores):
            fail("%s: it has lost something" % board.title)
    watch = pipe.close()
    if watch.counts["boot"] < TIMES:
        fail("%s: it has begun %d times, and %d of them are told" % (board.title, TIMES, watch.counts["boot"]))


def check_small(board):
    """All that the reader knew is long overwritten when it looks again: it is another life all the same, and no loss in this one."""
    pipe = boards.Pipe(board)
    for n in range(1, TIMES + 1):
        pipe.until("events", lambda watch: loops(watch) > 100)
        pipe.signal(signal.SIGSTOP)
        before = [count for count, _ in board.rings()]
        board.restart()
        boards.wait("%s: it starts again" % board.title, lambda: any(count < old for (count, _), old in zip(board.rings(), before)))
        boards.wait("%s: it is beyond where it was" % board.title,
                    lambda: all(count > old + 2000 for (count, _), old in zip(board.rings(), before)))
        pipe.signal(signal.SIGCONT)
        pipe.until("its next life", lambda watch: watch.restarts == n)
    pipe.close()


def take(board, watch, words, condition):
    """Takes out what there is, until it is that."""
    def taken():
        for line in command("cat", board.file("trace_pipe"))[0].splitlines():
            watch.line(line)
        return condition()
    boards.wait(words, taken)


def check_later(board, lives):
    """Who comes when it has been started again is told so, once, with all that it did since."""
    board.restart()
    # Not the count of the life before.
    boards.wait("its next life", lambda: "started %d times" % lives in board.listed())
    boards.wait("events", lambda: all(count > 500 for count, _ in board.rings()))
    watch = boards.Watch(board)
    take(board, watch, "a loop on each core", lambda: all("loop" in core.next for core in watch.cores))
    if watch.restarts != 1 or watch.losses or not watch.counts["boot"]:
        fail("%s: %d restarts, %d losses" % (board.title, watch.restarts, watch.losses))
    take(board, watch, "more", lambda: watch.events() > 1000)
    if watch.restarts != 1:
        fail("%s: its start is told again" % board.title)


def check_switches(board):
    """It was off when it began for the first time. What the host said holds for each life."""
    command("write", board.event("turns"), "0")
    board.restart()
    boards.wait("events", lambda: all(count > 100 for count, _ in board.rings()))
    if command("cat", board.event("turns"))[0] != "0\n" or command("cat", board.event("loop"))[0] != "1\n" or \
       command("cat", board.file("events/enable"))[0] != "X\n" or command("cat", board.file("tracing_on"))[0] != "1\n":
        fail("%s: what was switched is forgotten" % board.title)
    command("write", board.file("events/enable"), "1")


def check_emptied(board):
    """Nothing of before is there when the buffer was emptied, and nothing of what comes is missing."""
    watch = boards.Watch(board)
    take(board, watch, "a loop on each core", lambda: all("loop" in core.next for core in watch.cores))
    before = [count for count, _ in board.rings()]
    seen = [core.next["loop"] for core in watch.cores]
    boards.wait("more events", lambda: all(count > old + 100 for (count, _), old in zip(board.rings(), before)))
    command("write", board.file("trace"), "")
    watch.emptied()
    take(board, watch, "later events", lambda: all(core.next["loop"] > old for core, old in zip(watch.cores, seen)))
    if watch.losses:
        fail("%s: emptying it is told as a loss" % board.title)
    if any("loop" in core.leaps for core in watch.cores):
        fail("%s: what was there before is still there" % board.title)
    # Off, it stays empty. And while somebody reads.
    command("write", board.file("tracing_on"), "0")
    command("write", board.file("trace"), "")
    if command("cat", board.file("trace"))[0] or command("cat", board.file("buffer_size_kb"))[0] != "256 (unloaded)\n":
        fail("%s: it is not empty" % board.title, command("cat", board.file("buffer_size_kb"))[0])
    command("write", board.file("tracing_on"), "1")
    watch = boards.Watch(board)
    watch.emptied()
    pipe = boards.Pipe(board, watch)
    for _ in range(TIMES):
        at = loops(watch)
        pipe.until("events", lambda watch: loops(watch) > at + 200)
        # What it did not read by then it never will.
        pipe.signal(signal.SIGSTOP)
        before = [count for count, _ in board.rings()]
        boards.wait("more events", lambda: all(count > old + 100 for (count, _), old in zip(board.rings(), before)))
        command("write", board.file("trace"), "")
        pipe.signal(signal.SIGCONT)
        watch.emptied()
        pipe.until("events behind it", lambda watch: not any("loop" in core.leaps for core in watch.cores))
    if pipe.close().losses:
        fail("%s: emptying it is told as a loss to who reads" % board.title)


def check_other(board):
    """Another firmware in its memory: no name of an event, no number would be right."""
    other = boards.Board(board.name, "-DBOARD_TICK_HZ=500", title="other", ram=board.ram)
    pipe = boards.Pipe(board)
    pipe.until("events", lambda watch: loops(watch) > 300)
    lives = pipe.watch.restarts
    board.kill()
    other.start()
    status, err = pipe.wait()
    if status != 1 or "another build" not in err or pipe.watch.restarts != lives:
        fail("%s: another firmware runs there, and nobody is told" % board.title, err)
    for file in ("trace", "trace_pipe", "tracing_on", "clock"):
        boards.refused("another build", "cat", board.file(file))
    boards.refused("another build", "record", "--remote", board.title, "-o", board.folder + "/trace.dat", "true")
    if "another build" not in board.listed():
        fail("%s: the list does not tell" % board.title)
    command("remote", "remove", board.title)
    other.add()
    command("remote", "remove", other.title)
    other.kill()
    shutil.rmtree(other.folder)


def main():
    boards.need_boards()
    small = boards.Board("mps2-an385", "-DRINGSIDE_FW_PAGES=4", title="small")
    check_small(small.start().add().switch_on())
    small.kill()
    command("remote", "remove", small.title)
    for name in boards.BOARDS:
        board = boards.Board(name)
        board.start().add().switch_on()
        check_watched(board)
        check_later(board, TIMES + 2)
        check_emptied(board)
        check_switches(board)
        # Takes the seconds that a reader has patience with a target that starts.
        if boards.LONG or name in ("mps2-an385", "aarch64-virt"):
            check_other(board)
        else:
            board.kill()
            command("remote", "remove", board.title)


main()
