// SPDX-License-Identifier: MIT
// Exactly one draw, also when the plugin is named twice, the glob matches twice,
// and the attribute says it again.
// RUN: %cc -fplugin=%plugin -O2 '-fplugin-arg-kstackrand-entry=entry_*' '-fplugin-arg-kstackrand-entry=entry_twice' \
// RUN:   -I%include -S %s -o %t.s
// RUN: %python %support/count_in_functions.py %t.s 'xadd|ldxr' | %FileCheck %s
// CHECK: entry_twice 1
#include <kstackrand/kstackrand.h>

int outside(int);

KSTACKRAND_ENTRY int entry_twice(int x)
{
	return outside(x);
}
