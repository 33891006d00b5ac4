#!/usr/bin/python3
"""What `ringside probe` says where variables are is what gdb reads there: for every line of a program that can be probed and every
variable that is told to have a value, in builds of two compilers, not optimised with one version of DWARF and optimised with the other
(RINGSIDE_LONG=1: each with both). The definition's fetch expression is followed by hand, in registers and memory of the stopped program."""
import json
import os
import re
import shutil
import subprocess
import sys

SCRATCH = os.environ["RINGSIDE_SCRATCH"]
SOURCE = os.environ["RINGSIDE_SOURCE"]
RINGSIDE = os.environ["RINGSIDE"]
LONG = os.environ.get("RINGSIDE_LONG")
FUNCTIONS = ["shop_place", "total", "many", "both", "main", "weigh"]
# Beyond the variables themselves.
MEMBERS = {
    "order": ["->number", "->customer->id", "->customer->name", "->customer->name:string", "->customer->flags.level",
              "->customer->flags.balance", "->customer->friend->flags.level", "->customer->friend->name:string", "->items[1].number",
              "->items[2].grade", "->items[1].weight", "->code", "->code:string", "->code[2]", "->matrix[1][2]", "->price", "->state", "->sum"],
    "customer": ["->id", "->name:string", "->friend->id", ".id", ".name:string", ".flags.balance", ".friend->name:string"],
    "item": ["->weight", "->fragile", "->grade"],
    "pair": [".left", ".right"],
    "whole": [".id", ".name:string", ".flags.level"],
    "words": ["[1]:string", "[0]"],
    "letter": [":u", ":x"],
}
GLOBALS = ["placed", "shelf", "shelf[3]", "greeting:string"]

GDB = r"""
import gdb, json, re
plan = json.load(open("plan.json"))
out = []
gdb.execute("set pagination off"); gdb.execute("set confirm off"); gdb.execute("set debuginfod enabled off")
gdb.execute("set disable-randomization on"); gdb.execute("set width 0")
gdb.execute("starti", to_string=True)
base = None
for line in gdb.execute("info proc mappings", to_string=True).splitlines():
    words = line.split()
    if words and words[-1] == plan["path"]:
        base = int(words[0], 16) - int(words[3], 16)
        break
inferior = gdb.selected_inferior()
REGISTERS = {r: "$r" + r for r in "ax bx cx dx si di bp sp".split()}
REGISTERS.update({"r%d" % i: "$r%d" % i for i in range(8, 16)})

def word(address, size=8):
    return int.from_bytes(bytes(inferior.read_memory(address & (2 ** 64 - 1), size)), "little")

def value(text, pc, offset):
    "A register, a number, or what is read: the value as 8 bytes would have it, and the address it was read at."
    if text[0] == "%":
        return int(gdb.parse_and_eval("(unsigned long)" + REGISTERS[text[1:]])), None
    if text[0] == "\\":
        return int(text[1:], 0), None
    if text[:2] == "@+":
        return None, pc - offset + int(text[2:], 16)
    m = re.match(r"([+-]\d+)\((.*)\)$", text)
    inner, address = value(m.group(2), pc, offset)
    if inner is None:
        inner = word(address)
    return None, (inner + int(m.group(1))) & (2 ** 64 - 1)

def fetch(body, pc, offset):
    text, kind = body.rsplit(":", 1)
    number, address = value(text, pc, offset)
    if kind == "string":
        raw = b""
        while not raw.endswith(b"\0") and len(raw) < 200:
            raw += bytes(inferior.read_memory((address if address is not None else number) + len(raw), 1))
        return raw[:-1].decode("latin-1")
    m = re.match(r"b(\d+)@(\d+)/(\d+)$", kind)
    if m:
        bits, shift, size = map(int, m.groups())
        whole = word(address, size // 8) if address is not None else number
        return ("bits", bits, (whole >> shift) & (2 ** bits - 1))
    m = re.match(r"(char|[usx](\d+))(\[(\d+)\])?$", kind)
    size = 1 if m.group(1) == "char" else int(m.group(2)) // 8
    if m.group(4):
        return [word(address + i * size, size) for i in range(int(m.group(4)))]
    return (word(address, size) if address is not None else number) & (2 ** (8 * size) - 1)

def plain(v, bits):
    "gdb's value as the same kind of number."
    v = v if v.type.strip_typedefs().code != gdb.TYPE_CODE_REF else v.referenced_value()
    return int.from_bytes(bytes(memory(v)), "little") if bits is None else int(v) & (2 ** bits - 1)

def memory(v):
    t = v.type.strip_typedefs()
    size = t.sizeof
    if t.code in (gdb.TYPE_CODE_FLT,):
        import struct
        return struct.pack("<f" if size == 4 else "<d", float(v))
    return (int(v) & (2 ** (8 * size) - 1)).to_bytes(size, "little")

def theirs(expr, ours):
    expr_is_text = expr.endswith(":string")
    expr = re.sub(r":(string|[usx])$", "", expr)
    v = gdb.parse_and_eval(expr)
    if v.is_optimized_out:
        return "optimized out"
    if ours == "(fault)":
        v.fetch_lazy()
        return v.string("latin-1")[:199] if expr_is_text else plain(v, None)
    if isinstance(ours, str):
        return v.string("latin-1")[:199]
    if isinstance(ours, tuple):
        return ("bits", ours[1], int(v) & (2 ** ours[1] - 1))
    if isinstance(ours, list):
        return [plain(v[i], None) for i in range(len(ours))]
    return plain(v, None)

def frame_of(name):
    frame = gdb.newest_frame()
    for _ in range(4):
        if frame is None:
            return None
        if frame.name() == name:
            return frame
        if frame.type() != gdb.INLINE_FRAME:
            return None
        frame = frame.older()
    return None

points = {}
for offset, todo in plan["points"].items():
    # The program's segments keep their distance; code is where its offset says.
    points[base + int(offset)] = todo
    gdb.execute("break *%d" % (base + int(offset)), to_string=True)
hits = {}
while True:
    gdb.execute("continue", to_string=True)
    if not gdb.selected_inferior().pid:
        break
    pc = gdb.newest_frame().pc()
    if pc not in points:
        continue
    hits[pc] = hits.get(pc, 0) + 1
    if hits[pc] >= 3:
        for b in gdb.breakpoints():
            if b.location == "*%d" % pc:
                b.delete()
    for function, expr, body in points[pc]:
        frame = frame_of(function)
        if frame is None:
            out.append([function, expr, body, "elsewhere", "elsewhere"])
            continue
        frame.select()
        try:
            ours = fetch(body, pc, pc - base)
        except gdb.MemoryError:
            ours = "(fault)"
        try:
            want = theirs(expr, ours)
        except gdb.MemoryError:
            want = "(fault)"
        except gdb.error as e:
            # A pointer that is not set yet.
            want = "(fault)" if "Cannot access memory" in str(e) else "gdb: " + str(e)
        out.append([function, expr, body, ours, want])
json.dump(out, open("result.json", "w"))
"""


