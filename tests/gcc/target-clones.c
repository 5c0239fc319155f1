// SPDX-License-Identifier: MIT
// A function with clones per target still compiles, and each clone shifts; the
// resolver, which runs before thread-local storage is there, does not.
// REQUIRES: x86_64
// RUN: %cc -O2 '-fplugin-arg-kstackrand-entry=*' -S %s -o %t.s
// RUN: %python %support/count_in_functions.py %t.s xadd | %FileCheck %s
// CHECK-DAG: entry_cloned.{{avx2.*}} 1
// CHECK-DAG: entry_cloned.default{{.*}} 1
// CHECK-DAG: entry_cloned.resolver 0
int outside(int);

__attribute__((target_clones("avx2", "default"))) int entry_cloned(int x)
{
	return outside(x) + 1;
}

int caller(int x)
{
	return entry_cloned(x);
}
