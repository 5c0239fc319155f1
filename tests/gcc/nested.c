// SPDX-License-Identifier: MIT
// Nested functions, their trampolines, and a goto out of one into an entry.
// RUN: %plain_cc -O1 -c %support/witness.c -o %t.witness.o
// RUN: for level in 0 1 2 3 s; do \
// RUN:   %cc -O$level -z execstack '-fplugin-arg-kstackrand-entry=entry_*' -I%support %s %t.witness.o %libs -o %t && %run %t || exit 1; \
// RUN: done
#include <stdio.h>
#include <stdlib.h>
#include <witness.h>

static __attribute__((noinline)) void call(void (*function)(int), int value)
{
	witness();
	function(value);
}

__attribute__((noinline)) int entry_outer(int n)
{
	__label__ out;
	int sum = 0;
	uintptr_t before = witness();

	void entry_inner(int value)
	{
		witness();
		sum += value;
		if (value == 0)
			goto out;
		call(entry_inner, value - 1);
	}

	call(entry_inner, n);
	return -1;
out:
	return witness() == before ? sum : -2;
}

int main(void)
{
	for (int i = 0; i < 500; i++)
		if (entry_outer(10) != 55) {
			fprintf(stderr, "entry_outer: %d\n", entry_outer(10));
			return 1;
		}
	return 0;
}
