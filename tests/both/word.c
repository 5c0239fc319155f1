// SPDX-License-Identifier: MIT
// The prologue computes the word that abi.h defines, from the state that abi.h
// lays out: of each draw, the stack shows what the header says it must.
// RUN: %plain_cc -O1 -c %support/witness.c -o %t.witness.o
// RUN: for level in 0 2; do for model in inline call; do \
// RUN:   %cc -O$level -fplugin-arg-kstackrand-bits=8 -fplugin-arg-kstackrand-model=$model -fplugin-arg-kstackrand-entry=entry \
// RUN:     -I%support -I%include %s %t.witness.o %libs -o %t && %run %t || exit 1; \
// RUN: done; done
#include <kstackrand/abi.h>
#include <kstackrand/kstackrand.h>
#include <stdio.h>
#include <witness.h>

extern struct kstackrand_process __kstackrand_process;
extern __thread struct kstackrand_thread __kstackrand_thread __attribute__((tls_model("initial-exec")));

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
	struct kstackrand_thread first;
	uint64_t first_key;
	long zero;

	distance();
	first = __kstackrand_thread;
	first_key = __kstackrand_process.key;
	kstackrand_set_mode(KSTACKRAND_OFF, 0);
	zero = distance();
	kstackrand_set_mode(KSTACKRAND_RANDOM, 0);
	distance();
	if (first.counter == __kstackrand_thread.counter || first.step == __kstackrand_thread.step ||
	    first_key == __kstackrand_process.key) {
		fprintf(stderr, "a secret is none\n");
		return 1;
	}
	for (int i = 0; i < 10000; i++) {
		struct kstackrand_thread before = __kstackrand_thread;
		long expected = (long)kstackrand_offset_of(
			kstackrand_word(before.counter, __kstackrand_process.key, before.step));
		long seen = distance() - zero;

		if (seen != expected || __kstackrand_thread.counter != before.counter + before.step ||
		    before.step % 2 == 0 || __kstackrand_process.key % 2 == 0) {
			fprintf(stderr, "draw %d: offset %ld, expected %ld\n", i, seen, expected);
			return 1;
		}
	}
	return 0;
}
