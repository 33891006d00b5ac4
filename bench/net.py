#!/usr/bin/python3
"""What it takes to send: rows of NAME VALUE, see bench/run.

	net.py RINGSIDE SENT FLOOD DIRECTORY [short]

First pages from memory to a listener that writes them to memory, as fast as it goes, with TLS and without, by turns: the time until all were
acknowledged, and what sender and receiver have taken of the CPU for a byte by then; closing a file up, which moves it where a file system cannot
cut holes out, is not in it. Then a kernel's markers, at a pace that all can keep, by us with TLS and without, and by trace-cmd,
which knows no TLS, over TCP to its own listener: what recorder, sender and receiver take while it lasts, for a thousand bytes of markers. What
its listener takes in the end to pack them is not in it.
Medians of all turns. `short` is for a check that it runs: it tells nothing.
"""
import os
import re
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import time

ringside, sent, flood, place = sys.argv[1:5]
short = len(sys.argv) > 5
turns = 1 if short else 5
megabytes = "16" if short else "1024"
rate, seconds = ("20", "0.5") if short else ("60", "5")
tracing = "/sys/kernel/tracing"
instance = os.path.join(tracing, "instances", "ringside-bench")
MARKER = 1000
tick = 1 / os.sysconf("SC_CLK_TCK")
os.environ["RINGSIDE_KEYS"] = os.path.join(place, "keys")
os.environ["RINGSIDE_DIR"] = os.path.join(place, "dir")
rows = {}
begun = []


def fail(text):
    sys.exit("bench: net: " + text)


def add(name, value):
    rows.setdefault(name, []).append(value)


def port():
    with socket.create_server(("127.0.0.1", 0)) as free:
        return free.getsockname()[1]


def wait_for(is_ready, what):
    for _ in range(2000):
        if is_ready():
            return
        time.sleep(0.02)
    fail(what)


def listens(where):
    try:
        socket.create_connection(("127.0.0.1", where)).close()
        return True
    except OSError:
        return False


def spent(pid):
    """Seconds of the CPU that a process and those it has waited for have had."""
    fields = open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()
    return sum(int(n) for n in fields[11:15]) * tick


def all_spent(pid):
    """The same with all that live."""
    return spent(pid) + sum(all_spent(child) for child in children(pid))


def children(pid):
    try:
        return [int(n) for n in open(f"/proc/{pid}/task/{pid}/children").read().split()]
    except OSError:
        return []


def has_no_children(pid):
    return not children(pid)


def receives(pid, readers):
    """It has a child for the connection, and that one for each CPU, if so it is."""
    return sum(1 + len(children(child)) for child in children(pid)) >= 1 + readers


class Listener:
    """One of them, and what it and its children take."""

    def __init__(self, words, where, into):
        os.mkdir(into)
        self.into = into
        self.process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=into)
        wait_for(lambda: listens(where), f"{words[0]} does not listen")
        wait_for(lambda: has_no_children(self.process.pid), f"{words[0]} does not end what was begun")
        self.before = 0

    def begin(self):
        self.before = spent(self.process.pid)

    def end(self):
        """Its seconds, and the bytes of the file that it wrote, which is removed."""
        wait_for(lambda: has_no_children(self.process.pid), "the receiver does not end")
        size = 0
        for path, _, names in os.walk(self.into):
            for name in names:
                if not name.startswith("."):
                    size += os.stat(os.path.join(path, name)).st_blocks * 512
                os.unlink(os.path.join(path, name))
        return spent(self.process.pid) - self.before, size

    def close(self):
        self.process.terminate()
        self.process.wait()


