/* SPDX-License-Identifier: MIT */
/*
 * What it costs to shift the stack, for each source of offsets: the time of an
 * empty function that does it, and of one that makes a system call.
 *
 *   latency CALLS CPU HISTOGRAMS
 *
 * Times CALLS calls of each kind by each source on processor CPU (-1: the one
 * it runs on), each call by itself. Writes comma-separated values: a summary to
 * standard output, in nanoseconds, and all histograms to the file HISTOGRAMS.
 * Lines that begin with # tell of the clock. Progress goes to standard error
 * when that is a terminal.
 *
 * Built by latency.sh, with -DSOURCES='DO(name) DO(name) …' and an object of
 * latency_source.c for each.
 *
 * Calls come in blocks, and all sources have a block in each round, in an order
 * that is shuffled anew: what else the machine does meets all of them. One loop
 * times all, through a pointer. A block begins with calls that are not timed,
 * which bring code and state back into the caches.
 */
#define _GNU_SOURCE
#include "timing.h"

#include <errno.h>
#include <kstackrand/abi.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define BLOCK 1000
#define WARM_UP 32
/* Of empty calls also so many together are timed, which need not wait for each
 * other: between two readings of the clock one call by itself does. */
#define ROW 50
/* What takes longer than this is not the call's doing but the machine's: another
 * task, a virtual machine that was held. The slowest source, a refill of 4096
 * random bytes, takes a tenth of it. */
#define LONGEST_NS 100000
/* Any number that no system call has. */
#define INVALID_NUMBER 100000

#define DO(name)                                                                                   \
	void seed_##name(void);                                                                    \
	long empty_##name(long);                                                                   \
	long syscall_##name(long);                                                                 \
	long where_##name(void);
SOURCES
#undef DO

struct source {
	const char *name;
	void (*seed)(void);
	long (*empty)(long number);
	long (*syscall)(long number);
	long (*where)(void);
};

static const struct source sources[] = {
#define DO(name) {#name, seed_##name, empty_##name, syscall_##name, where_##name},
	SOURCES
#undef DO
};
#define SOURCE_COUNT (sizeof(sources) / sizeof(*sources))

/* A kind of call: how many are timed at a time, and the system call, if any. */
struct kind {
	const char *name;
	unsigned together;
	long number;
};

#define NO_SYSTEM_CALL (-1)
static const struct kind kinds[] = {{"empty", 1, NO_SYSTEM_CALL},
                                    {"row", ROW, NO_SYSTEM_CALL},
                                    {"getpid", 1, SYS_getpid},
                                    {"getppid", 1, SYS_getppid},
                                    {"invalid", 1, INVALID_NUMBER}};
#define KIND_COUNT (sizeof(kinds) / sizeof(*kinds))

static struct histogram histograms[SOURCE_COUNT][KIND_COUNT];

static _Noreturn void fail(const char *what)
{
	fprintf(stderr, "latency: error: %s: %s\n", what, strerror(errno));
	exit(2);
}

static uint64_t nanoseconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_RAW, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

long stack_below(void);

__attribute__((noinline)) long stack_below(void)
{
	return (long)__builtin_frame_address(0);
}

static bool shifts(const struct source *source)
{
	static const char *const still[] = {"none", "again", "work"};

	for (unsigned i = 0; i < sizeof(still) / sizeof(*still); i++)
		if (!strcmp(source->name, still[i]))
			return false;
	return true;
}

/* A source that does not shift would be the fastest. Half of the range is always
 * seen in so many calls, whatever the source; both ends of it may be not. */
static void check_shift(const struct source *source)
{
	const long range = (long)kstackrand_mask(KSTACKRAND_BITS_DEFAULT);
	long least = source->where(), most = least;

	for (int i = 0; i < 1000; i++) {
		long at = source->where();

		least = at < least ? at : least;
		most = at > most ? at : most;
	}
	if (shifts(source) ? most - least > range || most - least < range / 2 : most != least) {
		fprintf(stderr, "latency: error: %s moves the stack by %ld bytes\n", source->name,
		        most - least);
		exit(2);
	}
}

static double ticks_per_nanosecond(void)
{
	uint64_t start = nanoseconds(), ticks = ticks_now(), end;

	do
		end = nanoseconds();
	while (end - start < 100000000);
	return (double)(ticks_now() - ticks) / (double)(end - start);
}

/* Counters of some processors advance by more than one at a time: the smallest
 * distance between two values that the difference of two readings often has. */
static unsigned counter_step(void)
{
	static unsigned seen[1024];
	const unsigned readings = 100000;
	unsigned step = 0, last = 0;

	for (unsigned i = 0; i < readings; i++) {
		uint64_t before = ticks_now(), took = ticks_now() - before;

		if (took < 1024)
			seen[took]++;
	}
	for (unsigned value = 1; value < 1024; value++) {
		if (seen[value] < readings / 100)
			continue;
		if (last && (!step || value - last < step))
			step = value - last;
		last = value;
	}
	return step ? step : 1;
}

static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu < 0 ? sched_getcpu() : cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		fail("cannot stay on this processor");
}

/* Not to be inlined: one loop, at one address, times every source. */
__attribute__((noinline)) static void time_singly(long (*call)(long), long number, unsigned calls,
                                                  struct histogram *histogram)
{
	for (unsigned i = 0; i < calls; i++) {
		uint64_t before = ticks_now();

		call(number);
		histogram_add(histogram, ticks_now() - before);
	}
}

