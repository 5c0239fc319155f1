# SPDX-License-Identifier: MIT
"""Summaries such as latency.c writes, for judge.test: good.csv, for each
criterion one that breaks it, and for each kind of call one with interrupts and one
where the function that is to take as long as fast takes longer.

usage: invent_summaries.py FOLDER
"""

import os
import sys

CALLS = ["empty", "row", "getpid", "getppid", "invalid"]
ABOUT = "# processor 0, ticks in a nanosecond 2.1, step in ns 10.00, longest in ns 100000"


def write(path, broken=None, call=None):
    rows = {}
    for name in CALLS:
        # Mean, median and p99.9; hundredths are rounding.
        rows["none", name] = [105, 100, 150]
        rows["again", name] = [110, 100, 153]
        rows["work", name] = [110, 110.01, 165.01]
        rows["fast", name] = [110 if name in ("empty", "row") else 115, 100, 165.02]
        rows["lfsr113_call", name] = [110, 100, 170]
    if broken == "mean":
        rows["fast", call][0] += 0.1
    elif broken == "tail":
        rows["fast", call][2] += 0.1
    elif broken == "longer":
        rows["work", call][1] += 0.1
    elif broken == "interrupts":
        rows["none", call][2] = rows["again", call][2] = 300
        rows["fast", call][2] = 500
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"{ABOUT}\nsource,call,timed,longer,mean,p50,p99,p99.9\n")
        for (source, name), (mean, median, slowest) in rows.items():
            file.write(f"{source},{name},1000,0,{mean},{median},120,{slowest}\n")


folder = sys.argv[1]
write(os.path.join(folder, "good.csv"))
for name in CALLS:
    write(os.path.join(folder, f"mean-{name}.csv"), "mean", name)
    if name != "row":
        for broken in ("tail", "longer", "interrupts"):
            write(os.path.join(folder, f"{broken}-{name}.csv"), broken, name)
