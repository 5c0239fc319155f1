# SPDX-License-Identifier: MIT
"""What test kernels could print, for judge.test: a folder for each case."""

import os
import random
import sys

# The same boots in every run.
chance = random.Random(5)


def drawn(count):
    return [16 * chance.randrange(64) for _ in range(count)]


def write(folder, case, one, children, moved, ours):
    path = os.path.join(folder, case)
    os.makedirs(path, exist_ok=True)

    def log(name, lines):
        with open(os.path.join(path, name + ".log"), "w", encoding="utf-8") as file:
            file.writelines(f"KT {line}\r\n" for line in [*lines, "end"])

    def counts(added):
        return [f"count {name} {200 + added}.0" for name in ("getpid", "getppid", "invalid")]

    log("plain-count", counts(0))
    log("ours-count", counts(ours))
    log("ours-stack", [
        "mask 1008 mode 444 writable no", "own status 0", "module works",
        *("one " + " ".join(map(str, one[at : at + 32])) for at in range(0, len(one), 32)),
        *(f"child {number % 2} " + " ".join(map(str, child)) for number, child in enumerate(children)),
        *(f"moved {number % 2} {offset}" for number, offset in enumerate(moved)),
    ])


def main(folder):
    good = {"one": drawn(20480), "children": [drawn(12) for _ in range(1500)], "moved": drawn(6000), "ours": 12}
    kept = [offset for offset in drawn(3000) for _ in range(2)]
    write(folder, "good", **good)
    write(folder, "counter", **{**good, "one": [16 * (number * 37 % 64) for number in range(20480)]})
    write(folder, "kept", **{**good, "moved": kept})
    write(folder, "shared", **{**good, "children": good["children"] + good["children"][7:8]})
    write(folder, "costly", **{**good, "ours": 13})


main(sys.argv[1])
