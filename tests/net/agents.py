#!/usr/bin/python3
"""Boards that are driven: several in one command, by TLS, a Unix socket and ssh, beside what is recorded here, all on one timeline; a driver that is cut
off comes back; and what a driver may not say is refused."""

import os
import re
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
agent = one.serve(where, "agent")
two.start("agent", "--at", "unix:" + SCRATCH + "/two.socket")
# Who is on the other end of ssh is this script.
os.mkdir(SCRATCH + "/bin")
with open(SCRATCH + "/bin/ssh", "w") as script:
    script.write("#!/bin/sh\nwhile [ \"$1\" != -- ]; do shift; done\n[ \"$2\" = me@three ] || exit 255\nshift 2\n"
                 "export RINGSIDE_DIR=%s RINGSIDE_KEYS=%s PATH=%s/bin:$PATH\nexec sh -c \"$1\"\n" % (three.env["RINGSIDE_DIR"], three.keys, SCRATCH))
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

# Cut off in the middle: it comes back, and nothing is missing.
recorder = driver.start("record", "-o", SCRATCH + "/cut.dat", "-A", "127.0.0.1:%d" % where, "--tls", "-i", "-e", "ticks", "sh", "-c",
                        "RINGSIDE_DIR=%s %s 100000 20000" % (one.env["RINGSIDE_DIR"], peers.TICKS))
cuts = 0
while recorder.poll() is None:
    time.sleep(0.4)
    sessions = subprocess.run(["pgrep", "-P", str(agent.pid), "-x", "session"], stdout=subprocess.PIPE, text=True, check=False).stdout.split()
    for session in sessions[:1]:
        subprocess.run(["kill", "-KILL", session], check=False)
        cuts += 1
if recorder.returncode:
    fail("a driver that is cut off fails")
seen, lost = peers.ticks_of(SCRATCH + "/cut-127.0.0.1.dat")
if len(seen) + lost != 100000 or len(set(seen)) != len(seen) or not cuts:
    fail("%d events and %d lost of 100000 after %d cuts" % (len(seen), lost, cuts))

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
print("four on one timeline, and %d cuts" % cuts)
