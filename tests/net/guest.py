#!/usr/bin/python3
"""Host and guest: the kernel of a virtual machine is recorded by an agent in it, driven from here by a port of the machine, beside a program here. Both have
clocks of their own, and come onto one timeline, for ringside and for trace-cmd."""

import os
import re
import subprocess
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import peers
from peers import BUILD, SCRATCH, SOURCE, Machine, fail

peers.build_ticks()
host = Machine("host")
port = SCRATCH + "/port"
guest = subprocess.Popen([SOURCE + "/tests/vm/run", "-x", "-t", "300", "-p", port, "-u", BUILD, "x86_64", SOURCE + "/tests/vm/guest.sh"],
                         stdout=subprocess.PIPE, stderr=open(SCRATCH + "/guest.log", "w"), text=True)
peers.started.append(guest)
if guest.stdout.readline() != "ready\n":
    if guest.wait() == 77:
        print(open(SCRATCH + "/guest.log").read())
        sys.exit(77)
    fail("the machine does not begin")
began = time.monotonic()
work = "RINGSIDE_DIR=%s %s 1000 1000; sleep 1; RINGSIDE_DIR=%s %s 1000 1000" % (host.env["RINGSIDE_DIR"], peers.TICKS, host.env["RINGSIDE_DIR"], peers.TICKS)
done = host.run("record", "-o", SCRATCH + "/all.dat", "-i", "-e", "ticks", "-A", "unix:" + port, "--kernel", "-e", "sched_switch", "sh", "-c", work,
                timeout=240)
ended = time.monotonic()
theirs = SCRATCH + "/all-port.dat"
bound = re.search(r"all-port\.dat: (\d+) events, .*its clock matched to (\d+) ([nu]s)\n", done.stderr)
if not bound:
    fail("how well its clock is matched is not told:", done.stderr)
for words in ([peers.RINGSIDE, "report", "-q"], ["trace-cmd", "report"]):
    text = subprocess.run([*words, "-i", theirs], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=True).stdout
    times = [float(stamp) for stamp in re.findall(r" (\d+\.\d+): +sched_switch: ", text)]
    if len(times) < 10 or min(times) < began or max(times) > ended:
        fail("%s: %d events of the guest, from %s to %s; here it was %f to %f:" % (words[0], len(times), min(times, default=0), max(times, default=0),
                                                                                    began, ended), done.stderr)
# Its own time is another one: it has just begun.
with open("/proc/uptime") as up:
    if float(up.read().split()[0]) < 600:
        print("both machines have just begun: that their clocks were apart cannot be seen")
both = peers.report(SCRATCH + "/all.dat", theirs)
order = "".join("h" if " tick: " in line else "g" for line in both.splitlines() if " tick: " in line or " sched_switch: " in line)
if not re.search(r"h+g.*gh", order):
    fail("nothing of the guest is between the two runs of the host")
print("%s events of the guest, matched to %s %s" % bound.groups())
