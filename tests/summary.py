# SPDX-License-Identifier: MIT
"""Says what lit's results come to.

usage: summary.py RESULTS.json LIT_STATUS

Prints what failed and what was skipped, then "N passed, N failed, N skipped" on
a line of its own. Fails unless all that was found was run and passed.
"""

import json
import sys

PASSED = {"PASS", "FLAKYPASS"}
SKIPPED = {"UNSUPPORTED", "SKIPPED"}


def main():
    path, lit_status = sys.argv[1], int(sys.argv[2])
    with open(path, encoding="utf-8") as file:
        tests = [test for test in json.load(file)["tests"] if test["code"] != "EXCLUDED"]
    skipped = [test for test in tests if test["code"] in SKIPPED]
    failed = [test for test in tests if test["code"] not in PASSED | SKIPPED]
    for word, some in (("failed", failed), ("skipped", skipped)):
        for test in some:
            print(f"{word}: {test['name']}")
    passed = len(tests) - len(failed) - len(skipped)
    print(f"{passed} passed, {len(failed)} failed, {len(skipped)} skipped")
    sys.exit(bool(lit_status or failed or skipped or not passed))


if __name__ == "__main__":
    main()
