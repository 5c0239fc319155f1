// SPDX-License-Identifier: MIT
// What x86_64 alone has: interrupt handlers, split stacks, and other targets that
// the same compiler makes code for.
// REQUIRES: x86_64
// RUN: %cc -O2 -mgeneral-regs-only -fplugin-arg-kstackrand-entry=handler -S %s -o %t.s 2>%t.err
// RUN: %FileCheck %s --check-prefix=INTERRUPT --input-file=%t.err
// RUN: ! grep __kstackrand %t.s
// INTERRUPT: warning: kstackrand:{{.*}}handler{{.*}} is not instrumented: it is an interrupt handler
//
// RUN: %cc -O2 -mgeneral-regs-only -fsplit-stack '-fplugin-arg-kstackrand-entry=*split*' -fplugin-arg-kstackrand-verbose \
// RUN:   -S %s -o %t.s 2>%t.err
// RUN: %FileCheck %s --check-prefix=SPLIT --input-file=%t.err
// RUN: %python %support/count_in_functions.py %t.s xadd | %FileCheck %s --check-prefix=CODE
// SPLIT-DAG: note: kstackrand:{{.*}}split{{.*}} is not instrumented: it is built with -fsplit-stack
// SPLIT-DAG: note: kstackrand:{{.*}}never_split{{.*}} is an entry
// CODE-DAG: never_split 1
// CODE-DAG: {{^}}split 0
//
// RUN: for flag in -m32 -mx32; do \
// RUN:   %cc -O2 -mgeneral-regs-only $flag -fplugin-arg-kstackrand-entry=split -S %s -o %t.s 2>%t.err && \
// RUN:   %FileCheck %s --check-prefix=NARROW --input-file=%t.err || exit 1; \
// RUN: done
// RUN: ! grep __kstackrand %t.s
// NARROW: warning: kstackrand:{{.*}}split{{.*}} is not instrumented: it is not built for a 64-bit target
int outside(int);

__attribute__((interrupt)) void handler(void *frame)
{
	__asm__ volatile("" ::"r"(frame));
}

int split(int x)
{
	return outside(x) + 1;
}

__attribute__((no_split_stack)) int never_split(int x)
{
	return outside(x) + 2;
}
