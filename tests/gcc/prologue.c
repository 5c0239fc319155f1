// SPDX-License-Identifier: MIT
// No bits: the draw is still made. A shared library reaches the thread's state
// without a call.
// RUN: for level in 0 2; do \
// RUN:   %cc -O$level -fplugin-arg-kstackrand-bits=0 -fplugin-arg-kstackrand-entry=entry -S %s -o %t.s && \
// RUN:   %python %support/count_in_functions.py %t.s 'xadd|ldxr' | grep -x 'entry 1' || exit 1; \
// RUN: done
// RUN: %cc -O2 -fPIC -fplugin-arg-kstackrand-entry=entry -S %s -o %t.s
// RUN: ! grep -E '__tls_get_addr|tlsdesc|tlsgd' %t.s
int outside(int);

int entry(int x)
{
	return outside(x);
}
