#!/usr/bin/python3
"""Debug information that was damaged on purpose: `ringside probe` finds something or says what is wrong, soon, and in no other way."""
import os
import random
import re
import shutil
import subprocess
import sys

SCRATCH = os.environ["RINGSIDE_SCRATCH"]
SOURCE = os.environ["RINGSIDE_SOURCE"]
RINGSIDE = os.environ["RINGSIDE"]
ROUNDS = 100
ASKS = [
    ["-D", "shop_place:7", "order->customer->name:string", "$vars"],
    ["-V", "total:5"],
    ["-L", "main"],
    ["-D", "probe_shop.c:75"],
]


def run(*words, **more):
    return subprocess.run(words, capture_output=True, timeout=60, **more)


def sections(path):
    "{name: (offset, size)} of what tells of the program."
    found = {}
    for line in run("readelf", "-SW", path, text=True).stdout.splitlines():
        m = re.match(r" +\[ *\d+\] (\.(?:debug_\w+|eh_frame))\s+\w+\s+[0-9a-f]+ ([0-9a-f]+) ([0-9a-f]+)", line)
        if m:
            found[m.group(1)] = (int(m.group(2), 16), int(m.group(3), 16))
    return found


def damage(whole, where):
    bytes_ = bytearray(whole)
    for _ in range(random.choice((1, 1, 2, 5, 20))):
        offset, size = random.choice(where)
        at = offset + random.randrange(size)
        how = random.randrange(3)
        if how == 0:
            bytes_[at] = random.choice((0, 1, 0x7f, 0x80, 0xff, bytes_[at] ^ 1 << random.randrange(8)))
        elif how == 1:
            bytes_[at] = random.randrange(256)
        else:
            n = random.randrange(1, 16)
            other, length = random.choice(where)
            from_ = other + random.randrange(length)
            bytes_[at:at + n] = bytes_[from_:from_ + n]
    return bytes(bytes_[:len(whole)])


def made_wrong():
    "Types of themselves and bounds that no number holds: by hand, as no random byte makes them."
    with open("odd.c", "w") as f:
        f.write("int f(const int *a, struct many *b, int (*c)[0x7ffffffffffff]) { return *a + !b + !c; }\n"
                "int main(void) { const int a = 0; return f(&a, 0, 0); }\n")
    run("gcc", "-g", "-dA", "-w", "-O0", "-S", "odd.c", "-o", "odd.s")
    text = open("odd.s").read()
    text, selfs = re.subn(r"(DIE \((0x[0-9a-f]+)\) DW_TAG_const_type\)\n\t.long\t)0x[0-9a-f]+", r"\1\2", text)
    text, bounds = re.subn(r"0x7fffffffffffe(\s+# DW_AT_upper_bound)", r"0x7fffffffffffffff\1", text)
    if selfs != 1 or bounds != 1:
        return print("this compiler tells it in other words")
    open("odd.s", "w").write(text)
    run("gcc", "odd.s", "-o", "odd", check=True)
    for words, wanted in ((["-V", "f"], b"\tint[]*\tc"), (["-D", "f", "a[0]"], b"ringside: "), (["-D", "f", "c[0]"], b"ringside: ")):
        done = run(RINGSIDE, "probe", "-x", "./odd", *words)
        if wanted not in done.stdout + done.stderr:
            sys.exit("FAIL: %s: %d %r %r" % (words, done.returncode, done.stdout, done.stderr[-3000:]))


def main():
    if os.uname().machine != "x86_64" or not shutil.which("readelf"):
        print("skip: for x86-64, with readelf")
        sys.exit(77)
    os.chdir(SCRATCH)
    random.seed(8)
    if shutil.which("gcc"):
        made_wrong()
    said = {0: 0, 1: 0}
    for compiler in filter(shutil.which, ("gcc", "clang")):
        for version in (4, 5):
            run(compiler, "-O1", "-gdwarf-%d" % version, os.path.join(SOURCE, "tests/cmd/probe_shop.c"), "-o", "whole")
            whole, where = open("whole", "rb").read(), list(sections("whole").values())
            for i in range(ROUNDS):
                with open("damaged", "wb") as f:
                    f.write(damage(whole, where) if i % 10 else whole[:random.randrange(len(whole))])
                # libelf does not free everything of what is damaged.
                done = run(RINGSIDE, "probe", "-x", "./damaged", *ASKS[i % len(ASKS)], env=dict(os.environ, ASAN_OPTIONS="detect_leaks=0"))
                if done.returncode not in said or (done.returncode and not done.stderr.startswith(b"ringside: ")):
                    sys.exit("FAIL: %s %d, %d: ends with %d: %r" % (compiler, version, i, done.returncode, done.stderr[-3000:]))
                said[done.returncode] += 1
    print("found something %d times, said why not %d times" % (said[0], said[1]))
    if not said[0] or not said[1]:
        sys.exit("FAIL: always the same")


main()
