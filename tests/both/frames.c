// SPDX-License-Identifier: MIT
// What a function keeps on its own stack survives the shift: a leaf's locals
// while signals come in, arguments on the stack, over-aligned locals beside
// variable ones and around setjmp, over-aligned arguments by value.
// RUN: %plain_cc -O1 -c %support/witness.c -o %t.witness.o
// RUN: for level in 0 1 2 s; do \
// RUN:   for flags in "" "-fomit-frame-pointer" "-fno-omit-frame-pointer" "-fstack-clash-protection" %red_zone "-fstack-protector-all"; do \
// RUN:     for model in inline call; do \
// RUN:       %cc -O$level $flags -fplugin-arg-kstackrand-model=$model '-fplugin-arg-kstackrand-entry=entry_*' \
// RUN:         -I%support %s %t.witness.o %libs -o %t && \
// RUN:       %run %t || { echo "-O$level $flags $model" >&2; exit 1; }; \
// RUN:     done; \
// RUN:   done; \
// RUN: done
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <witness.h>

static volatile sig_atomic_t signals;

static void on_signal(int number)
{
	(void)number;
	signals++;
}

/* Calls nothing: its locals would lie below the stack pointer on x86_64. */
static __attribute__((noinline)) long entry_leaf(long value, long turns)
{
	volatile long words[6];

	for (int n = 0; n < 6; n++)
		words[n] = value + n;
	while (turns--)
		for (int n = 0; n < 6; n++)
			words[n] = words[n] + (words[(n + 1) % 6] == value + (n + 1) % 6);
	return words[0] + words[1] + words[2] + words[3] + words[4] + words[5];
}

static long leaf_plain(long value, long turns)
{
	long words[6], sum = 0;

	for (int n = 0; n < 6; n++)
		words[n] = value + n;
	while (turns--)
		for (int n = 0; n < 6; n++)
			words[n] += words[(n + 1) % 6] == value + (n + 1) % 6;
	for (int n = 0; n < 6; n++)
		sum += words[n];
	return sum;
}

static __attribute__((noinline)) long twelve(long a, long b, long c, long d, long e, long f, long g, long h,
                                             long i, long j, long k, long l)
{
	witness();
	return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h + 9 * i + 10 * j + 11 * k + 12 * l;
}

/* Arguments that stand on the stack, its own and of its calls, in a loop, with
 * variable locals coming and going. */
static __attribute__((noinline)) long entry_arguments(long a, long b, long c, long d, long e, long f, long g,
                                                      long h, long i, long j, long k, long l)
{
	long sum = 0;

	for (int n = 1; n < 20; n++) {
		char bytes[n * 7];

		memset(opaque(bytes), n, sizeof(bytes));
		sum += twelve(a, b, c, d, e, f, g, h, i, j, k, l);
		EXPECT(bytes[n * 7 - 1] == n);
	}
	return sum;
}

static jmp_buf around;

static __attribute__((noinline)) void jump(int value)
{
	witness();
	longjmp(around, value);
}

static __attribute__((noinline)) int entry_over_aligned(int n)
{
	_Alignas(64) volatile long line[8];
	char *variable = __builtin_alloca(n);
	volatile int returns = 0;

	for (int i = 0; i < 8; i++)
		line[i] = n + i;
	memset(opaque(variable), n, n);
	int value = setjmp(around);

	returns++;
	EXPECT((uintptr_t)line % 64 == 0);
	for (int i = 0; i < 8; i++)
		EXPECT(line[i] == n + i);
	if (value < 3)
		jump(value + 1);
	return returns;
}

struct vector {
	_Alignas(32) long words[8];
};

static __attribute__((noinline)) struct vector entry_by_value(struct vector a, int n, struct vector b)
{
	opaque(&a);
	opaque(&b);
	for (int i = 0; i < 8; i++)
		a.words[i] = a.words[i] * n + b.words[i];
	witness();
	return a;
}

int main(void)
{
	struct itimerval often = { { 0, 200 }, { 0, 200 } }, never = { { 0, 0 }, { 0, 0 } };
	struct vector one = { { 1, 2, 3, 4, 5, 6, 7, 8 } };

	signal(SIGALRM, on_signal);
	setitimer(ITIMER_REAL, &often, NULL);
	for (int i = 0; i < 300 || signals < 20; i++)
		EXPECT(entry_leaf(i, 2000) == leaf_plain(i, 2000));
	setitimer(ITIMER_REAL, &never, NULL);

	for (int i = 0; i < 300; i++) {
		EXPECT(entry_arguments(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12) == 650 * 19);
		EXPECT(entry_over_aligned(i % 100 + 1) == 4);
		EXPECT(entry_by_value(one, i, one).words[7] == 8 * i + 8);
	}
	return 0;
}
