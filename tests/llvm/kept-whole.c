// SPDX-License-Identifier: MIT
// What would take an entry away from its name in LLVM alone: merging of equal
// functions, specialisation, outlining, hot-cold splitting, partial inlining.
// RUN: %plain_cc -O2 -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.raw.ll
// RUN: opt-%version -load %passplugin -load-pass-plugin %passplugin '-kstackrand=entry=entry_*' \
// RUN:   -passes='kstackrand-mark,mergefunc,ipsccp,deadargelim,argpromotion,hotcoldsplit,partial-inliner,iroutliner,default<O3>,mergefunc,kstackrand-instrument' \
// RUN:   -hot-cold-split -S %t.raw.ll -o %t.ll
// RUN: grep -oE '^define.*@[a-zA-Z_.0-9]+' %t.ll | sed 's/.*@//' | sort | %FileCheck %s
// RUN: sed -n '/@entry_twin_b(/,/^}/p' %t.ll | grep -c '@outside(' | %FileCheck %s --check-prefix=TWIN
// The way of the compiler itself, which specialises since 17.
// RUN: %plain_cc -fplugin=%plugin '-fplugin-arg-kstackrand-entry=entry_*' -O3 -S -emit-llvm %s -o - \
// RUN:   | grep -oE '^define.*@[a-zA-Z_.0-9]+' | sed 's/.*@//' | sort | %FileCheck %s
// RUN: grep -c xadd %t.ll | %FileCheck %s --check-prefix=COUNT
//
// CHECK: {{^}}calls{{$}}
// CHECK-NEXT: {{^}}entry_cold{{$}}
// CHECK-NEXT: {{^}}entry_special{{$}}
// CHECK-NEXT: {{^}}entry_twin_a{{$}}
// CHECK-NEXT: {{^}}entry_twin_b{{$}}
// CHECK-NOT: {{.}}
// COUNT: 4
// TWIN: 2
int outside(int, int);
int elsewhere(int, int);
__attribute__((cold, noreturn)) void die(int, int);

static int entry_special(int (*f)(int, int), int n)
{
	int sum = 0;

	for (int i = 0; i < n; i++)
		sum += f(sum, i) * f(i, n);
	return sum;
}

int entry_cold(int x)
{
	if (__builtin_expect(x < 0, 0)) {
		outside(x, 1);
		outside(x, 2);
		die(x, 3);
	}
	return x + 1;
}

int entry_twin_a(int n) { return outside(n, 3) + outside(n, 4); }
int entry_twin_b(int n) { return outside(n, 3) + outside(n, 4); }

int calls(int n)
{
	return entry_special(outside, 9) + entry_special(elsewhere, 10) + entry_cold(n) + entry_twin_a(1) +
	       entry_twin_b(1);
}
