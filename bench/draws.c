/* SPDX-License-Identifier: MIT */
/*
 * What a draw costs, for each generator of generators.h, in the place where it
 * is paid: an otherwise empty function that draws, shifts its stack and returns.
 *
 *   draws CALLS             for valgrind: calls each function that often
 *   draws time CALLS [CPU]  times each call by itself, and long runs of calls
 *
 * All are timed in turns, a thousand calls each, on one processor, so that what
 * else the machine does meets all of them. `null`, which draws nothing, comes
 * twice: what its two rows differ by is noise. Prints comma-separated values,
 * in ticks of the processor's counter:
 *
 *   run    a call among a thousand, which need not wait for each other; the
 *          median of all thousands, since a switch of tasks falls into some
 *   mean … of single calls between two serializing reads of the counter, less
 *          those of `null`. The counter may advance in steps (here: see `step`
 *          in the last line), which percentiles then do, too. The mean is of
 *          what lies below the 99.9th percentile.
 */
#define _GNU_SOURCE
#include "generators.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define BATCH 1000
#define BINS 65536
#define RUN_PARTS 20 /* runs are binned by this part of a tick a call */

static inline uint64_t ticks_before(void)
{
	uint64_t ticks;
#if defined(__x86_64__)
	uint32_t low, high;

	__asm__ volatile("lfence\n	rdtsc\n	lfence" : "=a"(low), "=d"(high) : : "memory");
	ticks = (uint64_t)high << 32 | low;
#else
	__asm__ volatile("isb\n	mrs %0, cntvct_el0\n	isb" : "=r"(ticks) : : "memory");
#endif
	return ticks;
}

#define ENTRY(name)                                                                      \
	static __thread struct name##_state name##_own;                                  \
	__attribute__((noinline)) void call_##name(void)                                 \
	{                                                                                \
		size_t offset = name##_draw(&name##_own) & kstackrand_mask(6);           \
		void *shift = __builtin_alloca_with_align(offset, 8);                    \
                                                                                         \
		__asm__ volatile("" : : "r"(shift) : "memory");                          \
	}
/* The second row of null. */
#define again_state null_state
#define again_seed null_seed
#define again_draw null_draw
#define FOR_EACH_ROW(DO) FOR_EACH_GENERATOR(DO) DO(again)
FOR_EACH_ROW(ENTRY)

/* draws_inline.c's. */
void call_inline_fast(void);
void call_inline_siphash(void);

/* The thread's state and the process's keys; what serves the check alone included. */
#define INLINE_BYTES (sizeof(struct kstackrand_thread) + sizeof(struct kstackrand_process))
#define INLINE_ROW(name) { #name, call_##name, INLINE_BYTES, 0, NULL, NULL }

static void seed_all(void)
{
#define SEED(name) name##_seed(&name##_own);
	FOR_EACH_ROW(SEED)
}

struct row {
	const char *name;
	void (*call)(void);
	size_t state_bytes;
	uint64_t calls;
	unsigned *run_bins, *bins; /* how often it took so many ticks */
};

#define ROW(name) { #name, call_##name, sizeof(struct name##_state), 0, NULL, NULL },
static struct row rows[] = { FOR_EACH_ROW(ROW) INLINE_ROW(inline_fast), INLINE_ROW(inline_siphash) };
#define ROWS (sizeof(rows) / sizeof(*rows))

static void time_row(struct row *row)
{
	uint64_t start = ticks_before();

	for (int i = 0; i < BATCH; i++)
		row->call();
	start = (ticks_before() - start) / (BATCH / RUN_PARTS);
	row->run_bins[start < BINS ? start : BINS - 1]++;
	for (int i = 0; i < BATCH; i++) {
		uint64_t before = ticks_before(), took;

		row->call();
		took = ticks_before() - before;
		row->bins[took < BINS ? took : BINS - 1]++;
	}
	row->calls += BATCH;
}

static long percentile(const unsigned *bins, uint64_t all, double part)
{
	uint64_t wanted = (uint64_t)(part * (double)all), seen = 0;

	for (long i = 0; i < BINS; i++)
		if ((seen += bins[i]) > wanted)
			return i;
	return BINS;
}

static double mean(const struct row *row)
{
	long limit = percentile(row->bins, row->calls, 0.999);
	double sum = 0, calls = 0;

	for (long i = 0; i <= limit; i++) {
		sum += (double)i * row->bins[i];
		calls += row->bins[i];
	}
	return sum / calls;
}

static void print_rows(void)
{
	static const double parts[] = { 0.5, 0.99, 0.999 };
	long step = 0;

	printf("generator,state bytes,run,mean,p50,p99,p99.9\n");
	for (size_t i = 0; i < ROWS; i++) {
		const struct row *row = &rows[i];

		printf("%s,%zu,%.2f,%.2f", row->name, row->state_bytes,
		       (double)percentile(row->run_bins, row->calls / BATCH, 0.5) / RUN_PARTS,
		       mean(row) - mean(&rows[0]));
		for (int part = 0; part < 3; part++)
			printf(",%ld", percentile(row->bins, row->calls, parts[part]) -
			                       percentile(rows[0].bins, rows[0].calls, parts[part]));
		printf("\n");
	}
	for (long i = 1, last = 0; i < BINS && !step; i++)
		if (rows[0].bins[i] > rows[0].calls / 10000) {
			step = last ? i - last : 0;
			last = i;
		}
	printf("step,%ld\n", step);
}

static int pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	return sched_setaffinity(0, sizeof(set), &set);
}

int main(int argc, char **argv)
{
	seed_all();
	if (argc == 2) {
		for (long i = 0; i < atol(argv[1]); i++)
			for (size_t n = 0; n < ROWS; n++)
				rows[n].call();
		return 0;
	}
	if (argc < 3 || strcmp(argv[1], "time")) {
		fprintf(stderr, "usage: draws CALLS, or draws time CALLS [CPU]\n");
		return 2;
	}
	if (pin(argc > 3 ? atoi(argv[3]) : sched_getcpu())) {
		perror("draws: cannot stay on one processor");
		return 2;
	}
	for (size_t i = 0; i < ROWS; i++)
		if (!(rows[i].bins = calloc(BINS, sizeof(*rows[i].bins))) ||
		    !(rows[i].run_bins = calloc(BINS, sizeof(*rows[i].run_bins))))
			return 2;
	for (long done = 0; done < atol(argv[2]); done += BATCH)
		for (size_t i = 0; i < ROWS; i++)
			time_row(&rows[i]);
	print_rows();
	return 0;
}
