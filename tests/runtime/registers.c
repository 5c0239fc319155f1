// SPDX-License-Identifier: MIT
// The first draw of a thread takes the slow path in the middle of a prologue,
// with arguments in every register that can hold one: none is lost. Nor with no
// bits, where nothing keeps the stack below the arguments free but the prologue.
// RUN: for level in 0 1 2 3 s; do for bits in 6 0; do \
// RUN:   %cc -O$level -pthread -fplugin-arg-kstackrand-bits=$bits '-fplugin-arg-kstackrand-entry=entry_*' %s %libs -o %t && \
// RUN:   %run %t && %run_bare %t || exit 1; \
// RUN: done; done
// Also where the slow path is in a library whose functions are bound at their first call.
// RUN: %cc -O2 -pthread '-fplugin-arg-kstackrand-entry=entry_*' %s -L%libdir -lkstackrand -Wl,-rpath,%libdir -Wl,-z,lazy -o %t && \
// RUN:   %run %t
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

typedef float vector __attribute__((vector_size(16)));

__attribute__((noinline)) double entry_all(long a, long b, long c, long d, long e, long f, long g, long h,
                                           double i, double j, vector k, float l, double m, double n,
                                           double o, double p, long q)
{
	return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h + 9 * i + 10 * j + 11 * k[3] +
	       12 * l + 13 * m + 14 * n + 15 * o + 16 * p + 17 * q;
}

/* Nested functions take a hidden argument in a register of its own. */
#if defined(__GNUC__) && !defined(__clang__)
static long nested(long value)
{
	__attribute__((noinline)) long entry_nested(long more)
	{
		return value + more;
	}
	return entry_nested(1);
}
#else
static long nested(long value)
{
	return value + 1;
}
#endif

static void *thread(void *wrong)
{
	vector k = { 0, 0, 0, 11 };

	if (entry_all(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, k, 12, 13, 14, 15, 16, 17) != 1785)
		*(int *)wrong = 1;
	return wrong;
}

static void *nested_thread(void *wrong)
{
	if (nested(41) != 42)
		*(int *)wrong = 1;
	return wrong;
}

int main(void)
{
	for (int i = 0; i < 200; i++) {
		int wrong = 0;
		pthread_t a, b;

		/* First the one that the first call into a library may hit. */
		pthread_create(&b, NULL, nested_thread, &wrong);
		pthread_join(b, NULL);
		pthread_create(&a, NULL, thread, &wrong);
		pthread_join(a, NULL);
		if (wrong) {
			fprintf(stderr, "an argument was lost\n");
			return 1;
		}
	}
	return 0;
}
