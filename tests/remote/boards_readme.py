#!/usr/bin/python3
"""Every line of the example boards' README works as it stands there, one after the other, and shows what it says."""

import os
import re
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import boards
from boards import BUILD, SCRATCH, SOURCE, fail

# In places of our own. A person takes longer to type than a board to begin, and ends what goes on by Ctrl-C.
OURS = ((r"/dev/shm/", SCRATCH + "/"), (r"/tmp\b", SCRATCH), (r"\$PWD/build", BUILD), (r" build/examples/", " %s/examples/" % BUILD),
        (r"^(ringside remote add board .*)$", r"for i in $(seq 600); do \1 && break || sleep 0.1; done"),
        (r"^(ringside cat -f .*?) *#.*$", r"timeout 1 \1 || [ $? -eq 124 ]"))
BEGIN = 'set -em\ntrap "kill -KILL %1 2>/dev/null || :" EXIT\n'


def main():
    boards.need_boards("mps2-an385")
    lines = []
    with open(SOURCE + "/examples/firmware/README.md", encoding="utf-8") as readme:
        for line in readme:
            if line.startswith("    "):
                line = line.strip()
                for what, ours in OURS:
                    line = re.sub(what, ours, line)
                lines.append(line)
    # What it leaves behind is left with us.
    os.symlink(SOURCE + "/examples", SCRATCH + "/examples")
    done = subprocess.run(["bash", "-c", BEGIN + "\n".join(lines)], cwd=SCRATCH, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, check=False)
    counts = [len(re.findall(text, done.stdout)) for text in ("send: +value=", "doorbell: +seq=", "answered: +value=")]
    if done.returncode or len(lines) < 20:
        fail("%d lines end with %d" % (len(lines), done.returncode), "\n".join(lines) + "\n" + done.stdout[-1500:] + done.stderr)
    if counts != [7, 7, 7] or "the newest stay\n" not in done.stdout or done.stdout.count("\n[000]") < 500 or "matched to" not in done.stderr:
        fail("it does not show what it should", done.stdout + done.stderr)


main()
