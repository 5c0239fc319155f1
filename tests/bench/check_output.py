# SPDX-License-Identifier: MIT
"""Whether latency.csv and latency-histograms.csv of a folder hold all that they
should, and agree.

usage: check_output.py FOLDER LATENCY_REPORT
"""

import csv
import importlib.util
import os
import sys
from collections import Counter

SOURCES = {"none", "again", "work", "fast", "fast_shared", "fast_call", "lfsr113", "lfsr113_call", "ticks"}
SOURCES |= {"getrandom", "getrandom4096"}
CALLS = ["empty", "row", "getpid", "getppid", "invalid"]
TIMED = {call: 60 if call == "row" else 3000 for call in CALLS}  # fifty in a row are timed together

sys.dont_write_bytecode = True
folder, report_path = sys.argv[1:]
spec = importlib.util.spec_from_file_location("latency_report", report_path)
report = importlib.util.module_from_spec(spec)
spec.loader.exec_module(report)
summary = report.Summary(os.path.join(folder, "latency.csv"))

missing = SOURCES - set(summary.sources)
assert not missing, f"no {missing}"
untitled = set(summary.sources) - set(report.TITLES)
assert not untitled, f"no title for {untitled}"
assert list(report.CALLS) == CALLS
timed = Counter()
least = {}
with open(os.path.join(folder, "latency-histograms.csv"), encoding="utf-8") as file:
    for fields in csv.DictReader(file):
        key = fields["source"], fields["call"]
        timed[key] += int(fields["timed"])
        least[key] = min(float(fields["ns"]), least.get(key, float("inf")))
for source in summary.sources:
    for call in CALLS:
        row = summary.row(source, call)
        assert row.timed == timed[source, call] == TIMED[call], (source, call, row.timed)
        assert 0 <= row.longer <= row.timed, (source, call)
        assert least[source, call] - 0.01 <= row.p50 <= row.p99 <= row.p999, (source, call)
        assert row.longer == row.timed or 0 < row.mean <= summary.longest, (source, call)
    # A system call is more than a call.
    for call in CALLS[2:]:
        assert summary.row(source, call).p50 > summary.row(source, "empty").p50, (source, call)
