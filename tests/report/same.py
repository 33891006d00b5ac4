#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Same file, two readers: `ringside report --layout 3.2` prints what Debian's `trace-cmd report` prints.

usage: same.py [--self] [--few] [--keep DIR] [-v] [FILE...]

For every file below tests/data/dat, for each of them as version 6, and for every file that make_dat.py
makes, both programs run with many options; their standard output has to be the same to the byte, and
they have to agree on whether that was a success. With FILEs these alone are read, with all options, or
with --few of them.

Where trace-cmd is wrong, EXCEPT below says so, and how; nothing is compared there but that we do not
fall over. What is right in its place stands in RIGHT, EXACT and case_records.MISREAD. What trace-cmd cannot
read at all is compared with another file that says the same (TWINS).

Without FILEs a third of all that is run, each option with some files and each file with some options; all of it when
RINGSIDE_LONG is set.

--self puts trace-cmd in our place: a look at this script. --keep leaves the two outputs of each
difference in DIR. -v prints every run.

Exit 0 same, 1 not, 77 where trace-cmd is not there or is another version than this was written for.
"""

import argparse
import concurrent.futures
import fnmatch
import glob
import os
import re
import shutil
import subprocess
import sys

# The tree of the source stays as it is.
sys.dont_write_bytecode = True
import case_records  # noqa: E402
import make_dat  # noqa: E402

PEER = "3.1.6"
LIMIT = 120
SHOWN = 30

# Options for every file.
EVERY = ["", "-t", "-l", "-R", "-N", "--raw-ts", "--ts-diff -t", "-R -l -N", "--boundary", "-w", "--stat", "--first-event"]

# For files that stand for many: each option alone, and what goes together.
FULL = EVERY + [
    "-q", "-L", "--nodate", "--align-ts", "--ts-check", "--ts-diff", "--ts2secs 1000000", "--ts2secs 1000 -t", "-e", "-p", "-f", "-P",
    "-E", "--events", "--event sched", "--event .*_exit", "--check-events", "--uname", "--version", "--cpus",
    "--last-event", "-I", "-S", "-I -S", "--cpu 0", "--cpu 1", "--cpu 0,1", "--cpu 0-1", "--cpu 5", "--pid 10",
    "--pid 0,11", "-r sched_switch", "-r .*exit", "-n sched_switch", "-n .*", "-O parent", "-O indent=0",
    "-O parent=1 -O indent", "-O offset", "-O fgraph:tailprint", "-O fgraph:depth", "-O tailprint -O depth",
    "-l -t", "-R -t", "-R -l", "-l --ts-diff", "-R --ts-diff", "-t --align-ts", "--raw-ts --ts-diff", "--raw-ts -l",
    "--align-ts --ts-diff -t", "-I -t -l", "--cpu 1 -t --ts-diff", "--pid 10 -R", "-w -t", "-w -R", "-t -t"]

# For files in which tasks come and go as they do on a machine.
PROFILES = ["--profile", "--profile -G", "--profile --by-comm", "--profile -t", "-H sys_enter,id/sys_exit,id --profile",
            "-H softirq_entry,vec/softirq_exit,vec --profile", "--profile -G --by-comm"]

FILTERS = [
    "sched_switch", "sys_exit", "sched", ".*", "sched_switch:prev_pid==10", "sched_switch:next_prio<120||prev_prio>120",
    "sched_switch:prev_comm=~\"task1.*\"", "sched_switch:next_comm==\"task0\"", "sys_exit:ret==0", "sys_exit:ret==5&&id>10",
    "sys_exit:!(ret==0)", "irq_handler_entry:name=~\".*1\"", "softirq_entry,softirq_exit:vec&1", "raw_syscalls/sys_enter:id!=1",
    "sched_switch:common_pid==11", ".*:common_pid==10", ".*:CPU==1", ".*:COMM==\"shell\"", "sched_switch:prev_state&1",
    "sched_switch:prev_pid!=0&&next_pid!=0", "sched_wakeup:target_cpu==0"]

# For files that have tasks of these names.
NAMES = ["--comm shell", "--comm worker,shell", "--comm shell -F sys_exit", "--pid 12 --comm shell"]

# Generated files that get all options.
BROAD = ["basic", "basic_v6", "instances_v7", "graph", "functions", "wakeups", "lost", "options", "big_v6", "comms", "calls", "calls_lost",
         "calls_functions"]

# Several files in one report.
TOGETHER = [
    "-i basic.dat -i graph.dat", "-i graph.dat -i basic.dat -t", "-i basic.dat -i instances_v7.dat", "-i lost.dat -i lost_instance.dat",
    "-i basic.dat -i basic.dat", "-i basic.dat -i clock_counter.dat", "-i clock_counter.dat -i basic.dat", "-i basic.dat -i big_v6.dat",
    "-i basic_v6.dat -i small_long_v7.dat", "-i basic.dat --ts-offset 5000 -i graph.dat", "-i basic.dat -i graph.dat --ts-offset -1000000 -t",
    "-i clock_x86_tsc.dat --ts2secs 2000000000 -i basic.dat", "--ts2secs 2000000000 -i clock_x86_tsc.dat -i clock_counter.dat",
    "-i host.dat -i guest_one.dat -t", "-i host.dat -i guest_many.dat -t", "-i host.dat -i guest_scaled.dat -t",
    "-i host.dat -i guest_old.dat -t", "-i guest_one.dat -i host.dat -t", "-i host.dat -i guest_one.dat --raw-ts",
    "-i basic.dat -i graph.dat --align-ts", "-i basic.dat -i graph.dat -R -l", "-i basic.dat -i sparse_v7.dat --cpus",
    "-i basic.dat -i graph.dat --stat", "-i options.dat -i graph.dat --uname", "-i basic.dat -i graph.dat --cpu 1",
    "-i basic.dat -i graph.dat --boundary", "-i basic.dat -i wakeups.dat -w", "-i date.dat -i basic.dat", "-i date.dat -i basic.dat --nodate",
    "-F sched_switch -i basic.dat -i graph.dat", "-i graph.dat -i basic.dat -F sched_switch", "-i basic.dat -F sched -i graph.dat -F funcgraph_exit",
    "-i basic.dat -v -F sched_switch -i graph.dat", "basic.dat graph.dat", "-i basic.dat graph.dat", "-i nothing.dat -i basic.dat",
    "-i basic.dat -F sched_switch", "-l basic.dat -t", "-i basic.dat -l -t -R", "-i a_name_that_is_not_there.dat",
    "-i basic.dat -F no_such_event", "-F no_such_event -i basic.dat", "-F sched_switch:nosuch==1 basic.dat", "-F sched_switch -T basic.dat",
    "-F sched_switch:prev_pid==1&&next_pid==2 -F sys_exit:ret<0 -T basic.dat", "-v -F sched_switch -F sys_exit basic.dat",
    "-F sched_switch -v -F sched_switch:prev_pid==10 basic.dat", "-F sched_switch -v -F sys_exit basic.dat", "--cpu x basic.dat", "--cpu all basic.dat"]

# Where trace-cmd is wrong: (File, options, other options, pattern, how). With the options we print those of our lines
# with the other options that match the pattern.
SIGNED = "it compares all numbers as if they had no sign, and takes `==-2` for a subtraction"
CRASH = "it ends by SIGSEGV: its filters do not know instances"
RIGHT = [
    ("basic.dat", ["-F", "sys_exit:ret<0"], ["-F", "sys_exit"], r" = -", SIGNED),
    ("basic.dat", ["-F", "sys_exit:!(ret>=0)"], ["-F", "sys_exit"], r" = -", SIGNED),
    ("basic.dat", ["-F", "sys_exit:ret==-2"], ["-F", "sys_exit"], r" = -2$", SIGNED),
    ("instances_v7.dat", ["--cpu", "1"], [], r" \[001\] ", "it leaves the instances out"),
    ("instances_v7.dat", ["-F", "sched_switch"], [], r": sched_switch: ", CRASH),
    ("instances_v7.dat", ["-v", "-F", "sched_switch"], [], r": (?!sched_switch)\w+: ", CRASH),
    ("instances_v6.dat", ["-F", "sys_exit:ret==0"], [], r": sys_exit: .* = 0$", CRASH),
]

# The same, by what is to be printed.
EXACT = [
    ("small_exit.dat", [], "negative longs of 4 bytes lose their sign", """cpus=2
           shell-10    [000]  1000.000000: sys_exit:             NR 3 = -2
