// SPDX-License-Identifier: MIT
// A naked function has no prologue to put anything into.
// REQUIRES: x86_64
// RUN: %cc -O2 -fplugin-arg-kstackrand-entry=bare -S %s -o %t.s 2>%t.err
// RUN: %FileCheck %s --input-file=%t.err
// RUN: ! grep __kstackrand %t.s
// CHECK: warning: kstackrand:{{.*}}bare{{.*}} is not instrumented: {{.*}}naked
__attribute__((naked)) void bare(void)
{
	__asm__("ret");
}
