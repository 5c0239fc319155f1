// SPDX-License-Identifier: MIT
// Every shape of entry moves its callees to 64 cells, 16 bytes apart, at every
// -O level and in both models; also one whose last statement is a call.
// RUN: %plain_cc -O1 -c %support/witness.c -o %t.witness.o
// RUN: for level in 0 g 1 2 3 s; do for model in inline call; do \
// RUN:   %cc -O$level -fplugin-arg-kstackrand-model=$model '-fplugin-arg-kstackrand-entry=entry_*' \
// RUN:     -I%support -c %s -o %t.o && \
// RUN:   %plain_cc %t.o %t.witness.o %libs -o %t && \
// RUN:   echo "-O$level $model" && %run %t || exit 1; \
// RUN: done; done
#include <stdlib.h>
#include <string.h>
#include <witness.h>

#ifndef __KSTACKRAND__
#error "the plugin does not tell that it is there"
#endif

uintptr_t entry_tail(void)
{
	return witness();
}

uintptr_t (*volatile indirect)(void) = witness;

uintptr_t entry_indirect_tail(void)
{
	return indirect();
}

uintptr_t entry_array(void)
{
	char bytes[100];

	memset(opaque(bytes), 1, sizeof(bytes));
	uintptr_t at = witness();
	return at + (bytes[0] - 1);
}

uintptr_t entry_vla(void)
{
	volatile int size = 40;
	char bytes[size];

	memset(opaque(bytes), 0, size);
	return witness();
}

uintptr_t entry_alloca(void)
{
	volatile int size = 24;
	char *bytes = __builtin_alloca(size);

	memset(opaque(bytes), 0, size);
	return witness();
}

static __attribute__((noinline)) uintptr_t ten(int a, int b, int c, int d, int e, int f, int g, int h,
                                               double i, long j)
{
	if (a + b + c + d + e + f + g + h + i + j != 55)
		abort();
	return witness();
}

/* Arguments in registers and on the stack, live across the draw. */
static __attribute__((noinline)) uintptr_t entry_ten_arguments(int a, int b, int c, int d, int e, int f,
                                                               int g, int h, double i, long j)
{
	return ten(a, b, c, d, e, f, g, h, i, j);
}

static uintptr_t call_entry_ten_arguments(void)
{
	return entry_ten_arguments(1, 2, 3, 4, 5, 6, 7, 8, 9, 10);
}

/* Used once and small: it would be inlined, and is where nobody keeps it. */
static uintptr_t entry_static(void)
{
	return witness();
}

uintptr_t call_entry_static(void)
{
	return entry_static();
}

/* The first block is a loop's head. */
uintptr_t entry_loop(void)
{
	static volatile int turns;
	uintptr_t at;

	do
		at = witness();
	while (++turns % 4);
	return at;
}

int main(void)
{
	expect_cells("tail", entry_tail, 6);
	expect_cells("indirect tail", entry_indirect_tail, 6);
	expect_cells("array", entry_array, 6);
	expect_cells("vla", entry_vla, 6);
	expect_cells("alloca", entry_alloca, 6);
	expect_cells("ten arguments", call_entry_ten_arguments, 6);
#ifndef NO_STATIC
	expect_cells("static", call_entry_static, 6);
#endif
	expect_cells("loop", entry_loop, 6);
	return 0;
}
