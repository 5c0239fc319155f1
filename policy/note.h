/* SPDX-License-Identifier: MIT */
/*
 * The note of an object: what both plugins write into it, as text for the
 * assembler. include/kstackrand/abi.h tells what is in a note, docs/note.md why it
 * is written as it is.
 */
#ifndef KSTACKRAND_NOTE_H
#define KSTACKRAND_NOTE_H

#include "policy.h"

#ifdef __cplusplus
extern "C" {
#endif

struct kstackrand_note {
	const char *symbol; /* the function's */
	enum kstackrand_model model;
	enum kstackrand_rng rng;
	unsigned bits;
	bool shifts;  /* it is an entry, or was to be one */
	bool reseeds; /* so for a reseed point */
};

/* Which section group the note of an entry is in, besides what ties it to the
 * entry's section. */
enum kstackrand_note_group {
	/* That of the entry's section, if it is in one: copies of an inline function
	 * that a linker drops must take their notes with them. */
	KSTACKRAND_NOTE_GROUP_OF_CODE,
	/* One of its own, for code in no group: or GNU as would warn, and a partial
	 * link by GNU ld tie all notes to the first entry. */
	KSTACKRAND_NOTE_GROUP_OWN,
};

/**
 * The note of an entry or a reseed point: a template of inline assembly in GCC's
 * spelling, to be put directly behind the shift. It holds no instruction. A
 * function that may get another name in a later step of the build is not named by
 * its symbol but by `operand`, such as "%c0"; NULL otherwise. Text that the caller
 * frees; so below.
 */
char *kstackrand_entry_note(const struct kstackrand_note *note, const char *operand,
                            enum kstackrand_note_group group);

/** The note of a request that was refused because of `reason`, for the top level
 *  of a file. */
char *kstackrand_refusal_note(const struct kstackrand_note *note, const char *reason);

#ifdef __cplusplus
}
#endif
#endif /* KSTACKRAND_NOTE_H */
