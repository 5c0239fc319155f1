// SPDX-License-Identifier: MIT
// -fopt-info names each function at its own place, -fdump shows it; verbose says what
// was decided, and is silent about the rest; `gcc -v --help` knows the keys.
// RUN: %cc -O2 -fplugin-arg-kstackrand-entry=entry -fopt-info-optall -c %s -o %t.o 2>%t.err
// RUN: %FileCheck %s --input-file=%t.err
// CHECK: messages.c:[[#@LINE+1]]:5: optimized: kstackrand: shifting the stack of entry, model inline, 6 bits, rng fast
int entry(int x)
{
	return x + 1;
}
// RUN: %cc -O2 -fplugin-arg-kstackrand-entry=entry -fopt-info-optimized -c %s -o %t.o 2>%t.err
// RUN: %FileCheck %s --input-file=%t.err
// RUN: rm -rf %t.d && mkdir %t.d && cd %t.d && %cc -O2 -fplugin-arg-kstackrand-entry=entry -fdump-tree-all -c %s -o dump.o
// RUN: %FileCheck %s --input-file=$(ls %t.d/*.kstackrand) --check-prefix=DUMP
// DUMP: kstackrand entry (0, 0, 6, 2)
// DUMP: __builtin_alloca_with_align_and_max
int taken_out(int x)
{
	return x + 2;
}
int plain(int x)
{
	return x + 3;
}
// RUN: %cc -O2 '-fplugin-arg-kstackrand-entry=*en*' '-fplugin-arg-kstackrand-except=taken_*' -fplugin-arg-kstackrand-verbose \
// RUN:   -c %s -o %t.o 2>%t.err
// RUN: %FileCheck %s --input-file=%t.err --check-prefix=VERBOSE --implicit-check-not=plain
// VERBOSE-DAG: note: kstackrand:{{.*}}entry{{.*}} is an entry (chosen by entry '*en*')
// VERBOSE-DAG: note: kstackrand:{{.*}}taken_out{{.*}} is no entry (taken out by except 'taken_*')
// RUN: test $(grep -c 'is no entry' %t.err) = 1
// RUN: %cc -O2 '-fplugin-arg-kstackrand-entry=*en*' '-fplugin-arg-kstackrand-except=taken_*' -c %s -o %t.o 2>%t.err
// RUN: test ! -s %t.err
// RUN: %cc -v -S %s -o %t.s 2>%t.version
// RUN: grep -A1 '^Versions of loaded plugins' %t.version | grep -E '^ kstackrand: [0-9]+\.[0-9]+'
// RUN: %cc -v --help >%t.help 2>&1
// RUN: %FileCheck %s --input-file=%t.help --check-prefix=HELP
// HELP: kstackrand:
// HELP: entry=GLOB
// HELP: policy=
// HELP: bits=
