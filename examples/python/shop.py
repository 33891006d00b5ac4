#!/usr/bin/python3
"""A shop in Python, traced with Ringside through its C interface.

    ringside start -e shop
    examples/python/shop.py build/libringside.so
    ringside show

The argument is where the library is; without it the installed one is loaded. `Event` below is all
that it takes: it defines an event by the names and types of its fields and records it when called.
"""

import ctypes
import sys


class Bytes(ctypes.Structure):
    """Text, arrays and bits: where they are, and how many."""

    _fields_ = [("data", ctypes.c_void_p), ("len", ctypes.c_size_t)]


class Value(ctypes.Union):
    """union ringside_value."""

    _fields_ = [("i", ctypes.c_int64), ("u", ctypes.c_uint64), ("d", ctypes.c_double),
                ("bytes", Bytes)]


def load(path):
    """The library, with the functions of ringside/define.h declared."""
    lib = ctypes.CDLL(path)
    lib.ringside_define.restype = ctypes.c_void_p
    lib.ringside_define.argtypes = [ctypes.c_char_p] * 5 + [ctypes.c_size_t]
    lib.ringside_enabled_word.restype = ctypes.POINTER(ctypes.c_uint32)
    lib.ringside_enabled_word.argtypes = [ctypes.c_void_p]
    lib.ringside_emit.argtypes = [ctypes.c_void_p, ctypes.POINTER(Value), ctypes.c_size_t]
    lib.ringside_mark.argtypes = [ctypes.c_char_p]
    lib.ringside_mark.restype = None
    return lib


class Event:
    """An event: `Event(lib, "shop", "sale", "int item; string who")(42, "ann")`."""

    def __init__(self, lib, system, name, fields, text=None):
        why = ctypes.create_string_buffer(200)
        self.emit = lib.ringside_emit
        self.handle = lib.ringside_define(system.encode(), name.encode(), fields.encode(),
                                          text.encode() if text else None, why, len(why))
        if not self.handle:
            raise ValueError(why.value.decode())
        # Reading this word costs less than a call of the library.
        self.wanted = lib.ringside_enabled_word(self.handle)

    def __call__(self, *args):
        if not self.wanted[0]:
            return
        values = (Value * len(args))()
        keep = [fill(value, arg) for value, arg in zip(values, args)]
        if self.emit(self.handle, values, len(args)):
            raise TypeError("%d values do not fit the event's fields" % len(args))
        del keep


def fill(value, arg):
    """Put a Python value into a Value; returns what must live as long as that."""
    if isinstance(arg, float):
        value.d = arg
        return None
    if isinstance(arg, int):
        value.i = arg
        return None
    count = len(arg)
    if isinstance(arg, str):
        arg = arg.encode()
        count = len(arg)
    if isinstance(arg, bytes):
        arg = ctypes.create_string_buffer(arg, len(arg))
    value.bytes = Bytes(ctypes.cast(arg, ctypes.c_void_p), count)
    return arg


def main():
    """Sell a few things."""
    lib = load(sys.argv[1] if len(sys.argv) > 1 else "libringside.so.0")
    sale = Event(lib, "shop", "sale",
                 "int item; double price; string customer; u8 mac[6]; int lines[]; u8 status",
                 '"item=%d price=%.2f customer=%s mac=%s lines=%s status=%s", item, price, '
                 'customer, mac, lines, __print_symbolic(status, { 0, "new" }, { 1, "paid" })')
    lib.ringside_mark("the shop opens".encode())
    for i, customer in enumerate(["ann", "bob", "chloé"]):
        lines = (ctypes.c_int * (i + 1))(*range(i + 1))
        sale(40 + i, 9.99 * (i + 1), customer, bytes([2, 0, 0, 0, 0, i]), lines, i % 2)
    lib.ringside_mark("the shop closes".encode())


if __name__ == "__main__":
    main()
