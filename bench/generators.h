/* SPDX-License-Identifier: MIT */
/*
 * Generators of stack offsets, side by side: those in use, what could stand
 * in their place, what others use, and some that are bad on purpose, for the
 * tests of tests/random to find. Each is a state, a seed function and
 *
 *     uint64_t NAME_draw(struct NAME_state *state)
 *
 * which gives the next offset in bytes, 0 … 4080, of which a user masks six
 * bits. A generator of 64-bit words gives the same bits of them as the one in
 * use; a linear one's weakest bits are as weak as its strongest.
 */
#ifndef BENCH_GENERATORS_H
#define BENCH_GENERATORS_H

#include <kstackrand/abi.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h>

#include "../runtime/system.h"

/* What each does is said at its draw function. */
#define FOR_EACH_GENERATOR(DO) \
	DO(null)               \
	DO(bswap1)             \
	DO(square)             \
	DO(square_xor)         \
	DO(product)            \
	DO(high)               \
	DO(high_after)         \
	DO(product_twice)      \
	DO(short_product)      \
	DO(short_twice)        \
	DO(fold)               \
	DO(fold2)              \
	DO(squares3)           \
	DO(squares4)           \
	DO(permutation)        \
	DO(siphash13)          \
	DO(lcg64)              \
	DO(lfsr113)            \
	DO(ticks)              \
	DO(rdrand10)           \
	DO(getrandom)          \
	DO(getrandom4096)

static inline void seed_words(void *state, size_t bytes)
{
	if (getrandom(state, bytes, 0) != (ssize_t)bytes)
		abort();
}

/* --- counters behind a mixer --------------------------------------------- */

/* What all of these keep. `key` stands beside the others here; where it is one
 * per process and read for the seal anyway, it costs nothing more. */
struct mixer_state {
	uint64_t counter, step, key, multiplier;
};

static inline void mixer_seed(struct mixer_state *state)
{
	seed_words(state, sizeof(*state));
	state->step |= 1;
	state->key |= 1;
	state->multiplier |= 1;
}

static inline uint64_t mixer_next(struct mixer_state *state)
{
	return thread_fetch_add(&state->counter, state->step);
}

#define MIXER(name, word)                                              \
	struct name##_state {                                          \
		struct mixer_state mixer;                              \
	};                                                             \
	static inline void name##_seed(struct name##_state *state)     \
	{                                                              \
		mixer_seed(&state->mixer);                             \
	}                                                              \
	static inline uint64_t name##_draw(struct name##_state *state) \
	{                                                              \
		uint64_t c = mixer_next(&state->mixer);                \
		uint64_t k = state->mixer.key;                         \
		uint64_t s = state->mixer.step;                        \
		uint64_t m = state->mixer.multiplier;                  \
                                                                       \
		(void)k, (void)s, (void)m;                             \
		return kstackrand_offset_of(word);                     \
	}