"""),
    ("small_raw.dat", [], "it prints bytes of raw marks twice where longs have 4 bytes", """cpus=2
           shell-10    [000]  1000.000000: raw_data:             # 9 65 69 67 68 74 20 62 79
"""),
    ("nameless.dat", [], "it knows no task after one whose name is empty", """cpus=2
            init-1     [000]  1000.000001: number:               n=1
                -2     [000]  1000.000002: number:               n=2
            last-3     [000]  1000.000003: number:               n=3
"""),
    ("printf_odd_10.dat", ["--layout", "3.3"], "it loses the arguments of conversions with a `-`, and gives up on all formats after them", """cpus=2
           shell-10    [000] .....  1000.000000: bprint:               do_one: 1
           shell-10    [001] .....  1000.000001: bprint:               do_one: 1    |
           shell-10    [000] .....  1000.000002: bprint:               do_one: 2
"""),
    ("basic.dat", ["--comm", "nobody"], "it prints all when no task has that name", "cpus=2\n"),
    ("big_arrays.dat", [], "it reads numbers in arrays and addresses of strings in the order of its own machine", """cpus=2
           shell-10    [000]  1000.000000: array:                1 2 4294967295 1 2 3
           shell-10    [000]  1000.000001: mask:                 00000000,00000001,80000000,00000000
           shell-10    [000]  1000.000002: bputs:                do_two: put this
