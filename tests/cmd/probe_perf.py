#!/usr/bin/python3
"""`ringside probe -D` and `perf probe -D` name the same places for hundreds of (function, line, variable) triples; so do -V and -L.

Where they differ, the difference has to be one of these, and is counted:

    crash     perf ends by a signal: libdw has no name for file 0 of DWARF 5, which clang uses
    shared    perf refuses a line whose address another line has, too; a probe can be there all the same
    constant  perf has no support for a variable that is a constant in the code; a probe can have that
    float     a constant of a floating type: perf shows another number at each run; gdb agrees with ours (probe_gdb.py)
    computed  perf reads memory at what is not an address but the value itself (DW_OP_stack_value); we refuse
    nowhere   perf fetches a number of its own where a variable has no value; we leave that point out
    struct    perf reads the first 8 bytes of a struct, or of a long double; we ask for a member, or a type
    global    perf writes @NAME+0, which uprobe_events does not take; we write the place in the file: the same address
    entry     perf goes behind the first instructions where it need not: for a global variable; in optimised code of clang, which
              does not tell that it is, for parameters that are in registers
    late      clang tells of a parameter only from the second instruction on: perf takes that for the first

Not optimised with one version of DWARF, optimised with the other; of clang the latter alone, since with version 5 perf ends by a signal
nearly each time. RINGSIDE_LONG=1 looks at all of both compilers.
"""
import os
import re
import shutil
import subprocess
import sys

SCRATCH = os.environ["RINGSIDE_SCRATCH"]
SOURCE = os.environ["RINGSIDE_SOURCE"]
RINGSIDE = os.environ["RINGSIDE"]
FUNCTIONS = ["shop_place", "total", "many", "both", "main", "weigh"]
MORE = {
    "order": ["->number", "->customer->id", "->customer->name:string", "->code:string", "->customer->friend->name", "->items[1].number"],
    "customer": ["->id", ".id"],
    None: ["placed", "greeting"],
}
LONG = os.environ.get("RINGSIDE_LONG")
LEAST = 100		# triples that are the same, for each build of gcc
BUILDS = {"gcc": [("-O0", 4), ("-O2", 5)], "clang": [("-O2", 4)]}
NOWHERE = "\\deade12d"


def run(*words):
    return subprocess.run(words, capture_output=True, text=True, timeout=60)


def ours(*words):
    return run(RINGSIDE, "probe", *words)


def perf(*words):
    return run("perf", "probe", *words)


def points(text):
    "{offset: fetch expressions without names and types}"
    found = {}
    for line in text.splitlines():
        m = re.match(r"[pr]:\S+ \S+:0x([0-9a-f]+)(.*)", line)
        if m:
            bodies = [a.split("=", 1)[-1] for a in m.group(2).split()]
            found[int(m.group(1), 16)] = tuple(fetched(b) for b in bodies)
    return found


def fetched(body):
    "Without its type; of a number what is left of it in so many bits."
    m = re.match(r"\\(-?\d+):[usx](\d+)$", body)
    if m:
        return "\\%d" % (int(m.group(1)) & (2 ** int(m.group(2)) - 1))
    return re.sub(r":[a-z0-9@/\[\]]+$", "", body)


def bare(kind):
    "A type without what perf leaves out; it shows arrays as pointers."
    return re.sub(r" |const|volatile|\{\.\.\.\}", "", re.sub(r"(\[\d*\])+", "*", kind))


