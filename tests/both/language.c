// SPDX-License-Identifier: MIT
// What a function does with its own stack still works in an entry: setjmp and
// longjmp, alloca and VLAs that come and go in a loop, over-aligned locals,
// variadic arguments, large frames, computed gotos.
// RUN: %plain_cc -O1 -c %support/witness.c -o %t.witness.o
// RUN: for level in 0 g 1 2 3 s; do \
// RUN:   for flags in "" "-fstack-protector-strong -fstack-clash-protection" "-fomit-frame-pointer" \
// RUN:                "%hardening" "-fno-pie -no-pie" "-fPIC" "-static"; do \
// RUN:     for model in inline call; do \
// RUN:       %cc -O$level $flags -fplugin-arg-kstackrand-model=$model '-fplugin-arg-kstackrand-entry=entry_*' \
// RUN:         -I%support %s %t.witness.o %libs -o %t && \
// RUN:       %run %t || { echo "-O$level $flags $model" >&2; exit 1; }; \
// RUN:     done; \
// RUN:   done; \
// RUN: done
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <witness.h>

static jmp_buf around;

static __attribute__((noinline)) void entry_jumper(int depth)
{
	char bytes[48];

	memset(opaque(bytes), depth, sizeof(bytes));
	witness();
	if (depth == 0)
		longjmp(around, 7);
	entry_jumper(depth - 1);
	opaque(bytes);
}

/* Comes back twice, and its callees find the stack where it was. */
static __attribute__((noinline)) int entry_setjmp(void)
{
	volatile uintptr_t before = witness();
	volatile int returns = 0;
	int value = setjmp(around);

	returns++;
	EXPECT(witness() == before);
	if (value == 0)
		entry_jumper(5);
	EXPECT(returns == 2);
	return value;
}

/* The stack pointer after each turn is what it was before: nothing leaks. */
static __attribute__((noinline)) uintptr_t entry_vla_in_loop(int turns)
{
	uintptr_t before = witness();

	for (int i = 1; i <= turns; i++) {
		char bytes[i % 300 + 1];

		memset(opaque(bytes), i, sizeof(bytes));
		witness();
		EXPECT(bytes[0] == (char)i);
	}
	EXPECT(witness() == before);
	return before;
}

static __attribute__((noinline)) int entry_alloca(int n)
{
	int *sum = __builtin_alloca(n * sizeof(int));

	for (int i = 0; i < n; i++)
		sum[i] = i;
	witness();
	int total = 0;
	for (int i = 0; i < n; i++)
		total += ((int *)opaque(sum))[i];
	return total;
}

static __attribute__((noinline)) void entry_over_aligned(void)
{
	_Alignas(64) char line[64];
	_Alignas(4096) char page[64];

	EXPECT((uintptr_t)opaque(line) % 64 == 0);
	EXPECT((uintptr_t)opaque(page) % 4096 == 0);
	memset(line, 1, sizeof(line));
	memset(page, 2, sizeof(page));
	witness();
	EXPECT(line[63] == 1 && page[63] == 2);
}

static __attribute__((noinline)) double entry_variadic(int count, ...)
{
	va_list arguments;
	double sum = 0;

	va_start(arguments, count);
	for (int i = 0; i < count; i++)
		sum += i % 2 ? va_arg(arguments, double) : va_arg(arguments, int);
	va_end(arguments);
	witness();
	return sum;
}

static __attribute__((noinline)) int entry_large_frame(void)
{
	char bytes[65536];

	memset(opaque(bytes), 3, sizeof(bytes));
	witness();
	return ((char *)opaque(bytes))[65535];
}

static __attribute__((noinline)) int entry_computed_goto(const unsigned char *program)
{
	static const void *const labels[] = { &&add, &&twice, &&stop };
	int value = 1;

	goto *labels[*program++];
add:
	value += 1;
	goto *labels[*program++];
twice:
	value *= 2;
	goto *labels[*program++];
stop:
	witness();
	return value;
}

struct big {
	long words[20];
};

static __attribute__((noinline)) struct big entry_struct(struct big by_value, long add)
{
	for (int i = 0; i < 20; i++)
		by_value.words[i] += add;
	witness();
	return by_value;
}

int main(void)
{
	for (int i = 0; i < 300; i++) {
		struct big big = { { 1, 2, 3 } };

		EXPECT(entry_setjmp() == 7);
		entry_vla_in_loop(400);
		EXPECT(entry_alloca(100) == 4950);
		entry_over_aligned();
		EXPECT(entry_variadic(12, 1, 2.0, 3, 4.0, 5, 6.0, 7, 8.0, 9, 10.0, 11, 12.0) == 78);
		EXPECT(entry_large_frame() == 3);
		EXPECT(entry_computed_goto((const unsigned char[]){ 0, 1, 0, 1, 2 }) == 10);
		EXPECT(entry_struct(big, i).words[2] == 3 + i);
	}
	return 0;
}
