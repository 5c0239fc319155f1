# SPDX-License-Identifier: MIT
"""What every test sees. Run by scripts/check.sh; by hand, see tests/README.md."""

import os
import shutil
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
config.excludes = ["support", "output", "daemons", "CMakeLists.txt"]
if not lit_config.params.get("long"):
    config.excludes.append("long")
config.environment["LC_ALL"] = "C"
config.environment["PATH"] = os.environ["PATH"]

features = config.available_features


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

compilers = matrix.find_compilers(build, archs)
for compiler in compilers:
    features.add(compiler.name)
config.matrix = matrix.Matrix(compilers)


def tool(name):
    """A tool of LLVM's, from whichever version is there."""
    for version in ("", *(f"-{n}" for n in range(30, 10, -1))):
        path = shutil.which(name + version)
        if path:
            return path
    return name


config.substitutions += [
    ("%build", build),
    ("%source", os.path.dirname(here)),
    ("%support", os.path.join(here, "support")),
    ("%include", os.path.join(here, "..", "include")),
    ("%FileCheck", tool("FileCheck")),
    ("%python", sys.executable),
]

config.matrix.only(config)
