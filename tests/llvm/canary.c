// SPDX-License-Identifier: MIT
// Before LLVM 22, the protector's attribute goes from exactly those entries that
// LLVM's rule gives no canary; since then it stays, and the shift has a mark that
// takes it out of the rule. tests/both/canary.c looks at the machine code.
// RUN: %plain_cc -fplugin=%plugin '-fplugin-arg-kstackrand-entry=entry_*' -O1 -fstack-protector-strong \
// RUN:   -S -emit-llvm %s -o %t.ll
// RUN: sed -n 's/^define.*@\([a-z_]*\)(.*\(#[0-9]*\) .*/\1 \2/p' %t.ll | while read -r name group; do \
// RUN:   if grep -q "^attributes $group = .*sspstrong" %t.ll; then echo "$name protected"; else echo "$name bare"; fi; \
// RUN: done > %t.txt
// RUN: if test %version -lt 22; then %FileCheck %s < %t.txt; else \
// RUN:   ! grep bare %t.txt && test $(grep -c 'alloca i8, i64 %.*!stack-protector' %t.ll) = $(grep -c '^entry_' %t.txt); fi
void use(void *);
int load(int *);
struct nested { int n; struct { long l; char c[2]; } inner; };

// CHECK-DAG: entry_leaf bare
int entry_leaf(int x) { return x + 1; }
// CHECK-DAG: entry_call bare
int entry_call(int x) { use(0); return x; }
// CHECK-DAG: entry_in_bounds bare
int entry_in_bounds(int x) { volatile struct { int a, b; } s = { x, x }; return s.b; }
// CHECK-DAG: entry_address protected
int entry_address(int x) { return load(&x); }
// CHECK-DAG: entry_nested protected
void entry_nested(void) { struct nested n; use(&n); }
// CHECK-DAG: entry_array protected
int entry_array(int i) { volatile long a[2] = { i, i }; return a[i & 1]; }
// CHECK-DAG: entry_variable protected
void entry_variable(int n) { use(__builtin_alloca(n)); }
// CHECK-DAG: not_an_entr_y protected
int not_an_entr_y(int x) { return x; }
