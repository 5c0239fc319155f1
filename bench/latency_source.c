/* SPDX-License-Identifier: MIT */
/*
 * The functions that latency.c times, for one source of offsets. Compiled once
 * for each source, so that all have the same shape and place:
 *
 *   -DSOURCE=NAME       what the functions are called by
 *   -DGENERATOR=NAME    shift by this generator of generators.h, as the plugin
 *                       would; without it the function is as written, and what
 *                       shifts, if anything does, is the plugin
 */
#include "../runtime/system.h"

#define JOIN(left, right) left##_##right
#define NAME(left, right) JOIN(left, right)

#ifdef GENERATOR
#include "generators.h"

/* The one that is not inline; see latency_lfsr113.c. */
uint64_t lfsr113_called(struct lfsr113_state *state);
#define lfsr113_call_state lfsr113_state
#define lfsr113_call_seed lfsr113_seed
#define lfsr113_call_draw lfsr113_called

/* Takes as long as a draw of the generator in use, and is none: squares, each of
 * which waits for the last one, and a shift by the result, 0. */
struct work_state {
	uint64_t unused;
};

static inline void work_seed(struct work_state *state)
{
	(void)state;
}

static inline uint64_t square_of(uint64_t word)
{
	__asm__("" : "+r"(word)); /* or the compiler would know it */
	return word * word;
}

static inline uint64_t work_draw(struct work_state *state)
{
	(void)state;
	return square_of(square_of(square_of(square_of(square_of(square_of(square_of(0)))))));
}

#define STATE_(generator) struct generator##_state
#define STATE(generator) STATE_(generator)

static __thread STATE(GENERATOR) own;

#define SHIFT                                                                                      \
	size_t offset = NAME(GENERATOR, draw)(&own) & kstackrand_mask(KSTACKRAND_BITS_DEFAULT);    \
	void *shift = __builtin_alloca_with_align(offset, 8);                                      \
                                                                                                   \
	__asm__ volatile("" : : "r"(shift) : "memory");
#else
#define SHIFT
#endif

void NAME(seed, SOURCE)(void);
long NAME(empty, SOURCE)(long number);
long NAME(syscall, SOURCE)(long number);
long NAME(where, SOURCE)(void);
long stack_below(void); /* latency.c's */

void NAME(seed, SOURCE)(void)
{
#ifdef GENERATOR
	NAME(GENERATOR, seed)(&own);
#endif
}

long NAME(empty, SOURCE)(long number)
{
	SHIFT
	return number;
}

long NAME(syscall, SOURCE)(long number)
{
	SHIFT
	return system_call(number, 0, 0, 0, 0);
}

/* Where the stack of what it calls stands. */
long NAME(where, SOURCE)(void)
{
	long at;

	SHIFT
	at = stack_below();
	__asm__ volatile("" : "+r"(at)); /* no jump instead of the call */
	return at;
}
