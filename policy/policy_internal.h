/* SPDX-License-Identifier: MIT */
/*
 * What the files of this room know of each other, and nobody else.
 *
 *     options.c       the table of keys; a key and its value into the policy
 *     policy_file.c   policy files and presets, line by line, into options.c
 *     match.c         globs against the names of a function
 *     decide.c        is it an entry, and if not, why
 *     message.c       one-line errors, printable text, the end when memory is gone
 *     policy.c        a policy's life, and its settings
 *     linux_model.c   model linux in machine code, for both plugins
 *     note.c          the record in the object, for both plugins
 */
#ifndef KSTACKRAND_POLICY_INTERNAL_H
#define KSTACKRAND_POLICY_INTERNAL_H

#include "policy.h"

#include <locale.h>

/* Limits. They bound what one bad policy can cost in memory, stack and time; no
 * real policy comes near them. All are in bytes but for the last two. */
#define KSTACKRAND_GLOB_MAX 1024
#define KSTACKRAND_LINE_MAX 4096
#define KSTACKRAND_FILE_MAX (1024 * 1024)
#define KSTACKRAND_NESTING_MAX 8 /* policy files in each other */
#define KSTACKRAND_FILES_MAX 256 /* in all: eight levels could fan out without end */

struct glob {
	char *pattern;
	char *because; /* "entry 'handle_*'", printable */
	bool wildcard; /* false: it is the name of one function */
};

struct glob_list {
	struct glob *globs;
	size_t count;
	size_t capacity;
};

struct kstackrand_policy {
	unsigned model; /* enum kstackrand_model */
	unsigned rng;   /* enum kstackrand_rng */
	unsigned bits;
	bool verbose;
	bool werror;
	bool disable;
	struct glob_list entry;
	struct glob_list except;
	struct glob_list reseed;
	unsigned files;    /* read so far, presets included */
	locale_t c_locale; /* in which globs are matched */
};

/* Where a key and its value stand. */
enum source_kind {
	SOURCE_OPTION,
	SOURCE_FILE,
	SOURCE_PRESET,
};

struct source {
	enum source_kind kind;
	const char *name; /* the option, the file's path, the preset's name */
	size_t line;      /* from 1; unused for an option */
	unsigned nesting; /* 0 for an option, 1 for the file it names, … */
};

/* options.c */

/** Takes one key; `value` is NULL when there is none. False, with `error`. */
bool kstackrand_take(struct kstackrand_policy *policy, const struct source *source, const char *key,
                     const char *value, struct kstackrand_error *error);

extern const char *const kstackrand_model_words[]; /* by enum, ended by NULL */
extern const char *const kstackrand_rng_words[];

/* policy_file.c */

/** Takes every line of a policy's text; `source` says how to name it and gets
 *  the line numbers. False, with `error`, at the first bad line. */
bool kstackrand_parse(struct kstackrand_policy *policy, struct source *source, const char *text,
                      size_t size, struct kstackrand_error *error);

/** The key `policy`: reads the preset or the file that `value` names. */
bool kstackrand_include(struct kstackrand_policy *policy, const struct source *source,
                        const char *value, struct kstackrand_error *error);

/* match.c */

/** Adds the glob `pattern`, which must not be empty, given under `key`. Returns
 *  NULL, or what is wrong with it, as the rest of a sentence about the key. */
const char *kstackrand_add_glob(struct glob_list *list, const char *key, const char *pattern);

void kstackrand_free_globs(struct glob_list *list);

/* The names a glob may match; NULL for one that the function does not have. */
struct names {
	const char *assembler;
	const char *demangled;
	char *bare; /* demangled, without the parameter list */
};

void kstackrand_names_init(struct names *names, const struct kstackrand_function *function);
void kstackrand_names_free(struct names *names);

/** The first glob without wildcards that matches, or else the first with; or
 *  NULL. */
const struct glob *kstackrand_find_glob(const struct kstackrand_policy *policy,
                                        const struct glob_list *list, const struct names *names);

/* message.c */

/** Fills `error`, with the place in front. Returns false, for the caller to
 *  pass on. What comes from outside goes through kstackrand_show() first. */
bool kstackrand_fail(struct kstackrand_error *error, const struct source *source,
                     const char *format, ...) __attribute__((cold, format(printf, 3, 4)));

/* Text from outside, made fit to stand in a message of one line. */
#define KSTACKRAND_SHOWN_MAX 320
struct shown {
	char text[KSTACKRAND_SHOWN_MAX + sizeof("...")];
};

/** Writes at most `limit` bytes (of KSTACKRAND_SHOWN_MAX) of `text`, and "..."
 *  when there is more. Returns shown->text. */
const char *kstackrand_show(struct shown *shown, const char *text, size_t limit);

/** As realloc() and asprintf(); they end the process when memory is gone. */
void *kstackrand_resize(void *memory, size_t size);
char *kstackrand_format(const char *format, ...) __attribute__((format(printf, 1, 2)));
void kstackrand_out_of_memory(void) __attribute__((cold, noreturn));

#endif /* KSTACKRAND_POLICY_INTERNAL_H */
