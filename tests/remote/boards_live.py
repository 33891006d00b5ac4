#!/usr/bin/python3
"""Firmware of each kind of board is read live, all of it, and is on one timeline with a program that talks to it: what it does when it is rung
lies between the program's ringing and its hearing the answer, as well as the recorder says that it knows the board's clock."""

import os
import re
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import boards
from boards import command, fail

TURNS = 20000 if boards.LONG else 1500
TIMES = 3000 if boards.LONG else 40

# Rings of two MiB: a recorder that gets no CPU for a while loses nothing.
PAGES = {"mps2-an385": 4096, "mps2-an385-m0plus": 8192, "aarch64-virt": 512, "aarch64-virt-be": 512, "riscv32-virt": 2048}
CLANG = {
    "mps2-an385": "clang --target=arm-none-eabi --ld-path=/usr/bin/arm-none-eabi-ld",
    "aarch64-virt": "clang --target=aarch64-linux-gnu",
    "aarch64-virt-be": "clang --target=aarch64_be-linux-gnu --ld-path=/usr/bin/aarch64-linux-gnu-ld",
    "riscv32-virt": "clang --target=riscv32-unknown-elf --ld-path=/usr/bin/riscv64-unknown-elf-ld",
}


def check_told(board):
    """What a person is told of it."""
    text = board.listed()
    for words in ("memory  %s @0x100040\n" % board.ram, "state   loaded, tracing is on, started 1 time\n",
                  "words   %s\n" % board.kind.words, "events  8\n", "  buffer  %d CPU" % board.kind.cores,
                  "the oldest stay" if board.kind.discard else "the newest stay"):
        if words not in text:
            fail("%s: the list does not say '%s'" % (board.title, words), text)
    boards.wait("%s: its clock is matched" % board.title,
                lambda: re.search(r"clock   \d+ Hz, \d+ bits, matched to \d+ [num]?s\n", board.listed()))


def check_live(board):
    """Events of all kinds come, as they should."""
    pipe = boards.Pipe(board)
    pipe.until("%s: turns of its loops" % board.title, lambda watch: all(
        core.next.get("loop", 0) > TURNS and core.events > TURNS and (core.next.get("turns", 0) or board.kind.discard)
        for core in watch.cores))
    if board.name.startswith("mps2"):
        pipe.until("%s: an interrupt over another one" % board.title, lambda watch: watch.nested())
    watch = pipe.close()
    if watch.losses or watch.restarts or not watch.counts["turns"]:
        fail("%s: %d losses, %d restarts, %d long records" % (board.title, watch.losses, watch.restarts, watch.counts["turns"]))


def check_between(what, board, lines, error):
    """Every doorbell is between the program's events."""
    watch, talk, events = boards.Watch(board), {}, 0
    for line in lines:
        got = boards.REPORTED.fullmatch(line)
        if got and got[7] in ("send", "answered"):
            talk[got[7], int(got[8].split("=")[1])] = int(got[5]) * 1000000 + int(got[6])
        else:
            events += watch.reported(line)
    if len(watch.bells) != TIMES or len(talk) != 2 * TIMES or watch.losses or events < TIMES * 2:
        fail("%s: %d of %d doorbells, %d events of talk's" % (what, len(watch.bells), TIMES, len(talk)))
    for time, value in watch.bells:
        send, answered = talk["send", value], talk["answered", value]
        # Microseconds are cut off, of all three.
        if time + error + 1 < send or time > answered + error + 1:
            fail("%s: sent at %d, heard at %d, answered at %d, and no more than %d us off" % (what, send, time, answered, error))
    return events


def check_timeline(board):
    path = board.folder + "/trace.dat"
    _, err = command("record", "--remote", board.title, "-o", path, boards.TALK, board.ram, str(TIMES))
    got = re.search(r"remote %s: \d+ Hz, \d+ bits, matched to (\d+) ([num]?s)\n" % board.title, err)
    if not got or "none lost" not in err:
        fail("%s: the recorder does not know its clock" % board.title, err)
    error = int(got[1]) * {"us": 1, "ms": 1000, "s": 1000000}.get(got[2], 0) or int(got[1]) // 1000 + 1
    ours = check_between(board.title, board, command("report", path)[0].splitlines(), error)
    if shutil.which("trace-cmd"):
        done = subprocess.run(["trace-cmd", "report", "-i", path], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
        theirs = check_between(board.title + " by trace-cmd", board, done.stdout.splitlines(), error)
        if done.returncode or ours != theirs:
            fail("%s: trace-cmd sees %d events, and not %d" % (board.title, theirs, ours), done.stderr)
    print("%s: %d events in the file, matched to %d us" % (board.title, ours, error))


def check(board):
    board.start().add().switch_on()
    check_told(board)
    check_live(board)
    check_timeline(board)
    board.kill()
    command("remote", "remove", board.title)


def large(name, *options, **how):
    return boards.Board(name, "-DRINGSIDE_FW_PAGES=%d" % PAGES[name], *options, **how)


def by_clang():
    """The same by another compiler."""
    if not shutil.which("clang"):
        return
    for name, compiler in CLANG.items():
        if boards.LONG or name == "mps2-an385":
            more = ["-Wl,-m,elf32lriscv"] if name.startswith("riscv") else []
            check(large(name, "-Wno-unused-command-line-argument", *more, title=name + ".clang", env={"FIRMWARE_CC": compiler}))


def main():
    boards.need_boards()
    for name in boards.BOARDS:
        check(large(name))
    by_clang()


main()
