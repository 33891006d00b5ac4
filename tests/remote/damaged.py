#!/usr/bin/python3
"""Memories, and what a tracing directory keeps of a remote, damaged in every way: each command ends soon, by itself, and says what is wrong, or
shows what is right. Nobody makes a memory longer, waits for a fifo, or takes one thing for another."""
import os
import random
import shutil
import socket
import struct
import subprocess
import sys

SCRATCH = os.environ["RINGSIDE_SCRATCH"]
RINGSIDE = os.environ["RINGSIDE"]
LONG = os.environ.get("RINGSIDE_LONG")
RINGS, PAGES, PAGE = 2, 4, 256
EVENTS = 12
CONTROL, RING = 64, 64 + 16
FIRST_PAGE = RING + RINGS * 64


def crc32c(data):
    crc = 0xffffffff
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82f63b78 if crc & 1 else 0)
    return crc ^ 0xffffffff


def header(**odd):
    "As fw/layout.h has it, little-endian, with 8-byte words."
    is_ = dict(order=0x102, version=1, long=8, rings=RINGS, shift=8, bits=64, self=0, ring_at=RING, hz=10 ** 9, ring_size=64, events=32,
               texts=0, build=0, boots=1, control=CONTROL)
    is_.update(odd)
    head = b"RINGSIDE" + struct.pack("<HBBHBBQQQHHIIII", *is_.values())
    return head + struct.pack("<I", crc32c(head))


def memory(**odd):
    whole = header(**odd) + struct.pack("<IIII", 1, 0, 0xffffffff, 0)
    pages = b""
    for ring in range(RINGS):
        time = 10 ** 9
        whole += struct.pack("<IIIIQQQIIQIHBB", 0, 0, EVENTS, 0, time + EVENTS * 1000 - 1000, 0, 0, 0, 0, FIRST_PAGE + ring * PAGES * PAGE,
                             PAGES - 1, ring, 0, 0)
        events = b"".join(struct.pack("<III", (1000 if n else 0) << 5 | 2, 1, ring * 100 + n) for n in range(EVENTS))
        page = struct.pack("<QQ", time, len(events)) + events
        pages += page.ljust(PAGE - 8, b"\0") + struct.pack("<II", 0, 0) + bytes((PAGES - 1) * PAGE)
    return whole + pages


def fail(*words):
    sys.exit("FAIL: " + " ".join(str(w) for w in words))


def run(*words):
    "Status and text of a command, which has to end by itself, with words if it fails, and few of them."
    try:
        done = subprocess.run([RINGSIDE, *words], capture_output=True, timeout=60, stdin=subprocess.DEVNULL)
    except subprocess.TimeoutExpired:
        fail(what, words, "does not end")
    text = done.stderr.decode(errors="replace")
    if done.returncode not in (0, 1) or "Sanitizer" in text or "runtime error" in text:
        fail(what, words, done.returncode, text[-3000:])
    if done.returncode and not text.startswith("ringside"):
        fail(what, words, "fails without words:", text, done.stdout[-300:])
    return done.returncode, done.stdout.decode(errors="replace"), text


def must(status, words, *command):
    r, out, err = run(*command)
    if r != status or words not in out + err:
        fail(what, command, "gives", r, out[-1500:], err, "and not", status, words)
    return out


READ = ["tracing_on", "buffer_size_kb", "clock", "trace", "events/enable", "events/header_page", "per_cpu/cpu0/trace", "per_cpu/cpu1/trace",
        "trace_pipe", "per_cpu/cpu0/trace_pipe"]


def use_all(name, damaged, few=False):
    """Everything that there is to be done, or some of it; of a remote whose memory cannot be read at all, `damaged`, each says so."""
    for file in READ[3::5] if few else READ:
        r, out, err = run("cat", "remotes/%s/%s" % (name, file))
        if damaged and not r and file in ("tracing_on", "buffer_size_kb", "clock", "trace", "trace_pipe", "per_cpu/cpu0/trace"):
            fail(what, file, "is shown:", out)
    r, out, err = run("remote", "list")
    if r or not [line for line in out.splitlines() if line == name]:
        fail(what, "is not listed:", r, out, err)
    if damaged and "tracing is" in out:
        fail(what, "is well:", out)
    for file, value in (("events/enable", "1"), ("tracing_on", "1"), ("trace", ""), ("tracing_on", "0"))[:2 if few else 4]:
        r, out, err = run("write", "remotes/%s/%s" % (name, file), value)
        if damaged and not r and file != "events/enable":
            fail(what, file, "takes", value)
    if few:
        return
    r, out, err = run("record", "-o", "t.dat", "--remote", name, "true")
    if damaged and not r:
        fail(what, "is recorded")


def put(content):
    remove(RAM)
    with open(RAM, "wb") as f:
        f.write(content)


def remove(path):
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path)
    elif os.path.lexists(path):
        os.unlink(path)


def make_socket(path):
    server = socket.socket(socket.AF_UNIX)
    server.bind(path)
    server.close()


# ---- a memory that is something else now ----

