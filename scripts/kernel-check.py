#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Says which functions of a policy a kernel image has, and whether their machine
code draws.

    scripts/kernel-check.py [--policy FILE]... [--require NAME]... vmlinux

Reads the symbol table of vmlinux (x86_64 or arm64) and the code of each function
that the policy names (default: presets/linux.policy). A name that the image
lacks is told, and counts as an error only if it is required: do_syscall_64 on
x86_64 and invoke_syscall on arm64 always are, and one reseed point of each kind.

Exit status: 0 if all that is there is instrumented and all that is required is
there, 1 if not, 2 if the image cannot be judged.
"""

import argparse
import fnmatch
import os
import re
import struct
import sys

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
STATE, MASK, STATE_BYTES = "__kstackrand_cpu", "__kstackrand_mask", 32

X86_64, AARCH64 = 62, 183
REQUIRED = {
    X86_64: ["do_syscall_64"],
    AARCH64: ["invoke_syscall"],
}
# One of each line.
REQUIRED_RESEED = [
    ["cpu_startup_entry"],
    ["kernel_execve"],
    ["scheduler_tick", "sched_tick"],
]


class CannotTell(Exception):
    pass


class Image:
    """Symbols and code of a 64-bit little-endian ELF file."""

    def __init__(self, path):
        try:
            with open(path, "rb") as file:
                self.data = file.read()
        except OSError as error:
            raise CannotTell(f"cannot read '{path}': {error.strerror}") from error
        if self.data[:6] != b"\x7fELF\x02\x01":
            raise CannotTell(f"'{path}' is no 64-bit little-endian ELF file; vmlinux is wanted, not bzImage")
        self.machine = struct.unpack_from("<H", self.data, 18)[0]
        if self.machine not in REQUIRED:
            raise CannotTell(f"'{path}' is for machine {self.machine}; x86_64 and arm64 are known")
        self.read_sections()
        self.read_symbols()

    def read_sections(self):
        offset, = struct.unpack_from("<Q", self.data, 40)
        size, count = struct.unpack_from("<HH", self.data, 58)
        self.sections = [struct.unpack_from("<IIQQQQIIQQ", self.data, offset + i * size) for i in range(count)]

    def read_symbols(self):
        self.symbols = {}
        tables = [section for section in self.sections if section[1] == 2]
        if not tables:
            raise CannotTell("there is no symbol table; it was stripped")
        for table in tables:
            strings = self.sections[table[6]][4]
            for at in range(table[4], table[4] + table[5], 24):
                name, _info, _other, section, value, size = struct.unpack_from("<IBBHQQ", self.data, at)
                if not name:
                    continue
                end = self.data.index(b"\0", strings + name)
                text = self.data[strings + name : end].decode(errors="replace")
                self.symbols.setdefault(text, (value, size, section))

    def address(self, name):
        return self.symbols[name][0] if name in self.symbols else None

    def code(self, name):
        value, size, index = self.symbols[name]
        section = self.sections[index]
        start = section[4] + value - section[3]
        return value, self.data[start : start + size]


def x86_references(image, name):
    """The fields of the state that the code reaches relative to its own place,
    each with the opcode before it. The displacement is followed by the
    instruction's immediate operand, if it has one."""
    address, code = image.code(name)
    state = image.address(STATE)
    for at in range(3, len(code) - 3):
        displacement, = struct.unpack_from("<i", code, at)
        for immediate in (0, 1, 4):
            target = (address + at + 4 + immediate + displacement) & (2**64 - 1)
            if state <= target < state + STATE_BYTES:
                yield target - state, code[at - 3 : at - 1]


def arm64_references(image, name):
    """The fields of the state whose page the code takes, and exclusive loads."""
    address, code = image.code(name)
    state = image.address(STATE)
    for at in range(0, len(code) & ~3, 4):
        word, = struct.unpack_from("<I", code, at)
        if word & 0x9F000000 == 0x90000000:  # adrp
            pages = (word >> 5 & 0x7FFFF) << 2 | word >> 29 & 3
            pages -= (pages & 1 << 20) << 1
            if ((address + at >> 12) + pages) << 12 == state & ~0xFFF:
                yield 0, b"adrp"
        elif word & 0xFFFFFC00 == 0xC85F7C00:
            yield 0, b"ldxr"


def draws(image, name):
    if image.machine == X86_64:
        return any(field == 0 and opcode == b"\x0f\xc1" for field, opcode in x86_references(image, name))
    found = [opcode for _field, opcode in arm64_references(image, name)]
    return b"adrp" in found and b"ldxr" in found


def reseeds(image, name):
    if image.machine == X86_64:
        fields = {field for field, _opcode in x86_references(image, name)}
        return fields >= {0, 8, 16, 24}
    return any(opcode == b"adrp" for _field, opcode in arm64_references(image, name))


def read_policy(path):
    words = {"entry": [], "reseed": []}
    try:
        with open(path, encoding="utf-8") as file:
            lines = file.read().splitlines()
    except OSError as error:
        raise CannotTell(f"cannot read '{path}': {error.strerror}") from error
    for line in lines:
        parts = re.sub(r"(^|\s)#.*", "", line).split(None, 1)
        if len(parts) == 2 and parts[0] in words:
            words[parts[0]].append(parts[1].strip())
    return words


def find(image, glob):
    """Functions of that name; a suffix such as .isra.0 is the compiler's."""
    for name, (_value, size, section) in image.symbols.items():
        if size and section and section < 0xFF00 and fnmatch.fnmatchcase(re.sub(r"\..*", "", name), glob):
            if image.sections[section][2] & 4:  # code
                yield name


def check(image, policy, required):
    """Prints a line a name; gives the number of errors."""
    errors = 0
    good = set()
    if image.address(STATE) is None or image.address(MASK) is None:
        print(f"missing   {STATE}, {MASK}: no file of this kernel was instrumented")
        return 1
    for kind, test, verb in (("entry", draws, "draws"), ("reseed", reseeds, "reseeds")):
        for glob in policy[kind]:
            names = list(find(image, glob))
            for name in names:
                holds = test(image, name)
                print(f"{'ok' if holds else 'MISSING':8}  {kind} {name}: {verb if holds else 'is there, but does not ' + verb[:-1]}")
                errors += not holds
                if holds:
                    good.add(re.sub(r"\..*", "", name))
            if not names:
                print(f"absent    {kind} {glob}: this image has no such function")
    for alternatives in required:
        if not good & set(alternatives):
            print(f"MISSING   {' or '.join(alternatives)}: required")
            errors += 1
    return errors


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--policy", action="append", metavar="FILE")
    parser.add_argument("--require", action="append", default=[], metavar="NAME")
    parser.add_argument("image", metavar="vmlinux")
    arguments = parser.parse_args()
    try:
        image = Image(arguments.image)
        policy = {"entry": [], "reseed": []}
        for path in arguments.policy or [os.path.join(TOP, "presets", "linux.policy")]:
            for kind, globs in read_policy(path).items():
                policy[kind] += globs
        required = [[name] for name in REQUIRED[image.machine] + arguments.require] + REQUIRED_RESEED
        errors = check(image, policy, required)
    except CannotTell as problem:
        print(f"kernel-check: error: {problem}", file=sys.stderr)
        return 2
    print(f"{'FAIL' if errors else 'PASS'}: {arguments.image}: {errors} of the policy's functions are not as they should be"
          if errors else f"PASS: {arguments.image}")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
