/* SPDX-License-Identifier: MIT */
/*
 * Is this function an entry, and if not, why?
 *
 * Chosen by an attribute or a glob; taken out by an attribute or a glob; then
 * refused if what is known about it stands in the way. Reasons are written as
 * the end of "… is not instrumented: ".
 */
#include "policy_internal.h"

#include <string.h>

/* In the order of enum kstackrand_fact: the first that holds is told. */
static const struct {
	unsigned fact;
	const char *reason;
} refusals[] = {
	{KSTACKRAND_FACT_NAKED, "it is naked, and has no prologue in which to shift the stack"},
	{KSTACKRAND_FACT_IFUNC_RESOLVER,
         "it is an ifunc resolver, and runs before there is thread-local storage"},
	{KSTACKRAND_FACT_ALWAYS_INLINE, "it is always_inline, and a copy inlined into its caller "
                                        "has no stack of its own to shift"},
	{KSTACKRAND_FACT_GNU_INLINE,
         "it is extern inline, and its body in this file serves only to be inlined"},
	{KSTACKRAND_FACT_MUST_TAIL, "it has a must-tail call, which leaves only after the stack "
                                    "was put back, and runs unshifted"},
	{KSTACKRAND_FACT_SPLIT_STACK, "it is built with -fsplit-stack, which checks for room "
                                      "before the shift and not after it"},
	{KSTACKRAND_FACT_NOT_64_BIT,
         "it is not built for a 64-bit target, and a draw is 64-bit arithmetic"},
	{KSTACKRAND_FACT_INTERRUPT, "it is an interrupt handler, which the hardware enters, and "
                                    "must not use the state of what it interrupted"},
	{KSTACKRAND_FACT_SWIFT_TAIL, "it has the calling convention swifttailcc, whose tail calls "
                                     "leave only after the stack was put back"},
	{KSTACKRAND_FACT_NOT_KERNEL,
         "it is no part of a Linux kernel (__KERNEL__ is not defined), which model linux is for"},
	{KSTACKRAND_FACT_MODULE,
         "it is in a loadable module, and model linux keeps its state in the "
         "kernel's image"},
};

/*
 * Sections whose code may not reach thread-local storage or call a function
 * elsewhere, which models inline and call do, and so do reseed points. Code in
 * .init.text may: it is ordinary code that is thrown away after boot.
 *
 * An entry of model linux calls nothing, but does reach per-CPU memory: where
 * there is none either, it is refused, too.
 */
