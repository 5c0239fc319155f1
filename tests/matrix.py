# SPDX-License-Identifier: MIT
"""One test file, run once with each compiler that it is meant for.

lit runs a file once. Here a file in both/, gcc/, llvm/ … is run once for each
plugin in the build tree, under a name that tells which: "both/cells.c (gcc-12)".
A folder says in its lit.local.cfg which compilers it is for: with only(),
newest() or once(). All that lit hands to its worker processes must be known by a module,
hence classes here and no functions in lit.cfg.py.
"""

import copy
import glob
import os
import re
import shutil

import lit.formats
import lit.Test

MACHINE = os.uname().machine

# What REQUIRES can say of a compiler.
KINDS = {"native", "gcc", "clang", "x86_64", "aarch64"}


class Compiler:
    """A compiler with a plugin: how to call it, and how to run what it makes."""

    def __init__(self, build, family, arch, version, cc, cxx, plugin):
        self.build, self.family, self.arch, self.version = build, family, arch, version
        self.cc, self.cxx, self.plugin = cc, cxx, plugin
        self.native = arch == MACHINE
        self.name = f"{'' if self.native else arch + '-'}{family}-{version}"

    def features(self):
        native = ("native",) if self.native else ()
        return {self.name, self.family, self.arch, f"{self.family}-{self.version}", *native}

    def substitutions(self):
        """What a test's RUN lines may say. The longest names come first, since
        lit replaces them in order."""
        lib = f"{self.build}/lib" if self.native else f"{self.build}/lib/{self.arch}-linux-gnu"
        # An emulator cannot tell of a fork, and the fast path is what most
        # tests are about: %run says that the program forks by fork(3) alone.
        # %run_bare does not.
        bare = "" if self.native else f"qemu-{self.arch} -L /usr/{self.arch}-linux-gnu"
        run = "" if self.native else f"{bare} -E KSTACKRAND=atfork"
        plugin_dir = os.path.dirname(self.plugin)
        return [
            ("%plain_cxx", self.cxx),
            ("%plain_cc", self.cc),
            ("%cxx", f"{self.cxx} -fplugin={self.plugin}"),
            ("%cc", f"{self.cc} -fplugin={self.plugin}"),
            ("%plugin_dir", plugin_dir),
            ("%passplugin", os.path.join(plugin_dir, "kstackrand-pass.so")),
            ("%plugin", self.plugin),
            ("%version", self.version),
            # What each architecture has to guard branches.
            ("%hardening", "-fcf-protection" if self.arch == "x86_64" else "-mbranch-protection=standard"),
            # Whether a function may use what lies below its stack pointer.
            ("%red_zone", "-mno-red-zone" if self.arch == "x86_64" else ""),
            # Under the emulator, instructions are told by their link-time address.
            ("%fixed_address", "" if self.native else "-static -no-pie"),
            ("%objdump", ("" if self.native else f"{self.arch}-linux-gnu-") + "objdump"),
            ("%coroutines", "-fcoroutines" if self.family == "gcc" else ""),
            # A fork costs an emulator milliseconds.
            ("%many_forks", "10000" if self.native else "1000"),
            # Each compiler's warnings about what the stack holds.
            ("%warnings", "-Walloca -Wvla" + (" -Winline -Wstack-usage=4096" if self.family == "gcc" else "")),
            ("%arch", self.arch),
            ("%libdir", lib),
            ("%libs", f"-L{lib} -l:libkstackrand.a"),
            ("%run_bare", bare),
            ("%run", run),
        ]


def _gcc_compilers(build):
    for plugin in glob.glob(f"{build}/lib/gcc/*/*/kstackrand.so"):
        triplet, version = plugin.split(os.sep)[-3:-1]
        arch = triplet.split("-")[0]
        prefix = "" if arch == MACHINE else triplet + "-"
        cc, cxx = (shutil.which(f"{prefix}{tool}-{version}") for tool in ("gcc", "g++"))
        if cc:
            yield Compiler(build, "gcc", arch, version, cc, cxx or "false", plugin)


def _clang_compilers(build, archs):
    for plugin in glob.glob(f"{build}/lib/llvm/*/kstackrand.so"):
        version = plugin.split(os.sep)[-2]
        cc, cxx = (shutil.which(f"{tool}-{version}") for tool in ("clang", "clang++"))
        for arch in archs if cc else ():
            target = "" if arch == MACHINE else f" --target={arch}-linux-gnu"
            yield Compiler(build, "clang", arch, version, cc + target, cxx + target, plugin)


def find_compilers(build, archs):
    found = [*_gcc_compilers(build), *_clang_compilers(build, archs)]
    found = (c for c in found if c.arch in archs)
    return sorted(found, key=lambda c: (not c.native, c.family, int(c.version)))


class MatrixCase(lit.Test.Test):
    """A test with a compiler, under a name and with temporary files of its own."""

    def __init__(self, test, config, compiler):
        super().__init__(test.suite, test.path_in_suite, config, test.file_path)
        self.compiler_name = compiler.name

    def getFullName(self):
        return f"{super().getFullName()} ({self.compiler_name})"

    def getExecPath(self):
        return f"{super().getExecPath()}.{self.compiler_name}"


def _words(path, keyword):
    """What a test file requires, or is not for."""
    with open(path, encoding="utf-8") as file:
        lists = re.findall(rf"\b{keyword}:(.*)", file.read())
    return {word.strip() for line in lists for word in line.split(",")}


class MatrixFormat(lit.formats.ShTest):
    """A test that is about another kind of compiler is no test for this one,
    and not a skipped one: what lit then calls unsupported is missing here."""

    def __init__(self, compilers):
        super().__init__(execute_external=True)
        self.compilers = compilers

    def getTestsInDirectory(self, testSuite, path_in_suite, litConfig, localConfig):
        for test in super().getTestsInDirectory(testSuite, path_in_suite, litConfig, localConfig):
            required = _words(test.getSourcePath(), "REQUIRES") & KINDS
            for compiler in self.compilers:
                if not required <= compiler.features():
                    continue
                config = copy.copy(localConfig)
                config.available_features = set(localConfig.available_features) | compiler.features()
                config.substitutions = compiler.substitutions() + localConfig.substitutions
                yield MatrixCase(test, config, compiler)


class Matrix:
    """The compilers of this run, and what a folder does with them."""

    def __init__(self, compilers, thorough):
        self.compilers, self.thorough = compilers, thorough

    def only(self, config, **wanted):
        """Each test once with each compiler that has these properties."""
        config.test_format = MatrixFormat(
            [c for c in self.compilers if all(getattr(c, k) == v for k, v in wanted.items())]
        )

    def newest(self, config):
        """Each test once for each family of compilers and architecture: they
        are about the runtime. In a thorough run with each compiler."""
        newest = {(c.family, c.arch): c for c in self.compilers}
        config.test_format = MatrixFormat(self.compilers if self.thorough else list(newest.values()))

    def once(self, config):
        """Each test once: they are not about a compiler. They see the newest
        native GCC, or whatever is there."""
        config.test_format = lit.formats.ShTest(execute_external=True)
        native = [c for c in self.compilers if c.native]
        preferred = [c for c in native if c.family == "gcc"] or native
        if preferred:
            config.substitutions = preferred[-1].substitutions() + config.substitutions
