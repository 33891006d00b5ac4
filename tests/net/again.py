#!/usr/bin/python3
"""A listener is killed behind each few frames that it said it has taken, in the middle of a section too: whoever goes on needs none of them again."""

import glob
import os
import random
import shutil
import socket
import struct
import subprocess
import sys
import threading

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import peers
from peers import SCRATCH, Machine, fail

HELLO, OPEN, SECTION, OPTIONS, TIME = 1, 16, 17, 18, 24
HAVE, TAKEN, DONE, REFUSE = 32, 33, 34, 2
PIECE = 700

def frame(kind, body):
    return struct.pack("<IHH", len(body), kind, 0) + body

def split(heard):
    """Frames, of which those beside the pages are in small pieces."""
    while heard:
        size, kind, _ = struct.unpack_from("<IHH", heard)
        body, heard = heard[8:8 + size], heard[8 + size:]
        if kind not in (SECTION, OPTIONS):
            yield kind, frame(kind, body)
            continue
        word, flags = struct.unpack_from("<II", body) if kind == SECTION else struct.unpack_from("<II", body)[::-1]
        rest = body[8:]
        size = PIECE if kind == SECTION else PIECE // 20
        pieces = [rest[at:at + size] for at in range(0, len(rest), size)] or [b""]
        for at, piece in enumerate(pieces):
            now = (flags & 1 if at == 0 else 0) | (flags & 2 if at == len(pieces) - 1 else 0)
            yield kind, frame(kind, struct.pack("<II", *((word, now) if kind == SECTION else (now, word))) + piece)

class Board:
    """One connection of it."""

    def __init__(self, where):
        self.socket = socket.create_connection(("127.0.0.1", where), timeout=30)
        self.heard = b""

    def say(self, some):
        self.socket.sendall(some)

    def hear(self):
        while len(self.heard) < 8 or len(self.heard) < 8 + struct.unpack_from("<I", self.heard)[0]:
            some = self.socket.recv(65536)
            if not some:
                raise ConnectionResetError("the listener hangs up")
            self.heard += some
        size, kind, _ = struct.unpack_from("<IHH", self.heard)
        body, self.heard = self.heard[8:8 + size], self.heard[8 + size:]
        if kind == REFUSE:
            fail("refused:", body[8:])
        return kind, body

    def await_one(self, *kinds):
        while True:
            kind, body = self.hear()
            if kind in kinds:
                return kind, body

def listen_in(heard, door, where):
    board, _ = door.accept()
    station = socket.create_connection(("127.0.0.1", where))

    def back():
        while some := station.recv(65536):
            board.sendall(some)
        board.close()

    threading.Thread(target=back, daemon=True).start()
    while some := board.recv(65536):
        heard.append(some)
        station.sendall(some)

# What a board says.
peers.build_ticks()
draw = random.Random(1)
station, board = Machine("station"), Machine("board")
where = peers.port()
listener = station.serve(where, "listen", "-q", "-d", SCRATCH + "/first")
door, heard = socket.create_server(("127.0.0.1", 0)), []
threading.Thread(target=listen_in, args=(heard, door, where), daemon=True).start()
board.run("record", "-q", "-e", "ticks", "-i", "-N", "127.0.0.1:%d" % door.getsockname()[1], peers.TICKS, "20000", "100")
listener.kill()
listener.wait()
wanted = peers.ticks_of(*glob.glob(SCRATCH + "/first/*/*.dat"))
if wanted != (list(range(20000)), 0):
    fail("the first one is not whole")
stream = [one for one in split(b"".join(heard)) if one[0] != TIME]
hello, opening = stream[0][1], stream[1][1]
if stream[0][0] != HELLO or stream[1][0] != OPEN:
    fail("a board does not say HELLO and OPEN first")
stream = stream[2:]
ends = [0]
for _, one in stream:
    ends.append(ends[-1] + len(one))


def begin(taken):
    """Somebody who was killed may still have answered."""
    for more in range(5):
        try:
            talk = Board(where)
            talk.say(hello)
            talk.say(opening[:8 + 16] + struct.pack("<Q", taken) + opening[8 + 24:])
            return talk, struct.unpack("<Q", talk.await_one(HAVE)[1])[0]
        except OSError as error:
            if more == 4:
                fail("cannot go on:", error)


def say_again(store, *rotate):
    """Whoever takes it is killed each time."""
    taken, kills, kinds = 0, 0, set()
    while True:
        listener = station.serve(where, "listen", "-d", store, *rotate)
        talk, at = begin(taken)
        if at < taken or at not in ends:
            fail("goes on at", at, "though up to", taken, "was taken")
        first = ends.index(at)
        last = min(first + draw.randrange(1, 5 if peers.LONG else 14), len(stream))
        talk.say(b"".join(one for _, one in stream[first:last]))
        while taken < ends[last]:
            taken = struct.unpack("<Q", talk.await_one(TAKEN)[1])[0]
        if last == len(stream):
            talk.await_one(DONE)
            break
        kinds.add(stream[last][0])
        listener.kill()
        listener.wait()
        talk.socket.close()
        kills += 1
    listener.terminate()
    listener.wait()
    files = sorted(glob.glob(store + "/*/*.dat"))
    seen, lost = peers.ticks_of(*files)
    if (sorted(seen), lost) != wanted:
        fail("what was taken by many is not what was taken by one:", files)
    if SECTION not in kinds or OPTIONS not in kinds:
        fail("no kill came in the middle of what belongs beside the pages:", kinds)
    for path in files if shutil.which("trace-cmd") else ():
        subprocess.run(["trace-cmd", "report", "-i", path], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    return kills, len(files)


print("kills, and files: %s, %s, and nothing was said twice" % (say_again(SCRATCH + "/again"), say_again(SCRATCH + "/rotated", "--rotate", "256K")))
