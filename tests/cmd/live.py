"""hist EVENT --keys and latency on a terminal: redrawn, the last picture stays, and whatever ends them leaves nothing behind."""

import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import fcntl
import time

RINGSIDE = os.environ["RINGSIDE"]
SCRATCH = os.environ["RINGSIDE_SCRATCH"]
SOURCE = os.environ["RINGSIDE_SOURCE"]
BUILD = os.environ["RINGSIDE_BUILD"]
SHOP = SCRATCH + "/shop"
HIST = ["hist", "shop:order", "--keys", "item", "--vals", "amount"]
LATENCY = ["latency", "shop:order", "shop:done", "--on", "item"]


def fail(words, text=""):
    print("FAIL: %s\n%s" % (words, text[-3000:]))
    sys.exit(1)


def tree(path):
    return subprocess.run([RINGSIDE, "cat", path], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                          check=False).stdout


def check_nothing_left(what):
    left = tree("instances") + tree("synthetic_events") + tree("events/shop/order/trigger").replace("#", "")
    if re.search(r"latency|hist-|hist:", left):
        fail("%s leaves something behind" % what, left)


class Screen:
    """A terminal of 100 columns and 30 lines, and what was drawn last on it."""

    def __init__(self, args):
        self.pid, self.fd = pty.fork()
        if not self.pid:
            os.environ["TERM"] = "xterm"
            os.execv(RINGSIDE, [RINGSIDE] + args)
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))
        self.text = ""
        self.status = None

    def more(self):
        if select.select([self.fd], [], [], 0.2)[0]:
            try:
                self.text += os.read(self.fd, 65536).decode()
            except OSError:
                return False
        return True

    def frames(self):
        return [f for f in self.text.split("\x1b[H")[1:] if f.endswith("\x1b[J") or "\x1b[J" in f]

    def wait_for(self, pattern):
        deadline = time.monotonic() + 40
        while True:
            frames = self.frames()
            if frames and re.search(pattern, frames[-1]):
                return frames[-1]
            if not self.more() or time.monotonic() > deadline:
                fail("no frame like '%s'" % pattern, self.text)

    def end(self, sig):
        """What is on the terminal in the end, behind the other screen."""
        os.kill(self.pid, sig)
        while self.more():
            pass
        self.status = os.waitpid(self.pid, 0)[1]
        os.close(self.fd)
        return self.text.split("\x1b[?1049l")[-1]


def check_frame(frame):
    lines = frame.replace("\x1b[K", "").split("\x1b[J")[0].split("\r\n")
    if len(lines) > 30 or any(len(line) > 100 for line in lines):
        fail("a frame is larger than the terminal", frame)


def check_hist():
    screen = Screen(HIST)
    screen.wait_for("0 hits, 0 rows")
    subprocess.run([SHOP, "100"], check=True)
    frame = screen.wait_for("100 hits, 5 rows")
    check_frame(frame)
    if not re.search(r"item  hits  amount", frame) or not re.search(r"   4    20   11100  \|#{60,}", frame):
        fail("not the picture that it should be", frame)
    subprocess.run([SHOP, "100"], check=True)
    screen.wait_for("200 hits, 5 rows")
    last = screen.end(signal.SIGINT)
    if screen.status or not re.search(r"   4    40   22200  \|#+\r\n", last) or "200 hits, 5 rows" not in last:
        fail("Ctrl-C: exit %s, and not the last picture" % screen.status, last)
    check_nothing_left("Ctrl-C")


def check_latency():
    screen = Screen(LATENCY)
    screen.wait_for("no end has met a start yet")
    subprocess.run([SHOP, "70", "100"], check=True)
    frame = screen.wait_for("70 starts, 60 met an end")
    check_frame(frame)
    for pattern in (r" us .. +[0-9.]+ [um]s +[0-9]+  \|#+", r"p50 [0-9.]+ [um]s +p90 .* p99 .* p99.9 .* max .* mean ",
                    r"the worst  item +task +at", r" [um]s  [0-4] +shop-[0-9]+ +[0-9]+\.[0-9]{6}"):
        if not re.search(pattern, frame):
            fail("no '%s' in it" % pattern, frame)
    last = screen.end(signal.SIGTERM)
    if screen.status or "70 starts, 60 met an end" not in last or "\x1b[?25h" not in screen.text:
        fail("SIGTERM: exit %s, and not the last picture" % screen.status, last)
    check_nothing_left("SIGTERM")


def check_ends():
    """The terminal goes away; then, killed: the next one removes what is left."""
    for args in (HIST, LATENCY):
        screen = Screen(args)
        screen.wait_for("hits|yet")
        os.close(screen.fd)
        os.waitpid(screen.pid, 0)
        check_nothing_left("a terminal that is gone")
        screen = Screen(args)
        screen.wait_for("hits|yet")
        screen.end(signal.SIGKILL)
        if not re.search(r"hist-|latency-", tree("instances")):
            fail("nothing is left to be removed")
        subprocess.run([RINGSIDE] + args + ["--for", "50ms"], stdout=subprocess.DEVNULL, check=True)
        check_nothing_left("the one after one that was killed")


def check_small():
    """Few lines: the rest is counted."""
    screen = Screen(["hist", "shop:order", "--keys", "amount"])
    fcntl.ioctl(screen.fd, termios.TIOCSWINSZ, struct.pack("HHHH", 10, 40, 0, 0))
    screen.wait_for("0 hits, 0 rows")
    subprocess.run([SHOP, "100"], check=True)
    frame = screen.wait_for("100 hits, [0-9]+ rows")
    if len(frame.split("\r\n")) > 10 or not re.search(r"\.\.\. and [0-9]+ more rows", frame):
        fail("too many lines", frame)
    screen.end(signal.SIGINT)


def main():
    built = os.environ["CC"].split() + ["-O1", "-I" + SOURCE + "/include", SOURCE + "/tests/cmd/live_shop.c", "-o", SHOP,
                                        "-L" + BUILD, "-lringside", "-Wl,-rpath," + BUILD]
    subprocess.run(built, check=True)
    subprocess.run([SHOP, "1"], check=True)
    check_hist()
    check_latency()
    check_ends()
    check_small()


main()
