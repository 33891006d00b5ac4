# SPDX-License-Identifier: MIT
"""Make trace files in which all that a reader has to know of occurs.

usage: make_dat.py LIST         the names of all cases, one a line
       make_dat.py CASE FILE    write that one
       make_dat.py ALL DIR      write all of them as DIR/CASE.dat

A case is a function of one of the case_*.py; its first line says what it is about. The same bytes come
out each time.
"""

import os
import sys

sys.dont_write_bytecode = True
# Being loaded is what makes their cases known.
import case_calls  # noqa: E402,F401
import case_files  # noqa: E402,F401
import case_lot  # noqa: E402,F401
import case_records  # noqa: E402,F401
import case_tasks  # noqa: E402,F401
from scene import CASES  # noqa: E402


def main():
    if sys.argv[1:] == ["LIST"]:
        print("\n".join(CASES))
    elif len(sys.argv) == 3 and sys.argv[1] == "ALL":
        for name, make in CASES.items():
            make().save(os.path.join(sys.argv[2], name + ".dat"))
    elif len(sys.argv) == 3 and sys.argv[1] in CASES:
        CASES[sys.argv[1]]().save(sys.argv[2])
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
