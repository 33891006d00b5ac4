"""The line on a terminal: events, how many a second, size and what is lost while it records; gone when it ends."""

import os
import pty
import re
import select
import subprocess
import sys
import time

SCRATCH = os.environ["RINGSIDE_SCRATCH"]
SOURCE = os.environ["RINGSIDE_SOURCE"]
BUILD = os.environ["RINGSIDE_BUILD"]
BUSY = SCRATCH + "/busy"
GATE = SCRATCH + "/gate"
LINE = r"\r\x1b\[K[0-9.]+ s   %s events   [0-9.]+( k| M|)/s   [0-9.]+ k?B   (\x1b\[1;31m)?lost %s"


def fail(words, text=""):
    print("FAIL: %s\n%r" % (words, text))
    sys.exit(1)


def record(options, script, pattern):
    """All that appears on the terminal. The script ends once the pattern was seen there, if there is one."""
    args = [os.environ["RINGSIDE"], "record", "-o", SCRATCH + "/trace.dat"] + options
    pid, screen = pty.fork()
    if not pid:
        os.environ["TERM"] = "xterm"
        os.environ.pop("NO_COLOR", None)
        os.execv(args[0], args + ["sh", "-c", script, "sh", BUSY, GATE])
    text, opened, deadline = "", False, time.monotonic() + 50
    while True:
        if not select.select([screen], [], [], 1)[0]:
            if time.monotonic() > deadline:
                fail("nothing like '%s'" % pattern, text)
        else:
            try:
                text += os.read(screen, 65536).decode()
            except OSError:
                break
        if not opened and (not pattern or re.search(pattern, text)):
            with open(GATE, "w", encoding="ascii") as gate:
                gate.write("go\n")
            opened = True
    if os.waitpid(pid, 0)[1]:
        fail("it failed", text)
    return text


def check_end(text, words):
    """The line is taken away before anything else is said."""
    lines = text.split("\r\x1b[K")
    if not re.fullmatch(r"(\x1b\[[0-9;]*m)*ringside:(\x1b\[[0-9;]*m)* %s\r\n" % words, lines[-1]):
        fail("not '%s' in the end" % words, text)
    if any("\n" in line for line in lines[:-1]):
        fail("the line is not one line", text)


def main():
    built = os.environ["CC"].split() + ["-O1", "-I" + SOURCE + "/include", SOURCE + "/tests/record/busy.c", "-o", BUSY,
                                        "-L" + BUILD, "-lringside", "-Wl,-rpath," + BUILD]
    subprocess.run(built, check=True)
    os.mkfifo(GATE)

    # 501 of its own, and some that tell of processes.
    text = record([], '"$1" 1 500; read go <"$2"', LINE % ("5[0-9][0-9]", "0"))
    check_end(text, r"\S+: 5[0-9][0-9] events, [0-9.]+ kB, none lost")

    text = record(["-b", "32"], 'kill -STOP $PPID; "$1" 2 4000; kill -CONT $PPID; read go <"$2"',
                  LINE % (r"[0-9.]+( k|)", r"[0-9.]+( k|)\x1b\[0m"))
    check_end(text, r"\S+: [0-9]+ events, [0-9.]+ kB, [1-9][0-9]* lost")

    text = record(["-q"], '"$1" 1 500; sleep 1; read go <"$2"', "")
    if text:
        fail("something is shown with -q", text)

    # Not on a terminal: only how it went.
    done = subprocess.run([os.environ["RINGSIDE"], "record", "-o", SCRATCH + "/trace.dat", "sh", "-c", '"$1" 1 500; sleep 1', "sh",
                           BUSY], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=True)
    if not re.fullmatch(r"ringside: \S+: 5[0-9][0-9] events, [0-9.]+ kB, none lost\n", done.stdout):
        fail("not one line", done.stdout)


main()
