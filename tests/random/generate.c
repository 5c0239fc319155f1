/* SPDX-License-Identifier: MIT */
/*
 * Writes offsets of a generator of bench/generators.h, or of one that is bad in
 * one way only, as recorder writes those of the stack.
 *
 *   generate draws NAME COUNT FILE [EDGES]
 *   generate sequences NAME COUNT FILE
 *
 * EDGES is for the mixers that multiply the counter with itself, disguised by a
 * key: how often neighbouring bits of that key differ. A random key has 32 on
 * average; the fewer, the closer the product is to a square.
 */
#include "first_draws.h"
#include "offsets.h"

#include <generators.h>
#include <string.h>

static uint64_t random_word(void)
{
	uint64_t word;

	seed_words(&word, sizeof(word));
	return word;
}

/* Good where nothing is said. */
static struct siphash13_state good;

static uint8_t good_cell(void)
{
	return (uint8_t)(siphash13_draw(&good) / KSTACKRAND_CELL_BYTES) % CELLS;
}

/* --- one fault each ------------------------------------------------------- */

/* Cell 0 comes 1.1 times as often as others. */
static uint8_t biased(const uint8_t *cells, size_t i)
{
	(void)cells, (void)i;
	return good_cell() == 0 && good_cell() < 7 ? 0 : good_cell();
}

/* Of each pair, the second follows the first once in 16 times. */
static uint8_t paired(const uint8_t *cells, size_t i)
{
	return i % 2 && good_cell() < 4 ? (cells[i - 1] + 7) % CELLS : good_cell();
}

/* Once in 16 times, what came 37 draws before comes again. */
static uint8_t echoing(const uint8_t *cells, size_t i)
{
	return i >= 37 && good_cell() < 4 ? cells[i - 37] : good_cell();
}

/* Near to what came 2^16 draws before, once in 16 times. */
static uint8_t drifting(const uint8_t *cells, size_t i)
{
	const size_t lag = 1 << 16;

	return i >= lag && good_cell() < 4 ? (cells[i - lag] + good_cell() % 8) % CELLS : good_cell();
}

/* At one of 32 places, the lower half of the cells comes more often. */
static uint8_t periodic(const uint8_t *cells, size_t i)
{
	(void)cells;
	return i % 32 == 5 && good_cell() < 24 ? good_cell() % 32 : good_cell();
}

/* One bit is the sum of two earlier ones. */
static uint8_t shifting(const uint8_t *cells, size_t i)
{
	return i < 89 ? good_cell() : (good_cell() & 62) | ((cells[i - 89] ^ cells[i - 38]) & 1);
}

/* --- sequences ------------------------------------------------------------ */

/* Each starts at cell 0, as if there were nothing to start from. */
static void unseeded(uint8_t *cells, size_t i)
{
	(void)i;
	cells[0] = 0;
}

/* Each hundredth is what the one before it was. */
static void copied(uint8_t *cells, size_t i)
{
	if (i % 100 == 99)
		memcpy(cells, cells - FIRST_DRAWS, FIRST_DRAWS);
}

/* Each thousandth goes on where the one 500 before it was after three draws. */
static void following(uint8_t *cells, size_t i)
{
	if (i % 1000 == 999)
		memcpy(cells, cells - 500 * FIRST_DRAWS + 3, FIRST_DRAWS - 3);
}

/* The fifth draw is near to the third one of the sequence 64 before. */
static void related(uint8_t *cells, size_t i)
{
	if (i >= 64)
		cells[5] = (cells[3 - 64 * FIRST_DRAWS] + good_cell() % 32) % CELLS;
}

/* --- */

/* Odd, and elsewhere random but for the number of edges. */
static uint64_t key_with_edges(unsigned edges)
{
	uint64_t key = ~UINT64_C(0), flipped = 0;

	for (unsigned n = 0; n < edges && n < 63;) {
		unsigned at = 1 + random_word() % 63;

		if (flipped >> at & 1)
			continue;
		flipped |= UINT64_C(1) << at;
		key ^= ~UINT64_C(0) << at;
		n++;
	}
	return key;
}

static bool draws(const char *name, uint8_t *cells, size_t count, const char *edges)
{
	static const struct {
		const char *name;
		uint8_t (*cell)(const uint8_t *cells, size_t i);
	} faulty[] = { { "biased", biased },
		       { "paired", paired },
		       { "echoing", echoing },
		       { "drifting", drifting },
		       { "periodic", periodic },
		       { "shifting", shifting } };

#define DRAW(generator)                                                                  \
	if (!strcmp(name, #generator)) {                                                 \
		union {                                                                  \
			struct generator##_state state;                                  \
			struct mixer_state mixer;                                        \
		} own;                                                                   \
		generator##_seed(&own.state);                                            \
		if (edges)                                                               \
			own.mixer.key = key_with_edges((unsigned)atoi(edges));           \
		for (size_t i = 0; i < count; i++)                                       \
			cells[i] = generator##_draw(&own.state) / KSTACKRAND_CELL_BYTES % CELLS; \
		return true;                                                             \
	}
	FOR_EACH_GENERATOR(DRAW)
	for (size_t n = 0; n < sizeof(faulty) / sizeof(*faulty); n++)
		if (!strcmp(name, faulty[n].name)) {
			for (size_t i = 0; i < count; i++)
				cells[i] = faulty[n].cell(cells, i);
			return true;
		}
	return false;
}

static bool sequences(const char *name, uint8_t *cells, size_t count)
{
	static const struct {
		const char *name;
		void (*spoil)(uint8_t *cells, size_t i);
	} faulty[] = { { "good", NULL },
		       { "unseeded", unseeded },
		       { "copied", copied },
		       { "following", following },
		       { "related", related } };

	for (size_t n = 0; n < sizeof(faulty) / sizeof(*faulty); n++)
		if (!strcmp(name, faulty[n].name)) {
			for (size_t i = 0; i < count * FIRST_DRAWS; i++)
				cells[i] = good_cell();
			for (size_t i = 0; faulty[n].spoil && i < count; i++)
				faulty[n].spoil(cells + i * FIRST_DRAWS, i);
			return true;
		}
	return false;
}

int main(int argc, char **argv)
{
	bool of_draws = argc > 1 && !strcmp(argv[1], "draws");
	size_t count = argc > 3 ? strtoul(argv[3], NULL, 10) : 0;
	size_t all = of_draws ? count : count * FIRST_DRAWS;
	uint8_t *cells = malloc(all + 1);
	FILE *file;

	if (argc < 5 || count == 0 || !cells)
		die("usage: generate draws|sequences NAME COUNT FILE [EDGES]");
	siphash13_seed(&good);
	if (!(of_draws ? draws(argv[2], cells, count, argc > 5 ? argv[5] : NULL) :
	                 sequences(argv[2], cells, count)))
		die("generate: there is no generator '%s'", argv[2]);
	file = fopen(argv[4], "wb");
	if (!file || fwrite(cells, 1, all, file) != all || fclose(file))
		die("%s: cannot write", argv[4]);
	free(cells);
	return 0;
}