static const struct {
	const char *section;
	const char *reason;
	bool without_per_cpu;
} closed_sections[] = {
	/* Runs before RCU, lockdep and tracing know that the kernel was entered;
         * objtool reports every call out of it. */
	{".noinstr.text", "it is in section .noinstr.text, from which nothing may be called",
         false},
	/* The idle loop's part of noinstr code, since Linux 6.3. */
	{".cpuidle.text", "it is in section .cpuidle.text, from which nothing may be called",
         false},
	/* Runs on the entry stack, and with page-table isolation still on the
         * user's page tables: nothing outside the section is mapped. */
	{".entry.text", "it is in section .entry.text, which runs before the kernel is mapped",
         false},
	/* The first instructions after the boot loader: the MMU is off or maps
         * the kernel at another address; no per-CPU area or relocation yet. */
	{".head.text", "it is in section .head.text, which runs before anything is set up", true},
	/* arm64: runs from an identity map while the MMU is turned on or off. */
	{".idmap.text", "it is in section .idmap.text, which runs without the kernel's mapping",
         true},
	/* arm64 without VHE: EL2 has page tables and a stack of its own, and
         * neither the kernel's functions nor its TLS. */
	{".hyp.text", "it is in section .hyp.text, which runs at EL2, away from the kernel", true},
	{".hyp.idmap.text",
         "it is in section .hyp.idmap.text, which runs at EL2, away from the kernel", true},
	/* Runs while a probe is being handled: a call to a function that can be
         * probed itself would come back here for ever. */
	{".kprobes.text",
         "it is in section .kprobes.text, from which nothing that can be probed may be called",
         false},
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

const char *kstackrand_refusal(unsigned facts)
{
	for (size_t i = 0; i < COUNT(refusals); i++)
		if (facts & refusals[i].fact)
			return refusals[i].reason;
	return NULL;
}

static const char *section_refusal(const char *section, bool calls)
{
	for (size_t i = 0; section && i < COUNT(closed_sections); i++) {
		size_t length = strlen(closed_sections[i].section);

		if (!calls && !closed_sections[i].without_per_cpu)
			continue;
		/* With -ffunction-sections the function's name follows a dot. */
		if (strncmp(section, closed_sections[i].section, length) == 0 &&
		    (section[length] == '\0' || section[length] == '.'))
			return closed_sections[i].reason;
	}
	return NULL;
}

static void refuse(struct kstackrand_decision *decision, unsigned facts, const char *reason)
{
	if (!reason)
		return;
	decision->verdict = KSTACKRAND_REFUSED;
	decision->reason = reason;
	decision->noted = decision->by_name ||
	                  !(facts & (KSTACKRAND_FACT_ALWAYS_INLINE | KSTACKRAND_FACT_GNU_INLINE));
}

/* Who chose it, if anybody did. */
static void choose(struct kstackrand_decision *decision, const struct kstackrand_policy *policy,
                   const struct names *names, unsigned facts)
{
	const struct glob *glob;

	if (facts & KSTACKRAND_FACT_ATTRIBUTE_ENTRY) {
		decision->verdict = KSTACKRAND_ENTRY_CHOSEN;
		decision->by_name = true;
		decision->because = "the attribute 'kstackrand'";
		return;
	}
	glob = kstackrand_find_glob(policy, &policy->entry, names);
	if (glob) {
		decision->verdict = KSTACKRAND_ENTRY_CHOSEN;
		decision->by_name = !glob->wildcard;
		decision->because = glob->because;
	}
}

/* Who took it out again. A glob also takes out what the source marked: whoever
 * builds has the last word. */
static const char *excepted(const struct kstackrand_policy *policy, const struct names *names,
                            unsigned facts)
{
	const struct glob *glob;

	if (facts & KSTACKRAND_FACT_ATTRIBUTE_NO)
		return "the attribute 'no_kstackrand'";
	glob = kstackrand_find_glob(policy, &policy->except, names);
	return glob ? glob->because : NULL;
}

struct kstackrand_decision kstackrand_policy_decide(const struct kstackrand_policy *policy,
                                                    const struct kstackrand_function *function)
{
	struct kstackrand_decision decision = {.verdict = KSTACKRAND_NOT_CHOSEN};
	struct names names;
	const char *exception = NULL;
	const char *reason;

	kstackrand_names_init(&names, function);
	choose(&decision, policy, &names, function->facts);
	if (decision.verdict == KSTACKRAND_ENTRY_CHOSEN)
		exception = excepted(policy, &names, function->facts);
	kstackrand_names_free(&names);

	if (decision.verdict == KSTACKRAND_NOT_CHOSEN)
		return decision;
	if (exception) {
		decision.verdict = KSTACKRAND_EXCEPTED;
		decision.because = exception;
		return decision;
	}
	reason = kstackrand_refusal(function->facts);
	if (!reason)
		reason =
			section_refusal(function->section, policy->model != KSTACKRAND_MODEL_LINUX);
	refuse(&decision, function->facts, reason);
	return decision;
}

/* A must-tail call or a split stack stands against a shift, not against a call. */
#define AGAINST_RESEED                                                                             \
	(KSTACKRAND_FACT_NAKED | KSTACKRAND_FACT_ALWAYS_INLINE | KSTACKRAND_FACT_GNU_INLINE |      \
	 KSTACKRAND_FACT_NOT_64_BIT | KSTACKRAND_FACT_INTERRUPT | KSTACKRAND_FACT_NOT_KERNEL |     \
	 KSTACKRAND_FACT_MODULE)

struct kstackrand_decision
kstackrand_policy_decide_reseed(const struct kstackrand_policy *policy,
                                const struct kstackrand_function *function)
{
	struct kstackrand_decision decision = {.verdict = KSTACKRAND_NOT_CHOSEN};
	const struct glob *glob;
	struct names names;
	const char *reason = NULL;

	kstackrand_names_init(&names, function);
	glob = kstackrand_find_glob(policy, &policy->reseed, &names);
	kstackrand_names_free(&names);
	if (!glob)
		return decision;
	decision.verdict = KSTACKRAND_ENTRY_CHOSEN;
	decision.by_name = !glob->wildcard;
	decision.because = glob->because;
	if (policy->model != KSTACKRAND_MODEL_LINUX)
		reason = "only model linux has reseed points";
	if (!reason)
		reason = kstackrand_refusal(function->facts & AGAINST_RESEED);
	if (!reason)
		reason = section_refusal(function->section, true);
	refuse(&decision, function->facts, reason);
	return decision;
}
