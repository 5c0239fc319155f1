# SPDX-License-Identifier: MIT
"""Reads assembly, says for each function how many of its lines hold a pattern.

usage: count_in_functions.py FILE.s PATTERN

A cold part that the compiler split off counts as its function's.
"""

import re
import sys

path, pattern = sys.argv[1:]
counts, current = {}, None
for line in open(path, encoding="utf-8"):
    label = re.match(r"([A-Za-z_][\w.$]*):", line)
    if label and not label.group(1).startswith((".L", "L")):
        current = re.sub(r"\.cold(\.\d+)?$", "", label.group(1))
        counts.setdefault(current, 0)
    elif current and re.search(pattern, line):
        counts[current] += 1
for name in sorted(counts):
    print(name, counts[name])
