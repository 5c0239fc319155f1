#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Judges what test kernels printed (init.c), for scripts/kernel-test.sh.

    judge.py run FOLDER --kernel V --arch A --cc C [--with TEXT] [--cpus N]
                 [--expect KEY]... [--seconds N N N N] [--results FILE]
    judge.py table FILE [--into DOCUMENT]
    judge.py cells LOG FILE

`run` reads FOLDER/<image>-<test>[-vhe].log, where an image is plain, upstream or
ours and a test is count, stack or mask-<parameter>; what was not booted is not
judged. One line a check; the last line is PASS or FAIL with all figures.
--expect names a way into the kernel, int80 or compat, that must have been tried
besides the usual one; --with, what was special about the kernel, which has no budget
of instructions then: STACKLEAK erases behind each call what was shifted over, others
instrument what the compiler made different; --seconds, how long its builds took, the plain one on the clock and of the processors, then ours.
With --results, one more line in that file, of which `table` makes Markdown
tables: one of the usual kernels and one of the special ones.

`cells` writes what a boot with TEST=many printed as the programs of tests/random
read it: the cell of each call, one byte each.
"""

import argparse
import datetime
import glob
import json
import os
import re
import sys
from collections import Counter

CELLS = 64
CELL_BYTES = 16
# 63 degrees of freedom: equal cells go above this once in 100 000 times, and all
# runs together ask some dozens of times.
CHI2_LIMIT = 123.0
SAMPLES_MIN = 20000
# Of each way in that only some programs take.
OTHER_SAMPLES_MIN = 4000
# Instructions a system call on top of what it costs without.
BUDGET = {"x86_64": 12, "arm64": 26}
CALLS = ["getpid", "getppid", "invalid"]
# Tasks, and calls on each CPU of a task that is moved between them.
CHILDREN_MIN = 1000
CALLS_BY_CPU_MIN = 400
# Two runs of this many calls, among all that were seen, that move the stack in
# the same way: by chance less than once in 10^7 tests.
WINDOW = 10
# What a boot parameter leaves of the cells.
MASKS = {"0": 1, "8": 1, "0x1f0": 32, "0xffffffffffffffff": 64, "junk": 64}
DEFAULT_MASK = "1008"


# What the kernel says when it finds fault with itself, and races that KCSAN finds
# in code where the plugin has no part: small kernels are not free of them.
COMPLAINT = re.compile(r"BUG:|UBSAN:|Oops|Kernel panic")
RACE_ELSEWHERE = re.compile(r"BUG: KCSAN: (?!.*(kstackrand|do_syscall_64|do_el0_svc|cpu_startup_entry|kernel_execve|sched_?\w*_tick))")


class Log:
    """The lines of one boot, by their first word; and the kernel's complaints."""

    def __init__(self, path):
        self.path = path
        self.lines = {}
        self.complaints = []
        with open(path, encoding="utf-8", errors="replace") as file:
            for line in file:
                match = re.search(r"KT (\S+) ?(.*)", line.rstrip("\r\n"))
                if match:
                    self.lines.setdefault(match[1], []).append(match[2].rstrip("\r"))
                elif COMPLAINT.search(line) and not RACE_ELSEWHERE.search(line):
                    self.complaints.append(line.strip())

    def texts(self, key):
        return self.lines.get(key, [])

    def text(self, key):
        return " ".join(self.texts(key)[-1:])

    def rows(self, key):
        return [[int(word) for word in text.split()] for text in self.texts(key)]

    def numbers(self, key):
        return [number for row in self.rows(key) for number in row]

    def ended(self):
        return "end" in self.lines and not self.texts("error")


def chi2(offsets):
    counts = Counter(offsets)
    expected = len(offsets) / len(counts)
    return sum((count - expected) ** 2 / expected for count in counts.values())


def spaced(offsets):
    places = sorted(set(offsets))
    return all(b - a == CELL_BYTES for a, b in zip(places, places[1:]))


def steps(offsets):
    """From each position to the next: what can be compared between tasks, whose
    positions are told relative to their first one."""
    return [b - a for a, b in zip(offsets, offsets[1:])]


def repeated(streams):
    """How many runs of calls were seen before, in the same stream or another."""
    seen = set()
    count = 0
    for stream in streams:
        moves = steps(stream)
        for at in range(len(moves) - WINDOW + 2):
            window = tuple(moves[at : at + WINDOW - 1])
            count += window in seen
            seen.add(window)
    return count


