/* SPDX-License-Identifier: MIT */
/*
 * How often which cell comes, which pair of cells, which difference to an earlier
 * draw, which cell at which place of a short period; and the entropy that is left
 * when one is more frequent than others.
 *
 *   distribution FILE
 */
#include "offsets.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_statistics_uchar.h>
#include <math.h>
#include <string.h>

/* 1 … 64, and then doubled: what a counter's low bits repeat shows there. */
#define NEAR_LAGS 64
#define FARTHEST_LAG (1 << 19)

/* SP 800-90B, 6.3.1: at this many samples, and what six bits must have left. */
#define ENTROPY_SAMPLES 1000000
#define LEAST_ENTROPY 5.93

static double chi2(const unsigned *seen, size_t kinds, size_t draws)
{
	double expected = (double)draws / (double)kinds, sum = 0;

	for (size_t i = 0; i < kinds; i++)
		sum += (seen[i] - expected) * (seen[i] - expected) / expected;
	return sum;
}

static double cells_seen(const uint8_t *cells, size_t count)
{
	unsigned seen[CELLS] = { 0 };
	double sum;

	for (size_t i = 0; i < count; i++)
		seen[cells[i]]++;
	sum = chi2(seen, CELLS, count);
	printf("chi2 %.1f of 63, bound %.1f", sum, gsl_cdf_chisq_Qinv(CHANCE, CELLS - 1));
	return gsl_cdf_chisq_Q(sum, CELLS - 1);
}

/* Pairs that do not overlap, so that they are independent. */
static double pairs_seen(const uint8_t *cells, size_t count)
{
	static unsigned seen[CELLS * CELLS];
	double sum;

	memset(seen, 0, sizeof(seen));
	for (size_t i = 0; i + 1 < count; i += 2)
		seen[cells[i] * CELLS + cells[i + 1]]++;
	sum = chi2(seen, CELLS * CELLS, count / 2);
	printf("chi2 %.1f of 4095", sum);
	return gsl_cdf_chisq_Q(sum, CELLS * CELLS - 1);
}

static size_t next_lag(size_t lag)
{
	return lag < NEAR_LAGS ? lag + 1 : lag * 2;
}

/* The chance of the worst of `tries`. */
static double worst_of(double least, unsigned tries)
{
	return -expm1(tries * log1p(-least));
}

static double differences_seen(const uint8_t *cells, size_t count)
{
	double least = 1;
	size_t worst = 0;
	unsigned lags = 0;

	for (size_t lag = 1; lag <= FARTHEST_LAG && lag <= count / 2; lag = next_lag(lag)) {
		unsigned seen[CELLS] = { 0 };
		double probability;

		for (size_t i = lag; i < count; i++)
			seen[(cells[i] - cells[i - lag]) & (CELLS - 1)]++;
		probability = gsl_cdf_chisq_Q(chi2(seen, CELLS, count - lag), CELLS - 1);
		if (probability < least) {
			least = probability;
			worst = lag;
		}
		lags++;
	}
	printf("%u lags, the worst is %zu", lags, worst);
	return worst_of(least, lags);
}

/* The lowest bits of a counter come back after as many draws: whether cells are
 * more frequent at some place of such a period. */
static double phases_seen(const uint8_t *cells, size_t count)
{
	enum { PERIOD = 256 };
	static unsigned seen[PERIOD * CELLS];
	double sum;

	memset(seen, 0, sizeof(seen));
	count -= count % PERIOD;
	for (size_t i = 0; i < count; i++)
		seen[i % PERIOD * CELLS + cells[i]]++;
	sum = chi2(seen, PERIOD * CELLS, count);
	printf("chi2 %.1f of %d", sum, PERIOD * (CELLS - 1));
	return gsl_cdf_chisq_Q(sum, PERIOD * (CELLS - 1));
}

static double correlation(const uint8_t *cells, size_t count)
{
	double least = 1, most = 0;
	size_t worst = 0;
	unsigned lags = 0;

	for (size_t lag = 1; lag <= FARTHEST_LAG && lag <= count / 2; lag = next_lag(lag)) {
		double r = gsl_stats_uchar_correlation(cells, 1, cells + lag, 1, count - lag);
		double probability = 2 * gsl_cdf_ugaussian_Q(fabs(r) * sqrt((double)(count - lag)));

		if (probability < least) {
			least = probability;
			worst = lag;
			most = r;
		}
		lags++;
	}
	printf("%u lags, the worst is %zu with %+.5f", lags, worst, most);
	return worst_of(least, lags);
}

/* Not a probability but a bound that the project gives: crossed, or not. A good
 * generator crosses it in less than one of a hundred runs. */
static double entropy_left(const uint8_t *cells, size_t count)
{
	unsigned seen[CELLS] = { 0 }, most = 0;
	double p, entropy;

	if (count < ENTROPY_SAMPLES)
		die("min-entropy: %zu offsets", count);
	for (size_t i = 0; i < ENTROPY_SAMPLES; i++)
		if (++seen[cells[i]] > most)
			most = seen[cells[i]];
	p = (double)most / ENTROPY_SAMPLES;
	p += 2.576 * sqrt(p * (1 - p) / (ENTROPY_SAMPLES - 1));
	entropy = -log2(p);
	printf("%.4f bits, at least %.2f wanted", entropy, LEAST_ENTROPY);
	return entropy < LEAST_ENTROPY ? 0 : 1;
}

int main(int argc, char **argv)
{
	struct offsets offsets;
	bool any = false;

	if (argc != 2)
		die("usage: distribution FILE");
	offsets = read_offsets(argv[1], 2 << 20);
	any |= found("cells", cells_seen, offsets);
	any |= found("pairs", pairs_seen, offsets);
	any |= found("differences", differences_seen, offsets);
	any |= found("phases", phases_seen, offsets);
	any |= found("correlation", correlation, offsets);
	any |= found("min-entropy", entropy_left, offsets);
	free(offsets.cells);
	return any ? FOUND : 0;
}
