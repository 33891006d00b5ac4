#!/usr/bin/python3
"""Boards that are driven: several in one command, by TLS, a Unix socket and ssh, beside what is recorded here, all on one timeline; a driver that is cut
off comes back; and what a driver may not say is refused."""

import os
import re
import signal
import subprocess
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import peers
from peers import SCRATCH, Machine, fail

peers.build_ticks()
driver, one, two, three = (Machine(name) for name in ("driver", "one", "two", "three"))
where = peers.port()
driver.trusts(one, called="127.0.0.1")
one.trusts(driver, "--may", "control")
agent = one.serve(where, "agent", "--wait", "5s")
two.start("agent", "--at", "unix:" + SCRATCH + "/two.socket")
# Who is on the other end of ssh is this script, by two pipes, as some servers of ssh have them.
os.mkdir(SCRATCH + "/bin")
with open(SCRATCH + "/bin/ssh", "w") as script:
    script.write("#!/bin/sh\nwhile [ \"$1\" != -- ]; do shift; done\n[ \"$2\" = me@three ] || exit 255\nshift 2\n"
                 "export RINGSIDE_DIR=%s RINGSIDE_KEYS=%s PATH=%s/bin:$PATH\ncat | sh -c \"$1\" | cat\n" % (three.env["RINGSIDE_DIR"], three.keys, SCRATCH))
os.chmod(SCRATCH + "/bin/ssh", 0o755)
os.symlink(peers.RINGSIDE, SCRATCH + "/bin/ringside")
driver.env["PATH"] = SCRATCH + "/bin:" + os.environ["PATH"]
while not os.path.exists(SCRATCH + "/two.socket"):
    time.sleep(0.02)

# All four, and what each emits while the command runs.
work = "; ".join("RINGSIDE_DIR=%s %s 1000 100" % (machine.env["RINGSIDE_DIR"], peers.TICKS) for machine in (driver, one, two, three))
done = driver.run("record", "-o", SCRATCH + "/all.dat", "-i", "-e", "ticks", "-A", "127.0.0.1:%d" % where, "--tls", "-i", "-e", "ticks",
                  "-A", "unix:" + SCRATCH + "/two.socket", "-i", "-e", "ticks", "-A", "ssh://me@three", "-i", "-e", "ticks", "sh", "-c", work)
names = [SCRATCH + "/all%s.dat" % part for part in ("", "-127.0.0.1", "-two.socket", "-three")]
for name in names:
    seen, lost = peers.ticks_of(name)
    if seen != list(range(1000)) or lost:
        fail(name, "has %d events, %d lost:" % (len(seen), lost), done.stderr)
if len(re.findall(r"its clock matched to \d+ [nu]s\n", done.stderr)) != 3:
    fail("not all say how well their clocks are matched:", done.stderr)
# They ran one after the other.
order = [line.split(":")[0].strip() for line in peers.report(*names).splitlines() if " tick: " in line]
if order != sorted(order, key=["all.dat", "all-127.0.0.1.dat", "all-two.socket.dat", "all-three.dat"].index):
    fail("they are not on one timeline")



def children(pid, *names):
    found = []
    for child in subprocess.run(["pgrep", "-P", str(pid)], stdout=subprocess.PIPE, text=True, check=False).stdout.split():
        try:
            if open("/proc/%s/comm" % child).read().strip() in names:
                found.append(int(child))
        except OSError:
            pass
    return found


def kill(pids):
    for pid in pids[:1]:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            return 0
    return len(pids[:1])


def begin(name, board, where, *words):
    """Until it records, which is when the command runs."""
    mark = SCRATCH + "/" + name + ".began"
    # Whoever is killed does not take the command along.
    recorder = driver.start("record", "-o", SCRATCH + "/" + name + ".dat", "-A", where, *words, "-i", "-e", "ticks", "sh", "-c",
                            "date >%s; RINGSIDE_DIR=%s %s 100000 20000" % (mark, board.env["RINGSIDE_DIR"], peers.TICKS))
    while not os.path.exists(mark) and recorder.poll() is None:
        time.sleep(0.02)
    return recorder


def fails(what, name, recorder, wanted, file):
    """It says so, and has what came before."""
    if not recorder.wait(60) or wanted not in open(SCRATCH + "/driver.log").read():
        fail(what, "does not make it fail:", recorder.returncode)
    seen, _ = peers.ticks_of(SCRATCH + "/" + name + file)
    if not seen or len(seen) == 100000:
        fail(what, "leaves %d events" % len(seen))


