#!/usr/bin/python3
"""The connection is cut before the file can be read: in the first words, in the middle of formats and names, behind them; and each time the listener
that had them is another process. The recording goes on where it was, and is whole."""

import concurrent.futures
import os
import socket
import threading
import time

import peers

peers.build_ticks()
station, board = peers.Machine("station"), peers.Machine("board")
where = peers.port()
store = peers.SCRATCH + "/boards"
station.serve(where, "listen", "-d", store)


def meet(door, most):
    """Passes on so many bytes of a board, one time; then all."""
    def pass_on(one, other, count):
        try:
            while count and (some := one.recv(min(65536, count))):
                other.sendall(some)
                count -= len(some)
            if count:
                other.shutdown(socket.SHUT_WR)
                return
        except OSError:
            return
        for end in (one, other):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    while True:
        try:
            one, _ = door.accept()
        except OSError:
            return
        other = socket.create_connection(("127.0.0.1", where))
        threading.Thread(target=pass_on, args=(other, one, 1 << 60), daemon=True).start()
        threading.Thread(target=pass_on, args=(one, other, most), daemon=True).start()
        most = 1 << 60


def cut_at(most):
    door = socket.create_server(("127.0.0.1", 0))
    threading.Thread(target=meet, args=(door, most), daemon=True).start()
    own = dict(board.env, RINGSIDE_DIR="%s/dir-%d" % (peers.SCRATCH, most))
    machine = peers.Machine.__new__(peers.Machine)
    machine.__dict__.update(board.__dict__, env=own)
    done = machine.run("record", "-i", "-e", "ticks", "-N", "127.0.0.1:%d" % door.getsockname()[1], peers.TICKS, "300", "100", check=False)
    door.close()
    if done.returncode:
        peers.fail("cut at", most, done.stderr)
    return peers.told(done.stderr)


def leave_at(most, where):
    """A board that says so many bytes and does not come back."""
    door = socket.create_server(("127.0.0.1", 0))

    def answer(one, other):
        try:
            while some := other.recv(65536):
                one.sendall(some)
        except OSError:
            pass

    def pass_on():
        one, _ = door.accept()
        door.close()
        with one, socket.create_connection(("127.0.0.1", where)) as other:
            threading.Thread(target=answer, args=(one, other), daemon=True).start()
            while most[0] and (some := one.recv(min(65536, most[0]))):
                other.sendall(some)
                most[0] -= len(some)
            other.shutdown(socket.SHUT_RDWR)

    most = [most]
    threading.Thread(target=pass_on, daemon=True).start()
    done = board.run("record", "-i", "-e", "ticks", "-N", "127.0.0.1:%d" % door.getsockname()[1], "--linger", "100ms", peers.TICKS, "300", "100",
                     check=False)
    if not done.returncode:
        peers.fail("a board that could send nothing says that it has:", done.stderr)


def dats(store):
    return [os.path.join(folder, name) for folder, _, names in os.walk(store) for name in names if name.endswith(".dat")]


# The words of a recorder that end the first connection; and none.
places = [90, 150, 400, 700, 3000, 5000, 5600, 30000, 70000, 110000, 150000, 1 << 40]
with concurrent.futures.ThreadPoolExecutor(3) as pool:
    sums = [done.result() for done in [pool.submit(cut_at, place) for place in places]]
files = dats(store)
if len(files) != len(places):
    peers.fail("%d files of %d recordings" % (len(files), len(places)))
for path in files:
    seen, lost = peers.ticks_of(path)
    if len(seen) + lost != 300 or len(set(seen)) != len(seen):
        peers.fail(path, "has %d events, and %d are lost, of 300" % (len(seen), lost))
# What never comes back and cannot be read is not kept.
other = peers.port()
listener = station.serve(other, "listen", "-d", store + "-left")
leave_at(3000, other)
if len(dats(store + "-left")) != 1:
    peers.fail("nothing was left")
listener.terminate()
listener.wait()
time.sleep(2)
station.serve(other, "listen", "-d", store + "-left", "--wait", "1s")
for _ in range(600):
    if not dats(store + "-left"):
        break
    time.sleep(0.1)
else:
    peers.fail("what nobody can read is still there")
print("%d cuts" % (len(places) - 1))
