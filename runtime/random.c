/* SPDX-License-Identifier: MIT */
/* Where seeds come from. */

#include "random.h"

#include "system.h"

#include <errno.h>
#include <string.h>
#include <time.h>

/* Of <sys/random.h>, which old libcs lack or have in part. */
#define GETRANDOM_NONBLOCK 1
#define GETRANDOM_INSECURE 4 /* Linux 5.6: never blocks, seeded or not */

static uint64_t start_random[2];

void kstackrand_random_start(const void *at_random)
{
	memcpy(start_random, at_random, sizeof(start_random));
}

/* The finalizer of MurmurHash3: every bit of the input reaches every bit. */
static uint64_t scramble(uint64_t word)
{
	word = (word ^ word >> 33) * UINT64_C(0xff51afd7ed558ccd);
	word = (word ^ word >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
	return word ^ word >> 33;
}

/*
 * Without getrandom: what the kernel gave at exec, the time to the tick, the
 * thread, and where its stack lies. Enough to make two processes, two threads
 * and two calls differ, and to make an outsider guess; not a CRNG.
 */
static void random_fallback(uint64_t *words, size_t count)
{
	static uint64_t calls;
	struct timespec now = {0, 0};
	uint64_t hash = scramble(start_random[0] ^ (uint64_t)(uintptr_t)words);

	system_call(SYS_clock_gettime, CLOCK_MONOTONIC, (long)&now, 0, 0);
	hash = scramble(hash ^ start_random[1] ^ (uint64_t)now.tv_nsec);
	hash = scramble(hash ^ (uint64_t)system_call(SYS_gettid, 0, 0, 0, 0));
	hash = scramble(hash ^ __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED));
	for (size_t i = 0; i < count; i++)
		words[i] = hash = scramble(hash ^ start_random[i & 1] ^ system_ticks());
}

void kstackrand_random(uint64_t *words, size_t count)
{
	long size = (long)(count * sizeof(*words));
	long got = system_call(SYS_getrandom, (long)words, size, GETRANDOM_NONBLOCK, 0);

	/* Init and its like run before the pool is ready; waiting for it here
	 * could stop a boot, as it did to others. */
	if (got == -EAGAIN)
		got = system_call(SYS_getrandom, (long)words, size, GETRANDOM_INSECURE, 0);
	if (got != size)
		random_fallback(words, count);
}
