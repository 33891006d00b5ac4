#!/usr/bin/python3
"""`agent --compat` serves stock `trace-cmd record -A` of another host: all is in the guest's file once, and with the shift that ptp found its events and
the driver's are on one timeline, for trace-cmd and for ringside; two drivers at once; a driver that is killed; and what is no driver."""

import glob
import os
import re
import signal
import socket
import struct
import subprocess
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import hosts

hosts.stage(__file__)
import peers
from peers import SCRATCH, Machine, fail

COUNT = 3000
PHASES = 4


def work(board):
    """By turns here and there."""
    there = "RINGSIDE_DIR=%s %s" % (board.env["RINGSIDE_DIR"], peers.TICKS)
    return "; ".join("%s %d; sleep 0.1" % (by, COUNT) for _ in range(PHASES // 2) for by in (peers.TICKS, there))


def drive(board, path, *words, do=None, **how):
    """Stock, on the other host. Clocks that have nothing to do with each other."""
    return subprocess.Popen([*network.there(), "trace-cmd", "record", "-o", path, *words, "-e", "ticks", "-A", "%s:%d" % (hosts.HERE, where), "-e", "ticks",
                             "sh", "-c", do or work(board)], stdout=open(SCRATCH + "/driver.log", "a"), stderr=subprocess.STDOUT, **how)


def guest_of(path):
    found = glob.glob(path[:-4] + "-*.dat")
    if len(found) != 1:
        fail("files of the guest:", found)
    return found[0]


def agrees(host, guest):
    peers.is_whole(host, COUNT, PHASES // 2)
    peers.is_whole(guest, COUNT, PHASES // 2)
    if not re.search(r"TIME.?SHIFT", subprocess.run(["trace-cmd", "dump", "--options", "-i", guest], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                                          check=False).stdout.upper()):
        fail("nothing is said of the guest's clock")
    peers.by_turns([peers.RINGSIDE, "report", "-q"], host, guest, COUNT, PHASES)
    peers.by_turns(["trace-cmd", "report"], host, guest, COUNT, PHASES)


def appear(*names):
    for _ in range(1200):
        if all(os.path.exists(SCRATCH + "/" + name) for name in names):
            return
        time.sleep(0.05)
    fail("trace-cmd record -A does not begin")


def recorders():
    return subprocess.run(["pgrep", "-P", str(agent.pid), "-f", "ringside record"], stdout=subprocess.PIPE, text=True, check=False).stdout.split()


def connect():
    for _ in range(500):
        try:
            channel = socket.create_connection((hosts.HERE, where), timeout=20)
            channel.settimeout(20)
            return channel
        except OSError:
            time.sleep(0.02)
    return fail("the agent cannot be reached")


peers.build_ticks()
network = hosts.Network()
board = Machine("board")
for place in (os.environ, board.env):
    subprocess.run([peers.TICKS, "1"], env=place, check=True)
where = peers.port()
agent = board.start("agent", "--compat", "--insecure", "--at", "%s:%d" % (hosts.HERE, where))
connect().close()

driver = drive(board, SCRATCH + "/one.dat", "-C", "tai")
if driver.wait(100):
    fail("trace-cmd record -A ends with", driver.returncode)
agrees(SCRATCH + "/one.dat", guest_of(SCRATCH + "/one.dat"))

# Two at once, of which each has what is emitted there.
wait = "touch %s/begun%d; while [ ! -e %s/over ]; do sleep 0.1; done"
both = [drive(board, SCRATCH + "/both%d.dat" % number, "-B", "own%d" % number, do=wait % (SCRATCH, number, SCRATCH)) for number in range(2)]
appear("begun0", "begun1")
subprocess.run([peers.TICKS, str(COUNT)], env=board.env, check=True)
open(SCRATCH + "/over", "w", encoding="ascii").close()
for driver in both:
    if driver.wait(60):
        fail("one of two ends with", driver.returncode)
for number in range(2):
    peers.is_whole(guest_of(SCRATCH + "/both%d.dat" % number), COUNT)

# A driver that is killed: whoever records for it ends, too.
driver = drive(board, SCRATCH + "/killed.dat", do="touch %s/begun; sleep 60" % SCRATCH, start_new_session=True)
appear("begun")
if not recorders():
    fail("nobody records for the driver")
os.killpg(driver.pid, signal.SIGKILL)
driver.wait()
for _ in range(600):
    if not recorders():
        break
    time.sleep(0.05)
if recorders():
    fail("it still records for one that was killed")

# What is no driver, or asks for what is not to be had.
def message(cmd, own=b"", rest=b""):
    return struct.pack(">III", 12 + len(own) + len(rest), cmd, len(own)) + own + rest


def request(*words, protocols=b"ptp\0\0"):
    text = b"".join(word + b"\0" for word in words)
    return message(6, struct.pack(">IIQ", 0, 0, 7), struct.pack(">III", 0, len(text) + 4, len(words)) + text + struct.pack(">II", 1, len(protocols)) + protocols)


for what, sends in (
        ("words", b"GET / HTTP/1.1\r\n\r\n" * 100), ("zeros", bytes(10000)), ("noise", b"\0" + os.urandom(30000)), ("a message of no size", bytes(12)),
        ("a message of all there is", b"\0\xff\xff\xff" + bytes(12)), ("another first word", message(3, b"", b"x" * 100)),
        ("an empty request", message(6, bytes(16))), ("arguments beyond their end", message(6, bytes(16), struct.pack(">II", 0, 1 << 31))),
        ("more words than there are", message(6, bytes(16), struct.pack(">III", 0, 8, 1 << 31) + b"abc\0")),
        ("another's file", request(b"-o", b"/tmp/evil", b"-e", b"ticks")), ("another's command", request(b"-e", b"ticks", b"touch", b"/tmp/evil")),
        ("somebody else", request(b"--user", b"root")), ("no options", request(b"--no-such-thing")), ("too many", request(*[b"-e"] * 2000))):
    channel = connect()
    try:
        channel.sendall(sends)
        channel.shutdown(socket.SHUT_WR)
        while channel.recv(65536):
            pass
    except ConnectionResetError:
        pass
    channel.close()
if os.path.exists("/tmp/evil"):
    fail("somebody wrote what he liked")
driver = drive(board, SCRATCH + "/last.dat", "-C", "tai")
if driver.wait(100) or agent.poll() is not None:
    fail("behind all of it trace-cmd record -A ends with", driver.returncode)
agrees(SCRATCH + "/last.dat", guest_of(SCRATCH + "/last.dat"))
network.end()
print("ok")
