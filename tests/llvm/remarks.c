// SPDX-License-Identifier: MIT
// -Rpass=kstackrand, -Rpass-missed=kstackrand with the reason, and both in the
// record. With -g or without, they stand at the function.
// RUN: %plain_cc -fplugin=%plugin '-fplugin-arg-kstackrand-entry=*' -O2 -c %s -o %t.o -Rpass=kstackrand \
// RUN:   -Rpass-missed=kstackrand -fsave-optimization-record -foptimization-record-file=%t.yaml 2>&1 | %FileCheck %s
// RUN: %FileCheck %s --check-prefix=YAML < %t.yaml
// Nobody asked: nobody is told.
// RUN: %plain_cc -fplugin=%plugin '-fplugin-arg-kstackrand-entry=*' -O2 -c %s -o %t.o 2>&1 | awk 'END { exit NR }'
int outside(int);

// CHECK-DAG: remarks.c:[[#@LINE+1]]:{{.*}}: remark: plain shifts the stack: model inline, 6 bits, rng fast [-Rpass=kstackrand]
int plain(int x) { return outside(x) + 1; }
// CHECK-DAG: remarks.c:[[#@LINE+1]]:{{.*}}: remark: bare is not instrumented: it is naked, {{.*}} (chosen by entry '*') [-Rpass-missed=kstackrand]
__attribute__((naked)) void bare(void) { __asm__("ret"); }

// YAML: --- !Missed
// YAML-NEXT: Pass: kstackrand
// YAML-NEXT: Name: NotInstrumented
// YAML: Function: bare
// YAML: Reason: it is naked
// YAML: --- !Passed
// YAML-NEXT: Pass: kstackrand
// YAML-NEXT: Name: Instrumented
// YAML: Function: plain
// YAML: Model: inline
// YAML: Bits: '6'
// YAML: Rng: fast
