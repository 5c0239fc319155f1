// SPDX-License-Identifier: MIT
// The attribute on an alias is one on the function. Clang drops what an alias
// declares.
// RUN: %cc -O2 -S %s -o %t.s
// RUN: %python %support/count_in_functions.py %t.s 'xadd|ldxr' | %FileCheck %s
// CHECK: by_attribute 1
int outside(int);

int by_attribute(int x)
{
	return outside(x) + 2;
}
extern __typeof(by_attribute) name_of_it __attribute__((alias("by_attribute"), kstackrand));