def run(*words):
    return subprocess.run(words, capture_output=True, text=True, timeout=100)


def probe(*words):
    return run(RINGSIDE, "probe", *words)


def expressions(name):
    yield name
    for more in MEMBERS.get(name, []):
        yield name + more


def plan_for(path):
    """{offset: [[function, expression, body]]}, and how many expressions there are."""
    points = {}
    for function in FUNCTIONS:
        for line in map(int, re.findall(r"^ +(\d+)  ", probe("-x", path, "-L", function).stdout, re.M)):
            place = "%s:%d" % (function, line) if line else function
            shown = probe("-x", path, "-V", place).stdout
            names = {n for n, note in re.findall(r"^\t\t.*?\t(\w+)(\t\(.*)?$", shown, re.M) if not note}
            wanted = [e for name in sorted(names) for e in expressions(name)]
            if line == 0:
                wanted += GLOBALS
            for expr in wanted:
                text = probe("-x", path, "-D", place, expr).stdout
                for offset, body in re.findall(r":0x([0-9a-f]+) \w+=(\S+)$", text, re.M):
                    points.setdefault(int(offset, 16), []).append([function, expr, body])
    return points


def check(compiler, level, version):
    path = os.path.join(SCRATCH, "shop-%s%s-%d" % (compiler, level, version))
    done = run(compiler, level, "-gdwarf-%d" % version, os.path.join(SOURCE, "tests/cmd/probe_shop.c"), "-o", path)
    if done.returncode:
        sys.exit("FAIL: %s: %s" % (path, done.stderr))
    points = plan_for(path)
    json.dump({"path": path, "points": points}, open("plan.json", "w"))
    if os.path.exists("result.json"):
        os.unlink("result.json")
    done = run("gdb", "-nx", "-batch", "-x", "look.py", path)
    if not os.path.exists("result.json"):
        if "ptrace" in done.stderr:
            print("skip: programs cannot be stopped here")
            sys.exit(77)
        sys.exit("FAIL: gdb: " + done.stderr[-2000:])
    good, bad = 0, 0
    for function, expr, body, ours, theirs in json.load(open("result.json")):
        if ours == theirs:
            good += ours not in ("(fault)", "elsewhere")
        # gdb does not follow a register that debug information says has the value no more.
        elif theirs == "optimized out" and ours == "(fault)":
            pass
        else:
            bad += 1
            print("%s: %s %s: %s is %r, gdb says %r" % (os.path.basename(path), function, expr, body, ours, theirs))
    print("%s: %d definitions at %d places, %d values the same" % (os.path.basename(path), sum(map(len, points.values())), len(points), good))
    if bad or good < 100:
        sys.exit("FAIL: %d values differ, %d do not" % (bad, good))
    return good


def main():
    if not shutil.which("gdb") or "1" not in run("gdb", "-nx", "-batch", "-ex", "python print(1)").stdout or os.uname().machine != "x86_64":
        print("skip: no gdb that knows Python, or not on x86-64")
        sys.exit(77)
    if "not built in" in probe("-x", RINGSIDE, "-V", "main").stderr:
        print("skip: this build reads no debug information")
        sys.exit(77)
    os.chdir(SCRATCH)
    with open("look.py", "w") as f:
        f.write(GDB)
    for compiler in filter(shutil.which, ("gcc", "clang")):
        for level in ("-O0", "-O2"):
            for version in (4, 5):
                if LONG or (compiler == "gcc") == ((level == "-O0") != (version == 4)):
                    check(compiler, level, version)


main()
