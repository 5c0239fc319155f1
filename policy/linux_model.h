/* SPDX-License-Identifier: MIT */
/*
 * Model `linux` in machine code: what both plugins put into a kernel, as text
 * for the assembler. Here and not in the plugins, so that it is the same with
 * both compilers; include/kstackrand/abi.h says in C what it does.
 *
 * Draw and reseed are inline assembly in GCC's spelling: %0 is an operand, %w0
 * and %k0 its 32-bit name on arm64 and x86_64, %% a percent sign. Both are
 * volatile, clobber the flags ("cc") and memory that no C code names.
 */
#ifndef KSTACKRAND_LINUX_MODEL_H
#define KSTACKRAND_LINUX_MODEL_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

enum kstackrand_arch {
	KSTACKRAND_ARCH_X86_64,
	KSTACKRAND_ARCH_AARCH64,
};

/* What the machine code depends on. */
struct kstackrand_kernel {
	enum kstackrand_arch arch;
	bool smp;      /* CONFIG_SMP: without it, there are no per-CPU areas */
	unsigned bits; /* 0 … 8 */
};

/* Registers to work in, as outputs of 64 bits that share no register with each
 * other or with an input; on x86_64 they are rdx and rax, on arm64 any. How many
 * there are, at most these, comes with the text. */
#define KSTACKRAND_LINUX_OUTPUTS_MAX 6

/* Inputs of the reseed, behind its outputs: so many random words in general
 * registers. */
#define KSTACKRAND_LINUX_RANDOM_WORDS 3

/** The state, the mask and the boot parameter, for the top level of each file
 *  with an entry or a reseed point. A linker keeps one of each, also with -r.
 *  Text that the caller frees; so below. */
char *kstackrand_linux_state(const struct kstackrand_kernel *kernel);

/** The draw: no branch that depends on data, no call; %0, the first of its
 *  `outputs`, is the offset in bytes, within kstackrand_mask(bits) whatever a
 *  user set the mask to. Right with preemption and on any CPU. */
char *kstackrand_linux_draw(const struct kstackrand_kernel *kernel, unsigned *outputs);

/** The reseed of this CPU. Interrupted or moved to another CPU in the middle,
 *  it mixes some of the words into each; no harm is done. */
char *kstackrand_linux_reseed(const struct kstackrand_kernel *kernel, unsigned *outputs);

#ifdef __cplusplus
}
#endif
#endif /* KSTACKRAND_LINUX_MODEL_H */
