#!/usr/bin/python3
"""Who should not get in: without a key, with another one, with somebody's old words; who stops in the middle, a thousand at once; lengths, counts and
names that are meant to do harm; who is known and wants all there is; a disk that is full; and what a driver may not say to an agent. The listener
lives through all of it, nothing lands outside its directory, and an honest board gets through."""

import concurrent.futures
import glob
import os
import shutil
import socket
import ssl
import struct
import subprocess
import sys
import threading
import time

SCRATCH = os.environ["RINGSIDE_SCRATCH"]
RINGSIDE = os.environ["RINGSIDE"]
PORT = 5900 + os.getpid() % 2000
STORE = SCRATCH + "/boards"
STATION, BOARD, OTHER, STRANGER, READER = MACHINES = [SCRATCH + "/" + name for name in ("station", "board", "other", "stranger", "reader")]
MAGIC = 0x45444953474E4952
listener = None


def fail(*words):
    print("FAIL:", *words, file=sys.stderr)
    print(open(SCRATCH + "/listen.log").read()[-3000:], file=sys.stderr)
    sys.stderr.flush()
    # From any thread; nobody stays behind.
    if listener and listener.poll() is None:
        listener.kill()
    os._exit(1)


def ringside(*words, keys=STATION, check=True):
    done = subprocess.run([RINGSIDE, *words], env=dict(os.environ, RINGSIDE_KEYS=keys), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          timeout=60, check=False)
    if check and done.returncode:
        fail("ringside", *words, done.stderr)
    return done


def frame(kind, body):
    return struct.pack("<IHH", len(body), kind, 0) + body


def hello(wants=1, name=b"somebody", magic=MAGIC, version=1):
    return frame(1, struct.pack("<QIIQ", magic, version, wants, 7) + name)


def opening(cpus=2, page=4096, buffers=1, long_size=8, flags=0, tail=None, recording=b"0123456789abcdef", at=0):
    body = recording + struct.pack("<QIIIBBH", at, page, cpus, buffers, long_size, flags, 0)
    return frame(16, body + (struct.pack("<IHH", page, 0, 4) + b"mono" if tail is None else tail))


