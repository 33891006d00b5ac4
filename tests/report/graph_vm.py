# SPDX-License-Identifier: MIT
"""What graph_vm took down in its machine as one file of tests/data: see kept.h.

usage: graph_vm.py DIRECTORY KALLSYMS
"""

import bisect
import glob
import os
import re
import struct
import sys

PAGE = 4096


def main():
    where = sys.argv[1]

    def read(name):
        with open(os.path.join(where, name), "rb") as f:
            return f.read()

    def put(name, data):
        data = data if isinstance(data, bytes) else data.encode()
        sys.stdout.buffer.write(b"%d %s\n%s\n" % (len(data), name.encode(), data))

    pages = [read("pages.%d" % cpu) for cpu in (0, 1)]
    pages = [(cpu, p[i:i + PAGE]) for cpu, p in enumerate(pages) for i in range(0, len(p), PAGE)]
    pages = [(cpu, p[:16 + (struct.unpack_from("<Q", p, 8)[0] & 0x7ffffff)]) for cpu, p in pages]
    stats = read("stats").decode()
    entries = sum(map(int, re.findall(r"^entries: (\d+)", stats, re.M)))
    lost = sum(map(int, re.findall(r"^overrun: (\d+)", stats, re.M)))
    looks = sorted(glob.glob(os.path.join(glob.escape(where), "look.??")))
    texts = [(read(os.path.basename(f) + ".options").decode().strip(), read(os.path.basename(f))) for f in looks]
    put("head", "function_graph %d %d 2 %s desktop %d %d 0\n" % (
        entries, entries + lost, read("release").decode().strip(), 0, start_of(dict(texts))))
    for name in sorted(glob.glob(os.path.join(glob.escape(where), "format.*"))):
        name = os.path.basename(name)
        put("format " + name.split(".")[1], read(name))
    put("comms", read("comms"))
    put("tgids", read("tgids"))
    put("symbols", symbols_of(pages, sys.argv[2]))
    for cpu, page in pages:
        put("page %d" % cpu, page)
    for options, text in texts:
        put("look " + options if options else "look", text)


def start_of(texts):
    """When the buffer was cleared: `verbose` has a line's time in microseconds and how long after that it was."""
    text = texts.get("latency-format verbose", b"").decode()
    found = re.search(r"\[([0-9a-f]+)\] (\d+)\.(\d+)ms", text)
    return (int(found[1], 16) - int(found[2] + found[3])) * 1000 if found else 0


def symbols_of(pages, kallsyms):
    """Address, size and name of each function that a word of the pages may point into."""
    with open(kallsyms) as f:
        rows = sorted((int(a, 16), n) for a, _, n in (x.split()[:3] for x in f if "[" not in x))
    addresses = [a for a, _ in rows]
    low, high = (next(a for a, n in rows if n == name) for name in ("_stext", "_etext"))
    found = {}
    for _, page in pages:
        for at in range(16, len(page) - 7, 4):
            word = struct.unpack_from("<Q", page, at)[0]
            if low <= word < high:
                i = bisect.bisect_right(addresses, word) - 1
                first = bisect.bisect_left(addresses, addresses[i])
                found[addresses[i]] = (addresses[i + 1] - addresses[i], rows[first][1])
    return "".join("%x %x %s\n" % (a, *found[a]) for a in sorted(found))


if __name__ == "__main__":
    main()
