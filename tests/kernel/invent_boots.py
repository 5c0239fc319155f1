# SPDX-License-Identifier: MIT
"""What test kernels could print, for judge.test: a folder for each case, of which
one is as it should be and each other one has one fault."""

import os
import random
import sys

# The same boots in every run.
chance = random.Random(5)


def drawn(count):
    return [16 * chance.randrange(64) for _ in range(count)]


def save(path, lines, end="\n"):
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(line + end for line in lines)


def log(path, lines, said=()):
    """As a serial line brings it, the kernel's own words before init's."""
    save(path + ".log", [*said, *(f"KT {line}" for line in [*lines, "end"])], end="\r\n")


def numbers(key, values):
    return [f"{key} " + " ".join(map(str, values[at : at + 32])) for at in range(0, len(values), 32)]


def counts(added):
    return [f"count {name} {200 + added}.0" for name in ("getpid", "getppid", "invalid")]


def write(folder, case, one, int80, children, moved, added, trace, warning, results, module, mask, said):
    path = os.path.join(folder, case)
    os.makedirs(path, exist_ok=True)
    boot = os.path.join(path, "")
    log(boot + "plain-count", counts(0))
    log(boot + "ours-count", counts(added))
    log(boot + "plain-mask-none", ["one 0 0 0", "trace  do_syscall_64+0x1/0x2", "trace  entry+0x3/0x4"])
    log(boot + "ours-mask-0", [f"mask 0 mode 444 writable {mask}", "one 0 0 0"])
    log(boot + "ours-stack", [
        f"mask 1008 mode 444 writable {mask}", "own status 0", f"module {module}",
        *numbers("one", one), *numbers("int80", int80),
        *(f"child {number % 2} " + " ".join(map(str, child)) for number, child in enumerate(children)),
        *(f"moved {number % 2} {offset}" for number, offset in enumerate(moved)),
        *(f"trace  {frame}+0x1/0x2" for frame in trace),
    ], said)
    save(boot + "plain.build", ["  CC      a.o", "a.c:1:2: warning: of its own"])
    save(boot + "ours.build", ["  CC      a.o", "a.c:1:2: warning: of its own", *warning])
    for name, text in results.items():
        save(boot + name + ".result", [text])


def main(folder):
    results = {"again": "ok: a second build compiles nothing", "functions": "ok: they draw", "canaries": "ok: vmlinux"}
    good = {
        "one": drawn(20480), "int80": drawn(4096), "children": [drawn(12) for _ in range(1500)], "moved": drawn(6000),
        "added": 12, "trace": ["do_syscall_64", "entry"], "warning": [], "results": results, "module": "works", "mask": "no",
        "said": ["[    T1] BUG: KCSAN: data-race in tick_sched_do_timer / tick_sched_do_timer"],
    }
    write(folder, "good", **good)
    for case, fault in {
        "counter": {"one": [16 * (number * 37 % 64) for number in range(20480)]},
        # Half of what belongs to one cell goes to another.
        "uneven": {"one": [0 if place == 16 and chance.randrange(2) else place for place in good["one"]]},
        "narrow": {"one": [place % 512 for place in good["one"]]},
        "unshifted": {"int80": [0] * 4096},
        "untried": {"int80": []},
        "kept": {"moved": [offset for offset in drawn(3000) for _ in range(2)]},
        "shared": {"children": good["children"] + good["children"][7:8]},
        "idle": {"moved": []},
        "costly": {"added": 13},
        "lost": {"trace": ["entry"]},
        "warned": {"warning": ["b.c:3:4: warning: of the plugin's"]},
        "rebuilt": {"results": {**results, "again": "a second build makes again: a.o"}},
        "guarded": {"results": {**results, "canaries": "FAIL: vmlinux: 1"}},
        "refused": {"module": "refused: Exec format error"},
        "open": {"mask": "yes"},
        "preempted": {"said": ["[   T17] BUG: using smp_processor_id() in preemptible [00000000] code: init/17"]},
        "raced": {"said": ["[   T17] BUG: KCSAN: data-race in do_syscall_64 / scheduler_tick"]},
    }.items():
        write(folder, case, **{**good, **fault})


main(sys.argv[1])
