/* SPDX-License-Identifier: MIT */
/*
 * Finds generators that are linear over GF(2), whichever they are: by the rank
 * of stretches of their output and by the length of the shortest linear
 * recurrence that makes it (Berlekamp and Massey). And breaks the one that
 * Linux has used since 7.1, LFSR113: from offsets alone, its state, and from
 * that all later offsets.
 *
 *   linear FILE
 */
#include "offsets.h"

#include <flint/nmod_poly.h>
#include <generators.h>
#include <gsl/gsl_cdf.h>
#include <m4ri/m4ri.h>
#include <string.h>

/* Rank: square matrices, whose rows are consecutive offsets. */
#define RANK 256

/* A random matrix lacks 0, 1, or more in rank. */
static const double deficits[3] = { 0.288788, 0.577576, 0.133636 };

static double rank_seen(const uint8_t *cells, size_t count)
{
	const size_t cells_a_row = (RANK + CELL_BITS - 1) / CELL_BITS;
	const size_t matrices = count / (cells_a_row * RANK);
	mzd_t *matrix = mzd_init(RANK, RANK);
	double seen[3] = { 0 }, chi2 = 0;
	rci_t least = RANK;

	for (size_t n = 0; n < matrices; n++) {
		rci_t rank, lack;

		for (rci_t row = 0; row < RANK; row++, cells += cells_a_row)
			for (rci_t bit = 0; bit < RANK; bit++)
				mzd_write_bit(matrix, row, bit,
				              cells[bit / CELL_BITS] >> bit % CELL_BITS & 1);
		rank = mzd_echelonize(matrix, 0);
		lack = RANK - rank;
		seen[lack < 2 ? lack : 2]++;
		least = rank < least ? rank : least;
	}
	mzd_free(matrix);
	for (int i = 0; i < 3; i++) {
		double expected = deficits[i] * (double)matrices;

		chi2 += (seen[i] - expected) * (seen[i] - expected) / expected;
	}
	printf("%zu matrices of %d, least rank %d, chi2 %.1f of 2", matrices, RANK, least, chi2);
	return gsl_cdf_chisq_Q(chi2, 2);
}

/* The complexity of n random bits is n / 2, and off by more than k once in
 * about 4^k. */
static double complexity(const uint8_t *cells, size_t bits, unsigned mask)
{
	nmod_berlekamp_massey_t recurrence;
	slong length;

	nmod_berlekamp_massey_init(recurrence, 2);
	for (size_t i = 0; i < bits; i++)
		nmod_berlekamp_massey_add_point(recurrence,
		                                (mp_limb_t)__builtin_parity(cells[i] & mask));
	nmod_berlekamp_massey_reduce(recurrence);
	length = nmod_poly_degree(nmod_berlekamp_massey_V_poly(recurrence));
	nmod_berlekamp_massey_clear(recurrence);
	return (double)length;
}

static double complexity_seen(const uint8_t *cells, size_t count)
{
	const size_t bits = 1 << 13;
	double least = (double)bits;

	if (count < bits)
		die("linear complexity: %zu offsets", count);
	/* Each of the six bits, and each sum of some. */
	for (unsigned mask = 1; mask < CELLS; mask++) {
		double length = complexity(cells, bits, mask);

		least = length < least ? length : least;
	}
	printf("63 sums of bits, %zu draws, least complexity %.0f, chance gives %zu", bits, least, bits / 2);
	return least < (double)bits / 2 - 16 ? 0 : 1;
}

/* --- LFSR113 ------------------------------------------------------------- */

#define STATE_BITS 128
#define STATE_RANK 113
#define PREDICTED 1000

/* Each bit of each draw is a sum of bits of the state. Which, is found by
 * drawing from 128 states with one bit set. */
static mzd_t *lfsr113_equations(size_t draws)
{
	mzd_t *equations = mzd_init((rci_t)(draws * CELL_BITS), STATE_BITS);

	for (int variable = 0; variable < STATE_BITS; variable++) {
		struct lfsr113_state state = { { 0 } };

		state.s[variable / 32] = UINT32_C(1) << variable % 32;
		for (size_t i = 0; i < draws; i++) {
			uint64_t cell = lfsr113_draw(&state) / KSTACKRAND_CELL_BYTES;

			for (int bit = 0; bit < CELL_BITS; bit++)
				mzd_write_bit(equations, (rci_t)i * CELL_BITS + bit, variable,
				              cell >> bit & 1);
		}
	}
	return equations;
}

static rci_t rank_of(const mzd_t *matrix)
{
	mzd_t *copy = mzd_copy(NULL, matrix);
	rci_t rank = mzd_echelonize(copy, 0);

	mzd_free(copy);
	return rank;
}

/* How many offsets give away all of the state. */
static size_t lfsr113_draws_needed(void)
{
	for (size_t draws = 1;; draws++) {
		mzd_t *equations = lfsr113_equations(draws);
		rci_t rank = rank_of(equations);

		mzd_free(equations);
		if (rank == STATE_RANK)
			return draws;
	}
}

/* The state before these draws; false when there is none. */
static bool lfsr113_solve(const uint8_t *cells, size_t draws, struct lfsr113_state *state)
{
	mzd_t *equations = lfsr113_equations(draws);
	mzd_t *right = mzd_init(equations->nrows > STATE_BITS ? equations->nrows : STATE_BITS, 1);
	bool solved;

	for (rci_t i = 0; i < equations->nrows; i++)
		mzd_write_bit(right, i, 0, cells[i / CELL_BITS] >> i % CELL_BITS & 1);
	solved = mzd_solve_left(equations, right, 0, 1) == 0;
	memset(state, 0, sizeof(*state));
	for (int variable = 0; solved && variable < STATE_BITS; variable++)
		state->s[variable / 32] |= (uint32_t)mzd_read_bit(right, variable, 0) << variable % 32;
	mzd_free(equations);
	mzd_free(right);
	return solved;
}

/* Twice what is needed: what is solvable then is no accident. */
static bool lfsr113_broken(const uint8_t *cells, size_t count)
{
	size_t needed = lfsr113_draws_needed(), draws = 2 * needed, right = 0;
	struct lfsr113_state state;

	printf("lfsr113: rank %d after %zu offsets; ", STATE_RANK, needed);
	if (count < draws + PREDICTED)
		die("lfsr113: %zu offsets", count);
	if (!lfsr113_solve(cells, draws, &state)) {
		printf("%zu offsets are none of its\n", draws);
		return false;
	}
	for (size_t i = 0; i < draws; i++)
		lfsr113_draw(&state);
	for (size_t i = draws; i < draws + PREDICTED; i++)
		right += lfsr113_draw(&state) / KSTACKRAND_CELL_BYTES == cells[i];
	printf("its state is found, and %zu of the next %d offsets predicted: FOUND\n", right, PREDICTED);
	return true;
}

int main(int argc, char **argv)
{
	struct offsets offsets;
	bool any = false;

	if (argc != 2)
		die("usage: linear FILE");
	offsets = read_offsets(argv[1], 2 << 20);
	any |= found("rank", rank_seen, offsets);
	any |= found("complexity", complexity_seen, offsets);
	any |= lfsr113_broken(offsets.cells, offsets.count);
	free(offsets.cells);
	return any ? FOUND : 0;
}
