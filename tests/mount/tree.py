"""What tests of the mount share that are written in Python: the tree at PLACE, mounted while a test runs."""

import errno
import os
import signal
import subprocess
import sys

RINGSIDE = os.environ["RINGSIDE"]
PLACE = os.environ["RINGSIDE_SCRATCH"] + "/tree"


def path(name):
    return os.path.join(PLACE, name)


def write(name, text):
    with open(path(name), "w") as f:
        f.write(text)


def text_of(name):
    with open(path(name)) as f:
        return f.read()


def check(good, words):
    if not good:
        raise AssertionError(words)


def refused(error, what, *args):
    try:
        what(*args)
    except OSError as e:
        check(e.errno == error, "%s instead of %s" % (e, errno.errorcode[error]))
    else:
        raise AssertionError("not refused with " + errno.errorcode[error])


class CannotRun(Exception):
    """Why the test cannot be run here."""


def run(test):
    """Ends the program as the test does: with 77 and the reason when it cannot be run here."""
    try:
        os.close(os.open("/dev/fuse", os.O_RDWR))
    except OSError as e:
        print("/dev/fuse cannot be opened here: %s" % e.strerror)
        sys.exit(77)
    none = subprocess.run([RINGSIDE, "mount", PLACE], stderr=subprocess.PIPE, check=False)
    if b"without libfuse" in none.stderr:
        print("this build has no libfuse")
        sys.exit(77)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(99))
    os.mkdir(PLACE)
    try:
        subprocess.run([RINGSIDE, "mount", PLACE], check=True)
        test()
    except CannotRun as e:
        print(e)
        sys.exit(77)
    finally:
        if subprocess.run([RINGSIDE, "umount", PLACE], check=False).returncode:
            subprocess.run(["umount", "-l", PLACE], check=False)
