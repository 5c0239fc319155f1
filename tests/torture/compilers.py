# SPDX-License-Identifier: MIT
"""A compiler as it is called: with the plugin, every function an entry, and without."""

import hashlib
import os
import re
import subprocess

# What older C allowed and newer compilers refuse: the programs are as old as GCC.
OLD_C = {
    "gcc": ["-fpermissive"],
    "clang": [
        "-Wno-error=" + word
        for word in ("implicit-function-declaration", "implicit-int", "int-conversion", "incompatible-pointer-types", "return-type")
    ],
}
# Options of GCC's that tune it or make it tell, and that Clang does not know.
GCC_ALONE = re.compile(r"-f(no-)?(tree|ipa|early-inlining|dump|disable|enable|opt-info|save-optimization)\b.*|--param.*|-fgnu89-inline")


def _said(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def _digest_of_files(paths):
    digest = hashlib.sha256()
    for path in paths:
        with open(path, "rb") as file:
            digest.update(file.read())
    return digest.hexdigest()[:16]


class Compiler:
    """WORDS is a command, such as "gcc-12" or "clang-19 --target=aarch64-linux-gnu";
    BUILD, a build tree that has a plugin for it."""

    def __init__(self, words, build):
        self.cc = words.split()
        self.cxx = [re.sub(r"(g)cc|(clang)", r"\1\2++", self.cc[0]), *self.cc[1:]]
        self.version = _said(*self.cc, "--version").split("\n", 1)[0]
        self.arch = _said(*self.cc, "-dumpmachine").split("-")[0]
        self.family = "clang" if "clang" in self.version else "gcc"
        major = re.search(r" (\d+)\.\d+\.\d+", self.version)[1]
        self.name = f"{self.family}-{major}"
        self.identity = f"{self.version}, {self.arch}"
        self.native = self.arch == os.uname().machine
        self.runner = [] if self.native else [f"qemu-{self.arch}", "-L", f"/usr/{self.arch}-linux-gnu"]

        config = [os.path.join(build, "bin", "kstackrand-config"), "--cc", words]
        self.plugin_cflags = _said(*config, "--cflags", "--arg", "entry=*").split()
        self.plugin_ldflags = _said(*config, "--ldflags").split()
        plugin = _said(*config, "--plugin")
        runtime = next(word[2:] for word in self.plugin_ldflags if word.startswith("-L"))
        parts = [plugin, os.path.join(runtime, "libkstackrand.so")]
        if self.family == "clang":
            parts.append(_said(*config, "--pass"))
        self.plugin_digest = _digest_of_files(parts)

    def options(self, wanted, language):
        """Those of WANTED that this compiler can be asked for, and what makes it
        take old programs."""
        if self.family == "clang":
            wanted = [word for word in wanted if not GCC_ALONE.fullmatch(word)]
            if "-flto" in wanted:
                wanted.append("-fuse-ld=lld")
        return ["-w", *(OLD_C[self.family] if language == "c" else []), *wanted]

    def command(self, language, options, sources, output, hardened):
        """Compiles and links."""
        return [
            *(self.cxx if language == "c++" else self.cc),
            *options,
            *(self.plugin_cflags if hardened else []),
            *sources,
            "-o",
            output,
            *(self.plugin_ldflags if hardened else []),
            "-lm",
        ]

    def run_command(self, program, mode):
        """MODE: what KSTACKRAND is to be, "" for nothing. An emulator cannot tell of
        a fork: there it also has to say that the program forks by fork(3) alone."""
        words = [word for word in (mode, "" if self.native else "atfork") if word]
        setting = f"KSTACKRAND={','.join(words)}"
        if self.native:
            return [program], ({**os.environ, "KSTACKRAND": mode} if mode else None)
        return [*self.runner, *(["-E", setting] if words else []), program], None
