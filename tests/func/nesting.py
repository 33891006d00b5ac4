"""Who called whom, as two tracers tell it: nesting.py FILE KIND NAMES, where KIND is uftrace (replay -f tid --no-merge) or ringside
(report), and NAMES a file with the functions that count.

Prints each thread's calls, "DEPTH NAME" a line, threads by their calls and a line between them. What is not in NAMES is as if it
were not there: those below it are a level higher.
"""
import re
import sys

UFTRACE = re.compile(r'\s*\[\s*(\d+)\] \| ( *)(?:([\w.$~]+)\(.*\) \{|(\}) )')
RINGSIDE = re.compile(r'.*-(\d+)\s+\[\d+\].*funcgraph_e\w+:.*\|  ( *)(?:([\w.$~]+)\(\)( \{|;)|(\}))')


def calls(lines, kind):
    """(thread, depth, name) of each beginning; (thread, depth, None) of each end."""
    for line in lines:
        m = (UFTRACE if kind == 'uftrace' else RINGSIDE).match(line)
        if not m:
            continue
        tid, depth = int(m[1]), len(m[2]) // 2
        yield tid, depth, m[3]
        if kind == 'ringside' and m[4] == ';':
            yield tid, depth, None


names = set(open(sys.argv[3]).read().split())
threads = {}
for tid, depth, name in calls(open(sys.argv[1]), sys.argv[2]):
    stack, told = threads.setdefault(tid, ([], []))
    # By depth, not by braces: a call may have been left otherwise.
    del stack[depth:]
    if name is None:
        continue
    stack += [False] * (depth - len(stack))
    if name in names:
        told.append('%d %s' % (sum(stack), name))
    stack.append(name in names)
print('\n--\n'.join(sorted('\n'.join(told) for _, told in threads.values() if told)))
