#!/usr/bin/python3
"""`record -A HOST --compat` drives stock `trace-cmd agent` on another host: all is in the guest's file once, beside what is recorded here, on one timeline
by the shift that ptp found, for ringside and for trace-cmd; and an agent that dies, that is none, or that is not there ends it with words."""

import os
import re
import signal
import socket
import struct
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

COUNT = 3000
PHASES = 4


def agent():
    """Stock, on the other host: it serves one address alone."""
    process = subprocess.Popen([*network.there(), "trace-cmd", "agent", "-N", hosts.HERE, "-p", str(where)], stdout=open(SCRATCH + "/agent.log", "a"),
                               stderr=subprocess.STDOUT, start_new_session=True)
    peers.started.append(process)
    for _ in range(500):
        if process.poll() is None and ":%04X " % where in subprocess.run([*network.there(), "cat", "/proc/net/tcp", "/proc/net/tcp6"],
                                                                           stdout=subprocess.PIPE, text=True, check=True).stdout:
            return process
        time.sleep(0.02)
    return fail("trace-cmd agent does not listen")


def drive(path, *words, check=True, to=None):
    return driver.run("record", "-o", path, "-e", "ticks", "-i", "-A", to or "%s:%d" % (hosts.THERE, where), "--compat", "--insecure", "-e", "ticks", *words,
                      check=check, timeout=100)


peers.build_ticks()
network = hosts.Network()
driver = Machine("driver")
here = "RINGSIDE_DIR=%s %s" % (driver.env["RINGSIDE_DIR"], peers.TICKS)
there = "RINGSIDE_DIR=%s %s" % (os.environ["RINGSIDE_DIR"], peers.TICKS)
for place in (os.environ, driver.env):
    subprocess.run([peers.TICKS, "1"], env=place, check=True)
where = peers.port()
guest = agent()
work = "; ".join("%s %d; sleep 0.1" % (by, COUNT) for _ in range(PHASES // 2) for by in (here, there))

done = drive(SCRATCH + "/one.dat", "sh", "-c", work)
files = [SCRATCH + "/one.dat", SCRATCH + "/one-%s.dat" % hosts.THERE]
for path in files:
    peers.is_whole(path, COUNT, PHASES // 2)
told = re.search(r"one-%s\.dat: (\d+) events, [^,]*, none lost, its clock matched to \d+ [nu]s\n" % hosts.THERE, done.stderr)
if not told or int(told[1]) != COUNT * PHASES // 2:
    fail("of the guest is told:", done.stderr)
if not re.search(r"TIME.?SHIFT", subprocess.run(["trace-cmd", "dump", "--options", "-i", files[1]], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                                text=True, check=False).stdout.upper()):
    fail("nothing is said of the guest's clock")
peers.by_turns([peers.RINGSIDE, "report", "-q"], *files, COUNT, PHASES)
peers.by_turns(["trace-cmd", "report"], *files, COUNT, PHASES)

# Options of trace-cmd pass as they are, and a guest serves one after the other.
done = drive(SCRATCH + "/two.dat", "-b", "4000", "-f", "nr < 100", "sh", "-c", there + " %d; sleep 0.1" % COUNT)
if peers.ticks_of(SCRATCH + "/two-%s.dat" % hosts.THERE)[0] != list(range(100)):
    fail("a filter does not reach the guest:", done.stderr)

# It dies: what it sent is there.
recorder = driver.start("record", "-o", SCRATCH + "/dead.dat", "-A", "%s:%d" % (hosts.THERE, where), "--compat", "--insecure", "-e", "ticks", "sh", "-c",
                        "%s 200000 2000; touch %s/emitted; sleep 60" % (there, SCRATCH))
for _ in range(1200):
    if os.path.exists(SCRATCH + "/emitted"):
        break
    time.sleep(0.05)
time.sleep(1)
os.killpg(guest.pid, signal.SIGKILL)
for _ in range(1200):
    if " tick: " in peers.report(SCRATCH + "/dead-%s.dat" % hosts.THERE):
        break
    time.sleep(0.05)
recorder.send_signal(signal.SIGINT)
if not recorder.wait(60):
    fail("nobody is told that the guest has died")
seen, lost = peers.ticks_of(SCRATCH + "/dead-%s.dat" % hosts.THERE)
if not seen or len(set(seen)) != len(seen):
    fail("of a guest that died %d events are there, %d of them once" % (len(seen), len(set(seen))))
if not drive(SCRATCH + "/none.dat", "true", check=False).returncode:
    fail("nobody is told that nobody is there")

# Somebody else.
def message(cmd, own=b"", rest=b""):
    return struct.pack(">III", 12 + len(own) + len(rest), cmd, len(own)) + own + rest


def response(cpus, page=4096, ports=b"", proto=b"", port=0):
    return message(7, struct.pack(">IIIQ16sI", 0, cpus, page, 7, proto, port), ports)


def be(words):
    other = socket.create_server((hosts.HERE, 0))

    def serve():
        channel = other.accept()[0]
        channel.recv(65536)
        channel.sendall(words)
        time.sleep(2)
        channel.close()
        other.close()

    threading.Thread(target=serve, daemon=True).start()
    return "%s:%d" % (hosts.HERE, other.getsockname()[1])


for what, words, wanted in (
        ("words", b"HTTP/1.0 400 no\r\n\r\n" * 10, ""), ("zeros", bytes(1000), ""), ("a hang-up", b"", ""), ("another answer", message(5), "is that `trace-cmd agent`?"),
        ("a million CPUs", response(1000000), "more than can be taken"), ("no CPU", response(0), ""), ("large pages", response(1, 1 << 30), ""),
        ("no ports", response(2), "list of ports"), ("half a list", response(2, ports=b"1\0" b"2"), ""), ("odd ports", response(1, ports=b"99999\0"), "no port"),
        ("a port of no number", response(1, ports=b"x\0"), "no port"), ("a list without an end", response(1, ports=b"1234"), "")):
    done = drive(SCRATCH + "/odd.dat", "true", check=False, to=be(words))
    if not done.returncode or wanted not in done.stderr:
        fail("of", what, "is told:", done.stderr)
network.end()
print("ok")
