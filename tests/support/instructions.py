# SPDX-License-Identifier: MIT
"""Counts the instructions that one call of a function executes.

usage: instructions.py ARCH PROGRAM FUNCTION [FUNCTION ...]

PROGRAM takes a number of calls to make. It is run twice, under callgrind where
ARCH is this machine's and under qemu-user elsewhere, and the difference is
divided by the difference in calls: start, seeding and the last return do not
count. Prints "FUNCTION COUNT" for each. What a function calls is not counted.
"""

import os
import re
import subprocess
import sys
import tempfile

CALLS = (100, 300)


def run(command, **options):
    result = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    if result.returncode:
        sys.exit(f"instructions.py: {' '.join(command)}: exit {result.returncode}\n{result.stderr}")
    return result.stdout


def callgrind(program, calls, functions):
    """Self cost by function, from callgrind's own file: "fn=(1) name", then
    cost lines "position cost"; the line after "calls=" is the callee's."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "out")
        run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={path}", program, str(calls)])
        names, costs, current, skip = {}, dict.fromkeys(functions, 0), None, False
        for line in open(path, encoding="utf-8", errors="replace"):
            if match := re.match(r"fn=(\(\d+\))(?: (.*))?", line):
                names.setdefault(match[1], (match[2] or "").strip())
                current = names[match[1]]
            elif match := re.match(r"c?f[iel]=|cob?=|ob=", line):
                continue
            elif match := re.match(r"cfn=(\(\d+\))(?: (.*))?", line):
                names.setdefault(match[1], (match[2] or "").strip())
            elif line.startswith("calls="):
                skip = True
            elif match := re.match(r"[+*\-\d]\S* (\d+)", line):
                if not skip and current in costs:
                    costs[current] += int(match[1])
                skip = False
        return costs


def symbol_ranges(program, functions):
    ranges = {}
    for line in run(["nm", "-S", program]).splitlines():
        fields = line.split()
        if len(fields) == 4 and fields[3] in functions:
            start = int(fields[0], 16)
            ranges[fields[3]] = (start, start + int(fields[1], 16))
    return ranges


def emulator(arch, program, calls, functions):
    """One translation block an instruction, each logged with its address."""
    ranges = symbol_ranges(program, functions)
    low = min(start for start, _ in ranges.values())
    high = max(end for _, end in ranges.values())
    qemu = f"qemu-{arch}"
    single = "-one-insn-per-tb" if "one-insn-per-tb" in run([qemu, "-help"]) else "-singlestep"
    costs = dict.fromkeys(functions, 0)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "log")
        run([qemu, "-L", f"/usr/{arch}-linux-gnu", "-E", "KSTACKRAND=atfork", single,
             "-d", "exec,nochain", "-dfilter", f"{low:#x}..{high - 1:#x}", "-D", path, program, str(calls)])
        for line in open(path, encoding="utf-8", errors="replace"):
            if match := re.match(r"Trace \d+: 0x[0-9a-f]+ \[[0-9a-f]+/([0-9a-f]+)/", line):
                at = int(match[1], 16)
                for name, (start, end) in ranges.items():
                    if start <= at < end:
                        costs[name] += 1
    return costs


def main():
    arch, program, *functions = sys.argv[1:]
    if arch == os.uname().machine:
        few, many = (callgrind(program, calls, functions) for calls in CALLS)
    else:
        few, many = (emulator(arch, program, calls, functions) for calls in CALLS)
    for name in functions:
        count = (many[name] - few[name]) / (CALLS[1] - CALLS[0])
        print(f"{name} {count:g}")


if __name__ == "__main__":
    main()