"""),
    ("lost_hidden.dat", [], "it does not see that events were lost before a page that begins with a time or with padding", """cpus=2
CPU:0 [77 EVENTS DROPPED]
           shell-10    [000]  1000.268435: number:               n=1
CPU:0 [78 EVENTS DROPPED]
           shell-10    [000]  1000.536871: number:               n=2
CPU:0 [EVENTS DROPPED]
           shell-10    [000]  1001.073742: number:               n=3
"""),
]

# Where it may also be followed into its error, which then is in the one line and not in the shape of the report.
FOLLOWED = ["small_exit.dat", "big_arrays.dat", "misread.dat"]

# What only we can read, and the file that says the same.
TWINS = {"packed.dat": "unpacked.dat", "pages_1k.dat": "pages_4k.dat"}

# (File, options as a pattern, why trace-cmd is not to be followed.) The file '*' is all of them.
EXCEPT = [
    ("graph.dat", r"-n sched_switch", "loses its way after a function that ended on another CPU than it began"),
    ("*graph*.dat", r".*--profile.*", "prints a task's number from memory that it never set"),
    ("lost.dat", r".*--by-comm", "groups no tasks when there is no sched_switch"),
    ("functions.dat", r".*--by-comm", "groups no tasks when there is no sched_switch"),
    ("calls*.dat", r".*--by-comm", "groups no tasks when there is no sched_switch"),
    ("marks*.dat", r".*--by-comm", "groups no tasks when there is no sched_switch"),
    ("options.dat", r".*--by-comm", "groups some tasks only"),
    ("latency_*.dat", r"--first-event|--last-event", "ends by SIGSEGV: there are no records to look at"),
    ("*", r"--events?( .*)?", "prints nothing for version 7"),
    ("misread.dat", r".*", "see MISREAD"),
    ("lost_hidden.dat", r".*", "see EXACT"),
    ("small_exit.dat", r".*", "see EXACT"),
    ("big_arrays.dat", r".*", "see EXACT"),
    ("nameless.dat", r".*", "see EXACT"),
    ("small_raw.dat", r".*", "see EXACT"),
    ("printf_odd_10.dat", r".*", "see EXACT"),
    ("printf_odd_[126].dat", r".*", "loses the arguments of some conversions, and all formats after one that it cannot parse"),
    ("cut_short.dat", r".*-R.*", "shows what lies beyond the record"),
    ("big_*.dat", r"(-v )?-F irq_handler_entry:name=~.*", "does not find texts in the byte order of another machine"),
    ("half.dat", r".*", "goes on with what it read of a format without an end"),
    ("broken.dat", r"--first-event", "has no time for an event that it does not know"),
    ("bare.dat", r".*--raw-ts.*", "a file that names no clock is not shown as it was written"),
    ("no_clock.dat", r".*--raw-ts.*", "a file that names no clock is not shown as it was written"),
    ("broken.dat", r".*(-l|--ts-diff).*", "has no columns for an event that it does not know"),
    ("early_names.dat", r".*", "of two names of a task either may count: as its search in a list with both comes upon them"),
    ("repeats.dat", r".*--raw-ts.*", "a time within a text is shown as it was written, too, without its unit"),
    ("latency_*.dat", r"--stat", "prints the trace behind the statistics"),
    ("*", r"-H (softirq_entry,vec/softirq_exit,vec|sys_enter,id/sys_exit,id) --profile", "one that is built in is forgotten, and its names with it, for a hook on the same events"),
    ("together", r"-F \w+ -i -i", "a filter before all files goes for the first one only"),
    ("together", r"-i -F \w+", "a filter after the only file is ignored"),
    ("together", r"-i --ts-offset .* -i", "an offset after the first file is ignored"),
    ("together", r"-i --ts2secs \d+ -i", "what follows the first file goes for all of them"),
    ("together", r"-i -i --ts-offset -1000000 -t", "see graph.dat"),
    ("together", r"-i -i --cpu 1", "only the first file is left"),
    ("together", r"-i -i -w", "refuses several files"),
    ("together", r"|-i|-l -t", "what follows a file without -i is ignored, or after -i refused"),
]

# Files with instances, of make_dat.py and of record_vm.
for _file in ("*inst*.dat", "both*.dat", "clocks*.dat", "dropped*.dat", "six*.dat"):
    EXCEPT += [
        (_file, r"(-v )?(-F .*|--pid .*|--comm .*)", "ends by SIGSEGV: filters and instances do not go together"),
        (_file, r".*--cpu .*", "leaves the instances out"),
        (_file, r".*--profile.*", "gives up: it does not find the instance's file"),
    ]


# What is cut out of both before they are compared, as (what stays, what goes, how trace-cmd is wrong in it).
WRONG = [
    (rb"timer_start: .* flags=", rb"\S*$", "it takes `x & (a | b)` for `(x & a) | b`"),
    (rb"\A", rb"(?:start \S+ \(.*\) end \S+ \(.*\)\n)+", "what it makes of hooks in the file it prints before all else"),
    (rb"ma_(?:read|write|op): ", rb".*$", "it does not parse what we do"),
    (rb"kernel_stack: +size=\d+ caller=", rb".*$", "it reads beyond the end of a record that is shorter than its format"),
    (rb"raw_data: +id=\w+ buf=", rb".*$", "it reads beyond the end of bytes without a length"),
    (rb" words=\{", rb"[^}]*", "elements of an array without a length in its declaration are all 0"),
    (rb"mm_page_\w+: .*page=", rb"0x[0-9a-f]+", "the address of a page is no sum of its number and of a symbol's address"),
    (rb"writeback_\w+: .* age=", rb"\d+", "`jiffies` is a counter's value and not the counter's address"),
]


def excused(name, options):
    for file, pattern, why in EXCEPT:
        if fnmatch.fnmatch(name, file) and re.fullmatch(pattern, options):
            return why
    return None


class Run:
    """One command line, and what the two programs made of it."""

    def __init__(self, name, words):
        self.name, self.words = name, words
        self.options = " ".join(w for w in words if not w.endswith(".dat") or w.startswith("a_name"))

    def go(self, room, ours):
        self.want, self.want_status = read(["trace-cmd", "report"], self.words, room)
        self.got, self.got_status = read(ours, self.words, room)
        return self

    def trouble(self):
        """Why they are not the same, in a few words, or None."""
        if self.got_status < 0 and self.got_status != self.want_status:
            return "we ended by signal %d" % -self.got_status
        if excused(self.name, self.options):
            return None
        if self.want_status < 0:
            return "trace-cmd ended by signal %d, which EXCEPT does not know" % -self.want_status
        if (self.want_status == 0) != (self.got_status == 0):
            return "exit status %d, not %d" % (self.got_status, self.want_status)
        if self.want_status != 0:
            return None
        if self.want != self.got:
            self.want, self.got = cut(self.want), cut(self.got)
        if "-R" in self.words:
            self.want = without_rest(self.want, self.got)
        if "--profile" in self.words:
            self.want, self.got = settled(self.want), settled(self.got)
        return "the text differs" if self.want != self.got else None

    def story(self):
        """The first line that differs, seen from both sides, and how many do."""
        want, got = self.want.split(b"\n"), self.got.split(b"\n")
        differ = [i for i in range(max(len(want), len(got))) if want[i:i + 1] != got[i:i + 1]]
        if not differ:
            return []
        i = differ[0]
        return ["line %d, %d of %d differ" % (i + 1, len(differ), len(want)),
                "trace-cmd %s" % shown(want, i), "ringside  %s" % shown(got, i)]


def cut(text):
    """The text without that in which trace-cmd is known to be wrong."""
    for stays, goes, _ in WRONG:
        text = re.sub(rb"(?m)(" + stays + rb")" + goes, rb"\1", text)
    return text


def without_rest(want, got):
    """The text of trace-cmd without what it prints, with -R, for texts of no bytes: up to a NUL somewhere behind the record. The
    kernel writes such texts where a probe's string could not be read."""
    at, clean = 0, b""
    for part in re.split(rb"(?<= file=)(?= )", got):
        found = want.find(part, at)
        if found < at or (not at and found):
            return want
        clean += part
        at = found + len(part)
    return clean + want[at:]


