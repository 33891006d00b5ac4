#!/usr/bin/python3
"""The memory of a board is found wherever it is: in the file that it runs in, a copy of that, one where addresses are offsets, by its symbol, by an
offset, or by looking for it. It is never taken for another one. What can only be read is read, and what was read is kept here."""

import os
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import boards
from boards import SCRATCH, command, fail, refused

M3, A64, RISCV = "mps2-an385", "aarch64-virt", "riscv32-virt"
NOBODY = 65534


def read(board, path="trace_pipe", env=None, **how):
    """All that is there, watched."""
    out, err = command("cat", board.file(path), env=env, **how)
    watch = boards.Watch(board)
    for line in out.splitlines():
        watch.line(line)
    if err:
        fail("%s: %s says something" % (board.title, path), err)
    return watch, out


def as_title(board, title):
    """The same board under another name."""
    return boards.Board(board.name, title=title, ram=board.ram, elf=board.elf)


def check_dump(board, dump):
    """A copy, made while it runs: found by its symbol, by an offset, and by looking for it, with the same in it."""
    texts = set()
    # Where a header says that it is at the symbol, and where an address is an offset.
    at_address = SCRATCH + "/at_address"
    with open(dump, "rb") as file, open(at_address, "wb") as whole:
        whole.seek(board.kind.address - boards.HEADER)
        shutil.copyfileobj(file, whole)
    for n, (place, *elf) in enumerate(((dump, "--elf", board.elf), (dump + "@0x100040", "--elf", board.elf),
                                       (dump + "@1048640", "--elf", board.elf), (at_address, "--elf", board.elf))):
        again = as_title(board, "dump%d" % n)
        command("remote", "add", again.title, "--mem", place, *elf)
        watch, text = read(again, "trace")
        texts.add(text)
        if not watch.events() or watch.restarts:
            fail("%s of %s: %d events" % (board.title, place, watch.events()))
        if read(again)[1] != text or read(again)[1]:
            fail("%s: what is taken out is not what was seen, or comes again" % place)
    if len(texts) != 1:
        fail("%s: one memory says %d things" % (board.title, len(texts)))
    # The machine is not there to be told anything, but its memory is.
    command("write", "remotes/dump0/tracing_on", "0")
    if command("cat", "remotes/dump0/tracing_on")[0] != "0\n":
        fail("%s: the dump does not keep what it is told" % board.title)
    # Without names: as many events, at the same times, and no more than their numbers.
    command("remote", "add", "bare", "--mem", dump)
    bare = command("cat", "remotes/bare/trace")[0].splitlines()
    named = texts.pop().splitlines()
    if len(bare) != len(named) or any(a.split(":")[0] != b.split(":")[0] or "UNKNOWN id=" not in a for a, b in zip(bare, named)):
        fail("%s: without names it is another thing" % board.title, "\n".join(bare[:20]))
    if "added without --elf" not in as_title(board, "bare").listed():
        fail("nobody tells why there are no names")
    refused("without --elf", "write", "remotes/bare/events/enable", "1")
    for name in ("dump0", "dump1", "dump2", "dump3", "bare"):
        command("remote", "remove", name)
    os.unlink(at_address)


def check_refused(board, other, dump):
    """Words, for what is not there or is not it."""
    refused("No such file", "remote", "add", "x", "--mem", SCRATCH + "/nowhere", "--elf", board.elf)
    refused("No such file", "remote", "add", "x", "--mem", dump, "--elf", SCRATCH + "/nowhere")
    refused("there is no header of a tracing memory at 0x100000", "remote", "add", "x", "--mem", dump + "@0x100000", "--elf", board.elf)
    refused("the memory ends before the end of a header", "remote", "add", "x", "--mem", dump + "@0x1000000", "--elf", board.elf)
    refused("no offset", "remote", "add", "x", "--mem", dump + "@here", "--elf", board.elf)
    refused("the target was not started, or runs another firmware", "remote", "add", "x", "--mem", dump, "--elf", other.elf)
    refused("is not what runs there", "remote", "add", "x", "--mem", dump + "@0x100040", "--elf", other.elf)
    refused("", "remote", "add", "x", "--mem", dump, "--elf", dump)
    # A build of another day is not it, though all is in the same places.
    later = boards.Board(board.name, "-DBOARD_TICK_HZ=500", title="later")
    refused("is not what runs there", "remote", "add", "x", "--mem", dump, "--elf", later.elf)
    stripped = SCRATCH + "/stripped"
    subprocess.run([boards.BOARDS[board.name].compiler.replace("gcc", "strip"), "-o", stripped, board.elf], check=True)
    refused("there is no symbol ringside_fw", "remote", "add", "x", "--mem", dump, "--elf", stripped)
    # Two machines in one file: which?
    both = SCRATCH + "/both"
    with open(both, "wb") as out:
        for _ in range(2):
            with open(dump, "rb") as file:
                shutil.copyfileobj(file, out)
    refused("there are 2 headers of tracing memories: say which, @0x100040 @0x1100040", "remote", "add", "x", "--mem", both, "--elf", board.elf)
    command("remote", "add", "second", "--mem", both + "@0x1100040", "--elf", board.elf)
    read(as_title(board, "second"), "trace")
    command("remote", "remove", "second")
    os.unlink(both)
    # It was not started yet: its code is there, its memory is not.
    empty = SCRATCH + "/empty"
    with open(dump, "rb") as file, open(empty, "wb") as out:
        shutil.copyfileobj(file, out)
        out.seek(boards.HEADER)
        out.write(b"\0" * 64)
    refused("was the target started?", "remote", "add", "x", "--mem", empty)
    with open(dump, "rb") as file, open(empty, "r+b") as out:
        file.seek(boards.HEADER)
        out.seek(boards.HEADER)
        out.write(file.read(63) + b"?")
    refused("the only header, at 0x100040, is damaged", "remote", "add", "x", "--mem", empty)


