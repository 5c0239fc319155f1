/* SPDX-License-Identifier: MIT */
/*
 * Which functions are entries, and with what settings.
 *
 * A policy is a list of KEY VALUE pairs from the command line and from policy
 * files, in that order; the last word counts for settings, all words count for
 * globs. This room knows no compiler: both plugins and the tools describe a
 * function in plain terms and get a decision with its reason.
 *
 * Not thread-safe, not for signal handlers; made for a process that lives as
 * long as one compilation.
 */
#ifndef KSTACKRAND_POLICY_H
#define KSTACKRAND_POLICY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The values of these two also stand in notes: they never change. */
enum kstackrand_model {
	KSTACKRAND_MODEL_INLINE,
	KSTACKRAND_MODEL_CALL,
	KSTACKRAND_MODEL_LINUX,
};

enum kstackrand_rng {
	KSTACKRAND_RNG_FAST,
	KSTACKRAND_RNG_SIPHASH,
};

struct kstackrand_policy; /* opaque */

/* One line, without a newline and without the leading "kstackrand: error: ". */
struct kstackrand_error {
	char text[1024];
};

/** A policy with every setting at its default and no globs. Never fails: it
 *  ends the process with a message when memory is gone. */
struct kstackrand_policy *kstackrand_policy_new(void);

void kstackrand_policy_free(struct kstackrand_policy *policy);

/**
 * Takes one command-line argument. `option` is how the user wrote it, whole,
 * for messages; `value` is NULL when there was no "=VALUE". Reads the policy
 * file when the key is `policy`. False, with `error` filled, for an unknown
 * key, a bad value or an unreadable file.
 */
bool kstackrand_policy_argument(struct kstackrand_policy *policy, const char *option,
                                const char *key, const char *value, struct kstackrand_error *error);

/** Whether the settings go together; to be asked once, after the last argument.
 *  False, with `error` filled, if not. */
bool kstackrand_policy_check(const struct kstackrand_policy *policy,
                             struct kstackrand_error *error);

/* Settings. */
enum kstackrand_model kstackrand_policy_model(const struct kstackrand_policy *policy);
enum kstackrand_rng kstackrand_policy_rng(const struct kstackrand_policy *policy);
unsigned kstackrand_policy_bits(const struct kstackrand_policy *policy);
bool kstackrand_policy_verbose(const struct kstackrand_policy *policy);
bool kstackrand_policy_werror(const struct kstackrand_policy *policy);
bool kstackrand_policy_disabled(const struct kstackrand_policy *policy);

/** The word for a model or generator on the command line and in notes. */
const char *kstackrand_model_name(enum kstackrand_model model);
const char *kstackrand_rng_name(enum kstackrand_rng rng);

/** Writes the table of keys, a line each, as help. */
void kstackrand_policy_help(FILE *stream);

/* What a plugin saw about a function. */
enum kstackrand_fact {
	KSTACKRAND_FACT_ATTRIBUTE_ENTRY = 1 << 0, /* __attribute__((kstackrand)) */
	KSTACKRAND_FACT_ATTRIBUTE_NO = 1 << 1,    /* __attribute__((no_kstackrand)) */
	/* Whatever keeps an entry from being shifted; the order is the order in
	 * which reasons are looked for. */
	KSTACKRAND_FACT_NAKED = 1 << 2,
	KSTACKRAND_FACT_IFUNC_RESOLVER = 1 << 3,
	KSTACKRAND_FACT_ALWAYS_INLINE = 1 << 4,
	KSTACKRAND_FACT_GNU_INLINE = 1 << 5, /* extern inline: no body of its own here */
	KSTACKRAND_FACT_MUST_TAIL = 1 << 6,
	KSTACKRAND_FACT_SPLIT_STACK = 1 << 7,
	KSTACKRAND_FACT_NOT_64_BIT = 1 << 8,
	KSTACKRAND_FACT_INTERRUPT = 1 << 9, /* an interrupt or exception handler */
	KSTACKRAND_FACT_SWIFT_TAIL = 1 << 10,
	/* Against model linux alone. */
	KSTACKRAND_FACT_NOT_KERNEL = 1 << 11,
	KSTACKRAND_FACT_MODULE = 1 << 12,
};

struct kstackrand_function {
	const char *assembler_name;
	const char *demangled_name; /* NULL when there is none */
	const char *section;        /* NULL for the default text section */
	unsigned facts;
};

enum kstackrand_verdict {
	KSTACKRAND_NOT_CHOSEN,
	KSTACKRAND_EXCEPTED, /* chosen, and taken out again */
	KSTACKRAND_ENTRY_CHOSEN,
	KSTACKRAND_REFUSED, /* chosen, but it cannot be had */
};

struct kstackrand_decision {
	enum kstackrand_verdict verdict;
	/* Chosen by an attribute or by a glob without wildcards: somebody meant
	 * this very function. */
	bool by_name;
	/* Who chose or excepted it: "the attribute 'kstackrand'", "entry 'handle_*'";
	 * NULL when not chosen. Lives as long as the policy. */
	const char *because;
	/* Why it is refused, as the end of a sentence; NULL otherwise. Static. */
	const char *reason;
	/* Whether a refusal belongs into the object's notes: not if it was a pattern
	 * that caught a function which has no code of its own there. */
	bool noted;
};

/** Decides on one function. Never fails. */
struct kstackrand_decision kstackrand_policy_decide(const struct kstackrand_policy *policy,
                                                    const struct kstackrand_function *function);

/** Decides whether one function is a reseed point: not chosen, chosen, or
 *  refused, which it is in every model but linux. Never fails. */
struct kstackrand_decision
kstackrand_policy_decide_reseed(const struct kstackrand_policy *policy,
                                const struct kstackrand_function *function);

/** Why one of these facts stands against an entry, as the end of a sentence;
 *  NULL when none does. For facts that show only after the decision. */
const char *kstackrand_refusal(unsigned facts);

#ifdef __cplusplus
}
#endif
#endif /* KSTACKRAND_POLICY_H */
