// SPDX-License-Identifier: MIT
// An entry is still there under its name: not inlined into its one caller, not
// cloned for a constant argument, not merged with its twin.
// RUN: for level in g 1 2 3 s; do \
// RUN:   %cc -O$level '-fplugin-arg-kstackrand-entry=entry_*' -I%include -S %s -o %t.s && \
// RUN:   %python %support/count_in_functions.py %t.s '__kstackrand_draw_slow' | %FileCheck %s || exit 1; \
// RUN:   %python %support/count_in_functions.py %t.s '\t(callq?|bl)\s+entry_' | %FileCheck %s --check-prefix=CALLS || exit 1; \
// RUN: done
//
// Nothing but the entries, and each once (arm64 names the symbol twice).
// CHECK-NOT: entry_{{.*}}{{\.}}
// CHECK-DAG: entry_constant {{[12]$}}
// CHECK-DAG: entry_small {{[12]$}}
// CHECK-DAG: entry_twin_a {{[12]$}}
// CHECK-DAG: entry_twin_b {{[12]$}}
// CHECK-DAG: entry_split {{[12]$}}
// CALLS-DAG: caller_of_split 1
// CALLS-DAG: caller_of_constant 1
// CALLS-DAG: caller_of_small 1
// CALLS-DAG: caller_of_twins 2

void outside(int, int);

static void entry_small(void)
{
	outside(1, 2);
}

void caller_of_small(void)
{
	entry_small();
	outside(0, 0);
}

static void entry_constant(int a, int b)
{
	for (int i = 0; i < a; i++)
		outside(a * b, a + i);
	if (a == 7)
		outside(b, b);
}

void caller_of_constant(void)
{
	entry_constant(7, 9);
	outside(0, 0);
}

void entry_twin_a(int n)
{
	outside(n, 3);
	outside(n, 4);
}

void entry_twin_b(int n)
{
	outside(n, 3);
	outside(n, 4);
}

void caller_of_twins(void)
{
	entry_twin_a(1);
	entry_twin_b(1);
	outside(0, 0);
}

/* Its first test is small, the rest is not. */
void entry_split(int *p)
{
	if (!p)
		return;
	for (int i = 0; i < 10; i++)
		outside(p[i], p[i + 1] * p[i + 2]);
	outside(p[1], 2);
}

void caller_of_split(int *p)
{
	entry_split(p);
	outside(0, 0);
}
