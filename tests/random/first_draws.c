/* SPDX-License-Identifier: MIT */
/*
 * The first draws of many threads, or of many children: whether any value is
 * more frequent at any of them, whether a sequence stands beside its neighbour's
 * in a fixed distance, and whether one contains a piece of another.
 *
 *   first_draws FILE     as recorder writes it
 */
#include "first_draws.h"

#include "offsets.h"

#include <gsl/gsl_cdf.h>
#include <math.h>

/* Draws in a piece: 48 bits, so that two of 10^5 pieces are alike by chance
 * once in 50 000 runs. */
#define PIECE 8

/* How far apart two sequences are compared: threads started together, and the
 * ones whose memory is used again. */
#define NEIGHBOURS 64

static double chi2_chance(const unsigned seen[CELLS], size_t draws)
{
	double expected = (double)draws / CELLS, sum = 0;

	for (int i = 0; i < CELLS; i++)
		sum += (seen[i] - expected) * (seen[i] - expected) / expected;
	return gsl_cdf_chisq_Q(sum, CELLS - 1);
}

static double worst_of(double least, unsigned tries)
{
	return -expm1(tries * log1p(-least));
}

static double values_seen(const uint8_t *cells, size_t count)
{
	size_t sequences = count / FIRST_DRAWS;
	double least = 1;

	for (int draw = 0; draw < FIRST_DRAWS; draw++) {
		unsigned seen[CELLS] = { 0 };
		double chance;

		for (size_t i = 0; i < sequences; i++)
			seen[cells[i * FIRST_DRAWS + draw]]++;
		chance = chi2_chance(seen, sequences);
		least = chance < least ? chance : least;
	}
	printf("%zu sequences, %d draws", sequences, FIRST_DRAWS);
	return worst_of(least, FIRST_DRAWS);
}

/* Each draw against each draw of the sequence some places earlier. */
static double relations_seen(const uint8_t *cells, size_t count)
{
	size_t sequences = count / FIRST_DRAWS, worst = 0;
	unsigned tries = 0;
	double least = 1;

	for (size_t apart = 1; apart <= NEIGHBOURS && apart < sequences / 2; apart++)
		for (int a = 0; a < FIRST_DRAWS; a++)
			for (int b = 0; b < FIRST_DRAWS; b++, tries++) {
				unsigned seen[CELLS] = { 0 };
				double chance;

				for (size_t i = apart; i < sequences; i++)
					seen[(cells[i * FIRST_DRAWS + a] -
					      cells[(i - apart) * FIRST_DRAWS + b]) &
					     (CELLS - 1)]++;
				chance = chi2_chance(seen, sequences - apart);
				if (chance < least) {
					least = chance;
					worst = apart;
				}
			}
	printf("%u relations, the worst is to the sequence %zu earlier", tries, worst);
	return worst_of(least, tries);
}

static int compare(const void *a, const void *b)
{
	uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

	return left < right ? -1 : left > right;
}

static double pieces_seen(const uint8_t *cells, size_t count)
{
	size_t sequences = count / FIRST_DRAWS, pieces = 0, alike = 0;
	uint64_t *piece = malloc(sequences * FIRST_DRAWS * sizeof(*piece));

	if (!piece)
		die("pieces: no memory");
	for (size_t i = 0; i < sequences; i++)
		for (int at = 0; at + PIECE <= FIRST_DRAWS; at++) {
			uint64_t word = 0;

			for (int j = 0; j < PIECE; j++)
				word = word << CELL_BITS | cells[i * FIRST_DRAWS + at + j];
			piece[pieces++] = word;
		}
	qsort(piece, pieces, sizeof(*piece), compare);
	for (size_t i = 1; i < pieces; i++)
		alike += piece[i] == piece[i - 1];
	free(piece);
	printf("%zu pieces of %d draws, %zu alike", pieces, PIECE, alike);
	return alike ? 0 : 1;
}

int main(int argc, char **argv)
{
	struct offsets offsets;
	bool any = false;

	if (argc != 2)
		die("usage: first_draws FILE");
	offsets = read_offsets(argv[1], 1000 * FIRST_DRAWS);
	/* A half must hold whole sequences. */
	offsets.count -= offsets.count % (2 * FIRST_DRAWS);
	any |= found("values", values_seen, offsets);
	any |= found("relations", relations_seen, offsets);
	/* All at once: there is no chance in it, and the halves could be copies. */
	printf("pieces: ");
	if (pieces_seen(offsets.cells, offsets.count) < CHANCE) {
		printf(": FOUND");
		any = true;
	}
	printf("\n");
	free(offsets.cells);
	return any ? FOUND : 0;
}
