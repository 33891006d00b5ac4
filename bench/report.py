#!/usr/bin/python3
"""What it takes to read a trace file: rows of NAME VALUE, see bench/run.

	report.py RINGSIDE STRETCH TIMED FILE DIRECTORY [short]

The file is stretched to five million events and read by trace-cmd, by us with one thread and with two,
in turn, output to /dev/null; the best of each counts, since other work can only add. Then to a million
and to more than 10 GB, to see whether memory grows, and what it takes to get to the end of that.
`short` is for a check that it runs: fewer rounds and smaller files, which tell nothing.
"""
import os
import subprocess
import sys

ringside, stretch, timed, small, place = sys.argv[1:6]
short = len(sys.argv) > 6


def run(*command):
    """Nanoseconds, and the most memory it had, in KiB."""
    out = subprocess.run([timed, *command], stdout=subprocess.PIPE, check=True).stdout.split()
    return int(out[0]), int(out[1])


def stretched(name, times):
    path = os.path.join(place, name)
    subprocess.run([stretch, small, path, str(times)], check=True)
    return path


def events(path):
    out = subprocess.run([ringside, "report", "--layout", "3.2", path], stdout=subprocess.PIPE,
                         check=True).stdout
    return out.count(b"\n") - 1


def row(name, value):
    print(name, f"{value:.3f}", flush=True)


each = events(small)
million = stretched("million.dat", 10 if short else 1_000_000 // each + 1)
_, memory_small = run(ringside, "report", "-j", "2", million)

times = 10 if short else 5_000_000 // each + 1
path = stretched("five.dat", times)
ways = {
    "report_trace_cmd": ("trace-cmd", "report", "-i", path),
    "report_1": (ringside, "report", "-j", "1", path),
    "report_2": (ringside, "report", "-j", "2", path),
}
best = {name: (float("inf"), 0) for name in ways}
for _ in range(1 if short else 5):
    for name, command in ways.items():
        best[name] = min(best[name], run(*command))
for name, (took, memory) in best.items():
    row(name, took / (each * times))
    row(name + "_kib", memory)
os.unlink(path)

size = os.path.getsize(million) / (10 if short else 1_000_000 // each + 1)
times = 20 if short else int(10.1 * 2**30 / size)
path = stretched("huge.dat", times)
last = float(subprocess.run([ringside, "report", "--layout", "3.2", "-t", "--tail", "1", path],
                            stdout=subprocess.PIPE, check=True).stdout.split(b"]")[1].split(b":")[0])
took = min(run(ringside, "report", "--from", f"{last - 0.01:.6f}", path)[0] for _ in range(5))
row("report_from", took)
_, memory_huge = run(ringside, "report", "-j", "2", path)
row("report_events_huge", each * times)
row("report_small_kib", memory_small)
row("report_huge_kib", memory_huge)