def from_memory(listener, where, kind):
    before = all_spent(listener.process.pid)
    process = subprocess.Popen([sent, f"127.0.0.1:{where}", os.environ["RINGSIDE_KEYS"], kind, megabytes], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    begun.append(process)
    told = process.stdout.readline().split()
    if len(told) != 2:
        fail("what was to be sent was not")
    count, took = (int(n) for n in told)
    own, theirs = all_spent(process.pid), all_spent(listener.process.pid) - before
    process.stdin.close()
    process.wait()
    size = listener.end()[1]
    if size < count:
        fail(f"{count} bytes were sent, and the file has {size}")
    add(f"net_{kind}_kb", took / count * 1e3)
    add(f"net_{kind}_sender_kb", own / count * 1e12)
    add(f"net_{kind}_receiver_kb", theirs / count * 1e12)


def from_kernel(listener, name, words, readers):
    os.makedirs(instance, exist_ok=True)
    listener.begin()
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    begun.append(process)
    switch = os.path.join(instance, "tracing_on")
    wait_for(lambda: receives(listener.process.pid, readers) and open(switch).read(1) == "1", f"{name} does not begin")
    time.sleep(1)
    before = all_spent(process.pid), all_spent(listener.process.pid)
    count = int(subprocess.run([flood, os.path.join(instance, "trace_marker_raw"), rate, seconds], stdout=subprocess.PIPE, check=True).stdout) * MARKER
    time.sleep(1)
    after = all_spent(process.pid), all_spent(listener.process.pid)
    process.send_signal(signal.SIGINT)
    said = process.stderr.read().decode()
    if process.wait():
        fail(f"{name} ended with {process.returncode}: {said}")
    size = listener.end()[1]
    if size < count and name != "trace_cmd":
        fail(f"{name}: {size} bytes of {count}: {said}")
    add(f"net_kernel_{name}_sender_kb", (after[0] - before[0]) / count * 1e12)
    add(f"net_kernel_{name}_receiver_kb", (after[1] - before[1]) / count * 1e12)
    if os.path.isdir(instance):
        os.rmdir(instance)


def can_record_kernel():
    if os.geteuid() or not os.path.isdir(os.path.join(tracing, "instances")):
        return "no kernel's tracefs"
    return "" if shutil.which("trace-cmd") else "no trace-cmd"


def kernel(listener, where):
    one = os.path.join(place, "one")
    with open(one, "w") as f:
        f.write("1\n")
    stock = port()
    theirs = Listener(["trace-cmd", "listen", "-p", str(stock), "-d", os.path.join(place, "stock")], stock, os.path.join(place, "stock"))
    # Files about functions, which do not matter here, are refused on some machines: trace-cmd sees others in their place.
    script = f"""mkdir -p {instance}
        for f in /proc/sys/kernel/ftrace_enabled {tracing}/set_ftrace* {tracing}/set_graph* {instance}/set_ftrace*; do
            [ ! -f $f ] || mount --bind {one} $f
        done
        exec trace-cmd record -t -N 127.0.0.1:{stock} -B ringside-bench -b 16384 -e sched:sched_process_hang"""
    ours = [ringside, "record", "--kernel", "-B", "ringside-bench", "-b", "16384", "-e", "sched:sched_process_hang", "-N", f"127.0.0.1:{where}"]
    try:
        for _ in range(turns):
            from_kernel(listener, "plain", ours, 0)
            from_kernel(theirs, "trace_cmd", ["unshare", "-m", "sh", "-c", script], os.sysconf("SC_NPROCESSORS_ONLN"))
            from_kernel(listener, "tls", [*ours, "--tls"], 0)
    finally:
        theirs.close()
        for process in begun:
            process.kill()
            process.wait()
        if os.path.isdir(instance):
            os.rmdir(instance)


key = subprocess.run([ringside, "key"], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
for who in ("bench", "127.0.0.1"):
    subprocess.run([ringside, "trust", who, key], check=True)
at = port()
listening = Listener([ringside, "listen", "--at", f"127.0.0.1:{at}", "-d", os.path.join(place, "ours")], at, os.path.join(place, "ours"))
try:
    for _ in range(turns):
        from_memory(listening, at, "plain")
        from_memory(listening, at, "tls")
    why = can_record_kernel()
    if why:
        print(f"bench: net: {why}: its rows are left out", file=sys.stderr)
    else:
        kernel(listening, at)
finally:
    listening.close()
for label, values in rows.items():
    print(label, f"{statistics.median(values):.3f}")
