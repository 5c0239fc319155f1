// SPDX-License-Identifier: MIT
// MSan, which only Clang has: no finding in the draw, whose state was written by
// a runtime that it does not know, and 64 cells; and it still finds what is wrong.
// RUN: %plain_cc -O1 -fsanitize=memory -c %support/witness.c -o %t.witness.o
// RUN: for level in 0 2; do \
// RUN:   %cc -O$level -g -fsanitize=memory '-fplugin-arg-kstackrand-entry=entry*' -I%support %s %t.witness.o %libs -o %t && \
// RUN:   %run %t || { echo "-O$level" >&2; exit 1; }; \
// RUN:   ! %run %t wrong 2>%t.err && grep -q 'use-of-uninitialized-value' %t.err || exit 1; \
// RUN: done
#include <stdio.h>
#include <witness.h>

static volatile int wrong;

uintptr_t entry(void)
{
	volatile int array[4];

	if (!wrong)
		array[2] = 1;
	if (array[2] == 2)
		puts("two");
	return witness();
}

int main(int argc, char **argv)
{
	(void)argv;
	wrong = argc > 1;
	expect_cells("entry", entry, 6);
	return 0;
}
