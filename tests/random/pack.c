/* SPDX-License-Identifier: MIT */
/*
 * Four offsets in three bytes, for programs that take bytes.
 *
 *   pack FILE > BYTES
 */
#include "offsets.h"

int main(int argc, char **argv)
{
	struct offsets offsets;

	if (argc != 2)
		die("usage: pack FILE");
	offsets = read_offsets(argv[1], 4);
	for (size_t i = 0; i + 4 <= offsets.count; i += 4) {
		uint32_t word = 0;

		for (int j = 0; j < 4; j++)
			word = word << CELL_BITS | offsets.cells[i + j];
		for (int j = 0; j < 3; j++)
			putchar((int)(word >> 8 * j & 0xff));
	}
	free(offsets.cells);
	return fflush(stdout) ? CANNOT_LOOK : 0;
}
