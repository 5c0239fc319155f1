// SPDX-License-Identifier: MIT
// Attributes choose a function and take it out again; a policy's `except` takes
// out what an attribute chose; without the plugin the macros are empty.
// RUN: %cc -O2 -fplugin-arg-kstackrand-entry='by_*' -fplugin-arg-kstackrand-except=by_glob_not \
// RUN:   -fplugin-arg-kstackrand-except=attribute_but_except -Wall -Wno-comment -Werror -I%include -S %s -o %t.s
// RUN: %python %support/count_in_functions.py %t.s 'xadd|ldxr' | %FileCheck %s
// RUN: %plain_cc -O2 -Wall -Wno-comment -Werror -I%include -S %s -o %t.plain.s
// RUN: ! grep kstackrand %t.plain.s
// RUN: %cc -O2 -fplugin-arg-kstackrand-entry='by_*' -fplugin-arg-kstackrand-disable -Wall -Wno-comment -Werror -I%include -S %s -o %t.off.s
// RUN: ! grep kstackrand %t.off.s
// CHECK-DAG: by_attribute 1
// CHECK-DAG: by_declaration 1
// CHECK-DAG: by_glob 1
// CHECK-DAG: by_glob_not 0
// CHECK-DAG: by_glob_no_attribute 0
// CHECK-DAG: attribute_but_except 0
// CHECK-DAG: nobody 0
#include <kstackrand/kstackrand.h>

int outside(int);
KSTACKRAND_ENTRY int by_declaration(int);

KSTACKRAND_ENTRY int by_attribute(int x)
{
	return outside(x);
}

int by_declaration(int x)
{
	return outside(x) + 1;
}

int by_glob(int x)
{
	return outside(x) + 2;
}

int by_glob_not(int x)
{
	return outside(x) + 3;
}

KSTACKRAND_NO int by_glob_no_attribute(int x)
{
	return outside(x) + 4;
}

KSTACKRAND_ENTRY int attribute_but_except(int x)
{
	return outside(x) + 5;
}

int nobody(int x)
{
	return outside(x) + 6;
}
