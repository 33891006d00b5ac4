#!/usr/bin/python3
"""Lines that delay, lose, reorder, carry 1 Mbit/s, are cut, and half-open ones, as Linux's netem makes them: in the reference machine, whose kernel has
that. Each recording is whole: what arrived is in the file once, what was lost is told, both together are all there was."""

import os
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import peers
from peers import BUILD, SCRATCH, SOURCE, fail

KINDS = ("delay", "loss", "reorder", "rate", "cut", "half-open")
ROUNDS, CUT = (8, 30) if peers.LONG else (1, 3)
COUNT = 60000

programs = [shutil.which(name, path="/usr/sbin:/sbin:/usr/bin:/bin") for name in ("ip", "tc")]
if None in programs:
    print("ip and tc are needed: iproute2")
    sys.exit(77)
peers.build_ticks()
out = SCRATCH + "/out"
words = [word for program in (peers.TICKS, *programs) for word in ("-i", program)]
done = subprocess.run([SOURCE + "/tests/vm/run", "-x", "-t", str(600 + ROUNDS * (60 + CUT)), "-u", BUILD, "-o", out, *words, "x86_64",
                       SOURCE + "/tests/vm/netem.sh %d %d %s" % (ROUNDS, CUT, " ".join(KINDS))],
                      stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
if done.returncode == 77:
    print(done.stdout)
    sys.exit(77)
if done.returncode:
    fail("the machine:", done.stdout)
sums = []
for kind in KINDS:
    for number in range(ROUNDS):
        stem = "%s/%d-%s" % (out, number, kind)
        log = open(stem + ".log").read()
        if not log.endswith("\nended 0\n"):
            fail(kind, "in round", number, "the recorder fails:", log, open(stem + ".station").read())
        events, lost = peers.told(log)
        seen, dropped = peers.ticks_of(stem + ".dat")
        if len(set(seen)) != len(seen) or len(seen) != events or dropped != lost or events + lost != COUNT:
            fail("%s in round %d: %d events are there, %d of them once, and %d were told; %d and %d lost; of %d" %
                 (kind, number, len(seen), len(set(seen)), events, dropped, lost, COUNT))
        if subprocess.run(["trace-cmd", "report", "-i", stem + ".dat"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode:
            fail(kind, "in round", number, "trace-cmd cannot read it")
    cuts = sum("goes on with" in open("%s/%d-%s.station" % (out, number, kind)).read() for number in range(ROUNDS))
    if kind == "half-open" and cuts < ROUNDS:
        fail("a half-open line was not noticed %d times" % (ROUNDS - cuts))
    sums.append("%s %d lost, %d went on" % (kind, lost, cuts))
print("%d recordings: %s" % (ROUNDS * len(KINDS), "; ".join(sums)))
