/* SPDX-License-Identifier: MIT */
/*
 * The policies that are compiled in. embed_presets.cmake writes the table from
 * presets/NAME.policy.
 */
#ifndef KSTACKRAND_PRESETS_H
#define KSTACKRAND_PRESETS_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

struct kstackrand_preset {
	const char *name; /* a word without '/' and '.' */
	const char *text; /* what a policy file would hold, with a zero byte after it */
	size_t size;      /* bytes of text, without that zero byte */
};

/** Sorted by name; a row of NULL, NULL, 0 ends it. */
extern const struct kstackrand_preset kstackrand_presets[];

#ifdef __cplusplus
}
#endif
#endif /* KSTACKRAND_PRESETS_H */
