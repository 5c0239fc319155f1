/* SPDX-License-Identifier: MIT */
/*
 * Finds a counter behind a weak mixer. An offset is a point on a circle, z = e(cell
 * / 64) with e(x) = exp(2πix). Swapping the bytes of a product and multiplying
 * again hides it less than it seems: bytes contribute to the result one by one,
 * and a sum of staircases is close to a straight line. Measured, z follows
 * e(F·product / 2^64) for some F with an amplitude of a tenth and more. So a
 * product of the counter and a constant leaves a tone in the sequence of z,
 * which Fourier's transform shows; a square, whose phase is quadratic, leaves
 * one in z[n+lag] / z[n]; a cube in the quotient of two of these.
 *
 *   waves [-v] FILE     -v: say how strong the strongest is, at each lag
 */
#include "offsets.h"

#include <complex.h>
#include <fftw3.h>
#include <math.h>
#include <string.h>

#define LAGS 16
#define HARMONICS 2

/* How often the differences of a sequence are taken, and at which distances. */
struct look {
	size_t lag[2];
};

/* Adding chances up is good enough when they are small. */
struct strongest {
	double power, amplitude;
	struct look look;
	unsigned harmonic;
	size_t frequency;
	double looks;
};

static bool verbose;

static unsigned difference(const uint8_t *cells, const struct look *look)
{
	size_t a = look->lag[0], b = look->lag[1];

	if (!a)
		return cells[0];
	if (!b)
		return (unsigned)(cells[a] - cells[0]) % CELLS;
	return (unsigned)(cells[a + b] - cells[a] - cells[b] + cells[0]) % CELLS;
}

/* Chance gives each frequency a power of 1 in the mean, above x once in exp(x). */
static void transform(const uint8_t *cells, size_t points, const struct look *look, unsigned harmonic,
                      struct strongest *strongest)
{
	static fftwf_complex *wave;
	static fftwf_plan plan;
	static size_t planned;
	float complex circle[CELLS];
	double most = 0;
	size_t at = 0;

	if (planned != points) {
		wave = fftwf_alloc_complex(points);
		plan = fftwf_plan_dft_1d((int)points, wave, wave, FFTW_FORWARD, FFTW_ESTIMATE);
		planned = points;
	}
	for (int cell = 0; cell < CELLS; cell++)
		circle[cell] = (float complex)cexp(2 * M_PI * I * harmonic * cell / CELLS);
	for (size_t i = 0; i < points; i++)
		wave[i] = circle[difference(cells + i, look)];
	fftwf_execute(plan);
	for (size_t i = 0; i < points; i++) {
		double power = (double)crealf(wave[i]) * crealf(wave[i]) +
		               (double)cimagf(wave[i]) * cimagf(wave[i]);

		if (power > most) {
			most = power;
			at = i;
		}
	}
	most /= (double)points;
	strongest->looks += (double)points;
	if (verbose)
		printf("lags %zu %zu, harmonic %u: power %.1f, amplitude %.6f, at %zu of %zu\n",
		       look->lag[0], look->lag[1], harmonic, most, sqrt(most / (double)points), at, points);
	if (most > strongest->power) {
		strongest->power = most;
		strongest->amplitude = sqrt(most / (double)points);
		strongest->look = *look;
		strongest->harmonic = harmonic;
		strongest->frequency = at;
	}
}

static double tones(const uint8_t *cells, size_t count)
{
	static const struct look second[] = { { { 1, 1 } }, { { 1, 2 } }, { { 2, 3 } }, { { 4, 8 } } };
	struct strongest strongest = { 0 };
	size_t points = 1;

	/* A power of two, and as many more as lags look ahead. */
	while (points * 2 + LAGS * 2 <= count)
		points *= 2;
	for (unsigned harmonic = 1; harmonic <= HARMONICS; harmonic++) {
		for (size_t lag = 0; lag <= LAGS; lag++)
			transform(cells, points, &(struct look){ { lag, 0 } }, harmonic, &strongest);
		for (size_t i = 0; i < sizeof(second) / sizeof(*second); i++)
			transform(cells, points, &second[i], harmonic, &strongest);
	}
	printf("strongest at lags %zu %zu, harmonic %u: power %.1f, amplitude %.5f, frequency %zu of %zu",
	       strongest.look.lag[0], strongest.look.lag[1], strongest.harmonic, strongest.power,
	       strongest.amplitude, strongest.frequency, points);
	return -expm1(-strongest.looks * exp(-strongest.power));
}

int main(int argc, char **argv)
{
	struct offsets offsets;
	bool any;

	if (argc == 3 && !strcmp(argv[1], "-v"))
		verbose = true;
	else if (argc != 2)
		die("usage: waves [-v] FILE");
	offsets = read_offsets(argv[argc - 1], (2 << 20) + 4 * LAGS);
	any = found("waves", tones, offsets);
	free(offsets.cells);
	return any ? FOUND : 0;
}
