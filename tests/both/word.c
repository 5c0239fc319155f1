// SPDX-License-Identifier: MIT
// The prologue computes the word that abi.h defines, from the state that abi.h
// lays out: of each draw, the stack shows what the header says it must. So with
// each generator, and switched off, which is no matter of the seal.
// RUN: %plain_cc -O1 -c %support/witness.c -o %t.witness.o
// RUN: for level in 0 2; do for model in inline call; do for rng in fast siphash; do \
// RUN:   %cc -O$level -fplugin-arg-kstackrand-bits=8 -fplugin-arg-kstackrand-model=$model -fplugin-arg-kstackrand-rng=$rng \
// RUN:     -fplugin-arg-kstackrand-entry=entry -Dword_of=$rng \
// RUN:     -I%support -I%include %s %t.witness.o %libs -o %t && %run %t || exit 1; \
// RUN: done; done; done
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

static inline uint64_t fast(struct kstackrand_thread before)
{
	return kstackrand_word(before.counter, __kstackrand_process.key, before.counter);
}

static inline uint64_t siphash(struct kstackrand_thread before)
{
	return kstackrand_siphash(before.counter, __kstackrand_process.siphash_key);
}

static __attribute__((noinline)) long distance(void)
{
	return (long)((uintptr_t)__builtin_frame_address(0) - entry());
}

int main(void)
{
	struct kstackrand_process first_keys;
	struct kstackrand_thread first;
	long zero;

	distance();
	first = __kstackrand_thread;
	first_keys = __kstackrand_process;
	kstackrand_set_mode(KSTACKRAND_OFF, 0);
	zero = distance();
	for (int i = 0; i < 100; i++)
		if (distance() != zero || __kstackrand_thread.seal != __kstackrand_process.key) {
			fprintf(stderr, "switched off, and still shifted, or slow\n");
			return 1;
		}
	kstackrand_set_mode(KSTACKRAND_RANDOM, 0);
	distance();
	if (first.counter == __kstackrand_thread.counter || first.step == __kstackrand_thread.step ||
	    first_keys.key == __kstackrand_process.key ||
	    first_keys.siphash_key[0] == __kstackrand_process.siphash_key[0] ||
	    first_keys.siphash_key[1] == __kstackrand_process.siphash_key[1]) {
		fprintf(stderr, "a secret is none\n");
		return 1;
	}
	for (int i = 0; i < 10000; i++) {
		struct kstackrand_thread before = __kstackrand_thread;
		long expected = (long)kstackrand_offset_of(word_of(before));
		long seen = distance() - zero;

		if (seen != expected || __kstackrand_thread.counter != before.counter + before.step ||
		    before.step % 2 == 0 || __kstackrand_process.key % 2 == 0) {
			fprintf(stderr, "draw %d: offset %ld, expected %ld\n", i, seen, expected);
			return 1;
		}
	}
	return 0;
}
