#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Reads what latency.c wrote, for latency.sh.

    latency_report.py text SUMMARY
    latency_report.py curves HISTOGRAMS OUTPUT
    latency_report.py judge SUMMARY
    latency_report.py record SUMMARY DOCUMENT --compiler TEXT --command TEXT

`text` shows a table for each kind of call; `curves` makes of histograms what
gnuplot draws; `record` writes Markdown between the marks of DOCUMENT. `judge`
prints a line for each criterion, with the numbers: status 1 if one fails.
"""

import argparse
import csv
import datetime
import os
import platform
import re
import sys

TITLES = {
    "none": "none",
    "again": "none, again",
    "work": "none, as long as fast",
    "fast": "fast, inline",
    "fast_shared": "fast, inline, shared library",
    "fast_call": "fast, model call",
    "siphash": "siphash, inline",
    "siphash_call": "siphash, model call",
    "lfsr113": "lfsr113, inline",
    "lfsr113_call": "lfsr113, by a call (Linux 7.1)",
    "ticks": "rdtsc (Linux 5.13 to 7.0)" if platform.machine() == "x86_64" else "cntvct",
    "rdrand10": "rdrand, every 10th call",
    "getrandom": "getrandom",
    "getrandom4096": "getrandom, 4096 bytes at once",
}
CALLS = {
    "empty": "empty call, by itself",
    "row": "empty call, one of fifty in a row",
    "getpid": "getpid",
    "getppid": "getppid",
    "invalid": "invalid system call",
}
NUMBERS = ["mean", "p50", "p99", "p99.9"]
# What the summary must have for a verdict.
JUDGED = ["none", "again", "work", "fast", "lfsr113_call"]
# A function without a shift whose p99.9 is more than so many times its p50 was
# interrupted that often.
INTERRUPTED = 2
# Of the summary's figures, in ns: what a difference of some of them may be off by.
ROUNDING = 0.05
# How much further a point of a curve must be than the last one, of its height.
CURVE_STEP = 0.02


class Row:
    """The times of one kind of call by one source, in nanoseconds."""

    def __init__(self, fields):
        self.timed, self.longer = int(fields["timed"]), int(fields["longer"])
        self.mean, self.p50, self.p99, self.p999 = (float(fields[name]) for name in NUMBERS)

    def numbers(self):
        return [self.mean, self.p50, self.p99, self.p999]

    def tail(self):
        return self.p999 - self.p50


class Summary:
    """All rows, and what is known of the clock."""

    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            lines = file.read().splitlines()
        about = " ".join(line[1:] for line in lines if line.startswith("#"))
        step = re.search(r"step in ns ([\d.]+)", about)
        longest = re.search(r"longest in ns (\d+)", about)
        if not step or not longest:
            raise ValueError(f"{path}: no line that tells of the clock")
        self.step, self.longest = float(step[1]), int(longest[1])
        self.rows = {}
        for fields in csv.DictReader(line for line in lines if not line.startswith("#")):
            self.rows[fields["source"], fields["call"]] = Row(fields)
        self.sources = list(dict.fromkeys(source for source, _ in self.rows))

    def row(self, source, call):
        if (source, call) not in self.rows:
            raise ValueError(f"no row for {source}, {call}")
        return self.rows[source, call]

    def percent(self, source, call):
        """How much more than `none`, each number."""
        off = self.row("none", call).numbers()
        return [100 * (on / was - 1) if was else 0 for on, was in zip(self.row(source, call).numbers(), off)]


def text(summary):
    for call, title in CALLS.items():
        print(f"{title}, ns")
        print(f"  {'':31}{'mean':>9}{'more':>9}{'p50':>9}{'p99':>9}{'p99.9':>9}{'longer':>8}")
        for source in summary.sources:
            row = summary.row(source, call)
            more = row.mean - summary.row("none", call).mean
            print(
                f"  {TITLES.get(source, source):31}{row.mean:9.1f}{more:+9.1f}"
                f"{row.p50:9.1f}{row.p99:9.1f}{row.p999:9.1f}{row.longer:8}"
            )
        print()
    print(f"more: than none, in the mean. longer: calls above {summary.longest / 1000:g} µs, no part of the mean.")
    print(f"The clock advances by {summary.step:.1f} ns at a time; reading it is part of each time.")


def curves(path, output):
    """The share of calls that took longer than each time, as far as a plot can
    show it: blank lines between sources, two between kinds of call."""
    histograms = {}
    with open(path, encoding="utf-8") as file:
        for fields in csv.DictReader(file):
            histograms.setdefault(fields["call"], {}).setdefault(fields["source"], []).append(
                (float(fields["ns"]), int(fields["timed"]))
            )
    with open(output, "w", encoding="utf-8") as file:
        for call, sources in histograms.items():
            for source, bins in sources.items():
                file.write(f'"{TITLES.get(source, source)}"\n')
                left = calls = sum(count for _, count in bins)
                drawn = None
                for time, count in bins:
                    left -= count
                    if left and (drawn is None or left < drawn * (1 - CURVE_STEP)):
                        drawn = left
                        file.write(f"{time} {left / calls:.3e}\n")
                file.write("\n\n")


def mean_criterion(summary, call):
    """No more than lfsr113, as Linux has it."""
    none, again, _, fast, lfsr113 = (summary.row(source, call) for source in JUDGED)
    # Empty calls show a difference of a tenth of a nanosecond. Under a system
    # call it drowns in what the two rows without a shift differ by.
    noise = 0 if call in ("empty", "row") else abs(none.mean - again.mean)
    numbers = f"mean of fast {fast.mean:.1f} ns, of lfsr113 as Linux has it {lfsr113.mean:.1f} ns"
    return fast.mean <= lfsr113.mean + noise, numbers + (f", noise {noise:.1f} ns" if noise else "")


def tail_criterion(summary, call):
    """No slow calls among fast ones, but for those that a function without a
    shift has, too. What slows the machine slows a longer call by more: hence the
    one that does nothing for as long as fast, if it does, within what equal times
    can be read apart, a step of the clock. No verdict where these are interrupts:
    they come the more often the longer a call takes, whatever it does."""
    none, again, work, fast, _ = (summary.row(source, call) for source in JUDGED)
    as_long = work.p50 <= fast.p50 + summary.step + ROUNDING
    allowed = max(row.tail() for row in ([none, again, work] if as_long else [none, again]))
    noise = max(abs(none.tail() - again.tail()), summary.step)
    numbers = (
        f"p99.9 - p50 of fast {fast.tail():.1f} ns, of none {none.tail():.1f} and {again.tail():.1f} ns,"
        f" of none {'as' if as_long else 'too'} long {work.tail():.1f} ns, noise {noise:.1f} ns"
    )
    if call != "empty" and min(none.p999 / none.p50, again.p999 / again.p50) > INTERRUPTED:
        return None, numbers + ": interrupts"
    return fast.tail() <= allowed + noise + ROUNDING, numbers


def verdicts(summary):
    """Each criterion: whether it holds, or None, and a line with the numbers."""
    results = [(call, *mean_criterion(summary, call)) for call in CALLS]
    # Fifty calls together have no slowest one.
    results += [(call, *tail_criterion(summary, call)) for call in CALLS if call != "row"]
    words = {True: "ok  ", False: "FAIL", None: "skip"}
    return [(holds, f"{words[holds]}  {CALLS[call]}: {numbers}") for call, holds, numbers in results]


def read_line(path, pattern):
    try:
        with open(path, encoding="utf-8") as file:
            found = re.search(pattern, file.read(), re.MULTILINE)
    except OSError:
        return ""
    return found[1].strip() if found else ""


def machine():
    """Processor, kernel and whether it isolates page tables: what a time of a
    system call hangs on."""
    cpu = read_line("/proc/cpuinfo", r"^model name\s*:(.*)$") or platform.machine()
    family = [read_line("/proc/cpuinfo", rf"^{key}\s*:(.*)$") for key in ("cpu family", "model")]
    if all(family):
        cpu += f" (family {family[0]}, model {family[1]})"
    if re.search(r"\bhypervisor\b", read_line("/proc/cpuinfo", r"^flags\s*:(.*)$")):
        cpu += ", in a virtual machine"
    isolation = read_line("/sys/devices/system/cpu/vulnerabilities/meltdown", "(.*)")
    return cpu, platform.release(), "on" if "PTI" in isolation else "off"


def table(header, rows):
    lines = ["| " + " | ".join(header) + " |", "|" + " --- |" * len(header)]
    return lines + ["| " + " | ".join(row) + " |" for row in rows]


def markdown(summary, compiler, command):
    cpu, kernel, isolation = machine()
    none = summary.row("none", "getppid")
    shown = [source for source in summary.sources if source != "none"]
    lines = [
        f"{datetime.date.today()}, {cpu}; Linux {kernel}, page-table isolation {isolation}; {compiler};"
        f" {none.timed} calls of each kind by each source; `{command}`.",
        "",
        f"An empty call, ns, reading the clock included, which advances by {summary.step:.1f} ns:",
        "",
    ]
    empty = []
    for source in summary.sources:
        alone, row = summary.row(source, "empty"), summary.row(source, "row")
        more = [times.mean - summary.row("none", call).mean for call, times in (("empty", alone), ("row", row))]
        empty.append(
            [TITLES.get(source, source), f"{alone.mean:.1f}", f"{more[0]:+.1f}"]
            + [f"{number:.1f}" for number in alone.numbers()[1:]]
            + [f"{row.mean:.2f}", f"{more[1]:+.2f}"]
        )
    header = ["source", "by itself: mean", "more than none", "p50", "p99", "p99.9"]
    lines += table([*header, "one of fifty in a row: mean", "more than none"], empty)
    off = summary.row("none", "getpid")
    lines += [
        "",
        f"On against off, getpid (off: mean {off.mean:.1f}, p99 {off.p99:.1f}, p99.9 {off.p999:.1f} ns):",
        "",
    ]
    against = []
    for source in shown:
        percent = summary.percent(source, "getpid")
        against.append([TITLES.get(source, source)] + [f"{percent[i]:+.1f} %" for i in (0, 2, 3)])
    lines += table(["source", "mean", "p99", "p99.9"], against)
    lines += [
        "",
        f"Null system call by source of randomness (base: getppid, {none.mean / 1000:.4f} µs):",
        "",
    ]
    lines += table(
        ["source", "getppid", "getpid", "invalid"],
        [
            [TITLES.get(source, source)]
            + [f"{summary.percent(source, call)[0]:+.1f} %" for call in ("getppid", "getpid", "invalid")]
            for source in shown
        ],
    )
    lines += ["", "What is to hold, in this run:", "", "```"]
    lines += [line for _, line in verdicts(summary)]
    return lines + ["```"]


def record(document, lines):
    """What stands between the two marks is ours."""
    with open(document, encoding="utf-8") as file:
        old = file.read()
    new, found = re.subn(
        r"(<!-- table: bench/latency\.sh[^\n]*-->\n).*?(<!-- end of table -->)",
        lambda match: match[1] + "\n".join(lines) + "\n" + match[2],
        old,
        count=1,
        flags=re.DOTALL,
    )
    if not found:
        raise ValueError(f"{document}: no marks for the table")
    temporary = document + ".new"
    with open(temporary, "w", encoding="utf-8") as file:
        file.write(new)
    os.replace(temporary, document)


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1])
    parser.add_argument("job", choices=["text", "curves", "judge", "record"])
    parser.add_argument("input")
    parser.add_argument("output", nargs="?")
    parser.add_argument("--compiler", default="")
    parser.add_argument("--command", default="")
    options = parser.parse_args()
    if options.job in ("curves", "record") and not options.output:
        parser.error(f"{options.job} wants a file to write")
    try:
        if options.job == "curves":
            curves(options.input, options.output)
            return 0
        summary = Summary(options.input)
        if options.job == "text":
            text(summary)
        elif options.job == "record":
            record(options.output, markdown(summary, options.compiler, options.command))
        else:
            results = verdicts(summary)
            print("\n".join(line for _, line in results))
            return 1 if False in (holds for holds, _ in results) else 0
    except (ValueError, KeyError, TypeError, OSError) as error:
        print(f"latency_report.py: error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
