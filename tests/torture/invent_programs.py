#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Programs for driver.test, each of which behaves in its own way when it is compiled
with the plugin, which defines __KSTACKRAND__."""

import os
import sys

WITH = "\n#ifdef __KSTACKRAND__\n%s\n#endif\n"
MAIN = "#include <stdio.h>\n#include <stdlib.h>\nint main(void) { %s return 0; }\n"

PROGRAMS = {
    "gcc.c-torture/execute/same.c": MAIN % "",
    "gcc.c-torture/execute/unsettled.c": "#include <time.h>\n" + MAIN % "struct timespec now; clock_gettime(CLOCK_REALTIME, &now); printf(\"%ld\", now.tv_nsec);",
    "gcc.c-torture/execute/ends.c": MAIN % (WITH % "return 3;"),
    "gcc.c-torture/execute/dies.c": MAIN % (WITH % "abort();"),
    "gcc.c-torture/execute/says.c": MAIN % ("const char *text = \"one\";" + WITH % "text = \"two\";" + "puts(text);"),
    "gcc.c-torture/execute/largest.c": MAIN % "if (getenv(\"KSTACKRAND\")) return 4;",
    "gcc.c-torture/execute/refused.c": MAIN % (WITH % "#error not with it"),
    "gcc.c-torture/execute/untouched.c": "__attribute__((no_kstackrand)) " + "int main(void) { return 0; }",
    "gcc.c-torture/execute/listed.c": MAIN % (WITH % "return 5;"),
    # To be left out: never passes, or never compiles.
    "gcc.c-torture/execute/fails.c": MAIN % (WITH % "return 0;" + "return 1;"),
    "gcc.c-torture/execute/wrong.c": "#ifndef __KSTACKRAND__\n#error never\n#endif\n" + MAIN % "",
    # What a test says of itself.
    "gcc.dg/torture/options.c": "/* { dg-do run } */\n/* { dg-options \"-DSTATUS=7\" { target x86_64-*-* aarch64*-*-* } } */\n"
    "/* { dg-additional-options \"-DSTATUS=8\" { target powerpc*-*-* } } */\n" + MAIN % (WITH % "return STATUS;"),
    "gcc.dg/torture/not-O1.c": "/* { dg-do run } */\n/* { dg-skip-if \"\" { *-*-* } { \"-O1\" } { \"\" } } */\n" + MAIN % (WITH % "return 6;"),
    "gcc.dg/torture/required.c": "/* { dg-do run } */\n/* { dg-require-effective-target ia32 } */\n" + MAIN % "",
    "gcc.dg/torture/more.c": "/* { dg-do run { target { lp64 && { ! ia32 } } } } */\n/* { dg-additional-sources \"more-2.c\" } */\n" + "int more(void);\n" + MAIN % "return more();",
    "gcc.dg/torture/more-2.c": "int more(void);\nint more(void) { return 0; }\n",
    # Not a program, and not for this machine: nobody counts them.
    "gcc.dg/torture/compiled.c": "/* { dg-do compile } */\n",
    "gcc.dg/torture/elsewhere.c": "/* { dg-do run { target powerpc*-*-* } } */\n",
}


def main():
    for name, text in PROGRAMS.items():
        with open(os.path.join(sys.argv[1], name), "w", encoding="utf-8") as file:
            file.write(text)


if __name__ == "__main__":
    main()
