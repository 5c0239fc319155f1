/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as a policy file, as a preset, as arguments and as the names of a
 * function. Nothing may crash, and what comes out must keep the contract of
 * policy.h; abort() says that it does not.
 *
 * Built for libFuzzer as fuzz_policy, and into test_policy, which drives it with
 * inputs of its own.
 */
#include "policy.h"
#include "policy_internal.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition)
{
	if (!condition)
		abort();
}

static void check_line(const char *text)
{
	size_t length = strlen(text);

	require(length > 0);
	for (size_t i = 0; i < length; i++)
		require((unsigned char)text[i] >= 0x20 && text[i] != 0x7f);
}

static void check_error(const struct kstackrand_error *error)
{
	require(memchr(error->text, '\0', sizeof(error->text)) != NULL);
	check_line(error->text);
}

static void check_decision(struct kstackrand_decision decision)
{
	require((decision.verdict == KSTACKRAND_NOT_CHOSEN) == (decision.because == NULL));
	require((decision.verdict == KSTACKRAND_REFUSED) == (decision.reason != NULL));
	if (decision.because)
		check_line(decision.because);
}

static void check_decisions(const struct kstackrand_policy *policy,
                            const struct kstackrand_function *function)
{
	check_decision(kstackrand_policy_decide(policy, function));
	check_decision(kstackrand_policy_decide_reseed(policy, function));
}

/* Decides on functions that are always the same, and on those called `name`. */
static void check_policy(const struct kstackrand_policy *policy, const char *name)
{
	const struct kstackrand_function functions[] = {
		{"handle_request", NULL, NULL, 0},
		{"*alpha_labelled", NULL, ".noinstr.text.alpha", 0},
		{"_ZN2ns6Server6handleEi", "ns::Server::handle(int) const", ".text", 0},
		{"marked", NULL, NULL, KSTACKRAND_FACT_ATTRIBUTE_ENTRY | KSTACKRAND_FACT_NAKED},
		{name, NULL, name, KSTACKRAND_FACT_ATTRIBUTE_NO},
		{"_Zname", name, NULL, KSTACKRAND_FACT_MUST_TAIL},
	};

	require(kstackrand_policy_bits(policy) <= 8);
	require(kstackrand_model_name(kstackrand_policy_model(policy)) != NULL);
	require(kstackrand_rng_name(kstackrand_policy_rng(policy)) != NULL);
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
		check_decisions(policy, &functions[i]);
}

static void parse(enum source_kind kind, const char *text, size_t size)
{
	struct kstackrand_policy *policy = kstackrand_policy_new();
	struct kstackrand_error error = {""};
	/* No file may read another here: the fuzzer would open any path. A
	 * preset can read only presets. */
	struct source source = {
		.kind = kind,
		.name = "fuzz\n.policy",
		.nesting = kind == SOURCE_FILE ? KSTACKRAND_NESTING_MAX : 1,
	};

	if (!kstackrand_parse(policy, &source, text, size, &error))
		check_error(&error);
	check_policy(policy, text);
	kstackrand_policy_free(policy);
}

/* Each line as KEY=VALUE or KEY. */
static void take_arguments(char *text)
{
	struct kstackrand_policy *policy = kstackrand_policy_new();
	struct kstackrand_error error;
	char *rest = text;
	char *line;

	while ((line = strsep(&rest, "\n"))) {
		char *option = strdup(line);
		char *value = strchr(line, '=');

		require(option != NULL);
		if (value)
			*value++ = '\0';
		memset(&error, 0, sizeof(error));
		/* A word finds a preset, or nothing: the folder is empty. */
		if ((strcmp(line, "policy") != 0 || !value || !strpbrk(value, "/.")) &&
		    !kstackrand_policy_argument(policy, option, line, value, &error))
			check_error(&error);
		free(option);
		check_policy(policy, value ? value : line);
	}
	kstackrand_policy_free(policy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);

	require(text != NULL);
	if (size)
		memcpy(text, data, size);
	text[size] = '\0';
	parse(SOURCE_FILE, text, size);
	parse(SOURCE_PRESET, text, size);
	take_arguments(text);
	free(text);
	return 0;
}