class Build:
    def __init__(self, compiler, level, version):
        self.path = os.path.join(SCRATCH, "shop-%s%s-%d" % (compiler, level, version))
        done = run(compiler, level, "-gdwarf-%d" % version, os.path.join(SOURCE, "tests/cmd/probe_shop.c"), "-o", self.path)
        if done.returncode:
            sys.exit("FAIL: " + done.stderr)
        self.is_clang = compiler == "clang"
        self.count = {}
        self.symbols = {}
        for line in run("nm", self.path).stdout.splitlines():
            words = line.split()
            if len(words) == 3:
                # A static variable of a function: words.0, main.words.
                self.symbols[re.sub(r"^main\.|\.\d+$", "", words[2])] = int(words[0], 16)

    def globals_of(self, fetched):
        "@NAME+N as we write it: code is at its offset in this file."
        def place(m):
            return "@+%#x" % (self.symbols.get(m.group(1), 0) + int(m.group(2)))
        return {at: tuple(re.sub(r"@(\w+)\+(\d+)", place, b) for b in bodies) for at, bodies in fetched.items()}

    def kind(self, what, theirs, mine):
        "How the two answers are alike, or None."
        if theirs.returncode < 0:
            return "crash"
        a, b = points(theirs.stdout), points(mine.stdout)
        if a == b:
            return "same" if a else "neither"
        if not a and "sharing the address" in theirs.stderr:
            return "shared"
        if not a and "don't support this variable location" in theirs.stderr and b:
            return "constant"
        if a.keys() == b.keys() and all(x[0] == "\\" for bodies in (*a.values(), *b.values()) for x in bodies) and ":x32" in mine.stdout:
            return "float"
        # It takes any byte, and the program would break.
        if a and not b and "in the middle of an instruction" in mine.stderr and "+" in what:
            return "middle"
        if a and "is computed" in mine.stderr and all(a.get(at) == bodies for at, bodies in b.items()):
            return "computed"
        if a and not b and ("exceeds max-bitwidth" in theirs.stderr or "is a struct" in mine.stderr):
            return "struct"
        if self.is_clang and len(a) == 1 and not b and "has no value here" in mine.stderr and ":" not in what:
            return "late"
        if self.globals_of(a) == b:
            return "global"
        if "Skipping prologue" in theirs.stderr and list(self.globals_of(a).values()) == list(b.values()) and "@+" in str(b):
            return "entry"
        real = {at: bodies for at, bodies in a.items() if NOWHERE not in bodies}
        if real != a:
            return "nowhere" if all(b.get(at) == bodies for at, bodies in real.items()) or ("is computed" in mine.stderr and not b) else None
        if self.is_clang and len(a) == 1 and "Skipping prologue" in theirs.stderr:
            return "entry"
        return None

    def note(self, kind, what, theirs, mine):
        if kind is None:
            print("FAIL: %s: %s\n--- perf:\n%s%s--- ringside:\n%s%s" % (
                self.path, what, theirs.stdout, theirs.stderr, mine.stdout, mine.stderr))
            sys.exit(1)
        self.count[kind] = self.count.get(kind, 0) + 1

    def definition(self, place, arg=None):
        words = [place] + ([arg] if arg else [])
        theirs, mine = perf("-x", self.path, "-D", " ".join(words)), ours("-x", self.path, "-D", *words)
        self.note(self.kind(place, theirs, mine), " ".join(words), theirs, mine)

    def variables(self, place):
        "-V: what perf shows has a value here, too; names of those."
        theirs, mine = perf("-x", self.path, "-V", place), ours("-x", self.path, "-V", place)
        shown = set(re.findall(r"^\t\t\S.*\t(\w+)$", theirs.stdout, re.M))
        known = set(re.findall(r"^\t\t.*?\t(\w+)", mine.stdout, re.M))
        if theirs.returncode == 0 and not shown <= known:
            print("FAIL: %s: -V %s: perf knows %s, we %s" % (self.path, place, sorted(shown), sorted(known)))
            sys.exit(1)
        types = {n: bare(t) for t, n in re.findall(r"^\t\t(\S.*)\t(\w+)$", theirs.stdout, re.M)}
        for t, n in re.findall(r"^\t\t(\S.*?)\t(\w+)", mine.stdout, re.M):
            if n in types and "unknown" not in types[n] and types[n] != bare(t):
                print("FAIL: %s: -V %s: %s is %s, perf says %s" % (self.path, place, n, t, types[n]))
                sys.exit(1)
        # Those of functions around an inlined one are ours alone.
        return sorted(shown | set(re.findall(r"^\t\t.*?\t(\w+)(?:\t\(no.*)?$", mine.stdout, re.M)))

    def lines(self, function):
        """-L: lines that perf marks are marked; of those that we mark beyond them it says that they share an address, or does not
        look at inlined code."""
        theirs, mine = perf("-x", self.path, "-L", function), ours("-x", self.path, "-L", function)
        marked = [int(n) for n in re.findall(r"^ +(\d+)  ", mine.stdout, re.M)]
        last = max(marked) if marked else 0
        shown = {int(n) for n in re.findall(r"^ +(\d+)  ", theirs.stdout, re.M)}
        if theirs.returncode == 0 and not {n for n in shown if n <= last} <= set(marked):
            print("FAIL: %s: -L %s: perf marks %s, we %s" % (self.path, function, sorted(shown), marked))
            sys.exit(1)
        return marked

    def check(self):
        for function in FUNCTIONS:
            for line in self.lines(function):
                place = "%s:%d" % (function, line) if line else function
                self.definition(place)
                for name in self.variables(place):
                    self.definition(place, name)
                    for more in MORE.get(name, []):
                        if line % 3 == 1:
                            self.definition(place, name + more)
            for name in MORE[None]:
                self.definition(function, name)
        for place in ("probe_shop.c:80", "probe_shop.c:112", "many+4", "shop_place%return", "shop_place@probe_shop.c:3"):
            self.definition(place)
        print(os.path.basename(self.path), self.count)
        if not self.is_clang and self.count.get("same", 0) < LEAST:
            sys.exit("FAIL: only %d are the same" % self.count.get("same", 0))
        return self.count.get("same", 0)


def main():
    if not shutil.which("perf") or os.uname().machine != "x86_64":
        print("skip: no perf here")
        sys.exit(77)
    if "not built in" in ours("-x", RINGSIDE, "-V", "main").stderr:
        print("skip: this build reads no debug information")
        sys.exit(77)
    os.chdir(SCRATCH)
    first = Build("gcc", "-O0", 4)
    if not points(perf("-x", first.path, "-D", "many a").stdout):
        print("skip: perf reads no debug information here")
        sys.exit(77)
    total = 0
    for compiler in filter(shutil.which, ("gcc", "clang")):
        for level in ("-O0", "-O2"):
            for version in (4, 5):
                if LONG or (level, version) in BUILDS[compiler]:
                    total += Build(compiler, level, version).check()
    print("%d the same" % total)


main()
