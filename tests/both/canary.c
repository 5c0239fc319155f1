// SPDX-License-Identifier: MIT
// An entry has a stack canary exactly when it would have one without the plugin.
// RUN: for flag in -fno-stack-protector -fstack-protector -fstack-protector-strong -fstack-protector-all; do \
// RUN:   for level in 0 g 1 2 3 s; do for model in inline call; do \
// RUN:     %plain_cc -O$level $flag -S %s -o %t.plain.s && \
// RUN:     %cc -O$level $flag -fplugin-arg-kstackrand-model=$model \
// RUN:       '-fplugin-arg-kstackrand-entry=entry_*' -S %s -o %t.s || exit 1; \
// RUN:     for s in %t.plain.s %t.s; do \
// RUN:       %python %support/count_in_functions.py $s __stack_chk_fail | sed 's/ [1-9]$/ canary/' > $s.txt; \
// RUN:     done; \
// RUN:     echo "$flag -O$level $model"; diff %t.plain.s.txt %t.s.txt || exit 1; \
// RUN:   done; done; \
// RUN: done
//
// The test would be empty if no function had one, or every function.
// RUN: %cc -O2 -fstack-protector-strong '-fplugin-arg-kstackrand-entry=entry_*' -S %s -o %t.s
// RUN: %python %support/count_in_functions.py %t.s __stack_chk_fail | %FileCheck %s
// CHECK-DAG: entry_leaf 0
// CHECK-DAG: entry_caller 0
// CHECK-DAG: entry_scalar_address {{[1-9]}}
// CHECK-DAG: entry_array {{[1-9]}}
// CHECK-DAG: entry_vla {{[1-9]}}
void use(void *);
int outside(int);

int entry_leaf(int x)
{
	return x + 1;
}

int entry_caller(int x)
{
	return outside(x) + 1;
}

int entry_tail(int x)
{
	return outside(x);
}

void entry_scalar_address(void)
{
	int x = 1;

	use(&x);
}

void entry_array(void)
{
	char bytes[64];

	use(bytes);
}

void entry_small_array(void)
{
	char bytes[4];

	use(bytes);
}

void entry_struct(void)
{
	struct {
		long a;
		struct {
			char bytes[16];
		} inner;
	} whole;

	use(&whole);
}

void entry_vla(int n)
{
	char bytes[n];

	use(bytes);
}

void entry_alloca(int n)
{
	use(__builtin_alloca(n));
}
