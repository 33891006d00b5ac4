# SPDX-License-Identifier: MIT
"""Trace files whose events are put together by lot, out of what kernels use in theirs."""

import random
import re

from dat import Event, File
from scene import T0, case, symbols, tasks

PIECES = [
    ("int", '%d', 'REC->{0}'), ("int", '%u', 'REC->{0}'), ("unsigned int", '0x%x', 'REC->{0}'), ("unsigned int", '%08x', '(unsigned int) REC->{0}'),
    ("long", '%ld', 'REC->{0}'), ("unsigned long", '%lu', 'REC->{0}'), ("unsigned long", '0x%lx', 'REC->{0}'),
    ("unsigned long", '%pS', '(void *)REC->{0}'), ("unsigned long", '%ps', '(void *)REC->{0}'), ("u64", '%llu', '(unsigned long long)REC->{0}'),
    ("s64", '%lld', 'REC->{0}'), ("u64", '0x%llx', 'REC->{0}'), ("u64", '%llu', 'REC->{0} / 1000'), ("u8", '%d', 'REC->{0}'),
    ("u8", '%u', 'REC->{0} & 0xf'), ("u16", '%hu', 'REC->{0}'), ("bool", '%d', 'REC->{0}'),
    ("bool", '%s', 'REC->{0} ? "true" : "false"'), ("void *", '%p', 'REC->{0}'), ("gfp_t", '%#x', 'REC->{0}'),
    ("pid_t", '%d', 'REC->{0}'), ("size_t", '%zu', 'REC->{0}'), ("dev_t", '%d,%d', '((unsigned int) ((REC->{0}) >> 20)), '
     '((unsigned int) ((REC->{0}) & ((1U << 20) - 1)))'),
    ("int", '%s', '__print_symbolic(REC->{0}, {{ 0, "NONE" }}, {{ 1, "FIRST" }}, {{ 2, "SECOND" }})'),
    ("unsigned long", '%s', '(REC->{0}) ? __print_flags(REC->{0}, "|", {{ 1UL << 0, "A" }}, {{ 1UL << 1, "B" }}, {{ 1UL << 5, "C" }}) : "none"'),
    ("char {0}[16]", '%s', 'REC->{0}'), ("__data_loc char[] {0}", '%s', '__get_str({0})'), ("__rel_loc char[] {0}", '%s', '__get_rel_str({0})'),
    ("u8 {0}[6]", '%pM', 'REC->{0}'), ("u8 {0}[4]", '%pI4', 'REC->{0}'), ("u32 {0}[3]", '%s', '__print_array(REC->{0}, 3, 4)'),
    ("u8 {0}[5]", '%s', '__print_hex(REC->{0}, 5)'), ("__data_loc u32[] {0}", '%s', '__print_array(__get_dynamic_array({0}), __get_dynamic_array_len({0}) / 4, 4)'),
    ("__data_loc unsigned long[] {0}", '%s', '__get_bitmask({0})'), ("unsigned long {0}[2]", '%lx-%lx', 'REC->{0}[0], REC->{0}[1]'),
    ("enum kind", '%d', 'REC->{0}'), ("unsigned int", '%s', 'REC->{0} > 3 ? "many" : "few"'), ("u64", '%llu.%03llu', 'REC->{0} / 1000, REC->{0} % 1000'),
    ("int", '', ''), ("unsigned long", '', ''), ("char {0}[8]", '', ''), ("u8 {0}[3]", '', ''), ("void *", '', ''), ("__data_loc char[] {0}", '', ''),
    ("s64", '', ''), ("unsigned char", '', ''), ("signed char", '', '')]


def random_events(f, seed):
    """Events put together by lot out of what kernels use, with records by lot."""
    rnd = random.Random(seed)
    base = symbols(f)
    tasks(f, 10, 11, 12)
    now = T0
    # See big_arrays() on what is left out.
    pieces = [p for p in PIECES if f.order == "<" or not re.search("__print_array|bitmask", p[2])]
    for number in range(40):
        fields, formats, args, kinds = [], [], [], []
        for i in range(rnd.randrange(1, 7)):
            kind, conv, arg = rnd.choice(pieces)
            name = "abcdefg"[i]
            fields.append(kind.format(name) if "{0}" in kind else "%s%s" % (kind, name) if kind[-1] == "*" else "%s %s" % (kind, name))
            kinds.append((name, kind))
            if conv:
                formats.append("%s=%s" % (name, conv) if rnd.randrange(5) else conv)
                args.append(arg.format(name))
        text = '"%s"%s' % (" ".join(formats), "".join(", " + a for a in args))
        event = f.define("lot", Event("lot_%d" % number, 1000 + number, fields, text))
        for _ in range(4):
            values = {}
            for name, kind in kinds:
                if "char" in kind and "[" in kind:
                    values[name] = "".join(rnd.choice("ab cd/.:%") for _ in range(rnd.randrange(7)))
                elif "[" in kind:
                    values[name] = [rnd.choice([0, 1, 65, 200, 1 << 31]) for _ in range(rnd.randrange(1, 6))]
                else:
                    values[name] = rnd.choice([0, 1, 2, 3, 5, 33, 255, -1, -5, 1 << 20, 1 << 31, base + 0x110, rnd.getrandbits(64)])
            f.top.add(rnd.randrange(2), now, event, rnd.choice([0, 10, 11, 12, 77]), rnd.choice([0, 1, 8, 16]), rnd.randrange(4), **values)
            now += rnd.randrange(3000)
    return f


def by_lot(seed, **how):
    def make():
        return random_events(File(**how), seed)
    make.__name__ = "lot_%d" % seed
    make.__doc__ = "Events put together by lot."
    return make


for number in range(1, 9):
    case(by_lot(number))
case(by_lot(101, version=6, order=">"))
case(by_lot(102, long_size=4))
