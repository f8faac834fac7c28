#!/usr/bin/env python3
"""Describes where the functions of a static CUDA runtime lie, so that they are found in programs and libraries without symbols.

    static_layout.py NAME LIBCUDART_STATIC.A > src/cubin/static_layout_NAME.inc

The runtime is one object file, so its functions keep their distances in every program. Each row has a function's place, the
bytes up to the next one, how many of its first bytes no linker changes, and their hash; no code is copied.
"""

import bisect
import struct
import sys

MOST = 48  # bytes that are hashed
CALL_MODES = (9, 19, 20, 21, 22, 41, 42)  # relocations at which linkers may also change the instruction before


def members(path):
    data = open(path, "rb").read()
    assert data[:8] == b"!<arch>\n"
    at = 8
    while at < len(data):
        size = int(data[at + 48:at + 58])
        yield data[at + 60:at + 60 + size]
        at += 60 + size + (size & 1)


def sections(elf):
    start, = struct.unpack_from("<Q", elf, 0x28)
    count, = struct.unpack_from("<H", elf, 0x3C)
    keys = ("name", "type", "flags", "address", "offset", "size", "link", "info", "align", "entry")
    return [dict(zip(keys, struct.unpack_from("<IIQQQQIIQQ", elf, start + 64 * i))) for i in range(count)]


def digest(data):
    """As cubin/static_runtime.cc has it: over words of 8 bytes."""
    value = 0xCBF29CE484222325
    for word, in struct.iter_unpack("<Q", data):
        value = (value ^ word) * 0x9E3779B97F4A7C15 & 0xFFFFFFFFFFFFFFFF
        value ^= value >> 32
    return value


def main():
    name, path = sys.argv[1:]
    elf = max((m for m in members(path) if m[:4] == b"\x7fELF"), key=len)
    parts = sections(elf)
    table = next(s for s in parts if s["type"] == 2)
    strings = parts[table["link"]]["offset"]
    functions, starts = [], {}
    for at in range(table["offset"], table["offset"] + table["size"], 24):
        word, info, _, section, value, _ = struct.unpack_from("<IBBHQQ", elf, at)
        if info & 15 != 2 or section == 0 or section >= 0xFF00:
            continue
        text = elf[strings + word:elf.index(b"\0", strings + word)].decode()
        starts.setdefault(section, set()).add(value)
        if text.startswith(("cuda", "__cuda")):
            functions.append((text, section, value))
    main_section = max(starts, key=lambda s: len(starts[s]))
    places = sorted(starts[main_section]) + [parts[main_section]["size"]]
    changed = set()
    for part in parts:
        if part["type"] != 4 or part["info"] != main_section:
            continue
        for at in range(part["offset"], part["offset"] + part["size"], 24):
            offset, info = struct.unpack_from("<QQ", elf, at)
            kind = info & 0xFFFFFFFF
            changed.update(range(offset - (3 if kind in CALL_MODES else 0), offset + (8 if kind == 1 else 4)))
    print(f"// Where the functions of the static CUDA runtime {name} lie. Made by tools/dev/static_layout.py.")
    for text, section, value in sorted(functions, key=lambda f: (f[2], f[0])):
        if section != main_section:
            continue
        room = places[bisect.bisect_right(places, value)] - value
        length = 0
        while length < min(room, MOST) and value + length not in changed:
            length += 1
        length -= length % 8
        code = elf[parts[main_section]["offset"] + value:][:length]
        print(f"MUSCOPE_STATIC_FUNCTION({text}, {value}, {room}, {length}, {digest(code):#018x})")


main()
