// SPDX-License-Identifier: MIT
// What GCC alone has, or what needs a flag of its own, is refused with its
// reason, and left as it is.
// RUN: %cc -O2 -fplugin-arg-kstackrand-entry=in_header -S %s -o %t.s 2>%t.err
// RUN: %FileCheck %s --input-file=%t.err
// RUN: ! grep __kstackrand %t.s
// CHECK: warning: kstackrand:{{.*}}in_header{{.*}} is not instrumented: it is extern inline
int outside(int);

extern inline __attribute__((gnu_inline)) int in_header(int x)
{
	return outside(x) + 1;
}

int calls(int x)
{
	return in_header(x);
}
