/* SPDX-License-Identifier: MIT */
/*
 * The keys. One table drives the command line, policy files, the list in the
 * error for an unknown key, and the help.
 */
#include "policy_internal.h"

#include "kstackrand/abi.h"

#include <string.h>

const char *const kstackrand_model_words[] = {
	[KSTACKRAND_MODEL_INLINE] = "inline",
	[KSTACKRAND_MODEL_CALL] = "call",
	[KSTACKRAND_MODEL_LINUX] = "linux",
	NULL,
};

const char *const kstackrand_rng_words[] = {
	[KSTACKRAND_RNG_FAST] = "fast",
	[KSTACKRAND_RNG_SIPHASH] = "siphash",
	NULL,
};

struct key;

/* Everything a key's function needs to take a value, or to refuse it. */
struct taking {
	struct kstackrand_policy *policy;
	const struct source *source;
	const struct key *key;
	const char *value; /* not empty; NULL for a flag */
	struct kstackrand_error *error;
};

struct key {
	const char *name;
	const char *syntax;       /* of the value in the help; NULL: see words */
	const char *const *words; /* the values there are; NULL with syntax NULL: a flag */
	bool (*take)(const struct taking *taking);
	size_t field; /* offset in struct kstackrand_policy, of the type take() knows */
	const char *help;
};

static void *field_of(const struct taking *taking)
{
	return (char *)taking->policy + taking->key->field;
}

static bool take_glob(const struct taking *taking)
{
	const char *wrong = kstackrand_add_glob(field_of(taking), taking->key->name, taking->value);

	if (wrong)
		return kstackrand_fail(taking->error, taking->source, "%s %s", taking->key->name,
		                       wrong);
	return true;
}

static bool take_policy(const struct taking *taking)
{
	return kstackrand_include(taking->policy, taking->source, taking->value, taking->error);
}

static bool take_flag(const struct taking *taking)
{
	*(bool *)field_of(taking) = true;
	return true;
}

/* Digits alone: strtoul() would also take a sign, space and 0x. Leading zeros
 * do no harm, however many. */
static bool take_bits(const struct taking *taking)
{
	unsigned bits = 0;

	for (const char *digit = taking->value; *digit; digit++) {
		if (*digit >= '0' && *digit <= '9')
			bits = bits * 10 + (unsigned)(*digit - '0');
		else
			bits = KSTACKRAND_BITS_MAX + 1;
		/* At once, so that no number of digits overflows. */
		if (bits > KSTACKRAND_BITS_MAX)
			return kstackrand_fail(taking->error, taking->source,
			                       "bits must be a whole number from 0 to %d",
			                       KSTACKRAND_BITS_MAX);
	}
	*(unsigned *)field_of(taking) = bits;
	return true;
}

/* Writes the words with `separator` between them; the tables above are short. */
static void join_words(char *text, size_t size, const char *const *words, const char *separator)
{
	size_t used = 0;

	text[0] = '\0';
	for (size_t i = 0; words[i] && used < size; i++)
		used += (size_t)snprintf(text + used, size - used, "%s%s", i ? separator : "",
		                         words[i]);
}

static bool take_word(const struct taking *taking)
{
	const char *const *words = taking->key->words;
	char known[64];

	for (unsigned i = 0; words[i]; i++) {
		if (strcmp(taking->value, words[i]) == 0) {
			*(unsigned *)field_of(taking) = i;
			return true;
		}
	}
	join_words(known, sizeof(known), words, ", ");
	return kstackrand_fail(taking->error, taking->source, "%s must be %s%s", taking->key->name,
	                       words[1] ? "one of " : "", known);
}

#define FIELD(name) offsetof(struct kstackrand_policy, name)