# Cut off in the middle, by the end of who talks for the one or the other: it comes back, and nothing is missing.
recorder = begin("cut", one, "127.0.0.1:%d" % where, "--tls")
cuts = 0
while recorder.poll() is None:
    time.sleep(0.3)
    # Where it is called again slower than it is cut nothing would ever get through.
    if cuts == 9:
        continue
    if cuts % 3 == 0:
        cuts += kill(children(agent.pid, "session"))
    elif cuts % 3 == 1:
        cuts += kill([two for one in children(recorder.pid, "driver") for two in children(one, "driver")])
    else:
        cuts += kill([three for one in children(agent.pid, "exe") for two in children(one, "courier") for three in children(two, "courier")])
if recorder.returncode:
    fail("a driver that is cut off fails")
seen, lost = peers.ticks_of(SCRATCH + "/cut-127.0.0.1.dat")
if len(seen) + lost != 100000 or len(set(seen)) != len(seen) or cuts < 3:
    fail("%d events and %d lost of 100000 after %d cuts" % (len(seen), lost, cuts))

# Killed for good.
recorder = begin("driver", one, "127.0.0.1:%d" % where, "--tls")
time.sleep(0.4)
kill(children(recorder.pid, "driver"))
left = children(agent.pid, "exe")
fails("a driver that is killed", "driver", recorder, "whoever talked to it was killed", "-127.0.0.1.dat")
recorder = begin("recorder", one, "127.0.0.1:%d" % where, "--tls")
time.sleep(0.4)
kill([pid for pid in children(agent.pid, "exe") if pid not in left])
fails("a recorder that is killed", "recorder", recorder, "whoever recorded there was ended before the last word", "-127.0.0.1.dat")
# With nobody left who records, and no command, there is nothing to wait for.
left = children(agent.pid, "exe")
recorder = driver.start("record", "-o", SCRATCH + "/alone.dat", "-A", "127.0.0.1:%d" % where, "--tls", "-e", "ticks")
while not (theirs := [pid for pid in children(agent.pid, "exe") if pid not in left]) and recorder.poll() is None:
    time.sleep(0.02)
kill(theirs)
if not recorder.wait(60):
    fail("nobody is left who records, which is no failure")
recorder = begin("ssh", three, "ssh://me@three")
time.sleep(0.4)
ssh = [two for one in children(recorder.pid, "driver") for two in children(one, "ssh")]
agents = [three for one in ssh for two in children(one, "ssh", "sh", "ringside") for three in [two, *children(two, "ringside")]]
recorders = [two for one in agents for two in children(one, "exe")]
if not recorders:
    fail("nobody records by ssh")
for pid in ssh:
    kill(children(pid, "cat"))
fails("an ssh that is killed", "ssh", recorder, "ssh has ended, and with it whoever recorded there", "-three.dat")
for _ in range(1000):
    if not any(os.path.exists("/proc/%d" % pid) for pid in recorders):
        break
    time.sleep(0.02)
else:
    fail("what was recorded by ssh is still recorded")

# What is not for a driver to say.
for words, wanted in ((["--user", "root"], "is not for a driver"), (["--daemonize"], "is not for a driver"),
                      (["--flight"], "is not for a driver"), (["-N", "127.0.0.1"], "record: "), (["-e", "no such thing ("], "")):
    done = driver.run("record", "-A", "127.0.0.1:%d" % where, "--tls", *words, "true", check=False)
    if not done.returncode or wanted not in done.stderr:
        fail("may be said:", words, done.stderr)
one.trusts(driver, "--may", "record")
done = driver.run("record", "-A", "127.0.0.1:%d" % where, "--tls", "-e", "ticks", "true", check=False)
if not done.returncode or "may not control there" not in done.stderr:
    fail("whoever may only record drives:", done.stderr)
done = driver.run("record", "-A", "127.0.0.1:%d" % where, "-e", "ticks", "true", check=False)
if not done.returncode or "TLS is needed" not in done.stderr:
    fail("a neighbour without a key drives:", done.stderr)
if agent.poll() is not None:
    fail("the agent has ended")
# Whoever lost its driver goes on for a while, and then ends.
for _ in range(3000):
    if not set(left) & set(children(agent.pid, "exe")):
        break
    time.sleep(0.02)
else:
    fail("what nobody drives any more is still recorded")
print("four on one timeline, and %d cuts" % cuts)
