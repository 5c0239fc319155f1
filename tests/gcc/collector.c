// SPDX-License-Identifier: MIT
// The compiler's garbage collector, made to run at every chance, with its own
// checks on: what the plugin keeps between functions survives.
// RUN: for level in 0 2; do for model in inline call; do \
// RUN:   %cc -O$level -g --param=ggc-min-expand=0 --param=ggc-min-heapsize=0 -fchecking=2 \
// RUN:     -fplugin-arg-kstackrand-model=$model '-fplugin-arg-kstackrand-entry=entry_*' -S %s -o %t.s && \
// RUN:   test $(grep -cE 'call.*__kstackrand|bl.*__kstackrand|blr' %t.s) = 6 || exit 1; \
// RUN: done; done
int outside(int);
#define ENTRY(n) \
	int entry_##n(int x) \
	{ \
		return outside(x * n); \
	} \
	int plain_##n(int x) \
	{ \
		return x + outside(x - n); \
	}
ENTRY(1)
ENTRY(2)
ENTRY(3)
ENTRY(4)
ENTRY(5)
ENTRY(6)