__attribute__((noinline)) static void time_together(long (*call)(long), long number, unsigned calls,
                                                    unsigned together, struct histogram *histogram)
{
	for (unsigned i = 0; i < calls; i += together) {
		uint64_t before = ticks_now();

		for (unsigned n = 0; n < together; n++)
			call(number);
		histogram_add(histogram, ticks_now() - before);
	}
}

static void time_block(const struct source *source, const struct kind *kind, unsigned calls,
                       struct histogram *histogram)
{
	long (*call)(long) = kind->number == NO_SYSTEM_CALL ? source->empty : source->syscall;

	for (unsigned i = 0; i < WARM_UP; i++)
		call(kind->number);
	if (kind->together == 1)
		time_singly(call, kind->number, calls, histogram);
	else
		time_together(call, kind->number, calls, kind->together, histogram);
}

/* Marsaglia's xorshift: an order needs no more. */
static void shuffle(unsigned *order, unsigned count)
{
	static uint64_t state = 88172645463325252;

	for (unsigned i = count - 1; i > 0; i--) {
		unsigned other, kept = order[i];

		state ^= state << 13;
		state ^= state >> 7;
		state ^= state << 17;
		other = (unsigned)((state >> 32) % (i + 1));
		order[i] = order[other];
		order[other] = kept;
	}
}

static void show_progress(uint64_t done, uint64_t calls, uint64_t start)
{
	static uint64_t shown;
	uint64_t now = nanoseconds();

	if (done < calls && now - shown < 500000000)
		return;
	shown = now;
	fprintf(stderr, "\rtiming … %3d %%, %d s left ", (int)(done * 100 / calls),
	        (int)((double)(now - start) / 1e9 * (double)(calls - done) / (double)done));
	if (done == calls)
		fprintf(stderr, "\n");
}

static void time_all(uint64_t calls)
{
	int show = isatty(STDERR_FILENO);
	uint64_t start = nanoseconds();
	unsigned order[SOURCE_COUNT];

	for (unsigned i = 0; i < SOURCE_COUNT; i++)
		order[i] = i;
	for (uint64_t done = 0; done < calls;) {
		unsigned block = calls - done < BLOCK ? (unsigned)(calls - done) : BLOCK;

		for (unsigned kind = 0; kind < KIND_COUNT; kind++) {
			shuffle(order, SOURCE_COUNT);
			for (unsigned i = 0; i < SOURCE_COUNT; i++)
				time_block(&sources[order[i]], &kinds[kind], block,
				           &histograms[order[i]][kind]);
		}
		done += block;
		if (show)
			show_progress(done, calls, start);
	}
}

/* In nanoseconds for one call. */
static void print_summary(double rate)
{
	printf("source,call,timed,longer,mean,p50,p99,p99.9\n");
	for (unsigned source = 0; source < SOURCE_COUNT; source++)
		for (unsigned kind = 0; kind < KIND_COUNT; kind++) {
			const struct histogram *h = &histograms[source][kind];
			double per_call = 1 / rate / kinds[kind].together;

			printf("%s,%s,%llu,%llu,%.3f,%.2f,%.2f,%.2f\n", sources[source].name,
			       kinds[kind].name, (unsigned long long)h->calls,
			       (unsigned long long)h->longer, histogram_mean(h) * per_call,
			       (double)histogram_percentile(h, 500) * per_call,
			       (double)histogram_percentile(h, 990) * per_call,
			       (double)histogram_percentile(h, 999) * per_call);
		}
}

static void write_histograms(const char *path, double rate)
{
	FILE *file = fopen(path, "w");

	if (!file)
		fail(path);
	fprintf(file, "source,call,ns,timed\n");
	for (unsigned source = 0; source < SOURCE_COUNT; source++)
		for (unsigned kind = 0; kind < KIND_COUNT; kind++)
			for (unsigned bin = 0; bin < HISTOGRAM_BINS; bin++) {
				uint64_t calls = histograms[source][kind].bins[bin];
				double time =
					(double)histogram_ticks(bin) / rate / kinds[kind].together;

				if (calls)
					fprintf(file, "%s,%s,%.2f,%llu\n", sources[source].name,
					        kinds[kind].name, time, (unsigned long long)calls);
			}
	if (fclose(file))
		fail(path);
}

int main(int argc, char **argv)
{
	uint64_t calls = argc == 4 ? strtoull(argv[1], NULL, 10) : 0;
	double rate;
	unsigned step;

	if (!calls) {
		fprintf(stderr, "usage: latency CALLS CPU HISTOGRAMS\n");
		return 2;
	}
	pin((int)strtol(argv[2], NULL, 10));
	rate = ticks_per_nanosecond();
	step = counter_step();
	for (unsigned source = 0; source < SOURCE_COUNT; source++) {
		sources[source].seed();
		check_shift(&sources[source]);
		for (unsigned kind = 0; kind < KIND_COUNT; kind++)
			histograms[source][kind].limit = (uint64_t)(LONGEST_NS * rate);
	}
	time_all(calls);
	printf("# processor %d, ticks in a nanosecond %.6f, step in ns %.2f, longest in ns %d\n",
	       sched_getcpu(), rate, step / rate, LONGEST_NS);
	print_summary(rate);
	write_histograms(argv[3], rate);
	return 0;
}
