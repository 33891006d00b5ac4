#!/usr/bin/python3
"""What it takes to record: rows of NAME VALUE, see bench/run.

	record.py RINGSIDE PACED MARKERS DIRECTORY [short]

Two writers emit events of 16 bytes at a pace, while a recorder, on its own, writes them to a file in the directory.
What counts is the recorder's own time on the CPU, its children's included, over the number of events. First ten million a
second, with the buffers that `record` has by default; then as fast as it goes, where every one that is not in the
file has to be counted as lost; then a pace that the kernel's markers can keep, for us and for trace-cmd.
`short` is for a check that it runs: it tells nothing.
"""
import os
import re
import signal
import subprocess
import sys
import time

ringside, paced, markers, place = sys.argv[1:5]
short = len(sys.argv) > 5
seconds = "0.2" if short else "10"
event = "bench:paced"
trace = os.path.join(place, "trace.dat")
tracing = "/sys/kernel/tracing"
instance = os.path.join(tracing, "instances", "ringside-bench")


def fail(text):
    sys.exit("bench: record: " + text)


def row(name, value):
    print(name, f"{value:.3f}", flush=True)


def wait_for(is_ready):
    for _ in range(1000):
        if is_ready():
            return
        time.sleep(0.02)
    fail("a recorder does not begin")


def takes_markers():
    try:
        with open(os.path.join(instance, "tracing_on")) as f:
            return f.read(1) == "1"
    except OSError:
        return False


def run_beside(recorder, ready, writer):
    """A recorder, a writer, then Ctrl-C: events that were written, the recorder's CPU seconds and words."""
    process = subprocess.Popen(recorder, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL)
    try:
        wait_for(ready)
        time.sleep(0.5)
        out = subprocess.run(writer, stdout=subprocess.PIPE, check=True).stdout.split()
        time.sleep(0.3)
    finally:
        process.send_signal(signal.SIGINT)
    words = process.stderr.read().decode()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = 0
    if status:
        fail(f"{recorder[0]} ended with {status}: {words}")
    return int(out[0]), usage.ru_utime + usage.ru_stime, words


def ours(name, rate):
    """Nanoseconds of the recorder's CPU an event, and how many were lost."""
    if os.path.exists(trace):
        os.unlink(trace)
    written, cpu, words = run_beside([ringside, "record", "-e", event, "-o", trace], lambda: os.path.exists(trace),
                                     [paced, str(rate), seconds])
    told = re.search(r"(\d+) events, .*?(none|\d+) lost", words)
    if not told:
        fail("what does it say? " + words)
    events, lost = int(told[1]), 0 if told[2] == "none" else int(told[2])
    if events + lost != written:
        fail(f"{name}: {written} were written, {events} recorded and {lost} lost")
    row(name + "_written", written)
    row(name + "_lost", lost)
    row(name, cpu * 1e9 / events)
    return events


def in_file():
    """Lines of its report that are events."""
    report = subprocess.Popen([ringside, "report", "-j", "2", trace], stdout=subprocess.PIPE)
    out = subprocess.run(["grep", "-c", " paced: "], stdin=report.stdout, stdout=subprocess.PIPE).stdout
    return int(out)


def theirs(name, rate):
    """The same of trace-cmd, with markers of the kernel, where it can be had."""
    one = os.path.join(place, "one")
    with open(one, "w") as f:
        f.write("1\n")
    if os.geteuid() or not os.path.exists(os.path.join(tracing, "instances")):
        print("bench: no kernel's tracefs for trace-cmd: its row is left out", file=sys.stderr)
        return
    # Files about functions, which do not matter here, are refused on some machines: trace-cmd sees others in their place.
    script = f"""mkdir -p {instance}
        for f in /proc/sys/kernel/ftrace_enabled {tracing}/set_ftrace* {tracing}/set_graph* {instance}/set_ftrace*; do
            [ ! -f $f ] || mount --bind {one} $f
        done
        exec trace-cmd record -o {trace} -B ringside-bench -b 16384 -e sched:sched_process_hang"""
    marker = os.path.join(instance, "trace_marker_raw")
    try:
        written, cpu, words = run_beside(["unshare", "-m", "sh", "-c", script], takes_markers,
                                         [markers, str(rate), seconds, marker])
        report = subprocess.run(["trace-cmd", "report", "-i", trace], stdout=subprocess.PIPE).stdout
        events = report.count(b"raw_data:")
        row(name + "_written", written)
        row(name + "_lost", written - events)
        row(name, cpu * 1e9 / max(events, 1))
    finally:
        if os.path.isdir(instance):
            os.rmdir(instance)


events = ours("record_10m", 5_000_000)
if in_file() != events:
    fail("the file has another number of events than the recorder told")
ours("record_flat_out", 0)
ours("record_1m", 500_000)
theirs("record_trace_cmd_1m", 500_000)
