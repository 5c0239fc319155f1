# SPDX-License-Identifier: MIT
"""What every test sees. Run by scripts/check.sh; by hand, see tests/README.md."""

import os
import shutil
import subprocess
import sys

here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, here)
# Nothing is left in the source tree.
sys.dont_write_bytecode = True
import matrix  # noqa: E402

build = lit_config.params.get("build", os.path.join(here, "..", "build"))
build = os.path.abspath(build)

config.name = "kstackrand"
config.test_source_root = here
config.test_exec_root = os.path.join(build, "tests", "output")
config.suffixes = [".c", ".cpp", ".test", ".sh"]
config.excludes = ["support", "output", "daemons", "CMakeLists.txt", "battery.sh", "expect.sh"]
thorough = bool(lit_config.params.get("long"))
if not thorough:
    config.excludes.append("long")
# Each version of clang-format has a style of its own; ours is that of Debian 12's.
if not (shutil.which("clang-format-14") and shutil.which("clang-tidy-14")):
    config.excludes.append("lint.test")
config.environment["LC_ALL"] = "C"
config.environment["PATH"] = os.environ["PATH"]
# Where scripts/kernel-test.sh keeps what it built. lit passes neither on.
for name in ("HOME", "XDG_CACHE_HOME"):
    if name in os.environ:
        config.environment[name] = os.environ[name]

features = config.available_features
RUSTC = "/usr/bin/rustc"


def feature(name, holds):
    if holds:
        features.add(name)


archs = [matrix.MACHINE]
if matrix.MACHINE != "aarch64" and shutil.which("qemu-aarch64") and shutil.which("aarch64-linux-gnu-gcc"):
    archs.append("aarch64")
    features.add("aarch64-run")
feature("valgrind", shutil.which("valgrind"))
feature("musl", shutil.which("musl-gcc"))
feature("root", os.geteuid() == 0)
battery = os.path.join(build, "tests", "random")
feature("battery", os.path.exists(f"{battery}/waves") and shutil.which("ent") and shutil.which("rngtest"))
feature("gnuplot", shutil.which("gnuplot"))
feature("dieharder", shutil.which("dieharder"))

# Kernels are built for both, and booted in an emulator of the whole machine.
builds_kernels = all(shutil.which(tool) for tool in ("flex", "bison", "bc", "cpio", "make"))
feature("kernel-x86_64", builds_kernels and matrix.MACHINE == "x86_64" and shutil.which("qemu-system-x86_64"))
feature("kernel-arm64", builds_kernels and shutil.which("aarch64-linux-gnu-gcc") and shutil.which("qemu-system-aarch64"))
feature("ccache", shutil.which("ccache"))
feature("csmith", shutil.which("csmith"))

compilers = matrix.find_compilers(build, archs)
for compiler in compilers:
    features.add(compiler.name)
config.matrix = matrix.Matrix(compilers, thorough)


def rust_llvm():
    """The major version of LLVM in Debian's rustc, the one in /usr/bin: others
    bring an LLVM of their own, which is no release."""
    if not os.path.exists(RUSTC):
        return "0"
    told = subprocess.run([RUSTC, "-vV"], capture_output=True, text=True, check=True).stdout
    major = told.split("LLVM version: ")[1].split(".")[0]
    feature("rustc", os.path.exists(f"{build}/lib/llvm/{major}/kstackrand-pass.so"))
    return major


def fuzzing_clang():
    """The newest Clang that has libFuzzer beside it; one that is not there when
    there is none."""
    for compiler in reversed(compilers):
        if compiler.family == "clang" and compiler.native:
            runtime = subprocess.run(
                [compiler.cc, f"-print-file-name=libclang_rt.fuzzer-{compiler.arch}.a"],
                capture_output=True,
                text=True,
                check=True,
            ).stdout.strip()
            if os.path.exists(runtime):
                features.add("fuzzer")
                return compiler.cc
    return "no-clang-with-libfuzzer"


def tool(name):
    """A tool of LLVM's, from whichever version is there."""
    for version in ("", *(f"-{n}" for n in range(30, 10, -1))):
        path = shutil.which(name + version)
        if path:
            return path
    return name


config.substitutions += [
    ("%build", build),
    ("%battery", battery),
    ("%source", os.path.dirname(here)),
    ("%support", os.path.join(here, "support")),
    ("%include", os.path.join(here, "..", "include")),
    ("%FileCheck", tool("FileCheck")),
    ("%python", sys.executable),
    ("%fuzzer", fuzzing_clang()),
    ("%rust_llvm", rust_llvm()),
    ("%rustc", RUSTC),
]

config.matrix.only(config)
