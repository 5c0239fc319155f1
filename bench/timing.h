/* SPDX-License-Identifier: MIT */
/*
 * The time that single calls take: a clock that waits for what it is to
 * measure, and a histogram that holds any number of calls in a fixed room.
 */
#ifndef BENCH_TIMING_H
#define BENCH_TIMING_H

#include <stdint.h>

/* The processor's counter, after all that comes before in the program and
 * before all that comes after. */
static inline uint64_t ticks_now(void)
{
	uint64_t ticks;
#if defined(__x86_64__)
	uint32_t low, high;

	__asm__ volatile("lfence\n	rdtsc\n	lfence" : "=a"(low), "=d"(high) : : "memory");
	ticks = (uint64_t)high << 32 | low;
#elif defined(__aarch64__)
	__asm__ volatile("isb\n	mrs %0, cntvct_el0\n	isb" : "=r"(ticks) : : "memory");
#else
#error "kstackrand: only x86_64 and aarch64 are supported"
#endif
	return ticks;
}

/*
 * Below HISTOGRAM_EXACT ticks each value has a bin of its own. Each doubling
 * above has half as many bins, so that one is never wider than a thousandth of
 * what falls into it. What takes 2^32 ticks or more is in the last bin.
 */
#define HISTOGRAM_EXACT_BITS 11
#define HISTOGRAM_EXACT (1U << HISTOGRAM_EXACT_BITS)
#define HISTOGRAM_DOUBLING (HISTOGRAM_EXACT / 2)
#define HISTOGRAM_BINS (HISTOGRAM_EXACT + (32 - HISTOGRAM_EXACT_BITS) * HISTOGRAM_DOUBLING)

struct histogram {
	uint64_t limit;  /* longer calls, in ticks, are no part of the mean */
	uint64_t calls;  /* all */
	uint64_t longer; /* those above the limit */
	uint64_t sum;    /* ticks of the others */
	uint64_t bins[HISTOGRAM_BINS];
};

/** The bin that so many ticks fall into. */
static inline unsigned histogram_bin(uint64_t ticks)
{
	unsigned doublings;

	if (ticks < HISTOGRAM_EXACT)
		return (unsigned)ticks;
	if (ticks >> 32)
		return HISTOGRAM_BINS - 1;
	doublings = 63 - (unsigned)__builtin_clzll(ticks) - HISTOGRAM_EXACT_BITS;
	return HISTOGRAM_EXACT + doublings * HISTOGRAM_DOUBLING +
	       (unsigned)(ticks >> (doublings + 1)) - HISTOGRAM_DOUBLING;
}

/** The fewest ticks that fall into a bin. */
static inline uint64_t histogram_ticks(unsigned bin)
{
	unsigned doublings, place;

	if (bin < HISTOGRAM_EXACT)
		return bin;
	doublings = (bin - HISTOGRAM_EXACT) / HISTOGRAM_DOUBLING;
	place = (bin - HISTOGRAM_EXACT) % HISTOGRAM_DOUBLING;
	return (uint64_t)(place + HISTOGRAM_DOUBLING) << (doublings + 1);
}

static inline void histogram_add(struct histogram *histogram, uint64_t ticks)
{
	histogram->calls++;
	if (ticks > histogram->limit)
		histogram->longer++;
	else
		histogram->sum += ticks;
	histogram->bins[histogram_bin(ticks)]++;
}

/** In ticks, of the calls that took no longer than the limit; 0 if there are none. */
static inline double histogram_mean(const struct histogram *histogram)
{
	uint64_t calls = histogram->calls - histogram->longer;

	return calls ? (double)histogram->sum / (double)calls : 0;
}

/**
 * In ticks, the least that `thousandths` of all calls did not exceed: 500 for
 * the median, 999 for the 99.9th percentile. 0 if there are no calls.
 */
static inline uint64_t histogram_percentile(const struct histogram *histogram, unsigned thousandths)
{
	uint64_t wanted = (histogram->calls * thousandths + 999) / 1000, seen = 0;

	for (unsigned bin = 0; bin < HISTOGRAM_BINS; bin++) {
		seen += histogram->bins[bin];
		if (seen && seen >= wanted)
			return histogram_ticks(bin);
	}
	return 0;
}

#endif /* BENCH_TIMING_H */
