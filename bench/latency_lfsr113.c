/* SPDX-License-Identifier: MIT */
/* LFSR113 by a call, as Linux has it: prandom_u32_state() stands in a file of
 * its own, and no caller's compiler sees into it. */
#include "generators.h"

uint64_t lfsr113_called(struct lfsr113_state *state);

uint64_t lfsr113_called(struct lfsr113_state *state)
{
	return lfsr113_draw(state);
}
