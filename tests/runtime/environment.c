// SPDX-License-Identifier: MIT
// KSTACKRAND=off, max and fixed=BYTES; a wrong word is one line on stderr, and
// the program runs, shifted.
// REQUIRES: native
// RUN: %plain_cc -O1 -c %support/witness.c -o %t.witness.o
// RUN: %cc -O2 -fplugin-arg-kstackrand-entry=entry -I%support -I%include %s %t.witness.o %libs -o %t
// RUN: %t | grep -x 'secure 0 random'
// RUN: KSTACKRAND=off %t | grep -x 'secure 0 fixed 0'
// RUN: KSTACKRAND=max %t | grep -x 'secure 0 fixed 1008'
// RUN: KSTACKRAND=fixed=496 %t | grep -x 'secure 0 fixed 496'
// RUN: KSTACKRAND=atfork,fixed=16 %t | grep -x 'secure 0 fixed 16'
// RUN: KSTACKRAND= %t 2>&1 | grep -x 'secure 0 random'
// RUN: for word in of offf fixed fixed= fixed=x fixed=8 fixed=4096 fixed=-16 fixed=16x fixed=99999999999999999999 max=1 atforks nonsense; do \
// RUN:   KSTACKRAND=$word %t >%t.out 2>%t.err && grep -qx 'secure 0 random' %t.out && \
// RUN:   test $(wc -l <%t.err) = 1 && grep -q '^kstackrand: error: .*KSTACKRAND' %t.err || { echo "$word" >&2; exit 1; }; \
// RUN: done
#include <kstackrand/kstackrand.h>
#include <stdio.h>
#include <sys/auxv.h>
#include <witness.h>

uintptr_t entry(void)
{
	return witness();
}

static __attribute__((noinline)) long distance(void)
{
	return (long)((uintptr_t)__builtin_frame_address(0) - entry());
}

int main(void)
{
	long low = 1 << 20, high = 0, zero;

	for (int i = 0; i < 5000; i++) {
		long at = distance();

		low = at < low ? at : low;
		high = at > high ? at : high;
	}
	kstackrand_set_mode(KSTACKRAND_OFF, 0);
	zero = distance();
	printf("secure %lu ", getauxval(AT_SECURE));
	if (low != high)
		printf("random\n");
	else
		printf("fixed %ld\n", low - zero);
	return 0;
}