/* The high half of the product and the low one, added without carry. */
static inline uint64_t fold(uint64_t a, uint64_t b)
{
	unsigned __int128 product = (unsigned __int128)a * b;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* One round of Widynski's squares. */
static inline uint64_t squares_round(uint64_t x, uint64_t add)
{
	x = x * x + add;
	return x >> 32 | x << 32;
}

/* A keyed permutation of 64 bits: xor, multiply, shift, twice. */
static inline uint64_t permute(uint64_t x, uint64_t key, uint64_t multiplier)
{
	x = (x ^ key) * multiplier;
	x = (x ^ x >> 32) * multiplier;
	return (x ^ x >> 32) * key;
}

MIXER(bswap1, __builtin_bswap64(c *m) * k)
MIXER(square, __builtin_bswap64(c *c) * m)
MIXER(square_xor, __builtin_bswap64(c *c ^ s) * m)
MIXER(product, __builtin_bswap64(c *(c ^ k)) * m)
MIXER(high, kstackrand_word(c, k, c))
MIXER(high_after, kstackrand_word(c, k, c + s))
MIXER(product_twice, __builtin_bswap64(c *(c ^ k)) * (c ^ k))
MIXER(short_product, __builtin_bswap64(c ^ k) * c)
MIXER(short_twice, __builtin_bswap64(c ^ k) * (c ^ k))
MIXER(fold, fold(c, c ^ k))
MIXER(fold2, fold(fold(c, c ^ k), m))
MIXER(squares3, squares_round(squares_round(squares_round(c, c), c + k), c))
MIXER(squares4, squares_round(squares_round(squares_round(squares_round(c, c), c + k), c), c + k))
MIXER(permutation, permute(c, k, m))

static inline uint64_t rotate(uint64_t word, unsigned bits)
{
	return word << bits | word >> (64 - bits);
}

/* --- SipHash-1-3 of the counter, with a key of 128 bits -------------------- */

struct siphash13_state {
	uint64_t counter, key[2];
};

static inline void siphash13_seed(struct siphash13_state *state)
{
	seed_words(state, sizeof(*state));
}

static inline uint64_t siphash13_draw(struct siphash13_state *state)
{
	return kstackrand_offset_of(kstackrand_siphash(thread_fetch_add(&state->counter, 1), state->key));
}

/* --- yardsticks ---------------------------------------------------------- */

struct null_state {
	uint64_t unused;
};

static inline void null_seed(struct null_state *state)
{
	state->unused = 0;
}

static inline uint64_t null_draw(struct null_state *state)
{
	(void)state;
	return 0;
}

/* Knuth's multiplier and addend, which everybody knows. */
#define LCG64_MULTIPLIER UINT64_C(6364136223846793005)
#define LCG64_ADDEND UINT64_C(1442695040888963407)

struct lcg64_state {
	uint64_t x;
};

static inline void lcg64_seed(struct lcg64_state *state)
{
	seed_words(state, sizeof(*state));
}

/* Six bits from the top, where they are best. */
static inline uint64_t lcg64_draw(struct lcg64_state *state)
{
	state->x = state->x * LCG64_MULTIPLIER + LCG64_ADDEND;
	return state->x >> 58 << 4;
}

/* What Linux has used since 7.1, there as prandom_u32_state(). */
struct lfsr113_state {
	uint32_t s[4];
};

static inline uint32_t lfsr113_word(struct lfsr113_state *state)
{
	uint32_t *s = state->s;

	s[0] = (s[0] & 0xfffffffe) << 18 ^ (s[0] << 6 ^ s[0]) >> 13;
	s[1] = (s[1] & 0xfffffff8) << 2 ^ (s[1] << 2 ^ s[1]) >> 27;
	s[2] = (s[2] & 0xfffffff0) << 7 ^ (s[2] << 13 ^ s[2]) >> 21;
	s[3] = (s[3] & 0xffffff80) << 13 ^ (s[3] << 3 ^ s[3]) >> 12;
	return s[0] ^ s[1] ^ s[2] ^ s[3];
}

static inline void lfsr113_seed(struct lfsr113_state *state)
{
	seed_words(state, sizeof(*state));
	for (int i = 0; i < 4; i++)
		state->s[i] |= 128; /* below 2, 8, 16, 128 the parts are stuck */
}

static inline uint64_t lfsr113_draw(struct lfsr113_state *state)
{
	return (uint64_t)(lfsr113_word(state) & 0x3f) << 4;
}

/* The processor's clock: what Linux took before. */
struct ticks_state {
	uint64_t unused;
};

static inline void ticks_seed(struct ticks_state *state)
{
	state->unused = 0;
}

static inline uint64_t ticks_draw(struct ticks_state *state)
{
	uint64_t ticks;

	(void)state;
#if defined(__x86_64__)
	uint32_t low, high;

	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
	ticks = (uint64_t)high << 32 | low;
#else
	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
#endif
	return (ticks & 0x3f) << 4;
}

/* The processor's own generator at every tenth draw, six bits of it at a time. */
struct rdrand10_state {
	uint64_t word;
	unsigned left;
};

static inline void rdrand10_seed(struct rdrand10_state *state)
{
	state->left = 0;
}

static inline uint64_t rdrand10_draw(struct rdrand10_state *state)
{
	if (state->left == 0) {
#if defined(__x86_64__)
		__asm__ volatile("1: rdrand %0\n	jnc 1b" : "=r"(state->word) : : "cc");
#else
		seed_words(&state->word, sizeof(state->word));
#endif
		state->left = 10;
	}
	state->left--;
	state->word = rotate(state->word, 6);
	return (state->word & 0x3f) << 4;
}

struct getrandom_state {
	uint64_t unused;
};

static inline void getrandom_seed(struct getrandom_state *state)
{
	state->unused = 0;
}

static inline uint64_t getrandom_draw(struct getrandom_state *state)
{
	uint16_t word;

	(void)state;
	seed_words(&word, sizeof(word));
	return (word & 0x3f) << 4;
}

/* The same, 4096 bytes at a time. */
struct getrandom4096_state {
	unsigned used;
	unsigned char bytes[4096];
};

static inline void getrandom4096_seed(struct getrandom4096_state *state)
{
	state->used = sizeof(state->bytes);
}

static inline uint64_t getrandom4096_draw(struct getrandom4096_state *state)
{
	if (state->used == sizeof(state->bytes)) {
		seed_words(state->bytes, sizeof(state->bytes));
		state->used = 0;
	}
	return (uint64_t)(state->bytes[state->used++] & 0x3f) << 4;
}

#endif
