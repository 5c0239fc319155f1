/* SPDX-License-Identifier: MIT */
/*
 * A policy's life, and its settings.
 */
#include "policy_internal.h"

#include "kstackrand/abi.h"

#include <stdlib.h>

struct kstackrand_policy *kstackrand_policy_new(void)
{
	struct kstackrand_policy *policy = kstackrand_resize(NULL, sizeof(*policy));

	*policy = (struct kstackrand_policy){
		.model = KSTACKRAND_MODEL_INLINE,
		.rng = KSTACKRAND_RNG_FAST,
		.bits = KSTACKRAND_BITS_DEFAULT,
		.c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0),
	};
	if (!policy->c_locale)
		kstackrand_out_of_memory();
	return policy;
}

void kstackrand_policy_free(struct kstackrand_policy *policy)
{
	if (!policy)
		return;
	kstackrand_free_globs(&policy->entry);
	kstackrand_free_globs(&policy->except);
	kstackrand_free_globs(&policy->reseed);
	freelocale(policy->c_locale);
	free(policy);
}

bool kstackrand_policy_check(const struct kstackrand_policy *policy, struct kstackrand_error *error)
{
	if (policy->model != KSTACKRAND_MODEL_LINUX || policy->rng == KSTACKRAND_RNG_FAST)
		return true;
	snprintf(
		error->text, sizeof(error->text),
		"rng=%s does not go with model linux, whose generator is %s: leave one of them out",
		kstackrand_rng_words[policy->rng], kstackrand_rng_words[KSTACKRAND_RNG_FAST]);
	return false;
}

enum kstackrand_model kstackrand_policy_model(const struct kstackrand_policy *policy)
{
	return (enum kstackrand_model)policy->model;
}

enum kstackrand_rng kstackrand_policy_rng(const struct kstackrand_policy *policy)
{
	return (enum kstackrand_rng)policy->rng;
}

unsigned kstackrand_policy_bits(const struct kstackrand_policy *policy)
{
	return policy->bits;
}

bool kstackrand_policy_verbose(const struct kstackrand_policy *policy)
{
	return policy->verbose;
}

bool kstackrand_policy_werror(const struct kstackrand_policy *policy)
{
	return policy->werror;
}

bool kstackrand_policy_disabled(const struct kstackrand_policy *policy)
{
	return policy->disable;
}
