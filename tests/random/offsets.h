/* SPDX-License-Identifier: MIT */
/*
 * What the programs of this folder share: files of offsets, one byte for each
 * draw, which says the cell, 0 … 63; and judging by numbers that chance moves.
 *
 * Every program prints a line for each thing it looks at, and ends with 0 when
 * it found nothing, with 1 when an offset can be told from chance, and with 2
 * when it could not look.
 */
#ifndef OFFSETS_H
#define OFFSETS_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define CELLS 64
#define CELL_BITS 6

/* One good run in a thousand crosses this. Whoever does is looked at a second
 * time, in other draws; one in a million crosses it twice. */
#define CHANCE 0.001

#define FOUND 1
#define CANNOT_LOOK 2

struct offsets {
	uint8_t *cells;
	size_t count;
};

__attribute__((noreturn, format(printf, 1, 2))) static inline void die(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fputc('\n', stderr);
	exit(CANNOT_LOOK);
}

/** The offsets in a file, at least `least` of them. Dies when they are not. */
static inline struct offsets read_offsets(const char *path, size_t least)
{
	struct offsets offsets = { NULL, 0 };
	FILE *file = fopen(path, "rb");
	long size;

	if (!file || fseek(file, 0, SEEK_END) || (size = ftell(file)) < 0)
		die("%s: cannot read", path);
	rewind(file);
	offsets.count = (size_t)size;
	offsets.cells = malloc(offsets.count + 1);
	if (!offsets.cells || fread(offsets.cells, 1, offsets.count, file) != offsets.count)
		die("%s: cannot read", path);
	fclose(file);
	if (offsets.count < least)
		die("%s: %zu offsets, at least %zu are needed", path, offsets.count, least);
	for (size_t i = 0; i < offsets.count; i++)
		if (offsets.cells[i] >= CELLS)
			die("%s: offset %zu is cell %u", path, i, offsets.cells[i]);
	return offsets;
}

/** How probable it is that chance gives at least what these offsets give. A
 *  statistic prints what it saw, with no end of line. */
typedef double statistic(const uint8_t *cells, size_t count);

/** Looks at the first half of the offsets, and where that crosses the bound of
 *  chance at the second. Whether both do. */
static inline bool found(const char *name, statistic *look, struct offsets offsets)
{
	size_t half = offsets.count / 2;

	for (int turn = 0; turn < 2; turn++) {
		double probability;

		printf("%s: ", name);
		probability = look(offsets.cells + (turn ? half : 0), half);
		printf(", probability %.2g%s\n", probability, probability < CHANCE ? " (!)" : "");
		if (probability >= CHANCE)
			return false;
	}
	printf("%s: FOUND\n", name);
	return true;
}

#endif
