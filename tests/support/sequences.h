/* SPDX-License-Identifier: MIT */
/*
 * The first draws of threads and processes, as the stack shows them: how far
 * below the caller's frame the witness stands, eight times.
 */
#ifndef SEQUENCES_H
#define SEQUENCES_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <witness.h>

#define DRAWS 8

/* 8 draws of 6 bits: two of 10^4 unrelated ones are alike once in 5 million runs. */
struct sequence {
	unsigned short distance[DRAWS];
};

/** Fills `sequence` with the next draws of `entry`, which returns witness(). */
static __attribute__((noinline)) void record(struct sequence *sequence, uintptr_t (*entry)(void))
{
	uintptr_t here = (uintptr_t)__builtin_frame_address(0);

	for (int i = 0; i < DRAWS; i++)
		sequence->distance[i] = (unsigned short)(here - entry());
}

static int compare(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct sequence));
}

/** Dies unless each of the eight draws takes many values: none is a constant. */
static void expect_spread(const char *name, const struct sequence *sequences, size_t count)
{
	for (int draw = 0; draw < DRAWS; draw++) {
		static unsigned char seen[65536];
		int values = 0;

		memset(seen, 0, sizeof(seen));
		for (size_t i = 0; i < count; i++)
			if (!seen[sequences[i].distance[draw]]) {
				seen[sequences[i].distance[draw]] = 1;
				values++;
			}
		if (count >= 300 && values < 32) {
			fprintf(stderr, "%s: draw %d takes %d values only\n", name, draw, values);
			exit(1);
		}
	}
}

/** Dies unless all sequences differ, and each moves. */
static void expect_all_different(const char *name, struct sequence *sequences, size_t count)
{
	expect_spread(name, sequences, count);
	qsort(sequences, count, sizeof(*sequences), compare);
	for (size_t i = 0; i < count; i++) {
		const struct sequence *sequence = &sequences[i];
		int moves = 0;

		for (int draw = 1; draw < DRAWS; draw++)
			moves |= sequence->distance[draw] != sequence->distance[0];
		if (!moves || (i > 0 && compare(sequence, sequence - 1) == 0)) {
			fprintf(stderr, "%s: sequence %zu of %zu %s\n", name, i, count,
			        moves ? "came twice" : "does not move");
			exit(1);
		}
	}
	printf("%s: %zu sequences, all different\n", name, count);
}

#endif
