// SPDX-License-Identifier: MIT
// The sanitizers work in entries: they neither poison the shift nor find fault
// with it, and still find what is wrong. Clang's ASan aligns its own allocation
// to 32 bytes, wherever it takes the locals from: the shift is made below it.
// REQUIRES: native
// RUN: %plain_cc -O1 -c %support/witness.c -o %t.witness.o
// RUN: for level in 0 1 2; do for sanitizer in address undefined address,undefined thread; do \
// RUN:   %cc -O$level -g -fsanitize=$sanitizer '-fplugin-arg-kstackrand-entry=entry_*' -I%support \
// RUN:     %s %t.witness.o %libs -o %t && \
// RUN:   for heap in 0 1; do \
// RUN:     ASAN_OPTIONS=detect_stack_use_after_return=$heap %run %t || { echo "-O$level $sanitizer $heap" >&2; exit 1; }; \
// RUN:   done || exit 1; \
// RUN: done; done
// RUN: %cc -O1 -g -fsanitize=address '-fplugin-arg-kstackrand-entry=entry_*' -I%support %s %t.witness.o %libs -o %t
// RUN: ! %run %t overflow 2>%t.err
// RUN: grep -q 'stack-buffer-overflow' %t.err
#include <string.h>
#include <witness.h>

static int size = 32;

uintptr_t entry_array(void)
{
	char bytes[32];

	memset(opaque(bytes), 1, size);
	return witness();
}

uintptr_t entry_tail(void)
{
	return witness();
}

int main(int argc, char **argv)
{
	(void)argv;
	if (argc > 1) {
		size = 33;
		entry_array();
		return 0;
	}
	expect_cells("array", entry_array, 6);
	expect_cells("tail", entry_tail, 6);
	return 0;
}