def settled(text):
    """A profile in one order: trace-cmd has the events of a task, and the groups, in that of its hash tables."""
    tasks = re.split(rb"(?m)^(?=task: |group: |Global CPU)", text)
    tasks = [b"".join(sorted(re.split(rb"(?m)^(?=  Event: )", t.rstrip(b"\n") + b"\n"))) for t in tasks]
    return b"".join(sorted(tasks))


def shown(lines, i):
    return repr(lines[i])[1:240] if i < len(lines) else "(has ended)"


def read(command, words, room):
    try:
        done = subprocess.run(command + words, cwd=room, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, timeout=LIMIT, check=False)
    except subprocess.TimeoutExpired:
        return b"", -14
    return done.stdout, done.returncode


def peer():
    """Why the peer cannot be asked, or None."""
    if not shutil.which("trace-cmd"):
        return "trace-cmd is not there"
    text = subprocess.run(["trace-cmd", "--version"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False).stdout.decode()
    if PEER not in text:
        return "trace-cmd is another version than %s" % PEER
    return None


def lines_of(file, table, filters=()):
    """The runs of one file under a table of options."""
    name = os.path.basename(file)
    runs = [Run(name, options.split() + [file]) for options in table]
    runs += [Run(name, ["-F", text, file]) for text in filters]
    runs += [Run(name, ["-v", "-F", text, file]) for text in filters[::4]]
    return runs


def settle(room, files):
    """Put the files into the room, real ones as version 6 too; their names."""
    names = []
    for file in files:
        name = os.path.basename(file)
        os.symlink(os.path.abspath(file), os.path.join(room, name))
        names.append(name)
        six = name.replace(".dat", "").replace(".v7", "") + ".v6.dat"
        if six not in names and not name.endswith(".v6.dat"):
            done = subprocess.run(["trace-cmd", "convert", "--file-version", "6", "--compression", "none", "-i", name, "-o", six],
                                  cwd=room, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
            if done.returncode == 0:
                names.append(six)
    return names


def plan(args, room):
    if args.files and args.few:
        return [run for file in args.files for run in lines_of(os.path.abspath(file), EVERY)]
    if args.files:
        return [run for name in settle(room, args.files) for run in lines_of(name, FULL + PROFILES, FILTERS)]
    runs = []
    for name, make in make_dat.CASES.items():
        make().save(os.path.join(room, name + ".dat"))
        if name + ".dat" not in TWINS:
            broad = name in BROAD
            runs += lines_of(name + ".dat", FULL if broad else EVERY, FILTERS if broad else ())
            if broad and name not in ("comms", "options"):
                runs += lines_of(name + ".dat", NAMES)
            if name in ("at_work", "wakeups", "functions", "lost", "options"):
                runs += lines_of(name + ".dat", PROFILES)
    for text in TOGETHER:
        runs.append(Run("together", text.split()))
    source = os.environ.get("RINGSIDE_SOURCE", os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
    real = settle(room, sorted(glob.glob(os.path.join(source, "tests/data/dat/*.dat"))))
    for i, name in enumerate(real):
        # The first of each version goes through everything; it takes a second a run.
        runs += lines_of(name, FULL if i < 2 else EVERY, FILTERS[:6] if i < 2 else ())
        runs += lines_of(name, PROFILES[:3] if "mixed" in name else ())
    return runs if os.environ.get("RINGSIDE_LONG") else some_of(runs)


def some_of(runs):
    """Every third of a file, from another one on for each file."""
    seen = {}
    some = []
    for run in runs:
        seen.setdefault(run.name, len(seen))
        seen[run.name] += 1
        if seen[run.name] % 3 == 0:
            some.append(run)
    return some


def twins(room, ours):
    """Files that only we read print what their twins print."""
    bad = []
    for file, twin in TWINS.items():
        got, status = read(ours, [file], room)
        want, _ = read(ours, [twin], room)
        if status != 0 or got != want:
            bad.append("FAIL %s does not print what %s does, exit status %d" % (file, twin, status))
    return bad


def right(room, ours):
    """Where trace-cmd is wrong, we are right."""
    bad = []
    for file, options, other, pattern, how in RIGHT:
        # Without handlers, or which tasks have names depends on which lines are shown.
        got, _ = read(ours, ["-N"] + options + [file], room)
        every, _ = read(ours, ["-N"] + other + [file], room)
        lines = every.decode("utf-8", "replace").split("\n")
        want = [line for line in lines if line.startswith("cpus=") or re.search(pattern, line)]
        if got.decode("utf-8", "replace").split("\n")[:-1] != want:
            bad.append("FAIL %s: report %s is not what it says (trace-cmd: %s)" % (file, " ".join(options), how))
    for file, options, how, want in EXACT:
        got, _ = read(ours, options + [file], room)
        if got not in (want.encode(), read(["trace-cmd", "report"], options + [file], room)[0] if file in FOLLOWED else None):
            bad.append("FAIL %s: report %s is not what is right (trace-cmd: %s):\n%s" % (file, " ".join(options), how, got.decode()))
    if read(ours, ["--events", "basic.dat"], room)[0] != read(["trace-cmd", "report"], ["--events", "basic_v6.dat"], room)[0]:
        bad.append("FAIL basic.dat: --events is not what it is in version 6")
    text, _ = read(ours, ["misread.dat"], room)
    for name, _, _, _, want, theirs in case_records.MISREAD:
        got = re.search(r": %s: *(.*)" % name, text.decode("utf-8", "replace"))
        if not got or got.group(1) not in (want, theirs):
            bad.append("FAIL misread.dat: %s prints %s, not %s (trace-cmd: %s)" % (name, got and got.group(1), want, theirs))
    return bad


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--self", dest="mirror", action="store_true")
    parser.add_argument("--few", action="store_true")
    parser.add_argument("--keep")
    parser.add_argument("-v", dest="verbose", action="store_true")
    parser.add_argument("files", nargs="*")
    args = parser.parse_args()
    why = peer()
    if why:
        print(why)
        return 77
    room = os.path.join(os.environ.get("RINGSIDE_SCRATCH", "/tmp"), "same-%d" % os.getpid())
    os.mkdir(room)
    ours = ["trace-cmd", "report"] if args.mirror else [os.environ.get("RINGSIDE", "ringside"), "report", "--layout", "3.2"]
    try:
        return compare(args, room, ours)
    finally:
        shutil.rmtree(room)


def compare(args, room, ours):
    runs = plan(args, room)
    bad = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for run in pool.map(lambda r: r.go(room, ours), runs):
            trouble = run.trouble()
            words = "%s: report %s" % (run.name, " ".join(run.words))
            if args.verbose:
                print("%s %s" % ("no" if trouble else "ok", words))
            if trouble:
                bad += 1
                if bad <= SHOWN or args.keep:
                    print("\n    ".join(["FAIL %s: %s" % (words, trouble)] + run.story()))
                if args.keep:
                    keep(args.keep, run, bad)
            run.want = run.got = b""
    if not args.files and not args.mirror:
        for line in twins(room, ours) + right(room, ours):
            print(line)
            bad += 1
    print("%d runs, %d are not the same" % (len(runs), bad))
    return 1 if bad else 0


def keep(where, run, number):
    os.makedirs(where, exist_ok=True)
    for side, data in (("want", run.want), ("got", run.got)):
        with open(os.path.join(where, "%04d.%s.%s" % (number, run.name, side)), "wb") as out:
            out.write(data)


if __name__ == "__main__":
    sys.exit(main())
