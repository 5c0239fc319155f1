# SPDX-License-Identifier: MIT
"""What the tests of GCC's own testsuite say of themselves: on which machines they
are run, and with what options. The directives are those of DejaGnu, in Tcl; of
them, what is here is enough for tests that are one program each."""

import fnmatch
import re

DIRECTIVE = re.compile(r"\{\s+(dg-[a-z-]+)\s+(.*?)\s*\}[^}]*$", re.MULTILINE)
TOKEN = re.compile(r'[{}]|"(?:\\.|[^"\\])*"|[^\s{}]+')

TRIPLETS = {"x86_64": "x86_64-pc-linux-gnu", "aarch64": "aarch64-unknown-linux-gnu"}

# What can be asked of a target and does not hold. What a test requires and is not
# named here is taken for granted: a test that asks for more than there is does not
# compile, or not pass, without the plugin either, and is left out.
NEVER = set(
    """ia32 ilp32 x32 freestanding run_expensive_tests newlib_nano_io short_enums default_packed
    section_anchors arm32 arm_fp16_alternative_ok vmx_hw powerpc_altivec_ok hard_float
    int16 ptr16 avr_tiny xfail_vect dfp""".split()
)
# What holds on one of them.
ONLY_ON = {
    "x86_64": re.compile(r"(sse|avx|mmx|fma|cet|x86|quad|__float128|base_quadfloat|float80)"),
    "aarch64": re.compile(r"(aarch64|arm_neon)"),
}
# Whether these are asked for by `target`: then they decide of an option.
ALWAYS = set(
    """lp64 fpic pie int128 int32plus int32 size32plus stdint_types inf c99_runtime tls tls_runtime
    tls_native automatic_stack_alignment alloca signal mmap fenv wchar trampolines pthread""".split()
)


def tree(text):
    """A Tcl list: words, and lists of them."""
    stack = [[]]
    for token in TOKEN.findall(text):
        if token == "{":
            stack.append([])
        elif token == "}" and len(stack) > 1:
            inner = stack.pop()
            stack[-1].append(inner)
        elif token != "}":
            stack[-1].append(token[1:-1] if token[0] == '"' else token)
    return stack[0]


def flat(item):
    """The words of a list within lists."""
    return [item] if isinstance(item, str) else [word for inner in item for word in flat(inner)]


class Target:
    """A machine, and the dialect of C++ that the test is compiled as."""

    def __init__(self, arch, standard=17):
        self.arch, self.standard = arch, standard

    def _dialect(self, word):
        match = re.fullmatch(r"c\+\+(\d\d|98)(_only|_down)?", word)
        if not match:
            return None
        year = lambda n: n if n < 90 else n - 100
        mine, asked = year(self.standard), year(int(match[1]))
        return {"_only": mine == asked, "_down": mine <= asked, None: mine >= asked}[match[2]]

    def _word(self, word, unknown):
        if "-" in word or "*" in word:
            return fnmatch.fnmatchcase(TRIPLETS[self.arch], word)
        if (dialect := self._dialect(word)) is not None:
            return dialect
        if word in NEVER:
            return False
        for arch, pattern in ONLY_ON.items():
            if pattern.match(word):
                return arch == self.arch
        return word in ALWAYS or unknown

    def holds(self, selector, unknown=False):
        """A word, a list of which one must hold, or an expression."""
        if isinstance(selector, str):
            return self._word(selector, unknown)
        if len(selector) == 1:
            return self.holds(selector[0], unknown)
        if selector and selector[0] == "!":
            return not self.holds(selector[1:], unknown)
        for operator, combine in (("||", any), ("&&", all)):
            if operator in selector:
                at = selector.index(operator)
                return combine((self.holds(selector[:at], unknown), self.holds(selector[at + 1 :], unknown)))
        return any(self.holds(item, unknown) for item in selector)

    def selected(self, words):
        """What `{ target … }` or `{ xfail … }` at the end of a directive says."""
        for item in words:
            if isinstance(item, list) and item and item[0] == "target":
                return self.holds(item[1:])
        return True


def _is_skipped(target, words, flags):
    """dg-skip-if COMMENT TARGETS [FLAGS [BUT-NOT-FLAGS]]"""
    if not target.holds(words[1] if len(words) > 1 else []):
        return False
    given = f" {' '.join(flags)} "
    has = lambda patterns: any(fnmatch.fnmatchcase(given, f"*{p} *") for p in patterns if p)
    include = flat(words[2]) if len(words) > 2 else ["*"]
    exclude = flat(words[3]) if len(words) > 3 else []
    return has(include) and not has(exclude)


class Test:
    """What the text of a test says of itself."""

    def __init__(self, text, run_by_default):
        self.directives = [(name, tree(rest)) for name, rest in DIRECTIVE.findall(text)]
        self.run_by_default = run_by_default
        self.sources = [word for words in self._words("dg-additional-sources") for word in flat(words[:1]) if word]

    def _words(self, *names):
        return [words for name, words in self.directives if name in names]

    def runs_on(self, target):
        """Whether it is a program that is run there."""
        for words in self._words("dg-do"):
            return bool(words) and words[0] == "run" and target.selected(words[1:])
        return self.run_by_default

    def is_for(self, target, flags):
        """Whether there is all that it requires, and these flags are none that it
        is not for."""
        for words in self._words("dg-require-effective-target"):
            if words and target.selected(words[1:]) and not target.holds(words[0], unknown=True):
                return False
        return not any(_is_skipped(target, words, flags) for words in self._words("dg-skip-if"))

    def options(self, target):
        """None when it names none."""
        chosen = None
        for words in self._words("dg-options"):
            if words and target.selected(words[1:]):
                chosen = " ".join(flat(words[0])).split()
        for words in self._words("dg-additional-options"):
            if words and target.selected(words[1:]):
                chosen = (chosen or []) + " ".join(flat(words[0])).split()
        return chosen
