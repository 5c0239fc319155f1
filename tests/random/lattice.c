/* SPDX-License-Identifier: MIT */
/*
 * Breaks x = a·x + b modulo 2^64 of which only the upper six bits are seen:
 * thirteen offsets say where its state lies nearly, a lattice where it can lie
 * at all, and the nearest point of that is the state.
 *
 *   lattice FILE
 *
 * It is tried at many places of the file. A generator of another kind has no
 * such state at any of them, and what is predicted for it is wrong.
 */
#include "offsets.h"

#include <flint/fmpq_mat.h>
#include <flint/fmpz.h>
#include <flint/fmpz_lll.h>
#include <flint/fmpz_mat.h>
#include <generators.h>

#define SEEN 13
#define PREDICTED 1000
#define PLACES 64
#define WORD_BITS 64
#define UNSEEN_BITS (WORD_BITS - CELL_BITS)

/* Rows: the states from 1 without the addend, and 2^64 at each later draw. */
static void states_lattice(fmpz_mat_t basis)
{
	uint64_t power = 1;

	fmpz_mat_zero(basis);
	for (slong i = 0; i < SEEN; i++, power *= LCG64_MULTIPLIER) {
		fmpz_set_ui(fmpz_mat_entry(basis, 0, i), power);
		if (i > 0)
			fmpz_setbit(fmpz_mat_entry(basis, i, i), WORD_BITS);
	}
}

/* The point of the reduced lattice nearest to `target`, by Babai's rounding. */
static void nearest(fmpz_mat_t point, const fmpz_mat_t basis, const fmpz_mat_t target)
{
	fmpz_mat_t transposed, column, rounded;
	fmpz_t determinant, doubled;

	fmpz_mat_init(transposed, SEEN, SEEN);
	fmpz_mat_init(column, SEEN, 1);
	fmpz_mat_init(rounded, 1, SEEN);
	fmpz_init(determinant);
	fmpz_init(doubled);
	fmpz_mat_transpose(transposed, basis);
	if (!fmpz_mat_solve(column, determinant, transposed, target))
		die("lattice: the basis is singular");
	/* Nearest to column / determinant: floor of (2·column + determinant) / 2·determinant. */
	fmpz_mul_2exp(doubled, determinant, 1);
	for (slong i = 0; i < SEEN; i++) {
		fmpz *entry = fmpz_mat_entry(rounded, 0, i);

		fmpz_mul_2exp(entry, fmpz_mat_entry(column, i, 0), 1);
		fmpz_add(entry, entry, determinant);
		fmpz_fdiv_q(entry, entry, doubled);
	}
	fmpz_mat_mul(point, rounded, basis);
	fmpz_mat_clear(transposed);
	fmpz_mat_clear(column);
	fmpz_mat_clear(rounded);
	fmpz_clear(determinant);
	fmpz_clear(doubled);
}

/* The state that gave the first of these draws, if any did. */
static struct lcg64_state solve(const fmpz_mat_t basis, const uint8_t *cells)
{
	struct lcg64_state state;
	fmpz_mat_t target, point;
	uint64_t added = 0;
	fmpz_t remainder;

	fmpz_mat_init(target, SEEN, 1);
	fmpz_mat_init(point, 1, SEEN);
	fmpz_init(remainder);
	/* What the addend contributes is known; the middle of what is not seen is
	 * as good a guess as any. */
	for (slong i = 0; i < SEEN; i++) {
		fmpz_set_ui(fmpz_mat_entry(target, i, 0),
		            ((uint64_t)cells[i] << UNSEEN_BITS) + (UINT64_C(1) << (UNSEEN_BITS - 1)) - added);
		added = added * LCG64_MULTIPLIER + LCG64_ADDEND;
	}
	nearest(point, basis, target);
	fmpz_fdiv_r_2exp(remainder, fmpz_mat_entry(point, 0, 0), WORD_BITS);
	state.x = fmpz_get_ui(remainder);
	fmpz_clear(remainder);
	fmpz_mat_clear(target);
	fmpz_mat_clear(point);
	return state;
}

/* How many offsets are right, the ones that were seen among them. */
static size_t right_at(const fmpz_mat_t basis, const uint8_t *cells)
{
	struct lcg64_state state = solve(basis, cells);
	size_t right = state.x >> UNSEEN_BITS == cells[0];

	for (size_t i = 1; i < SEEN + PREDICTED; i++)
		right += lcg64_draw(&state) / KSTACKRAND_CELL_BYTES == cells[i];
	return right;
}

int main(int argc, char **argv)
{
	struct offsets offsets;
	size_t step, broken = 0, most = 0;
	fmpz_mat_t basis;
	fmpz_lll_t options;

	if (argc != 2)
		die("usage: lattice FILE");
	offsets = read_offsets(argv[1], 1 << 20);
	step = offsets.count / PLACES;
	fmpz_mat_init(basis, SEEN, SEEN);
	states_lattice(basis);
	fmpz_lll_context_init_default(options);
	fmpz_lll(basis, NULL, options);
	for (size_t i = 0; i < PLACES; i++) {
		size_t right = right_at(basis, offsets.cells + i * step);

		most = right > most ? right : most;
		broken += right == SEEN + PREDICTED;
	}
	fmpz_mat_clear(basis);
	free(offsets.cells);
	printf("lattice: from %d offsets, the next %d predicted exactly at %zu of %d places", SEEN,
	       PREDICTED, broken, PLACES);
	/* Of 1013 guesses 16 are right by chance; 64 is 12 deviations above. */
	if (!broken && most < 64) {
		printf(", at most %zu of %d right\n", most, SEEN + PREDICTED);
		return 0;
	}
	printf(": FOUND\n");
	return FOUND;
}
