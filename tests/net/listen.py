#!/usr/bin/python3
"""What a listener keeps of many boards: by name and date, in files that rotate, thinned by age and size and within quotas; what --list tells of it; names
that are no names lead nowhere; what the killed left behind goes; and what is refused again and again is said once."""

import atexit
import glob
import os
import re
import shutil
import signal
import subprocess
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import peers
from peers import SCRATCH, Machine, fail

STORE = SCRATCH + "/store"
NAME = r"\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d(\.\d+)?"


def serve(*words):
    where = peers.port()
    return where, station.serve(where, "listen", "-d", STORE, *words)


def finish(recorder):
    """Its command goes on without it."""
    try:
        os.killpg(recorder.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def stop(listener):
    listener.terminate()
    if listener.wait():
        fail("the listener fails")


def log():
    return open(SCRATCH + "/station.log").read()


def send(board, where, count, *words, pause="0"):
    done = board.run("record", "-q", "-e", "ticks", "-i", "-N", "127.0.0.1:%d" % where, "--tls", *words, peers.TICKS, str(count), pause)
    return done


def files(board):
    """In the order in which they came to be: 2 before 10."""
    names = [os.path.basename(path) for path in glob.glob(STORE + "/" + board + "/*.dat")]
    return sorted(names, key=lambda name: [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", name[:-4])])


def listed(board):
    return [line for line in station.run("listen", "--list", "-d", STORE).stdout.splitlines() if line.split()[0] == board]


def until(what, condition):
    for _ in range(600):
        if condition():
            return
        time.sleep(0.05)
    fail(what)


peers.build_ticks()
station, one, two = Machine("station"), Machine("one"), Machine("two")
for board in (one, two):
    station.trusts(board)
    board.trusts(station, called="127.0.0.1")

# Nothing is made for who only looks.
done = station.run("listen", "--list", "-d", STORE, check=False)
if done.returncode != 1 or "No such file" not in done.stderr or os.path.exists(STORE):
    fail("a list of nothing:", done.stderr)

# By name and date; two of one second have two names.
where, listener = serve()
for board in (one, one, two):
    send(board, where, 1000)
for board, n in (("one", 2), ("two", 1)):
    if len(files(board)) != n or not all(re.fullmatch(NAME + r"\.dat", name) for name in files(board)):
        fail(board, "has", files(board))
    for name, line in zip(files(board), listed(board)):
        if not re.fullmatch(board + r" +\d{4}-\d\d-\d\d \d\d:\d\d:\d\d +[\d.]+ kB +1000 events +none lost +" + re.escape(name), line):
            fail("is listed as", line)
    for name in files(board):
        if os.stat(STORE + "/" + board + "/" + name).st_mode & 0o133:
            fail("may be written or run by others:", name)
# One that is arriving.
recorder = one.start("record", "-q", "-e", "ticks", "-i", "-N", "127.0.0.1:%d" % where, "--tls", peers.TICKS, "2000",
                     "600000000", start_new_session=True)
atexit.register(finish, recorder)
until("one that arrives is not listed so", lambda: any(line.endswith("(arriving)") for line in listed("one")))
recorder.send_signal(signal.SIGINT)
recorder.wait()
finish(recorder)
until("is done, and listed as", lambda: not any("arriving" in line for line in listed("one")))
stop(listener)
shutil.rmtree(STORE)

# Rotated: all of it is in the files, the newest of which has what is known.
where, listener = serve("--rotate", "300K")
send(one, where, 100000)
stop(listener)
names = files("one")
if len(names) < 3 or not all(re.fullmatch(NAME + r"(-\d+)?\.dat", name) for name in names):
    fail("is rotated into", names)
seen, lost = peers.ticks_of(*(STORE + "/one/" + name for name in names))
if sorted(seen) != sorted(set(seen)) or len(seen) + lost != 100000:
    fail("%d events and %d lost of 100000" % (len(seen), lost))
if [" 100000 events " in line for line in listed("one")] != [False] * (len(names) - 1) + [True] or sum(" events " in line for line in listed("one")) != 1:
    fail("what is known is with", listed("one"))

if [line.split()[-1] for line in listed("one")] != names:
    fail("are listed as", listed("one"))

# The old ones go; not those of today, nor what is no recording, nor what lies elsewhere.
old = time.time() - 8 * 86400
for name in names[:2]:
    os.utime(STORE + "/one/" + name, (old, old))
os.mkdir(SCRATCH + "/elsewhere")
open(SCRATCH + "/elsewhere/kept.dat", "w").close()
open(STORE + "/one/kept.txt", "w").close()
os.symlink(SCRATCH + "/elsewhere", STORE + "/linked")
os.symlink(SCRATCH + "/elsewhere/kept.dat", STORE + "/one/linked.dat")
for path in (STORE + "/one/kept.txt", SCRATCH + "/elsewhere/kept.dat"):
    os.utime(path, (old, old))
os.utime(STORE + "/one/linked.dat", (old, old), follow_symlinks=False)
# What was killed on the way to its name, now and then.
for name in (".2020-01-01T00-00-00-2.dat.next", ".00112233445566778899aabbccddeeff.new"):
    open(STORE + "/one/" + name, "w").close()
    os.utime(STORE + "/one/" + name, (old, old))
young = STORE + "/one/.2020-01-01T00-00-00-3.dat.next"
open(young, "w").close()
where, listener = serve("--keep-for", "7d")
until("is not thinned by age: " + " ".join(files("one")), lambda: set(files("one")) == set(names[2:]) | {"linked.dat"})
stop(listener)
left = [name for name in os.listdir(STORE + "/one") if name.startswith(".") and (name.endswith(".new") or name.endswith(".next"))]
if left != [os.path.basename(young)] or not os.path.exists(STORE + "/one/kept.txt") or not os.path.exists(SCRATCH + "/elsewhere/kept.dat"):
    fail("is left:", os.listdir(STORE + "/one"), os.listdir(SCRATCH + "/elsewhere"))

# Of one recording its beginning goes first.
where, listener = serve("--keep", "1M")
until("is not thinned by size: " + " ".join(files("one")), lambda: len(files("one")) < len(names) - 1)
left = [name for name in files("one") if name != "linked.dat"]
if not left or left != names[-len(left):]:
    fail("of", names, "there are", left)
stop(listener)

# By size the oldest go first, whosesoever they are.
shutil.rmtree(STORE)
where, listener = serve()
for board in (one, two, one):
    send(board, where, 30000)
    time.sleep(1.1)
stop(listener)
sizes = {path: os.stat(path).st_blocks * 512 for path in glob.glob(STORE + "/*/*.dat")}
where, listener = serve("--keep", "%dK" % ((sum(sizes.values()) - 4096) // 1024))
until("is not thinned by size", lambda: len(glob.glob(STORE + "/*/*.dat")) == 2)
stop(listener)
if len(files("one")) != 1 or len(files("two")) != 1 or len(glob.glob(STORE + "/one/.[0-9a-f]*")) > 2:
    fail("another one has gone:", files("one"), files("two"), glob.glob(STORE + "/one/.*"))

# A quota is a board's own: the rotated ones of a recording make room for it, others are not touched.
shutil.rmtree(STORE)
# What was left a moment ago by whoever was killed counts, too.
os.makedirs(STORE + "/one")
with open(STORE + "/one/.2020-01-01T00-00-00-2.dat.next", "wb") as left:
    left.write(bytes(800000))
where, listener = serve("--rotate", "300K", "--quota", "2M")
send(two, where, 1000)
send(one, where, 300000, pause="5000")
used = sum(os.stat(path).st_blocks * 512 for path in glob.glob(STORE + "/one/*.dat"))
if used > 3 << 20 or len(files("two")) != 1 or files("one")[0].count("-") == 4:
    fail("has %d bytes:" % used, files("one"), files("two"))
stop(listener)
# Where it cannot make room it is refused, is told why, and the log has it once; what it has stays.
shutil.rmtree(STORE)
open(SCRATCH + "/station.log", "w").close()
where, listener = serve("--quota", "1M")
recorder = one.start("record", "-e", "ticks", "-i", "-N", "127.0.0.1:%d" % where, "--tls", "--linger", "6s", peers.TICKS, "200000", "5000")
if recorder.wait(120) != 1:
    fail("what does not fit is recorded")
words = open(SCRATCH + "/one.log").read()
if not re.search(r": one has used up what it may have there; given up: \d+ bytes that were still to be sent, with \d+ events at most\n", words) or \
        "; not all of them have arrived\n" not in words:
    fail("is told:", words)
if log().count("has used up what it may have") != 1 or log().count("was cut off") != 1 or log().count("records to") != 1:
    fail("the log repeats itself:", log())
if len(files("one")) != 1 or "(cut off)" not in listed("one")[0]:
    fail("what it had is gone:", listed("one"))
events = int(re.search(r": (\d+) events, ", words)[1])
lost = int(re.search(r"with (\d+) events at most", words)[1])
seen, dropped = peers.ticks_of(STORE + "/one/" + files("one")[0])
if len(seen) < events - lost:
    fail("%d events are there, of %d of which at most %d were given up" % (len(seen), events, lost))
stop(listener)

# A board without a key calls itself what it likes, and gets no further than a directory of a name.
shutil.rmtree(STORE)
for own, wanted in (("../../evil", "127.0.0.1"), ("/etc", "127.0.0.1"), (".hidden", "127.0.0.1"), ("a b", "127.0.0.1"), ("one", "one.keyless"),
                    ("odd_name.x", "odd_name.x")):
    where, listener = serve()
    done = subprocess.run(["unshare", "-u", "sh", "-c", 'printf %s "$0" >/proc/sys/kernel/hostname && exec "$@"', own, peers.RINGSIDE, "record", "-q", "-e",
                           "ticks", "-i", "-N", "127.0.0.1:%d" % where, peers.TICKS, "10"], env=two.env, stderr=subprocess.PIPE, text=True, check=False)
    stop(listener)
    if done.returncode and "unshare" in done.stderr:
        print("names of boards are not tried:", done.stderr)
        break
    made = os.listdir(STORE)
    # What is no name for us is not even said.
    if done.returncode or len(made) != 1 or "/" in made[0] or made[0] not in (wanted, "board") or len(files(made[0])) != 1:
        fail(own, "is called", made, done.stderr)
    shutil.rmtree(STORE)
if os.path.exists(SCRATCH + "/evil") or os.path.exists(os.path.dirname(SCRATCH) + "/evil"):
    fail("a name leads out")

# Wrong words.
for words, wanted in ((["--rotate", "5"], "--rotate '5': a size like 100M"), (["--rotate", "0M"], "a size like 100M"), (["--keep", "x"], "--keep 'x'"),
                      (["--quota", "-1M"], "--quota '-1M'"), (["--keep-for", "0"], "a time like 7d"), (["--wait", "soon"], "a time like 1h"),
                      (["-p", "0"], "a port from 1 to 65535"), (["--at", "x:y"], "is no port"), (["--at", "unix:"], "a path is needed"),
                      (["--at", "vsock:x"], "a guest's number"), (["word"], "'word' is too much"), (["--at"], "needs an ADDRESS")):
    done = station.run("listen", *words, check=False)
    if done.returncode != 2 or wanted not in done.stderr:
        fail("listen", words, "ends with %d:" % done.returncode, done.stderr)
for words, status, wanted in ((["-N", ""], 2, "a host is needed"), (["-N", "127.0.0.1:%d" % peers.port()], 1, "Connection refused"),
                              (["-N", "x", "-o", "y"], 2, "--output is about a file"), (["-N", "x", "--spool", "1"], 2, "256K to 1G"),
                              (["-N", "x", "--linger", "x"], 2, "a time like 60s"), (["--spool", "1M"], 2, "about -N"), (["--tls"], 2, "about -N or -A"),
                              (["-N", "unix:/x", "--compat"], 2, "trace-cmd listen"), (["-A", ""], 2, "a host is needed"),
                              (["-A", "x", "-N", "y"], 2, "-N sends"), (["-N", "x", "--tls", "--insecure"], 2, "do not go together"),
                              (["-A", "127.0.0.1:%d" % peers.port()], 1, "Connection refused"),
                              (["-A", "ssh://-oProxyCommand=x"], 2, "no name of a host"), (["-A", "unix:" + SCRATCH + "/none"], 1, "No such file")):
    done = one.run("record", *words, "true", check=False)
    if done.returncode != status or wanted not in done.stderr:
        fail("record", words, "ends with %d:" % done.returncode, done.stderr)
print("kept, thinned, and nothing beside it")
