// SPDX-License-Identifier: MIT
// The histogram of bench/timing.h: each time in one bin and the next one in the
// same or the next, bins no wider than a thousandth, and mean and percentiles of
// times that are known.
// RUN: %plain_cc -O2 -Wall -Wextra -Werror -I%source/bench %s -o %t && %run %t
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <timing.h>

static struct histogram histogram;

static void start(uint64_t limit)
{
	memset(&histogram, 0, sizeof(histogram));
	histogram.limit = limit;
}

static void expect(const char *what, double value, double wanted)
{
	if (value < wanted - 1e-9 || value > wanted + 1e-9) {
		printf("%s: %f, wanted %f\n", what, value, wanted);
		exit(1);
	}
}

static void expect_percentiles(double p50, double p99, double p999)
{
	expect("p50", (double)histogram_percentile(&histogram, 500), p50);
	expect("p99", (double)histogram_percentile(&histogram, 990), p99);
	expect("p99.9", (double)histogram_percentile(&histogram, 999), p999);
}

static void bins_are_in_order(void)
{
	uint64_t next;

	for (unsigned bin = 0; bin < HISTOGRAM_BINS; bin++) {
		uint64_t least = histogram_ticks(bin);

		next = bin + 1 < HISTOGRAM_BINS ? histogram_ticks(bin + 1) : UINT64_C(1) << 32;
		expect("bin of its least", histogram_bin(least), bin);
		expect("bin of its most", histogram_bin(next - 1), bin);
		if (next <= least || (next - least - 1) * 1000 > least) {
			printf("bin %u holds %llu to %llu\n", bin, (unsigned long long)least,
			       (unsigned long long)next);
			exit(1);
		}
	}
	expect("what is longer than any", histogram_bin(UINT64_MAX), HISTOGRAM_BINS - 1);
}

int main(void)
{
	bins_are_in_order();

	// Nothing.
	start(10);
	expect("mean of nothing", histogram_mean(&histogram), 0);
	expect_percentiles(0, 0, 0);

	// One.
	start(10);
	histogram_add(&histogram, 7);
	expect("mean of one", histogram_mean(&histogram), 7);
	expect_percentiles(7, 7, 7);

	// 1 … 1000, of each one: the n-th thousandth is n. Backwards, for order
	// has no part in it.
	start(5000);
	for (uint64_t ticks = 1000; ticks > 0; ticks--)
		histogram_add(&histogram, ticks);
	expect("mean of 1 to 1000", histogram_mean(&histogram), 500.5);
	expect_percentiles(500, 990, 999);

	// Two peaks: one call in a hundred is slow, which p99 does not show and
	// p99.9 does; in a bin that is wider than a tick.
	start(UINT64_MAX);
	for (int i = 0; i < 1000000; i++)
		histogram_add(&histogram, i % 100 ? 40 : 100000);
	expect("mean of two peaks", histogram_mean(&histogram), 40 * 0.99 + 100000 * 0.01);
	expect_percentiles(40, 40, (double)histogram_ticks(histogram_bin(100000)));

	// One call more that is slow, and p99 shows it.
	histogram_add(&histogram, 100000);
	expect("p99", (double)histogram_percentile(&histogram, 990),
	       (double)histogram_ticks(histogram_bin(100000)));

	// What is above the limit has no part in the mean, but is counted.
	start(50);
	for (int i = 0; i < 100; i++)
		histogram_add(&histogram, i < 90 ? 50 : 51);
	expect("mean below the limit", histogram_mean(&histogram), 50);
	expect("longer", (double)histogram.longer, 10);
	expect("calls", (double)histogram.calls, 100);
	expect_percentiles(50, 51, 51);
	return 0;
}