def certificate(keys):
    subprocess.run(["openssl", "req", "-x509", "-new", "-key", keys + "/key", "-subj", "/CN=x", "-days", "9", "-out", keys + "/cert"], check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def connect(port=None):
    plain = socket.create_connection(("127.0.0.1", port or PORT), timeout=20)
    plain.settimeout(20)
    return plain


def secure(keys, port=None):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    context.set_alpn_protocols(["ringside/1"])
    if keys:
        context.load_cert_chain(keys + "/cert", keys + "/key")
    return context.wrap_socket(connect(port))


def answers(channel, last=(2, 34, 51), wait=20):
    """Whatever is said until it hangs up, or one of the last: kinds of frames, and the words of a refusal."""
    data, kinds, words = b"", [], ""
    channel.settimeout(wait)
    try:
        while not set(last) & set(kinds):
            some = channel.recv(65536)
            if not some:
                break
            data += some
            while len(data) >= 8 and len(data) >= 8 + struct.unpack("<I", data[:4])[0]:
                size, kind, _ = struct.unpack("<IHH", data[:8])
                kinds.append(kind)
                if kind == 2:
                    words = data[16:8 + size].decode()
                data = data[8 + size:]
    except (OSError, ssl.SSLError):
        pass
    return kinds, words


def try_all(one, many):
    """Some at once: each waits for most of its time."""
    with concurrent.futures.ThreadPoolExecutor(6) as pool:
        for done in [pool.submit(one, *each) for each in many]:
            done.result()


def refused(what, keys, sends, wanted=""):
    """Is it? With these words."""
    kinds, words = [], ""
    try:
        channel = secure(keys) if keys is not None else connect()
        try:
            for some in sends:
                channel.sendall(some)
        except OSError:
            pass
        kinds, words = answers(channel)
        channel.close()
    except (OSError, ssl.SSLError) as error:
        words = str(error)
    if 32 in kinds or (wanted and wanted not in words):
        fail(what, ": is not refused:", kinds, words)
    if listener.poll() is not None:
        fail(what, ": the listener has ended")


def is_empty(what):
    if os.listdir(STORE):
        fail(what, "have left", os.listdir(STORE))


def honest(what, keys=BOARD):
    """A board that may: gets through."""
    done = ringside("record", "-q", "-e", "nothing", "-i", "-N", "127.0.0.1:%d" % PORT, "--tls", "true", keys=keys, check=False)
    if done.returncode:
        fail(what, ": an honest board does not get through:", done.stderr)


def listen(*words):
    log = open(SCRATCH + "/listen.log", "a")
    started = subprocess.Popen([RINGSIDE, "listen", "-d", STORE, "--at", "127.0.0.1:%d" % PORT, *words], stderr=log,
                               env=dict(os.environ, RINGSIDE_KEYS=STATION))
    for _ in range(200):
        try:
            socket.create_connection(("127.0.0.1", PORT)).close()
            return started
        except OSError:
            time.sleep(0.02)
    return fail("nobody listens")


for name in MACHINES:
    ringside("key", keys=name)
    certificate(name)
print_of = {name: ringside("key", keys=name).stdout.strip() for name in MACHINES}
ringside("trust", "board", print_of[BOARD])
ringside("trust", "reader", print_of[READER], "--may", "read")
ringside("trust", "other", print_of[OTHER])
ringside("trust", "127.0.0.1", print_of[STATION], keys=BOARD)
ringside("trust", "127.0.0.1", print_of[STATION], keys=OTHER)
ringside("trust", "127.0.0.1", print_of[STRANGER], keys=READER)
os.makedirs(STORE)
listener = listen()
honest("at first")
shutil.rmtree(STORE + "/board")



def dawdle(secure_too):
    """A byte now and then."""
    slow = connect()
    began = time.time()
    try:
        for byte in b"\x16\x03\x01\x02\x00\x01\x00" + bytes(50) if secure_too else hello():
            slow.sendall(bytes([byte]))
            time.sleep(0.4)
        fail("somebody may take %.0f seconds for a word" % (time.time() - began))
    except OSError:
        pass


# They take as long as they are let; the rest goes on beside them.
dawdlers = [threading.Thread(target=dawdle, args=(which,), daemon=True) for which in (False, True)]
for one in dawdlers:
    one.start()

# Keys.
refused("no key", "", [hello()])
refused("a stranger's key", STRANGER, [hello(), opening()], "is not known there")
refused("a key that may only read", READER, [hello(), opening()], "may not record")
done = ringside("record", "-q", "-e", "nothing", "-i", "-N", "127.0.0.1:%d" % PORT, "--tls", "true", keys=READER, check=False)
if "somebody else is there" not in done.stderr:
    fail("a board does not see that it is another station:", done.stderr)
done = ringside("record", "-q", "-e", "nothing", "-i", "-N", "127.0.0.1:%d" % PORT, "--tls", "true", keys=STRANGER, check=False)
if "which nobody here knows" not in done.stderr or print_of[STATION] not in done.stderr:
    fail("a board does not see that it knows nobody there:", done.stderr)

# Words that make no sense, from whoever may record.
tries = []
for what, sends in (
        ("another magic", [hello(magic=1)]), ("another version", [hello(version=9)]), ("a driver", [hello(wants=2)]),
        ("a name that is too long", [hello(name=b"x" * 1000)]), ("a frame that is too long", [struct.pack("<IHH", 1 << 30, 1, 0)]),
        ("a frame of all there is", [struct.pack("<IHH", 0xFFFFFFFF, 1, 0)]), ("no words", [b"GET / HTTP/1.1\r\n\r\n" * 100])):
    tries.append((what, BOARD, sends))
for what, sent in (
        ("a million CPUs", opening(cpus=1000000)), ("all CPUs there can be", opening(cpus=0xFFFFFFFF)), ("no CPU", opening(cpus=0)),
        ("a million buffers", opening(buffers=1000000)), ("so many of both", opening(cpus=4096, buffers=256)), ("pages of no size", opening(page=0)),
        ("pages of an odd size", opening(page=5000)), ("large pages", opening(page=1 << 31)), ("a long of 3", opening(long_size=3)),
        ("big endian", opening(flags=1)), ("a buffer that is not there", opening(tail=b"")),
        ("a buffer's name beyond its end", opening(tail=struct.pack("<IHH", 4096, 60000, 4) + b"mono")),
        ("one too much", opening(tail=struct.pack("<IHH", 4096, 0, 4) + b"mono" + b"more")),
        ("a buffer whose name is a path", opening(buffers=2, tail=struct.pack("<IHH", 4096, 0, 4) + b"mono" + struct.pack("<IHH", 4096, 7, 4) +
                                                  b"../evilmono")),
        ("cut off", frame(16, b"0123456789")), ("pages before anything", frame(20, bytes(64)))):
    tries.append((what, BOARD, [hello(), sent]))
try_all(refused, tries)
is_empty("words that make no sense")

# In the middle of a recording: a recording is there then, and nothing else.
page = struct.pack("<IIQ", 0, 0, 0) + bytes(4096)


def break_off(number, what, sent):
    channel = secure(BOARD)
    channel.sendall(hello() + opening(recording=b"%016d" % number) + sent)
    kinds, words = answers(channel)
    channel.close()
    if 1 not in kinds or (2 not in kinds and what != "words after the last one"):
        fail(what, ": is taken:", kinds, words)
    if listener.poll() is not None:
        fail(what, ": the listener has ended")


tries = list(enumerate((
        ("a section of no kind", frame(17, struct.pack("<II", 99, 3))), ("its second half", frame(17, struct.pack("<II", 16, 2) + b"x")),
        ("options of nobody's", frame(18, struct.pack("<II", 3, 0) + struct.pack("<HI", 3, 4) + b"abcd")),
        ("an option beyond its end", frame(18, struct.pack("<II", 3, 0) + struct.pack("<HI", 5, 1 << 31) + b"abcd")),
        ("a shift of times", frame(18, struct.pack("<II", 3, 0) + struct.pack("<HI", 12, 4) + b"abcd")),
        ("pages of another CPU", frame(20, struct.pack("<IIQ", 0, 9, 0) + bytes(4096))),
        ("pages of another buffer", frame(20, struct.pack("<IIQ", 0xFFFFFFFF, 0, 0) + bytes(4096))),
        ("the page after the next", frame(20, struct.pack("<IIQ", 0, 0, 1) + bytes(4096))),
        ("the last page there can be", frame(20, struct.pack("<IIQ", 0, 0, (1 << 64) - 1) + bytes(4096))),
        ("half a page", frame(20, struct.pack("<IIQ", 0, 0, 0) + bytes(2048))), ("no page", frame(20, struct.pack("<IIQ", 0, 0, 0))),
        ("a page behind its end", frame(21, struct.pack("<IIQIIII", 0, 0, 0, 16, 4090, 0, 0) + bytes(100))),
        ("a head beyond its frame", frame(21, struct.pack("<IIQIIII", 0, 0, 0, 0xFFFFFFF0, 0xFFFFFFF0, 0, 0) + bytes(100))),
        ("a page without its beginning", frame(21, struct.pack("<IIQIIII", 0, 0, 0, 16, 100, 0, 0) + bytes(100))),
        ("another OPEN", opening()), ("a frame of no kind", frame(999, b"")), ("RUN", frame(48, bytes(16) + b"--event\0all\0")),
        ("sums of another length", frame(22, bytes(7))), ("words after the last one", frame(23, bytes(24)) + frame(20, page)))))
try_all(break_off, [(number, what, sent) for number, (what, sent) in tries])
if set(os.listdir(STORE)) != {"board"} or len([f for f in os.listdir(STORE + "/board") if f.endswith(".dat")]) != len(tries):
    fail("other files than theirs:", os.listdir(STORE), os.listdir(STORE + "/board"))
shutil.rmtree(STORE + "/board")

# A section that never ends is not kept for ever.
channel = secure(BOARD)
try:
    channel.sendall(hello() + opening())
    for number in range(200):
        channel.sendall(frame(17, struct.pack("<II", 19, 0 if number else 1) + bytes(1 << 19)))
except (OSError, ssl.SSLError):
    pass
if 2 not in answers(channel)[0]:
    fail("a section without an end is taken")
shutil.rmtree(STORE + "/board")

# Names: whoever comes without a key calls himself what he likes, and is kept below the directory.
def call_himself(name):
    channel = connect()
    channel.sendall(hello(name=name) + opening(recording=b"%-16.16s" % name))
    channel.sendall(frame(23, bytes(24)))
    answers(channel)
    channel.close()


try_all(call_himself, [(name,) for name in (b"../../evil", b"/etc/evil", b"..", b".", b".hidden", b"-rf", b"a/b", b"\xff\xfe", b"a\0b", b"board", b"")])
names = set(os.listdir(STORE))
if not names <= {"board.keyless", "board", "127.0.0.1", "a", "a?b"} or any("/" in name or name.startswith(".") for name in names):
    fail("names lead to", names)
if "board" in names:
    fail("whoever has no key has a board's name")
if os.path.exists(SCRATCH + "/evil") or os.path.exists(os.path.dirname(SCRATCH) + "/evil") or os.path.exists("/etc/evil"):
    fail("somebody has got out of the directory")
for name in names:
    shutil.rmtree(STORE + "/" + name)


class Eavesdropper(threading.Thread):
    """Between the two: keeps what the board says."""

    def __init__(self):
        super().__init__(daemon=True)
        self.door = socket.create_server(("127.0.0.1", 0))
        self.port = self.door.getsockname()[1]
        self.heard = b""
        self.start()

    def pass_on(self, one, other, keeps):
        try:
            while some := one.recv(65536):
                self.heard += some if keeps else b""
                other.sendall(some)
            other.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    def run(self):
        board, _ = self.door.accept()
        station = connect()
        threading.Thread(target=self.pass_on, args=(station, board, False), daemon=True).start()
        self.pass_on(board, station, True)


# What was heard on the way is no use: neither to be read nor to be said again.
ear = Eavesdropper()
done = ringside("record", "-q", "-e", "nothing", "-i", "-N", "127.0.0.1:%d" % ear.port, "--tls", "echo", "secret words", keys=BOARD)
if b"mono" in ear.heard or b"print" in ear.heard or len(ear.heard) < 3000:
    fail("what is recorded can be read on the way")
kept = sorted(os.listdir(STORE + "/board"))
again = connect()
try:
    again.sendall(ear.heard)
except OSError:
    pass
answers(again)
if sorted(os.listdir(STORE + "/board")) != kept:
    fail("what was heard can be said again")
shutil.rmtree(STORE + "/board")

# A thousand that stop: before the first word, in TLS, after it, with a byte now and then. Who pushes is pushed out.
crowd = []
for number in range(1000):
    try:
        one = socket.create_connection(("127.0.0.1", PORT), timeout=5)
        if number % 4 == 1:
            one.sendall(b"\x16\x03\x01\x02\x00\x01\x00")
        elif number % 4 == 2:
            one.sendall(hello()[:5])
        elif number % 4 == 3:
            one.sendall(b"\x16")
        crowd.append(one)
    except OSError:
        pass
    if number % 250 == 249:
        honest("beside %d that stop" % number)
if len(crowd) < 900:
    fail("only %d came" % len(crowd))
sessions = int(subprocess.run(["pgrep", "-c", "-x", "session", "-P", str(listener.pid)], stdout=subprocess.PIPE, text=True, check=False).stdout)
if sessions > 60:
    fail("%d processes for those that nobody knows" % sessions)
for one in crowd:
    one.close()
honest("behind a thousand")

# One who is known, and does not let go.
crowd = []
for number in range(80):
    one = secure(BOARD)
    one.sendall(hello())
    crowd.append(one)
known = [answers(one, last=(1, 2)) for one in crowd]
held, words = sum(1 in kinds for kinds, _ in known), [words for kinds, words in known if 2 in kinds]
if held > 64 or not words or "connections there already" not in words[0]:
    fail("one board has %d connections" % held, words)
honest("beside one who wants all there is", OTHER)
for one in crowd:
    one.close()
for one in dawdlers:
    one.join(60)
    if one.is_alive():
        fail("slow words are listened to for ever")
listener.terminate()
if listener.wait(10):
    fail("the listener does not end well")

# Whom others may let in nobody lets in.
for path, mode in (("/trust", 0o666), ("/key", 0o644), ("", 0o777)):
    before = os.stat(STATION + path).st_mode
    os.chmod(STATION + path, mode)
    done = subprocess.run([RINGSIDE, "listen", "-d", STORE, "--at", "127.0.0.1:%d" % PORT], stderr=subprocess.PIPE, text=True, timeout=60, check=False,
                          env=dict(os.environ, RINGSIDE_KEYS=STATION)) if path != "/trust" else None
    if path == "/trust":
        listener = listen()
        refused("rights that anybody may write", BOARD, [hello(), opening()], "others may write")
        listener.terminate()
        listener.wait(10)
    elif not done.returncode or "others may" not in done.stderr:
        fail("a key that others may have is used:", path, done.stderr)
    os.chmod(STATION + path, before)

# No room: it is said so, and when there is some it goes on.
full = SCRATCH + "/full"
os.makedirs(full)
if os.geteuid() or subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", full], stderr=subprocess.DEVNULL, check=False).returncode:
    print("a full disk is left out: it takes root to have one")
else:
    try:
        shutil.rmtree(STORE)
        STORE = full + "/boards"
        os.makedirs(STORE)
        with open(full + "/rest", "wb", buffering=0) as rest:
            while True:
                try:
                    rest.write(bytes(4096))
                except OSError:
                    break
        listener = listen()
        channel = secure(BOARD)
        channel.sendall(hello() + opening() + b"".join(frame(20, struct.pack("<IIQ", 0, 0, number) + bytes(4096)) for number in range(100)))
        kinds, words = answers(channel)
        channel.close()
        if 2 not in kinds or "No space left" not in words:
            fail("a full disk:", kinds, words)
        if listener.poll() is not None:
            fail("a full disk ends the listener")
        os.unlink(full + "/rest")
        honest("where there is room again")
        listener.terminate()
        listener.wait(10)
    finally:
        subprocess.run(["umount", "-l", full], check=False)

# An agent: whoever may drive it says what is to be recorded, and nothing that writes a file, names one, or runs.
ringside("trust", "driver", print_of[OTHER], "--may", "control")
agent_log = open(SCRATCH + "/listen.log", "a")
listener = subprocess.Popen([RINGSIDE, "agent", "--at", "127.0.0.1:%d" % PORT], stderr=agent_log, cwd=SCRATCH,
                            env=dict(os.environ, RINGSIDE_KEYS=STATION))
for _ in range(500):
    try:
        connect().close()
        break
    except OSError:
        time.sleep(0.02)


def drive(keys, *words):
    channel = secure(keys) if keys is not None else connect()
    try:
        channel.sendall(hello(wants=2) + frame(48, os.urandom(16) + b"".join(word.encode() + b"\0" for word in words)))
    except OSError:
        pass
    said = answers(channel, last=(2, 16, 51))
    channel.close()
    return said


def may_not_say(*words):
    evil = SCRATCH + "/evil"
    kinds, said = drive(OTHER, *words)
    if 2 not in kinds or 16 in kinds:
        fail("a driver may say", words, kinds, said)
    if glob.glob(evil + "*"):
        fail("a driver has written", glob.glob(evil + "*"), words)


evil = SCRATCH + "/evil"
try_all(may_not_say, [
    ("-o", evil), ("-o" + evil,), ("--output", evil), ("--output=" + evil,), ("-io" + evil,), ("-e", "all", "-o", evil), ("touch", evil), ("--", "touch", evil),
    ("-e", "all", "touch", evil), ("-F", "touch", evil), ("--user", "root"), ("--only-command",), ("-p",), ("-N", "127.0.0.1:1"), ("-A", "127.0.0.1:1"),
    ("--to", "127.0.0.1:1"), ("--dir", evil), ("--tracefs", evil), ("--insecure",), ("--help",), ("-h",), ("--flight",), ("--compat",), ("--tls",), ("-",), ("",),
    ("--no-such",), ("-" + "i" * 2000 + "o", evil), tuple("-i" for _ in range(300)), ("-e", "x" * 4000)])
for what, said in (("a board's key", drive(BOARD, "-e", "all")), ("plain words", drive(None, "-e", "all"))):
    if 16 in said[0]:
        fail("an agent is driven by", what, said)
listener.terminate()
listener.wait(20)
print("nobody got in who should not")
