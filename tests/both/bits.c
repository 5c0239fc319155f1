// SPDX-License-Identifier: MIT
// bits=N gives 2^N cells from 0 on; 0 instruments and never shifts; the largest
// shift is under a page.
// RUN: %plain_cc -O1 -c %support/witness.c -o %t.witness.o
// RUN: for bits in 0 1 2 3 4 5 6 7 8; do for model in inline call; do \
// RUN:   %cc -O2 -DBITS=$bits -fplugin-arg-kstackrand-bits=$bits -fplugin-arg-kstackrand-model=$model \
// RUN:     -fplugin-arg-kstackrand-entry=entry -I%support %s %t.witness.o %libs -o %t && \
// RUN:   %run %t || exit 1; \
// RUN: done; done
#include <witness.h>

uintptr_t entry(void)
{
	return witness();
}

int main(void)
{
	expect_cells("entry", entry, BITS);
	return 0;
}
