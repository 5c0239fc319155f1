#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Programs that nobody here wrote, compiled without the plugin and with it, every
function an entry: do they behave the same? For scripts/torture.sh.

    torture.py gcc-testsuite FOLDER … | csmith COUNT …

What was found out once is kept in --cache, by the compiler's version and the
plugin's content, and not run again. Each program is run twice with the plugin, once
with offsets as they come and once with the largest each time. It is

  same       what it says and how it ends are the same both times as without the plugin
  listed     it is not, and expected-differences says why
  different  it is not
  left out   it is not for this compiler, machine or flags, or does not compile
             or pass there without the plugin

The last line is PASS, or FAIL when one is different.
"""

import argparse
import fnmatch
import hashlib
import json
import os
import resource
import signal
import sqlite3
import sys
import time
from collections import Counter

import programs
from compilers import Compiler
from pool import Pool, Stopped

HERE = os.path.dirname(os.path.abspath(__file__))
FLAGS = ["-O0", "-O1", "-O2", "-O3", "-Os", "-O2 -flto", "-O2 -fstack-protector-strong -fstack-clash-protection"]
# The plugin's run-time modes that programs are run in.
MODES = ["", "max"]
COMPILE_SECONDS = 120
# An emulator is so much slower.
EMULATION = 3
# Programs draw at each call, and machines are busy.
PATIENCE = 4
# Part of the key of what is kept: to be changed when what is done changes.
METHOD = 1
# In each file that the plugin put a draw into.
EVIDENCE = b"__kstackrand_thread"
KINDS = ["same", "listed", "different"]
LEFT_OUT = ["not for it", "does not compile", "does not pass"]


class Kept:
    """What was found out, in a file that several runs may share; asked and told by
    the main thread alone. Written some at a time: who writes shuts others out."""

    def __init__(self, path):
        self.database = sqlite3.connect(path, timeout=60)
        with self.database:
            self.database.execute("CREATE TABLE IF NOT EXISTS outcome (key TEXT PRIMARY KEY, found TEXT)")
        self.unwritten = []
        self.written = time.monotonic()

    def get(self, key):
        row = self.database.execute("SELECT found FROM outcome WHERE key = ?", (key,)).fetchone()
        return json.loads(row[0]) if row else None

    def put(self, key, found):
        self.unwritten.append((key, json.dumps(found)))
        if time.monotonic() - self.written > 5:
            self.write()

    def write(self):
        with self.database:
            self.database.executemany("INSERT OR REPLACE INTO outcome VALUES (?, ?)", self.unwritten)
        self.unwritten = []
        self.written = time.monotonic()


class Configuration:
    """A compiler and flags, in which a program is tried."""

    def __init__(self, compiler, flags):
        self.compiler, self.flags = compiler, flags
        self.name = f"{compiler.name} {compiler.arch} {flags}"

    def key(self, program, options, hardened):
        plugin = self.compiler.plugin_digest if hardened else "plain"
        parts = [METHOD, self.compiler.identity, self.flags, program.name, program.digest, options, plugin]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()

    def command(self, program, options, output, hardened):
        words = self.compiler.options(self.flags.split() + options, program.language)
        return self.compiler.command(program.language, words, program.sources, output, hardened)


class Trial:
    """A program compiled and run in a configuration, with the plugin or without.
    `found` is how the compiler ended, and how the runs did."""

    def __init__(self, program, configuration, hardened, kept):
        self.program, self.configuration, self.hardened = program, configuration, hardened
        self.options = program.options(configuration.compiler, configuration.flags.split())
        self.key = configuration.key(program, self.options, hardened)
        self.found = kept.get(self.key)
        self.is_new = False

    def passes(self):
        return self.found["compile"] == "exit 0" and self.found["runs"][0][0] == "exit 0"

    def make(self, pool, folder):
        """Finds out, unless it is known."""
        if not self.found:
            self.found = self._try(pool, folder)
            self.is_new = True

    def keep(self, kept):
        if self.is_new:
            kept.put(self.key, self.found)
            self.is_new = False

    def command(self, output):
        return self.configuration.command(self.program, self.options, output, self.hardened)

    def _try(self, pool, folder):
        output = os.path.join(folder, "program")
        patience = PATIENCE if self.hardened else 1
        ended = pool.run(self.command(output), COMPILE_SECONDS * patience, folder, {**os.environ, "TMPDIR": folder})
        found = {"compile": ended.status, "runs": []}
        if not ended.succeeded():
            found["said"] = ended.output.decode(errors="replace")[-2000:]
            return found
        if self.hardened:
            with open(output, "rb") as file:
                found["instrumented"] = EVIDENCE in file.read()
        for mode in MODES if self.hardened else [""]:
            found["runs"].append(self._run(pool, folder, output, mode))
        # Some print addresses: what they say is another thing each time.
        if not self.hardened and found["runs"][0][0] == "exit 0" and found["runs"][0][2]:
            found["runs"].append(self._run(pool, folder, output, ""))
        os.unlink(output)
        return found

    def _run(self, pool, folder, output, mode):
        """How it ended, a digest of what it said, and the end of that."""
        words, environment = self.configuration.compiler.run_command(output, mode)
        ended = pool.run(words, self._run_seconds() * (PATIENCE if self.hardened else 1), folder, environment)
        return [ended.status, hashlib.sha256(ended.output).hexdigest()[:16], ended.output.decode(errors="replace")[-300:]]

    def _run_seconds(self):
        return self.program.seconds * (1 if self.configuration.compiler.native else EMULATION)


class Attempt:
    """A program, in a configuration, with the plugin and without. The latter may
    be a trial in another configuration, where programs behave the same in all."""

    def __init__(self, program, configuration, kept, reference=None):
        self.program, self.configuration = program, configuration
        self.hardened = self.plain = None
        if program.options(configuration.compiler, configuration.flags.split()) is not None:
            self.plain = Trial(program, reference or configuration, False, kept)
            self.hardened = Trial(program, configuration, True, kept)
            self.own = Trial(program, configuration, False, kept) if reference else None

    def is_known(self):
        if not self.plain or (self.plain.found and not self.plain.passes()):
            return True
        return bool(self.plain.found and self.hardened.found and not (self.own and self.difference()))

    def make(self, pool, folder):
        self.plain.make(pool, folder)
        if not self.plain.passes():
            return
        self.hardened.make(pool, folder)
        if self.own and self.difference():
            # Is it the plugin, or the compiler, that differs?
            self.own.make(pool, folder)
            self.plain = self.own

    def keep(self, kept):
        for trial in (self.plain, self.hardened):
            trial.keep(kept)

    def difference(self):
        """In words; None when there is none."""
        plain, hardened = self.plain.found, self.hardened.found
        if hardened["compile"] != "exit 0":
            lines = [line for line in hardened.get("said", "").splitlines() if "error" in line] or [""]
            return f"does not compile: {hardened['compile']}: {lines[0][:200]}"
        if not hardened["instrumented"]:
            return "holds nothing of the plugin's"
        for mode, run in zip(MODES, hardened["runs"]):
            setting = f" with KSTACKRAND={mode}" if mode else ""
            if run[0] != plain["runs"][0][0]:
                return f"ends with {run[0]}{setting}"
            if run[1] != plain["runs"][0][1] and plain["runs"][0][1] == plain["runs"][-1][1]:
                return f"says something else{setting}: {run[2]!r}, not {plain['runs'][0][2]!r}"
        return None

    def kind(self, expected):
        if not self.plain:
            return "not for it"
        if self.plain.found["compile"] != "exit 0":
            return "does not compile"
        if not self.plain.passes():
            return "does not pass"
        if not self.difference():
            return "same"
        return "listed" if expected.reason(self) else "different"


class Expected:
    """Differences that are understood: programs and configurations as globs."""

    def __init__(self, path):
        self.entries = []
        with open(path, encoding="utf-8") as file:
            for line in file:
                if line.strip() and not line.startswith("#"):
                    program, configuration, reason = line.rstrip("\n").split(" | ", 2)
                    self.entries.append((program.strip(), configuration.strip(), reason.strip()))

    def reason(self, attempt):
        for program, configuration, reason in self.entries:
            if fnmatch.fnmatchcase(attempt.program.name, program) and fnmatch.fnmatchcase(attempt.configuration.name, configuration):
                return reason
        return None


class Progress:
    """A line that is written over, on a terminal."""

    def __init__(self, text, total):
        self.text, self.total, self.done, self.shown = text, total, 0, 0

    def step(self, counts):
        self.done += 1
        if sys.stdout.isatty() and time.monotonic() - self.shown > 0.5:
            self.shown = time.monotonic()
            print(f"\r\033[K{self.text}: {self.done} of {self.total}, {summary(counts)}", end="", flush=True)

    def end(self):
        if sys.stdout.isatty():
            print("\r\033[K", end="")


def summary(counts):
    left_out = sum(counts[kind] for kind in LEFT_OUT)
    return ", ".join([*(f"{counts[kind]} {kind}" for kind in KINDS), f"{left_out} left out"])


def describe(attempt, kind):
    print(f"   {kind}: {attempt.program.name}: {attempt.difference()}", flush=True)
    if kind == "different":
        print("      " + " ".join(attempt.hardened.command("program")), flush=True)


def try_all(attempts, title, pool, kept, expected, shown):
    """Counts the kinds of ATTEMPTS, by where the programs are from. Those of the
    kinds SHOWN are told."""
    start = time.monotonic()
    counts = Counter()
    by_origin = {attempt.program.origin(): Counter() for attempt in attempts}
    progress = Progress(title, len(attempts))

    def note(attempt):
        kind = attempt.kind(expected)
        counts[kind] += 1
        by_origin[attempt.program.origin()][kind] += 1
        progress.step(counts)
        if kind in shown:
            progress.end()
            describe(attempt, kind)

    for attempt in attempts:
        if attempt.is_known():
            note(attempt)
    unknown = [attempt for attempt in attempts if not attempt.is_known()]
    for attempt, _ in pool.map(lambda attempt, folder: attempt.make(pool, folder), unknown):
        attempt.keep(kept)
        note(attempt)
    kept.write()
    progress.end()
    print(f"{title}: {summary(counts)} ({time.monotonic() - start:.0f} s)", flush=True)
    return by_origin


def write_table(path, rows):
    """ROWS: what was counted, by origin, compiler and machine."""
    titles = ["programs of", "compiler", "machine", "flags", "same", "listed", "different", "left out"]
    with open(path, "w", encoding="utf-8") as file:
        for line in (titles, ["---"] * len(titles)):
            print(f"| {' | '.join(line)} |", file=file)
        for (source, name, arch), (flags, counts) in rows.items():
            numbers = [counts[kind] for kind in KINDS] + [sum(counts[kind] for kind in LEFT_OUT)]
            print(f"| {source} | {name} | {arch} | {flags} | {' | '.join(map(str, numbers))} |", file=file)


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["gcc-testsuite", "csmith"])
    parser.add_argument("where", help="the testsuite's folder, or how many programs")
    for option in ("--build", "--cache", "--scratch"):
        parser.add_argument(option, required=True)
    parser.add_argument("--cc", action="append", required=True)
    parser.add_argument("--flags", action="append", default=[])
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--only", default="*")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--expected", default=os.path.join(HERE, "expected-differences"))
    parser.add_argument("--table")
    parser.add_argument("--show-listed", action="store_true")
    return parser.parse_args()


def find_programs(arguments, arch, pool):
    if arguments.what == "csmith":
        found = programs.csmith(pool, arguments.cache, int(arguments.where))
    else:
        found = programs.gcc_testsuite(arguments.where, arch)
    return [program for program in found if fnmatch.fnmatchcase(program.name, arguments.only)][:: arguments.every]


def run(arguments, pool, kept):
    expected = Expected(arguments.expected)
    compilers = [Compiler(words, arguments.build) for words in arguments.cc]
    all_flags = arguments.flags or FLAGS
    # What a random program prints is the same everywhere.
    reference = Configuration(compilers[0], "-O1") if arguments.what == "csmith" else None
    shown = ["different", "listed"] if arguments.show_listed else ["different"]
    rows = {}
    for compiler in compilers:
        some = find_programs(arguments, compiler.arch, pool)
        for flags in all_flags:
            configuration = Configuration(compiler, flags)
            attempts = [Attempt(program, configuration, kept, reference) for program in some]
            counted = try_all(attempts, configuration.name, pool, kept, expected, shown)
            for source, counts in counted.items():
                rows.setdefault((source, compiler.name, compiler.arch), (len(all_flags), Counter()))[1].update(counts)
    if arguments.table:
        write_table(arguments.table, rows)
    total = sum((counts for _, counts in rows.values()), Counter())
    passed = total["same"] > 0 and not total["different"]
    print(f"{'PASS' if passed else 'FAIL'}: {summary(total)}")
    return 0 if passed else 1


def main():
    arguments = parse_arguments()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    pool = Pool(arguments.jobs, arguments.scratch)

    def end(number, _frame):
        pool.stop()
        sys.exit(128 + number)

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, end)
    kept = Kept(os.path.join(arguments.cache, "outcomes.sqlite"))
    try:
        return run(arguments, pool, kept)
    except Stopped:
        return 130
    finally:
        kept.write()


if __name__ == "__main__":
    sys.exit(main())
