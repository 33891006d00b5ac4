#!/usr/bin/python3
"""`listen --compat` takes what stock `trace-cmd record -N` sends from another host, by TCP and UDP, several at once, and what a client of version 1 of its
protocol does; a client that is killed leaves a file that opens; and what is no client is refused."""

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

STORE = SCRATCH + "/boards"
COUNT = 30000
DROPPED = re.compile(r"\[(\d+) EVENTS DROPPED\]")


def wait_for(what, true, seconds=60):
    for _ in range(seconds * 20):
        if true():
            return
        time.sleep(0.05)
    fail("in vain waited for:", what)


def files():
    """In the order of their beginnings."""
    return sorted(glob.glob(STORE + "/*/*.dat"), key=os.path.basename)


def log():
    return open(SCRATCH + "/station.log").read()


def stock_ticks(path):
    """The same numbers, as trace-cmd reads them."""
    done = subprocess.run(["trace-cmd", "report", "-i", path], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        fail("trace-cmd cannot read", path, done.stderr)
    return [int(number) for number in re.findall(r" tick: +nr=(\d+) more=", done.stdout)], sum(map(int, DROPPED.findall(done.stdout)))


def arriving(path):
    """How many can be seen of one that is still being written."""
    done = subprocess.run([peers.RINGSIDE, "report", "-q", "-i", path], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False)
    return done.stdout.count(" tick: ")


def is_whole(path, count=COUNT, gaps=False):
    """All is in it once, or declared as lost, but for gaps that nobody knows of; both readers agree; and that is what was told."""
    seen, lost = peers.ticks_of(path)
    if len(set(seen)) != len(seen) or (len(seen) + lost != count and not gaps) or not seen:
        fail(path, "has %d events, %d of them once, and %d lost, of %d" % (len(seen), len(set(seen)), lost, count))
    if stock_ticks(path) != (seen, lost):
        fail("trace-cmd reads something else in", path)
    told = re.search(r"%s: (\d+) events, (\d+) lost\n" % re.escape(os.path.basename(path)), log())
    if not told or [int(told[1]), int(told[2])] != [len(seen), lost]:
        fail("of", path, "is told:", told and told[0])
    return seen


def stock(*words, work="%s %d 10000; sleep 0.3" % (peers.TICKS, COUNT), **how):
    """A stock client on the other host."""
    return subprocess.Popen([*network.there(), "trace-cmd", "record", "-N", "%s:%d" % (hosts.HERE, where), *words, "-e", "ticks", "sh", "-c", work],
                            stdout=open(SCRATCH + "/client.log", "a"), stderr=subprocess.STDOUT, **how)


def ends(client, seconds=60):
    if client.wait(seconds):
        fail("trace-cmd record -N ends with", client.returncode)


def connect():
    channel = socket.create_connection((hosts.HERE, where), timeout=20)
    channel.settimeout(20)
    return channel


def hears(channel, wanted):
    got = b""
    while len(got) < len(wanted):
        some = channel.recv(len(wanted) - len(got))
        if not some:
            break
        got += some
    if got != wanted:
        fail("heard", got, "and not", wanted)


def says(channel, cmd, own=b"", rest=b""):
    channel.sendall(struct.pack(">III", 12 + len(own) + len(rest), cmd, len(own)) + own + rest)


def hangs_up(channel):
    try:
        while channel.recv(65536):
            pass
    except ConnectionResetError:
        pass
    channel.close()


peers.build_ticks()
network = hosts.Network()
station = Machine("station")
# Where the events are is known before they are asked for.
subprocess.run([peers.TICKS, "1"], check=True)
where = peers.port()
listener = station.start("listen", "--compat", "--insecure", "-d", STORE, "--at", "%s:%d" % (hosts.HERE, where))
wait_for("the listener", lambda: not subprocess.run(["sh", "-c", "ss -ltn 2>/dev/null | grep -q :%d" % where], check=False).returncode)

# TCP, and a machine that trace-cmd knows for what it is.
ends(stock("-t"))
wait_for("its file", lambda: "events" in log())
numbers = is_whole(files()[0])
if not numbers or DROPPED.search(peers.report(files()[0])):
    fail("of so few events some are lost")
done = station.run("listen", "--list", "-d", STORE).stdout
if "%d" % len(numbers) not in done:
    fail("the list does not tell how many:", done)

# UDP: what is lost on the way, of which there is little, is missing.
ends(stock())
wait_for("the second", lambda: log().count(" events, ") == 2)
is_whole(files()[1], gaps=True)

# Several at once, each with a buffer of its own: what one of them emits is in all of them.
wait = "touch %s/begun%d; while [ ! -e %s/over ]; do sleep 0.1; done"
clients = [stock(*(["-t"] if number % 2 else []), "-B", "own%d" % number, work=wait % (SCRATCH, number, SCRATCH)) for number in range(3)]
wait_for("all of them to begin", lambda: all(os.path.exists(SCRATCH + "/begun%d" % number) for number in range(3)))
subprocess.run([peers.TICKS, str(COUNT), "10000"], check=True)
open(SCRATCH + "/over", "w", encoding="ascii").close()
for client in clients:
    ends(client)
wait_for("all of them", lambda: log().count(" events, ") == 5)
for path in files()[2:]:
    is_whole(path, gaps=True)

# One that is killed in mid-stream: what it sent is there.
client = stock("-t", work="%s 400000 20000" % peers.TICKS, start_new_session=True)
wait_for("the one that is killed to send something", lambda: len(files()) == 6 and arriving(files()[5]) > 5000)
os.killpg(client.pid, signal.SIGKILL)
client.wait()
wait_for("the killed one's file", lambda: log().count(" events, ") == 6)
seen, lost = peers.ticks_of(files()[5])
if not seen or len(set(seen)) != len(seen) or stock_ticks(files()[5])[0] != seen:
    fail("of one that was killed", len(seen), "events are there")
if "hung up without a last word" not in log():
    fail("nobody is told that one was killed")
for switch in ("events/enable", "tracing_on"):
    open("/sys/kernel/tracing/" + switch, "w", encoding="ascii").write("0" if switch.startswith("ev") else "1")

# Version 1: numbers as text, a file's beginning of version 6, and pages; both come from a file that trace-cmd made.
subprocess.run(["trace-cmd", "record", "-q", "--file-version", "6", "-o", SCRATCH + "/six.dat", "-e", "ticks", peers.TICKS, "3000"], check=True,
               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
six = open(SCRATCH + "/six.dat", "rb").read()
mark = six.index(b"options  \0")
cpus, = struct.unpack("<I", six[mark - 4:mark])
tasks = next(mark - 12 - n for n in range(1 << 20) if struct.unpack("<Q", six[mark - 12 - n:mark - 4 - n])[0] == n)
at = six.index(b"flyrecord\0") + 10
parts = [struct.unpack("<QQ", six[at + 16 * cpu:at + 16 * cpu + 16]) for cpu in range(cpus)]


def old(udp, beginning):
    """A client of version 1."""
    channel = connect()
    hears(channel, b"tracecmd")
    channel.sendall(b"%d\0" % cpus + b"4096\0" + (b"0\0" if udp else b"1\0004\0TCP\0"))
    ports = b""
    while not ports.endswith(b"\0"):
        ports += channel.recv(1)
    channel.sendall(beginning[:100])
    time.sleep(0.2)
    channel.sendall(beginning[100:])
    for number, (offset, size) in zip(ports[:-1].split(b","), parts):
        pages = socket.socket(socket.AF_INET, socket.SOCK_DGRAM if udp else socket.SOCK_STREAM)
        pages.connect((hosts.HERE, int(number)))
        for page in range(offset, offset + size, 4096):
            pages.send(six[page:page + 4096])
        pages.close()
    return channel


for number, udp in enumerate((False, True)):
    # With names of tasks, and without, as later clients do.
    channel = old(udp, six[:tasks if udp else mark - 4])
    channel.close()
    wait_for("version 1", lambda: log().count(" events, ") == 7 + number)
    seen, lost = peers.ticks_of(files()[6 + number])
    if seen != stock_ticks(SCRATCH + "/six.dat")[0] or stock_ticks(files()[6 + number])[0] != seen or not seen:
        fail("of version 1", len(seen), "events are there, and not", len(stock_ticks(SCRATCH + "/six.dat")[0]))

# What is no client, or one that wants too much: refused at once, nothing is left behind, and the listener lives.
HELLO = b"-1V3\0", b"766679\0\0"


def greet():
    channel = connect()
    hears(channel, b"tracecmd")
    for word, answer in zip(HELLO, (b"V3\0", b"OK")):
        channel.sendall(word)
        hears(channel, answer)
    return channel


before = files()
for what, sends in (
        ("words", [b"GET / HTTP/1.1\r\n\r\n" * 1000]), ("zeros", [bytes(5000)]), ("noise", [os.urandom(65536)]), ("nothing", []),
        ("a million CPUs of old", [b"1000000\0004096\0000\0"]), ("CPUs below zero", [b"-2\0004096\0000\0"]), ("no CPUs", [b"0\0004096\0000\0"]),
        ("pages of 5", [b"2\0005\0000\0"]), ("a thousand options", [b"2\0004096\0001000\0" + b"4\0TCP\0" * 1000]),
        ("an option without an end", [b"2\0004096\0001\000999999999\0"]), ("no magic", [HELLO[0], b"xxxxxxxxx"])):
    channel = connect()
    hears(channel, b"tracecmd")
    try:
        for some in sends:
            channel.sendall(some)
        channel.shutdown(socket.SHUT_WR)
    except OSError:
        pass
    hangs_up(channel)
for what, cmd, own, rest in (
        ("a million CPUs", 1, struct.pack(">III", 1000000, 4096, 1), b"tcp\0"), ("all CPUs there can be", 1, struct.pack(">III", 0xFFFFFFFF, 4096, 0), b""),
        ("no CPU", 1, struct.pack(">III", 0, 4096, 0), b""), ("large pages", 1, struct.pack(">III", 2, 1 << 30, 0), b""),
        ("pages of an odd size", 1, struct.pack(">III", 2, 5000, 0), b""), ("half a word", 1, b"abc", b""), ("data before its shape", 3, b"", b"x" * 100),
        ("an end before its beginning", 4, b"", b""), ("a last word before its first", 0, b"", b"")):
    channel = greet()
    says(channel, cmd, own, rest)
    hangs_up(channel)
for head in (struct.pack(">III", 3, 1, 0), struct.pack(">III", 1 << 31, 1, 0), struct.pack(">III", 100, 1, 0xFFFFFFFF)):
    channel = greet()
    channel.sendall(head + bytes(100))
    hangs_up(channel)
# A file's beginning that is none.
channel = greet()
says(channel, 1, struct.pack(">III", 2, 4096, 1), b"tcp\0")
says(channel, 3, b"", b"\x17\x08Dtracing7\0" + bytes(500))
says(channel, 4)
hangs_up(channel)
# A large machine is none of that: each CPU has a port.
channel = greet()
says(channel, 1, struct.pack(">III", 500, 4096, 1), b"tcp\0")
answer = b""
while len(answer) < 16 or len(answer) < struct.unpack(">I", answer[:4])[0]:
    some = channel.recv(65536)
    if not some:
        break
    answer += some
ports = answer[16:].split(b"\0")[:-1]
if len(set(ports)) != 500:
    fail("500 CPUs have", len(set(ports)), "ports")
socket.create_connection((hosts.HERE, int(ports[-1]))).close()
channel.close()
wait_for("what was refused to be gone", lambda: files() == before)
if "1000000 CPUs are more than can be taken" not in log():
    fail("a million CPUs are not refused")

ends(stock("-t"))
wait_for("one after all of it", lambda: log().count(" events, ") == 9)
is_whole(files()[8])
if listener.poll() is not None:
    fail("the listener has ended")
network.end()
print("ok")