class Looker:
    """Somebody who may read the memory of a board, and nothing else."""

    def __init__(self, board):
        self.home = "%s/%s.home" % (SCRATCH, board.title)
        self.board, self.own, self.how = board, boards.RINGSIDE, {"env": dict(os.environ, RINGSIDE_DIR=self.home + "/trace")}
        os.mkdir(self.home)
        os.chmod(board.ram, 0o444)
        if not os.geteuid():
            # Where we lie nobody may look.
            for folder in (SCRATCH, board.folder):
                os.chmod(folder, 0o711)
            os.chown(self.home, NOBODY, NOBODY)
            boards.RINGSIDE = shutil.copy(self.own, SCRATCH + "/ringside")
            self.how.update(user=NOBODY, group=NOBODY, extra_groups=[])
        command("remote", "add", board.title, "--mem", board.ram, "--elf", board.elf, **self.how)

    def record(self, *program):
        return command("record", "--remote", self.board.title, "-o", self.home + "/trace.dat", *program, **self.how)[1]

    def close(self):
        os.chmod(self.board.ram, 0o644)
        boards.RINGSIDE = self.own


def check_read_only(board):
    """What was taken out is not there again, and nothing of it is on the board."""
    looker = Looker(board)
    text = command("remote", "list", **looker.how)[0]
    if ", can only be read\n" not in text:
        fail("the list does not tell that it can only be read", text)
    refused("can only be read", "write", board.file("tracing_on"), "0", **looker.how)
    before = None
    for _ in range(3):
        watch = boards.Watch(board)
        if before:
            watch.cores[0].next = before
        else:
            command("write", board.file("trace"), "", **looker.how)

        def more():
            for line in command("cat", board.file("trace_pipe"), **looker.how)[0].splitlines():
                watch.line(line)
            return watch.cores[0].events > 500
        boards.wait("what the board does is seen by those who may only read", more)
        if watch.losses:
            fail("events are lost that nobody overwrote")
        before = watch.cores[0].next
    err = looker.record("sleep", "0.2")
    if "none lost" not in err or "matched to" not in err:
        fail("it is not recorded", err)
    looker.close()


def check_full():
    """Where the oldest stay and nobody can say that they were read, that is told."""
    board = boards.Board(RISCV, "-DRINGSIDE_FW_PAGES=8")
    board.start().add()
    full = "the oldest stay, and it is full: what comes is refused\n"
    boards.wait("it is full, and that is told", lambda: full in board.listed())
    looker = Looker(board)
    err = looker.record("true")
    if "its buffer is full, and cannot be told that it was read" not in err:
        fail("nobody tells why there is nothing", err)
    looker.close()
    # Who can tell it so has what comes.
    pipe = boards.Pipe(board)
    pipe.until("what it has kept, and what comes behind it", lambda watch: watch.counts["boot"] and watch.losses and watch.settled)
    pipe.close()
    board.kill()


def main():
    boards.need_boards(M3, A64, RISCV)
    for name, other in ((M3, A64), (A64, M3)):
        board = boards.Board(name, "-DRINGSIDE_FW_PAGES=%d" % (4096 if name == M3 else 512))
        other = boards.Board(other, title="other")
        board.start().add().switch_on()
        boards.wait("events", lambda: all(count > 3000 for count, _ in board.rings()))
        dump = SCRATCH + "/dump"
        shutil.copyfile(board.ram, dump)
        check_dump(board, dump)
        if name == M3:
            check_refused(board, other, dump)
            check_read_only(board)
        board.kill()
        command("remote", "remove", board.title)
    check_full()


main()
