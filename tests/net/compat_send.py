#!/usr/bin/python3
"""`record -N HOST --compat` feeds stock `trace-cmd listen` on another host: all is in its file once, and trace-cmd and ringside read the same there;
several at once; and a listener that dies, that is none, or that is not there ends it with words."""

import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import hosts

hosts.stage(__file__)
import peers
from peers import SCRATCH, Machine, fail

STORE = SCRATCH + "/store"
COUNT = 100000


def listen(where):
    """Stock, on the other host."""
    process = subprocess.Popen([*network.there(), "trace-cmd", "listen", "-p", str(where), "-d", STORE], stdout=open(SCRATCH + "/listen.log", "a"),
                               stderr=subprocess.STDOUT, start_new_session=True)
    peers.started.append(process)
    for _ in range(500):
        try:
            socket.create_connection((hosts.THERE, where), timeout=5).close()
            return process
        except OSError:
            time.sleep(0.02)
    return fail("trace-cmd listen does not")


def send(board, where, *words, work=None, check=True):
    return board.run("record", "-N", "%s:%d" % (hosts.THERE, where), "--compat", "--insecure", "-e", "ticks", "-i", *words,
                     *(work or [peers.TICKS, str(COUNT), "3000"]), check=check, timeout=100)


def files():
    return sorted(STORE + "/" + name for name in os.listdir(STORE) if name.endswith(".dat"))


def settled(number):
    """So many files, which it has put together."""
    for _ in range(600):
        # It reads what the readers of each CPU wrote, and removes that.
        if len(files()) == number and len(os.listdir(STORE)) == number:
            return files()
        time.sleep(0.1)
    return fail("it does not come to an end:", os.listdir(STORE))


def whole(done, path):
    seen, lost = peers.ticks_of(path)
    events, missed = peers.told(done.stderr)
    if len(set(seen)) != len(seen) or len(seen) + lost != COUNT or [len(seen), lost] != [events, missed]:
        fail(path, "has %d events, %d of them once, and %d lost; told are %d and %d" % (len(seen), len(set(seen)), lost, events, missed))
    stock = subprocess.run(["trace-cmd", "report", "-i", path], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True).stdout
    if [int(number) for number in re.findall(r" tick: +nr=(\d+) more=", stock)] != seen:
        fail("trace-cmd reads something else in", path)


peers.build_ticks()
network = hosts.Network()
os.mkdir(STORE)
boards = [Machine("board%d" % number) for number in range(3)]
where = peers.port()
listener = listen(where)
for path in files():
    os.unlink(path)

whole(send(boards[0], where), settled(1)[0])
os.unlink(files()[0])

# Three at once; theirs is what they say last.
done = [None] * 3


def one(number):
    done[number] = send(boards[number], where)


threads = [threading.Thread(target=one, args=(number,)) for number in range(3)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
for path in settled(3):
    whole(done[0], path)
    os.unlink(path)

# Nothing to tell, and nothing for so long that it has to begin without.
if send(boards[0], where, work=["sleep", "4"]).returncode:
    fail("a quiet recording fails")
if peers.ticks_of(settled(1)[0])[0]:
    fail("there is something in a quiet recording")

# Its listener dies.
recorder = boards[0].start("record", "-N", "%s:%d" % (hosts.THERE, where), "--compat", "--insecure", "-e", "ticks", "-i", peers.TICKS, "400000", "20000")
time.sleep(2)
os.killpg(listener.pid, signal.SIGKILL)
if not recorder.wait(60):
    fail("nobody is told that the listener has died")
# Nobody is there, or somebody else.
if not send(boards[0], where, work=["true"], check=False).returncode:
    fail("nobody is told that nobody is there")


def be(words):
    other = socket.create_server((hosts.HERE, 0))

    def serve():
        channel = other.accept()[0]
        channel.sendall(words)
        time.sleep(1)
        channel.close()
        other.close()

    threading.Thread(target=serve, daemon=True).start()
    return other.getsockname()[1]


for words, wanted in ((b"HTTP/1.0 400 no\r\n\r\n", "that is no `trace-cmd listen`"), (b"tracecmdV1\0\0\0\0", "is too old"), (b"", "has hung up")):
    done = boards[0].run("record", "-N", "%s:%d" % (hosts.HERE, be(words)), "--compat", "--insecure", "-e", "ticks", "-i", "true", check=False)
    if not done.returncode or wanted not in done.stderr:
        fail("of a listener that is none is told:", done.stderr)
network.end()
print("ok")