def same_twice(stream):
    return sum(a == b for a, b in zip(stream, stream[1:]))


def many_same(stream):
    """Whether neighbours are alike more often than chance has it."""
    expected = (len(stream) - 1) / CELLS
    return same_twice(stream) > expected + 6 * expected**0.5


def frames(log):
    """The functions of a backtrace, outermost last. Those with a question mark
    are no frames: addresses that happen to lie on the stack, left by earlier
    calls, more of them where the stack was shifted over."""
    found = []
    for text in log.texts("trace"):
        match = re.match(r"([\w.]+)\+0x", text.strip())
        if match:
            found.append(re.sub(r"\.(isra|constprop|part)\.\d+", "", match[1]))
    return found


class Judge:
    def __init__(self, folder, arch, cpus=2, expected=(), special=""):
        self.folder, self.arch, self.cpus, self.expected, self.special = folder, arch, cpus, expected, special
        self.failed = []
        self.figures = {}
        self.logs = {}

    def check(self, name, holds, detail):
        print(f"{'ok  ' if holds else 'FAIL'}  {name}: {detail}")
        if not holds:
            self.failed.append(name)

    def log(self, name):
        """One boot; None if it was not made, or did not come to its end."""
        if name not in self.logs:
            self.logs[name] = self.read(name)
        return self.logs[name]

    def read(self, name):
        path = os.path.join(self.folder, name + ".log")
        if not os.path.exists(path):
            return None
        log = Log(path)
        self.check(f"{name} ran", log.ended(), "; ".join(log.texts("error")) or ("to the end" if log.ended() else "did not come to its end"))
        self.check(f"{name} complaints", not log.complaints, f"{len(log.complaints)} by the kernel" + "".join("\n      " + line for line in log.complaints[:5]))
        return log if log.ended() else None

    def stack(self, suffix):
        name = f"ours-stack{suffix}"
        log = self.log(name)
        if not log:
            return
        one = log.numbers("one")
        self.figures[f"cells{suffix}"] = len(set(one))
        self.figures[f"chi2{suffix}"] = self.cells(name, one, SAMPLES_MIN)
        for key in self.expected:
            self.cells(f"{name} {key}", log.numbers(key), OTHER_SAMPLES_MIN)
        self.sequences(name, log, one)
        self.rest(name, log)

    def cells(self, name, offsets, least):
        """Whether these are all the cells, equally likely; gives chi-squared."""
        places, value = len(set(offsets)), chi2(offsets) if offsets else 0
        self.check(f"{name} cells", places == CELLS and spaced(offsets),
                   f"{places} positions in {len(offsets)} calls, {'16 bytes apart' if spaced(offsets) else 'unevenly spaced'}")
        self.check(f"{name} equal", len(offsets) >= least and value < CHI2_LIMIT,
                   f"chi2 {value:.1f} of {CHI2_LIMIT} over {len(offsets)}")
        return round(value, 1)

    def sequences(self, name, log, one):
        children, moved = log.rows("child"), log.rows("moved")
        tasks = [one, [offset for _cpu, offset in moved], *(child[1:] for child in children)]
        self.check(f"{name} tasks", len(children) >= CHILDREN_MIN and repeated(tasks) == 0,
                   f"{repeated(tasks)} repeated runs of {WINDOW} calls, {len(children)} children")
        by_cpu = []
        if self.cpus > 1:
            by_cpu = [[offset for cpu, offset in moved if cpu == number] for number in (0, 1)]
            self.check(f"{name} CPUs", all(len(stream) >= CALLS_BY_CPU_MIN for stream in by_cpu) and repeated(by_cpu) == 0,
                       f"{repeated(by_cpu)} repeated runs among {len(by_cpu[0])} + {len(by_cpu[1])} calls of a task moved between them")
        worst = [stream for stream in [one, tasks[1], *by_cpu] if stream and many_same(stream)]
        self.check(f"{name} neighbours", not worst, f"the same position twice in {same_twice(one)} of {len(one)} calls, {same_twice(tasks[1])} of {len(moved)} after a move")
        firsts = Counter(child[2] - child[1] for child in children)
        self.check(f"{name} children", len(firsts) > CELLS, f"{len(firsts)} different first moves")

    def rest(self, name, log):
        own = log.text("own")
        said = [text for text in log.texts("own") if text.startswith("said")]
        self.check(f"{name} stack-entropy.sh", own in ("none", "status 0"), f"{own}; {'; '.join(text[5:] for text in said)}")
        self.figures["own test"] = "passes" if own == "status 0" else "not there" if own == "none" else "fails"
        self.check(f"{name} module", log.text("module") in ("works", "none"), f"a module built without the plugin: {log.text('module')}")
        self.check(f"{name} parameter", log.text("mask") == f"{DEFAULT_MASK} mode 444 writable no", log.text("mask"))
        plain = self.log("plain-mask-none")
        if plain and frames(plain):
            ours, theirs = frames(log), frames(plain)
            self.check(f"{name} backtrace", ours == theirs, f"{len(ours)} frames, as without the plugin" + ("" if ours == theirs else f" {ours}, plain {theirs}"))

    def masks(self):
        for parameter, cells in MASKS.items():
            log = self.log(f"ours-mask-{parameter}")
            if log:
                found = set(log.numbers("one"))
                self.check(f"mask={parameter}", len(found) == cells and spaced(found), f"{len(found)} cells; reads {log.text('mask').split()[0]}")
        plain = self.log("plain-mask-none")
        if plain:
            self.check("plain", len(set(plain.numbers("one"))) == 1, "one position without the plugin")

    def counts(self):
        table = {}
        for path in sorted(glob.glob(os.path.join(self.folder, "*-count*.log"))):
            name = os.path.basename(path)[:-4]
            log = self.log(name)
            if log:
                table[name.replace("-count", "")] = {t.split()[0]: float(t.split()[1]) for t in log.texts("count")}
        if "plain" not in table:
            return
        print(f"\nInstructions a system call, the loop's four among them (-icount shift=0):\n\n{'':14}" + "".join(f"{c:>18}" for c in CALLS))
        for name, row in table.items():
            base = table.get("plain-vhe" if name.endswith("-vhe") else "plain", table["plain"])
            cells = (f"{row[c]:8.1f} ({row[c] - base[c]:+6.1f})" for c in CALLS)
            print(f"{name:14}" + "".join(f"{cell:>18}" for cell in cells))
            if name.startswith("ours"):
                worst = max(row[c] - base[c] for c in CALLS)
                self.figures[f"added{name[4:]}"] = round(worst, 1)
                if not self.special:
                    self.late.append((f"{name} budget", worst <= BUDGET[self.arch] + 0.05, f"{worst:+.1f} of {BUDGET[self.arch]:+d}"))
            self.figures[f"getppid {name}"] = round(row["getppid"], 1)
        print()

    def warnings(self):
        """New lines in the build's output that warn."""
        def lines(name):
            path = os.path.join(self.folder, name + ".build")
            if not os.path.exists(path):
                return None
            with open(path, encoding="utf-8", errors="replace") as file:
                return {re.sub(r"^\S*/(?=[\w-]+/)|:\d+", "", line.strip()) for line in file if re.search(r"warning:|error:|kstackrand:", line)}
        plain, ours = lines("plain"), lines("ours")
        if ours is not None:
            new = ours - (plain or set())
            self.check("build is clean", not new, f"{len(new)} new warnings" + "".join("\n      " + line for line in sorted(new)[:10]))
        for name in ("again", "functions", "canaries"):
            path = os.path.join(self.folder, name + ".result")
            if os.path.exists(path):
                with open(path, encoding="utf-8") as file:
                    text = file.read().strip()
                self.check(name, text.startswith("ok"), text)

    def run(self):
        self.late = []
        self.warnings()
        self.counts()
        for name, holds, detail in self.late:
            self.check(name, holds, detail)
        self.masks()
        for suffix in ("", "-vhe"):
            self.stack(suffix)


