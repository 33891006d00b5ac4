#!/usr/bin/python3
"""What it takes to record a kernel's events: rows of NAME VALUE, see bench/run.

	kernel.py RINGSIDE STORM DIRECTORY [short]

A storm of system calls on two CPUs, with both events of each and the buffers that a kernel has by default, recorded by us and by
trace-cmd in turn. What counts is how many events were lost, and the recorder's own time on the CPU for each that was not. Our
files are looked into: what is in them, and what we say of it, has to be what the kernel's own counts say.
"""
import os
import re
import subprocess
import sys

ringside, storm, place = sys.argv[1:4]
short = len(sys.argv) > 4
rounds = 1 if short else 7
calls = "20000" if short else "1500000"
trace = os.path.join(place, "trace.dat")
tracing = "/sys/kernel/tracing"
instance = os.path.join(tracing, "instances", "ringside-bench")


def fail(text):
    sys.exit("bench: kernel: " + text)


def run(command):
    """CPU seconds beside the storm's own, and what it said."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    out, words = process.stdout.read(), process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = 0
    if status:
        fail(f"{command[0]} ended with {status}: {words}")
    own = re.search(r"^\d+\.\d{6}$", out, re.M)
    if not own:
        fail("the storm does not tell its time: " + out)
    return usage.ru_utime + usage.ru_stime - float(own[0]), words


def counted():
    """What the kernel counted, by the file: events read and lost."""
    text = subprocess.run([ringside, "report", "--stat", trace], stdout=subprocess.PIPE, text=True).stdout

    def sum_of(name):
        return sum(int(n) for n in re.findall(rf"^{name}: (\d+)$", text, re.M))
    return sum_of("read events"), sum_of("overrun") + sum_of("dropped events") + sum_of("commit overrun")


def in_file():
    """What the file has, and what its pages tell was lost."""
    report = subprocess.Popen([ringside, "report", "-j", "2", trace], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    out = subprocess.run(["awk", "/EVENTS DROPPED/ { gsub(/[^0-9 ]/, \" \"); lost += $2; next } / sys_e/ { n++ } "
                          "END { print n + 0, lost + 0 }"], stdin=report.stdout, stdout=subprocess.PIPE).stdout.split()
    return int(out[0]), int(out[1])



def ours():
    cpu, words = run([ringside, "record", "--kernel", "-e", "raw_syscalls", "-b", "1408", "-o", trace, storm, calls])
    told = re.search(r"(\d+) events, .*?(none|\d+) lost", words)
    read, lost = counted()
    events, in_pages = in_file()
    if events != read:
        fail(f"{events} events are in the file, and the kernel counted {read}")
    # What is lost behind the last page that was read has no page that tells it.
    if in_pages > lost:
        fail(f"the file tells of {in_pages} lost events, and the kernel of {lost}")
    if not told or (int(told[1]), 0 if told[2] == "none" else int(told[2])) != (read, lost):
        fail(f"it says '{words.strip()}', and the kernel counted {read} and {lost}")
    return cpu, read, lost


def theirs():
    one = os.path.join(place, "one")
    with open(one, "w") as f:
        f.write("1\n")
    # Files about functions, which do not matter here, are refused on some machines: trace-cmd sees others in their place.
    script = f"""mkdir -p {instance}
        for f in /proc/sys/kernel/ftrace_enabled {tracing}/set_ftrace* {tracing}/set_graph* {instance}/set_ftrace*; do
            [ ! -f $f ] || mount --bind {one} $f
        done
        exec trace-cmd record -o {trace} -B ringside-bench -b 1408 -e raw_syscalls {storm} {calls}"""
    try:
        cpu, _ = run(["unshare", "-m", "sh", "-c", script])
        # It asks for the counts before it has read the rest.
        return cpu, in_file()[0], counted()[1]
    finally:
        if os.path.isdir(instance):
            os.rmdir(instance)


def middle(values):
    return sorted(values)[len(values) // 2]


if os.geteuid() or not os.path.exists(os.path.join(tracing, "instances")):
    print("bench: no kernel's tracefs: its rows are left out", file=sys.stderr)
    sys.exit(0)
results = {"record_kernel": [], "record_kernel_trace_cmd": []}
for _ in range(rounds):
    results["record_kernel"].append(ours())
    results["record_kernel_trace_cmd"].append(theirs())
for name, all_of in results.items():
    print(name, f"{middle([cpu * 1e9 / max(read, 1) for cpu, read, _ in all_of]):.3f}")
    print(name + "_written", middle([read + lost for _, read, lost in all_of]))
    print(name + "_lost", sum(lost for _, _, lost in all_of))
    print(f"{name}: lost in each round: {[lost for _, _, lost in all_of]}, CPU seconds: "
          f"{[round(cpu, 3) for cpu, _, _ in all_of]}", file=sys.stderr)
