"""Hosts for tests of stock trace-cmd: the test goes on the stage (tests/clients/stage), where /sys/kernel/tracing is ours, and into a network of its own;
a second host is beside it, with a cable between. What runs there sees the same files."""

import os
import shutil
import subprocess
import sys
import time

HERE = "10.77.0.1"
THERE = "10.77.0.2"


def lacks(*words):
    print(*words)
    sys.exit(77)


def stage(script):
    """Once outside, and then again inside, where it returns."""
    if "--on-stage" in sys.argv:
        return
    for tool in ("trace-cmd", "ip", "unshare", "nsenter"):
        if not shutil.which(tool):
            lacks(tool, "is not there")
    if os.getuid():
        lacks("needs root")
    if subprocess.run(["unshare", "-n", "true"], stderr=subprocess.DEVNULL, check=False).returncode:
        lacks("networks of one's own are not allowed")
    os.execvp("unshare", ["unshare", "-n", os.environ["RINGSIDE_SOURCE"] + "/tests/clients/stage", sys.executable, os.path.abspath(script), "--on-stage"])


def ip(*words):
    subprocess.run(["ip", *words], check=True)


class Network:
    """This host and the other one."""

    def __init__(self):
        ip("link", "set", "lo", "up")
        # trace-cmd asks for the names of those whom it hears.
        with open(os.environ["RINGSIDE_SCRATCH"] + "/hosts", "w", encoding="ascii") as names:
            names.write("127.0.0.1 localhost\n%s here\n%s there\n" % (HERE, THERE))
        subprocess.run(["mount", "--bind", names.name, "/etc/hosts"], check=True)
        self.holder = subprocess.Popen(["unshare", "-n", "sleep", "1000"])
        own = os.readlink("/proc/self/ns/net")
        while os.readlink("/proc/%d/ns/net" % self.holder.pid) == own:
            time.sleep(0.01)
        done = subprocess.run(["ip", "link", "add", "far", "type", "veth", "peer", "name", "near", "netns", str(self.holder.pid)], stderr=subprocess.PIPE,
                              text=True, check=False)
        if done.returncode:
            self.end()
            lacks("no cables can be had:", done.stderr.strip())
        ip("address", "add", HERE + "/24", "dev", "far")
        ip("link", "set", "far", "up")
        for words in (["link", "set", "lo", "up"], ["address", "add", THERE + "/24", "dev", "near"], ["link", "set", "near", "up"]):
            subprocess.run([*self.there(), "ip", *words], check=True)

    def there(self):
        """Before a command: it runs on the other host."""
        return ["nsenter", "--net=/proc/%d/ns/net" % self.holder.pid]

    def end(self):
        self.holder.kill()
        self.holder.wait()