def memories():
    whole = memory()
    return {
        "of no bytes": b"", "of 64 bytes": whole[:64], "of a header that lacks a byte": whole[:63], "of half of it": whole[:len(whole) // 2],
        "that lacks a byte": whole[:-1], "of zeros": bytes(len(whole)), "of ones": b"\xff" * len(whole),
        "of garbage": random.Random(5).randbytes(len(whole)), "of garbage behind a header": header() + random.Random(6).randbytes(len(whole)),
        "of another version": memory(version=9), "of rings of rings": memory(ring_at=0), "with rings far away": memory(ring_at=2 ** 64 - 64),
        "with 1024 rings": memory(rings=1024), "of another order": whole.replace(b"\x02\x01", b"\x01\x02", 1),
    }


def try_memories():
    global what
    put(memory())
    must(0, "", "remote", "add", "ram", "--mem", RAM + "@0")
    for name, content in memories().items():
        what = "a memory " + name
        put(content)
        use_all("ram", True)
        if os.path.getsize(RAM) != len(content):
            fail(what, "has", os.path.getsize(RAM), "bytes and had", len(content))
        r, out, err = run("remote", "add", "other", "--mem", RAM)
        if not r:
            fail(what, "is added")
    for name, make in (("a fifo", os.mkfifo), ("a socket", make_socket), ("a directory", os.mkdir), ("a link to itself", lambda p: os.symlink(p, p)),
                       ("nothing", lambda p: None)):
        what = "a memory that is " + name
        remove(RAM)
        make(RAM)
        use_all("ram", True)
        r, out, err = run("remote", "add", "other", "--mem", RAM)
        if not r:
            fail(what, "is added")
    what = "what has no memory"
    for place in ("/dev/null", "/dev/zero", "/dev/urandom", "/dev/ptmx", "/proc/self/status", "/"):
        for at in ("", "@0", "@0xfffffffffffffff8", "@0x7ffffffffffffff8"):
            if not run("remote", "add", "other", "--mem", place + at)[0]:
                fail(place + at, "is added")
    # It is what it was, and all that was said is over.
    what = "a memory that came back"
    put(memory(boots=2))
    out = must(0, "UNKNOWN id=1", "cat", "remotes/ram/trace")
    if out.count("UNKNOWN id=1") != RINGS * EVENTS:
        fail(what, out)


# ---- a memory of which a part is wrong ----

def try_parts():
    global what
    whole = memory()
    dice = random.Random(7)
    for n in range(200 if LONG else 12):
        content = bytearray(whole)
        for _ in range(dice.choice((1, 1, 3, 50))):
            at = dice.randrange(64, FIRST_PAGE + PAGE)
            content[at] = dice.choice((0, 1, 0x7f, 0x80, 0xff, content[at] ^ 1 << dice.randrange(8)))
        what = "damaged memory %d" % n
        put(bytes(content))
        use_all("ram", False, n % 4)
    what = "a ring that was damaged"
    put(memory())
    must(0, "", "write", "remotes/ram/trace", "")


# ---- what the directory keeps ----

def try_kept():
    global what
    folder = os.path.join(os.environ["RINGSIDE_DIR"], "remotes/ram")
    kept = {name: open(os.path.join(folder, name), "rb").read() for name in ("config", "state")}
    kept["texts"] = bytes(296)
    dice = random.Random(8)
    for file, content in kept.items():
        path = os.path.join(folder, file)
        forms = {"empty": b"", "cut": content[:len(content) // 2], "a byte short": content[:-1], "zeros": bytes(len(content)),
                 "garbage": dice.randbytes(len(content) or 300), "ones": b"\xff" * len(content), "huge": bytes(20 << 20),
                 "turned over": bytes(b ^ (dice.randrange(50) == 0) << 3 for b in content)}
        for how, bytes_ in list(forms.items()) + [("a directory", os.mkdir), ("a fifo", os.mkfifo), ("a link", lambda p: os.symlink("/etc/passwd", p))]:
            what = "%s that is %s" % (file, how)
            put(memory())
            for name in kept:
                remove(os.path.join(folder, name))
                if name != "texts":
                    open(os.path.join(folder, name), "wb").write(kept[name])
            remove(path)
            if callable(bytes_):
                bytes_(path)
            else:
                open(path, "wb").write(bytes_)
            use_all("ram", False, not LONG)
            # Where everything else is as it was, what is in the memory is shown, or there are words.
            r, out, err = run("cat", "remotes/ram/per_cpu/cpu0/trace")
            if not r and file == "state" and "LOST" in out:
                fail(what, out)
    what = "a folder with nothing that is right"
    for name in kept:
        remove(os.path.join(folder, name))
        open(os.path.join(folder, name), "wb").write(dice.randbytes(1000))
    must(0, "ram", "remote", "list")
    must(0, "", "remote", "remove", "ram")
    must(0, "", "remote", "add", "ram", "--mem", RAM)
    use_all("ram", False)


os.chdir(SCRATCH)
RAM = os.path.join(SCRATCH, "ram")
what = "first"
try_memories()
try_parts()
try_kept()
