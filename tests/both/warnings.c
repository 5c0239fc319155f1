// SPDX-License-Identifier: MIT
// The plugin's own stack allocation is nobody's warning, and -fstack-usage knows
// its bound.
// RUN: for level in 0 g 1 2 3 s; do for model in inline call; do \
// RUN:   %cc -O$level -g -fplugin-arg-kstackrand-model=$model '-fplugin-arg-kstackrand-entry=entry_*' \
// RUN:     -Wall -Wextra -Wno-comment %warnings -Werror -fstack-protector-strong -c %s -o %t.o || exit 1; \
// RUN: done; done
int outside(int);
int entry_leaf(int);
int entry_caller(int);
int calls_inline(int);

int entry_leaf(int x)
{
	return x + 1;
}

int entry_caller(int x)
{
	for (int i = 0; i < 3; i++)
		x += outside(x);
	return outside(x);
}

static inline int entry_inline(int x)
{
	return outside(x) + 2;
}

int calls_inline(int x)
{
	return entry_inline(x) + 1;
}
