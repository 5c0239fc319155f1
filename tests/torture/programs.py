# SPDX-License-Identifier: MIT
"""Where the programs come from: GCC's testsuite, and csmith."""

import functools
import glob
import hashlib
import os
import shutil
import subprocess

import dejagnu

C, CXX = "c", "c++"


class Program:
    """Something that is compiled, run, and ends with "exit 0" when all is well."""

    # It may take as long as that; whatever the plugin adds, and the machine.
    seconds = 20

    def __init__(self, name, sources, language):
        self.name, self.sources, self.language = name, sources, language

    @functools.cached_property
    def digest(self):
        digest = hashlib.sha256()
        for source in self.sources:
            with open(source, "rb") as file:
                digest.update(file.read())
        return digest.hexdigest()[:16]

    def options(self, compiler, flags):
        """What it is compiled with besides FLAGS; None when it is not for them."""
        raise NotImplementedError

    def origin(self):
        """Where it is from, as the tables have it."""
        raise NotImplementedError


class Torture(Program):
    """A test of GCC's testsuite; VARIANT is what its folder adds."""

    def __init__(self, name, path, run_by_default, more_sources=(), variant=()):
        super().__init__(name, [path, *more_sources], C if path.endswith(".c") else CXX)
        with open(path, encoding="latin-1") as file:
            self.test = dejagnu.Test(file.read(), run_by_default)
        folder = os.path.dirname(path)
        self.sources += [os.path.join(folder, source) for source in self.test.sources]
        self.variant = list(variant)

    def _targets(self, arch):
        """For C++ as the dialect that is the default, and else as others."""
        return [dejagnu.Target(arch, standard) for standard in ((17, 14, 11, 98) if self.language == CXX else (17,))]

    def origin(self):
        return "/".join(self.name.split("/")[:2])

    def runs_on(self, arch):
        return any(self.test.runs_on(target) for target in self._targets(arch))

    def options(self, compiler, flags):
        for target in self._targets(compiler.arch):
            if self.test.runs_on(target) and self.test.is_for(target, flags):
                standard = [f"-std=gnu++{target.standard}"] if target.standard != 17 else []
                return standard + self._variant(compiler) + (self.test.options(target) or [])
        return None

    def _variant(self, compiler):
        if compiler.family == "gcc":
            return self.variant
        return [word for word in self.variant if word.startswith(("-f", "-mstackrealign"))]


BUILTINS = "-fno-tree-dse -fno-tree-loop-distribute-patterns -fno-tracer -fno-ipa-ra -fno-inline-functions -fno-ipa-cp".split()
STACKALIGN = {
    "x86_64": [
        "-mstackrealign -mpreferred-stack-boundary=5 -mno-mmx".split(),
        "-mstackrealign -mpreferred-stack-boundary=5 -mno-mmx -mforce-drap -fpic".split(),
    ]
}


def _plain(testsuite, folder, suffixes, run_by_default):
    for path in sorted(glob.glob(f"{testsuite}/{folder}/*")):
        if path.endswith(suffixes):
            yield Torture(f"{folder}/{os.path.basename(path)}", path, run_by_default)


def _builtins(testsuite):
    """Tests of functions that GCC knows: each brings its own."""
    folder = "gcc.c-torture/execute/builtins"
    for library in sorted(glob.glob(f"{testsuite}/{folder}/*-lib.c")):
        path = library.replace("-lib.c", ".c")
        yield Torture(f"{folder}/{os.path.basename(path)}", path, True, [library, f"{testsuite}/{folder}/lib/main.c"], BUILTINS)


def _stackalign(testsuite, folder, suffix, arch):
    for path in sorted(glob.glob(f"{testsuite}/{folder}/stackalign/*{suffix}")):
        for number, variant in enumerate(STACKALIGN.get(arch, [[]])):
            name = f"{folder}/stackalign/{os.path.basename(path)}{'' if not number else ':drap'}"
            yield Torture(name, path, False, variant=variant)


def gcc_testsuite(testsuite, arch):
    """All that are programs of their own, and for this machine."""
    cxx = (".C", ".cpp", ".cc")
    found = [
        *_plain(testsuite, "gcc.c-torture/execute", (".c",), True),
        *_plain(testsuite, "gcc.c-torture/execute/ieee", (".c",), True),
        *_builtins(testsuite),
        *_plain(testsuite, "gcc.dg/torture", (".c",), False),
        *_plain(testsuite, "gcc.dg/torture/tls", (".c",), False),
        *_stackalign(testsuite, "gcc.dg/torture", ".c", arch),
        *_plain(testsuite, "g++.dg/torture", cxx, False),
        *_stackalign(testsuite, "g++.dg/torture", ".C", arch),
        *_plain(testsuite, "g++.dg/eh", cxx, False),
    ]
    return [program for program in found if program.runs_on(arch)]


class Csmith(Program):
    """A random program, which prints a checksum. Some never end."""

    seconds = 2

    def __init__(self, seed, path):
        super().__init__(f"csmith/{seed}", [path], C)
        self.seed = seed

    def make(self, pool, scratch):
        made = os.path.join(scratch, "made.c")
        ended = pool.run(["csmith", "--seed", str(self.seed), "--output", made], 120, scratch)
        if ended.succeeded():
            shutil.move(made, self.sources[0])
        return ended

    def options(self, compiler, flags):
        return ["-I/usr/include/csmith"]

    def origin(self):
        return "csmith"


def csmith(pool, folder, count):
    """Those of the seeds 1 … COUNT; what was made once is kept in FOLDER."""
    # It leaves a file where it runs, even when it only says its version.
    version = subprocess.run(["csmith", "--version"], cwd=folder, check=True, capture_output=True, text=True).stdout.split()[1]
    folder = os.path.join(folder, f"csmith-{version}")
    os.makedirs(folder, exist_ok=True)
    programs = [Csmith(seed, f"{folder}/{seed}.c") for seed in range(1, count + 1)]
    missing = [program for program in programs if not os.path.exists(program.sources[0])]
    for program, ended in pool.map(lambda program, scratch: program.make(pool, scratch), missing):
        if not ended.succeeded():
            raise SystemExit(f"torture: error: csmith could not make {program.name}: {ended.status}")
    return programs
