// SPDX-License-Identifier: MIT
// -fopt-info names each function at its own place; `gcc -v --help` knows the keys.
// RUN: %cc -O2 -fplugin-arg-kstackrand-entry=entry -fopt-info-optall -c %s -o %t.o 2>%t.err
// RUN: %FileCheck %s --input-file=%t.err
// CHECK: messages.c:[[#@LINE+1]]:5: optimized: kstackrand: shifting the stack of entry, model inline, 6 bits
int entry(int x)
{
	return x + 1;
}
// RUN: %cc -v --help >%t.help 2>&1
// RUN: %FileCheck %s --input-file=%t.help --check-prefix=HELP
// HELP: kstackrand:
// HELP: entry=GLOB
// HELP: policy=
// HELP: bits=
