# SPDX-License-Identifier: MIT
"""Summaries such as latency.c writes, for judge.test: good.csv, and for each
criterion one that breaks it.

usage: invent_summaries.py FOLDER
"""

import os
import sys

CALLS = ["empty", "row", "getpid", "getppid", "invalid"]
ABOUT = "# processor 0, ticks in a nanosecond 2.1, step in ns 10.00, longest in ns 100000"


def write(path, broken=None, call=None):
    rows = {}
    for name in CALLS:
        # Mean and p99.9; the median is 20.
        rows["none", name] = (25, 70)
        rows["again", name] = (30, 73)
        rows["fast", name] = (30 if name in ("empty", "row") else 35, 83)
        rows["lfsr113_call", name] = (30, 90)
    if broken == "mean":
        rows["fast", call] = (rows["fast", call][0] + (0.1 if call in ("empty", "row") else 0.3), 83)
    elif broken == "tail":
        rows["fast", call] = (rows["fast", call][0], 83.1)
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"{ABOUT}\nsource,call,timed,longer,mean,p50,p99,p99.9\n")
        for (source, name), (mean, tail) in rows.items():
            file.write(f"{source},{name},1000,0,{mean},20,40,{tail}\n")


folder = sys.argv[1]
write(os.path.join(folder, "good.csv"))
for name in CALLS:
    write(os.path.join(folder, f"mean-{name}.csv"), "mean", name)
    if name != "row":
        write(os.path.join(folder, f"tail-{name}.csv"), "tail", name)
