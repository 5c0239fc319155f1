#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Says which functions of a policy a kernel image has, and whether their machine
code draws.

    scripts/kernel-check.py [--policy FILE]... [--require NAME]... vmlinux
    scripts/kernel-check.py [--policy FILE]... --canaries-of PLAIN vmlinux

Reads the symbol table of vmlinux (x86_64 or arm64) and the code of each function
that the policy names (default: presets/linux.policy). A name that the image
lacks is told, and counts as an error only if it is required: do_syscall_64 on
x86_64 and do_el0_svc on arm64 always are, and one reseed point of each kind.

A function draws when it advances the counter in one step that no interrupt
splits, and takes the mask from the state of its CPU. It reseeds when it reaches
each field of that state, and the mask of the whole kernel, which it copies there.

With --canaries-of, it compares the same functions with those of PLAIN, the same
kernel built without the plugin: none may have got a stack canary.

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
# The state of a CPU, and the byte offsets of its fields; the kernel's mask.
STATE, STATE_BYTES = "__kstackrand_cpu", 32
COUNTER, KEY, STEP, CPU_MASK = 0, 8, 16, 24
MASK, MASK_BYTES = "__kstackrand_mask", 8
# Where a function goes that finds its canary gone.
CANARY_GONE = "__stack_chk_fail"

X86_64, AARCH64 = 62, 183
REQUIRED = {
    X86_64: ["do_syscall_64"],
    AARCH64: ["do_el0_svc"],
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


def x86_references(image, name, symbol, size):
    """The byte offsets in a symbol that the code reaches relative to its own
    place, each with the opcode before it. The displacement is followed by the
    instruction's immediate operand, if it has one."""
    address, code = image.code(name)
    start = image.address(symbol)
    for at in range(3, len(code) - 3):
        displacement, = struct.unpack_from("<i", code, at)
        for immediate in (0, 1, 4):
            target = (address + at + 4 + immediate + displacement) & (2**64 - 1)
            if start <= target < start + size:
                yield target - start, code[at - 3 : at - 1]


def x86_jumps(image, name):
    """Where calls and jumps with a displacement of 32 bits lead: e8, e9, 0f 8x. What
    only looks like one, in the middle of an instruction, is among them."""
    address, code = image.code(name)
    for at in range(2, len(code) - 3):
        if code[at - 1] & 0xFE == 0xE8 or code[at - 2] == 0x0F and code[at - 1] & 0xF0 == 0x80:
            displacement, = struct.unpack_from("<i", code, at)
            yield (address + at + 4 + displacement) & (2**64 - 1)


def arm64_words(image, name):
    """Each instruction of a function, with its address."""
    address, code = image.code(name)
    for at in range(0, len(code) & ~3, 4):
        yield address + at, struct.unpack_from("<I", code, at)[0]


def arm64_pages(image, name):
    """The pages that the code takes by adrp."""
    for address, word in arm64_words(image, name):
        if word & 0x9F000000 == 0x90000000:
            pages = (word >> 5 & 0x7FFFF) << 2 | word >> 29 & 3
            pages -= (pages & 1 << 20) << 1
            yield ((address >> 12) + pages) << 12


def page(image, symbol):
    return image.address(symbol) & ~0xFFF


def draws(image, name):
    if image.machine == X86_64:
        found = list(x86_references(image, name, STATE, STATE_BYTES))
        return (COUNTER, b"\x0f\xc1") in found and any(field == CPU_MASK for field, _opcode in found)  # xadd
    exclusive = any(word & 0xFFFFFC00 == 0xC85F7C00 for _address, word in arm64_words(image, name))  # ldxr
    return exclusive and page(image, STATE) in arm64_pages(image, name)


def reseeds(image, name):
    if image.machine == X86_64:
        fields = {field for field, _opcode in x86_references(image, name, STATE, STATE_BYTES)}
        return fields >= {COUNTER, KEY, STEP, CPU_MASK} and any(x86_references(image, name, MASK, MASK_BYTES))
    return {page(image, STATE), page(image, MASK)} <= set(arm64_pages(image, name))


def canaries(image, name):
    """How often the code calls, or jumps, to where a lost canary leads."""
    target = image.address(CANARY_GONE)
    if target is None:
        return 0
    if image.machine == X86_64:
        return list(x86_jumps(image, name)).count(target)
    found = 0
    for address, word in arm64_words(image, name):
        if word & 0x7C000000 == 0x14000000:  # b, bl
            words = word & 0x3FFFFFF
            found += address + 4 * (words - ((words & 1 << 25) << 1)) == target
    return found


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
    """Functions of that name; a suffix such as .isra.0 is the compiler's. Its .cold
    is no function, but the part of one that hardly ever runs."""
    for name, (_value, size, section) in image.symbols.items():
        if ".cold" not in name and size and section and section < 0xFF00 and fnmatch.fnmatchcase(re.sub(r"\..*", "", name), glob):
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


def compare_canaries(image, plain, policy):
    """Prints a line a function; gives the number of those that gained one. What
    PLAIN does not have, because it was inlined there, had none of its own."""
    gained = 0
    for glob in [*policy["entry"], *policy["reseed"]]:
        stems = {re.sub(r"\..*", "", name) for name in find(image, glob)}
        for stem in sorted(stems):
            ours, theirs = (sum(canaries(one, name) for name in find(one, stem)) for one in (image, plain))
            print(f"{'ok' if ours <= theirs else 'GAINED':8}  {stem}: {ours} canary checks, {theirs} without the plugin")
            gained += ours > theirs
    return gained


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--policy", action="append", metavar="FILE")
    parser.add_argument("--require", action="append", default=[], metavar="NAME")
    parser.add_argument("--canaries-of", metavar="PLAIN")
    parser.add_argument("image", metavar="vmlinux")
    arguments = parser.parse_args()
    try:
        image = Image(arguments.image)
        policy = {"entry": [], "reseed": []}
        for path in arguments.policy or [os.path.join(TOP, "presets", "linux.policy")]:
            for kind, globs in read_policy(path).items():
                policy[kind] += globs
        if arguments.canaries_of:
            errors = compare_canaries(image, Image(arguments.canaries_of), policy)
        else:
            required = [[name] for name in REQUIRED[image.machine] + arguments.require] + REQUIRED_RESEED
            errors = check(image, policy, required)
    except CannotTell as problem:
        print(f"kernel-check: error: {problem}", file=sys.stderr)
        return 2
    except (struct.error, IndexError, ValueError):
        print(f"kernel-check: error: '{arguments.image}' is damaged: it points beyond its end", file=sys.stderr)
        return 2
    what = "have a canary that they had not without the plugin" if arguments.canaries_of else "are not as they should be"
    print(f"FAIL: {arguments.image}: {errors} of the policy's functions {what}" if errors else f"PASS: {arguments.image}")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