def run(arguments):
    judge = Judge(arguments.folder, arguments.arch, arguments.cpus, arguments.expect, arguments.special)
    judge.run()
    if arguments.seconds:
        judge.figures["seconds plain"], judge.figures["seconds ours"] = arguments.seconds[:2], arguments.seconds[2:]
    verdict = "FAIL" if judge.failed or not judge.figures else "PASS"
    row = {
        "date": datetime.date.today().isoformat(), "kernel": arguments.kernel, "arch": arguments.arch,
        "cc": arguments.cc, "with": arguments.special, "verdict": verdict, **judge.figures,
    }
    if arguments.results:
        with open(arguments.results, "a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")
    print(verdict + " " + json.dumps({**row, "failed": judge.failed}))
    return verdict != "PASS"


def cells(arguments):
    log = Log(arguments.log)
    offsets = log.numbers("one")
    if not log.ended() or not offsets:
        print(f"judge.py: error: '{arguments.log}' did not come to its end")
        return 1
    nearest = min(offsets)
    with open(arguments.file, "wb") as file:
        file.write(bytes(min((offset - nearest) // CELL_BYTES, 255) for offset in offsets))
    return 0


def newest(path):
    """The last row of each kernel, architecture, compiler and speciality, in the
    order of the tables."""
    rows = {}
    with open(path, encoding="utf-8") as file:
        for line in file:
            row = json.loads(line)
            rows[row["kernel"], row["arch"], row["cc"], row["with"]] = row
    return sorted(rows.values(), key=lambda row: (
        row["arch"] != "x86_64", [int(n) for n in re.findall(r"\d+", row["kernel"])], row["cc"], row["with"]))


def cost(row, name):
    plain, value = row.get("getppid plain"), row.get(f"getppid {name}")
    return f"{value:.0f} ({value - plain:+.0f})" if plain and value else "–"


def cost_of_ours(row):
    vhe = f", VHE {cost(row, 'ours-vhe')}" if "getppid ours-vhe" in row else ""
    return cost(row, "ours") + vhe


def off(row):
    plain = row.get("getppid plain")
    return f"{plain:.0f}" if plain else "–"


def build_time(row):
    if "seconds plain" not in row:
        return "–"
    (plain, plain_cpu), (ours, ours_cpu) = row["seconds plain"], row["seconds ours"]
    return f"{plain} s, {ours} s; processors {plain_cpu} s, {ours_cpu} s"


# Of each table: which rows, and in each column what of them.
IDENTITY = {"kernel": lambda row: row["kernel"], "architecture": lambda row: row["arch"], "compiler": lambda row: row["cc"]}
OUTCOME = {
    "cells": lambda row: row.get("cells", "–"),
    "χ²": lambda row: row.get("chi2", "–"),
    "its own test": lambda row: row.get("own test", "–"),
    "verdict": lambda row: row["verdict"],
    "date": lambda row: row["date"],
}
COSTS = {"getppid, off": off, "its own on": lambda row: cost(row, "upstream"), "kstackrand": cost_of_ours}
TABLES = {
    "usual": (lambda row: not row["with"], {**IDENTITY, **COSTS, **OUTCOME}),
    "special": (lambda row: row["with"], {**IDENTITY, "with": lambda row: row["with"], "getppid, off": off, "kstackrand": cost_of_ours,
                                          "build, off and on": build_time, **OUTCOME}),
}


def table(arguments):
    rows = newest(arguments.file)
    document = ""
    if arguments.into:
        with open(arguments.into, encoding="utf-8") as file:
            document = file.read()
    for name, (belongs, columns) in TABLES.items():
        lines = [list(columns), ["---"] * len(columns)]
        lines += [[str(column(row)) for column in columns.values()] for row in rows if belongs(row)]
        text = "".join(f"| {' | '.join(line)} |\n" for line in lines)
        if not arguments.into:
            print(text)
            continue
        begin, end = f"<!-- {name} kernels, by kernel-test.sh -->\n", f"<!-- end of {name} kernels -->\n"
        head, rest = document.split(begin)
        document = head + begin + text + end + rest.split(end)[1]
    if arguments.into:
        with open(arguments.into, "w", encoding="utf-8") as file:
            file.write(document)
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    command = commands.add_parser("run")
    command.add_argument("folder")
    for option in ("--kernel", "--arch", "--cc"):
        command.add_argument(option, required=True)
    command.add_argument("--with", dest="special", default="")
    command.add_argument("--cpus", type=int, default=2)
    command.add_argument("--expect", action="append", default=[], choices=["int80", "compat"])
    command.add_argument("--seconds", nargs=4, type=int)
    command.add_argument("--results")
    command.set_defaults(function=run)
    command = commands.add_parser("cells")
    command.add_argument("log")
    command.add_argument("file")
    command.set_defaults(function=cells)
    command = commands.add_parser("table")
    command.add_argument("file")
    command.add_argument("--into")
    command.set_defaults(function=table)
    arguments = parser.parse_args()
    return arguments.function(arguments)


if __name__ == "__main__":
    sys.exit(main())