static const struct key keys[] = {
	{"entry", "GLOB", NULL, take_glob, FIELD(entry),
         "shift the stack in functions of this name; may be repeated"},
	{"except", "GLOB", NULL, take_glob, FIELD(except),
         "but not in functions of this name; may be repeated"},
	{"reseed", "GLOB", NULL, take_glob, FIELD(reseed),
         "mix in fresh entropy at functions of this name (model linux)"},
	{"policy", "FILE|PRESET", NULL, take_policy, 0,
         "read keys from a file, a KEY VALUE per line, or from a preset"},
	{"model", NULL, kstackrand_model_words, take_word, FIELD(model),
         "where the generator's state lives; default inline"},
	{"bits", "0...8", NULL, take_bits, FIELD(bits),
         "2^bits equally likely shifts, 16 bytes apart; default 6, 0 never shifts"},
	{"rng", NULL, kstackrand_rng_words, take_word, FIELD(rng), "the generator; default fast"},
	{"verbose", NULL, NULL, take_flag, FIELD(verbose),
         "say what was decided about each function, and why"},
	{"werror", NULL, NULL, take_flag, FIELD(werror),
         "a request that cannot be honoured is an error"},
	{"disable", NULL, NULL, take_flag, FIELD(disable), "do nothing in this file"},
};

#define KEY_COUNT (sizeof(keys) / sizeof(keys[0]))

static bool is_flag(const struct key *key)
{
	return !key->syntax && !key->words;
}

static const struct key *find_key(const char *name, size_t length)
{
	for (size_t i = 0; i < KEY_COUNT; i++)
		if (strlen(keys[i].name) == length && memcmp(keys[i].name, name, length) == 0)
			return &keys[i];
	return NULL;
}

static bool unknown_key(const struct source *source, const char *name,
                        struct kstackrand_error *error)
{
	const char *names[KEY_COUNT + 1] = {NULL};
	char known[160];
	struct shown shown;
	size_t length = strcspn(name, "=");

	/* In a file this is the command line's habit, not an unknown key. */
	if (name[length] == '=' && find_key(name, length))
		return kstackrand_fail(error, source, "write '%.*s VALUE', with a space, not '='",
		                       (int)length, name);
	for (size_t i = 0; i < KEY_COUNT; i++)
		names[i] = keys[i].name;
	join_words(known, sizeof(known), names, ", ");
	return kstackrand_fail(error, source, "unknown key '%s'; known keys are %s",
	                       kstackrand_show(&shown, name, 100), known);
}

/* What stands for the value in the help, such as GLOB or inline|call|linux. */
static void describe_value(char *text, size_t size, const struct key *key)
{
	if (key->words)
		join_words(text, size, key->words, "|");
	else
		snprintf(text, size, "%s", key->syntax ? key->syntax : "");
}

bool kstackrand_take(struct kstackrand_policy *policy, const struct source *source,
                     const char *name, const char *value, struct kstackrand_error *error)
{
	const struct key *key = find_key(name, strlen(name));
	char syntax[64];

	if (!key)
		return unknown_key(source, name, error);
	if (is_flag(key) && value)
		return kstackrand_fail(error, source, "%s takes no value", key->name);
	if (!is_flag(key) && (!value || !value[strspn(value, " \t")])) {
		describe_value(syntax, sizeof(syntax), key);
		return kstackrand_fail(error, source, "%s is %s; it must be %s%c%s", key->name,
		                       value ? "empty" : "without a value", key->name,
		                       source->kind == SOURCE_OPTION ? '=' : ' ', syntax);
	}
	return key->take(&(struct taking){policy, source, key, value, error});
}

bool kstackrand_policy_argument(struct kstackrand_policy *policy, const char *option,
                                const char *key, const char *value, struct kstackrand_error *error)
{
	const struct source source = {.kind = SOURCE_OPTION, .name = option};

	return kstackrand_take(policy, &source, key, value, error);
}

const char *kstackrand_model_name(enum kstackrand_model model)
{
	return kstackrand_model_words[model];
}

const char *kstackrand_rng_name(enum kstackrand_rng rng)
{
	return kstackrand_rng_words[rng];
}

void kstackrand_policy_help(FILE *stream)
{
	for (size_t i = 0; i < KEY_COUNT; i++) {
		char syntax[64];
		int width = fprintf(stream, "  %s", keys[i].name);

		describe_value(syntax, sizeof(syntax), &keys[i]);
		if (!is_flag(&keys[i]))
			width += fprintf(stream, "=%s", syntax);
		fprintf(stream, "%*s%s\n", 28 - width, "", keys[i].help);
	}
}
