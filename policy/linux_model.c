/* SPDX-License-Identifier: MIT */
/*
 * Model `linux` in machine code.
 *
 * x86_64: the per-CPU area is at %gs. `%gs:symbol(%rip)` is how the kernel
 * itself spells a per-CPU variable, right both before Linux 6.15, where these
 * symbols lie near zero, and after it, where they lie in the image.
 *
 * arm64: the per-CPU offset is in tpidr_el1, or in tpidr_el2 where the kernel
 * itself runs at EL2 (VHE). Linux chooses by patching its code at boot, by
 * numbers that differ from version to version; CurrentEL tells it without them.
 * tpidr_el1 may be read at both levels, tpidr_el2 only at EL2: hence a branch,
 * always taken or never on one machine, and no select.
 */
#include "linux_model.h"

#include "policy_internal.h"

#include "kstackrand/abi.h"

#define STRING_(x) #x
#define STRING(x) STRING_(x)

#define COUNTER STRING(KSTACKRAND_CPU_COUNTER)
#define KEY STRING(KSTACKRAND_CPU_KEY)
#define STEP STRING(KSTACKRAND_CPU_STEP)
#define MASK STRING(KSTACKRAND_CPU_MASK)

/*
 * The signature of the section group. Not the name of anything in it, so that
 * assemblers make it a local symbol: objtool (tools/objtool/elf.c,
 * elf_create_symbol) moves global ones to make room for its own, and does not
 * tell the group. A linker that then finds two groups where there should be one
 * keeps both.
 */
#define GROUP "kstackrand"

/*
 * In one section group, so that a linker keeps one of all files' copies: with a
 * second boot parameter of the same name the kernel would not start. Under LTO,
 * one assembler may see several copies: hence .ifndef. Hidden, so that no code
 * reaches them through a table of addresses.
 *
 * The parameter is a struct kernel_param (include/linux/moduleparam.h), whose
 * layout has not changed from 5.10 to 7.2: name, module, ops, permissions (u16),
 * level (s8; -1 is that of module_param), flags (u8), address.
 */
/* clang-format off */
static const char state_format[] =
	"\t.ifndef " KSTACKRAND_CPU_SYMBOL "\n"
	/* section of the state */
	"\t.pushsection %s,\"awG\",%%progbits," GROUP ",comdat\n"
	"\t.balign 32\n" /* on one cache line */
	"\t.weak " KSTACKRAND_CPU_SYMBOL "\n"
	"\t.hidden " KSTACKRAND_CPU_SYMBOL "\n"
	"\t.type " KSTACKRAND_CPU_SYMBOL ", %%object\n"
	"\t.size " KSTACKRAND_CPU_SYMBOL ", " STRING(KSTACKRAND_CPU_BYTES) "\n"
	KSTACKRAND_CPU_SYMBOL ":\n"
	"\t.zero " STRING(KSTACKRAND_CPU_BYTES) "\n"
	"\t.popsection\n"
	"\t.pushsection .data..ro_after_init,\"awG\",%%progbits," GROUP ",comdat\n"
	"\t.balign 8\n"
	"\t.weak " KSTACKRAND_MASK_SYMBOL "\n"
	"\t.hidden " KSTACKRAND_MASK_SYMBOL "\n"
	"\t.type " KSTACKRAND_MASK_SYMBOL ", %%object\n"
	"\t.size " KSTACKRAND_MASK_SYMBOL ", 8\n"
	KSTACKRAND_MASK_SYMBOL ":\n"
	/* mask */
	"\t.quad %u\n"
	"\t.popsection\n"
	"\t.pushsection .rodata,\"aG\",%%progbits," GROUP ",comdat\n"
	".Lkstackrand_parameter:\n"
	"\t.asciz \"" KSTACKRAND_MASK_PARAMETER "\"\n"
	"\t.popsection\n"
	"\t.pushsection __param,\"aG\",%%progbits," GROUP ",comdat\n"
	"\t.balign 8\n"
	"\t.quad .Lkstackrand_parameter\n"
	"\t.quad 0\n"
	"\t.quad param_ops_ulong\n"
	"\t.2byte 0444\n"
	"\t.byte -1\n"
	"\t.byte 0\n"
	"\t.balign 8\n"
	"\t.quad " KSTACKRAND_MASK_SYMBOL "\n"
	"\t.popsection\n"
	"\t.endif\n";
/* clang-format on */

char *kstackrand_linux_state(const struct kstackrand_kernel *kernel)
{
	return kstackrand_format(state_format, kernel->smp ? ".data..percpu" : ".data",
	                         (unsigned)kstackrand_mask(kernel->bits));
}

/*
 * x86_64. %1$s is the segment: "%%gs:" or nothing. An interrupt may come between
 * any two instructions; the one that advances the counter cannot be split.
 */
/* clang-format off */
#define X86_FIELD(field) "%1$s" KSTACKRAND_CPU_SYMBOL "+" field "(%%%%rip)"

static const char x86_draw_format[] =
	"movq\t" X86_FIELD(STEP) ", %%1\n\t"
	"xaddq\t%%1, " X86_FIELD(COUNTER) "\n\t"
	"xorq\t" X86_FIELD(KEY) ", %%1\n\t"
	"imulq\t%%1, %%1\n\t"
	"mulq\t" X86_FIELD(COUNTER) "\n\t" /* %1 times that, high half in %0 */
	"andl\t" X86_FIELD(MASK) ", %%k0";

/* %2$u is the mask that the bits allow; the words are %1 to %3. */
static const char x86_reseed_format[] =
	"movl\t" KSTACKRAND_MASK_SYMBOL "(%%%%rip), %%k0\n\t"
	"andl\t$%2$u, %%k0\n\t"
	"movq\t%%0, " X86_FIELD(MASK) "\n\t"
	"addq\t%%1, " X86_FIELD(COUNTER) "\n\t"
	"xorq\t%%2, " X86_FIELD(KEY) "\n\t"
	"xorq\t%%3, " X86_FIELD(STEP) "\n\t"
	"orq\t$1, " X86_FIELD(STEP);

/*
 * arm64. %s is how the address of this CPU's state comes into register %1, with
 * %0 to work in. A task that is preempted and moved after that advances the
 * counter of the CPU it came from: the exclusive pair makes that as good.
 */
static const char arm64_address_smp[] =
	"mrs\t%0, CurrentEL\n\t"
	"mrs\t%1, tpidr_el1\n\t"
	"tbz\t%0, #3, 1f\n\t"
	"mrs\t%1, tpidr_el2\n"
	"1:\tadrp\t%0, " KSTACKRAND_CPU_SYMBOL "\n\t"
	"add\t%1, %1, %0\n\t"
	"add\t%1, %1, :lo12:" KSTACKRAND_CPU_SYMBOL "\n";

static const char arm64_address_up[] =
	"adrp\t%1, " KSTACKRAND_CPU_SYMBOL "\n\t"
	"add\t%1, %1, :lo12:" KSTACKRAND_CPU_SYMBOL "\n";

static const char arm64_draw_format[] =
	"%s"
	"\tldp\t%%2, %%3, [%%1, #" KEY "]\n" /* key and step */
	"2:\tldxr\t%%0, [%%1]\n\t"
	"add\t%%4, %%0, %%3\n\t"
	"stxr\t%%w5, %%4, [%%1]\n\t"
	"cbnz\t%%w5, 2b\n\t"
	"eor\t%%0, %%0, %%2\n\t"
	"mul\t%%0, %%0, %%0\n\t"
	"umulh\t%%0, %%0, %%4\n\t"
	"ldr\t%%1, [%%1, #" MASK "]\n\t"
	"and\t%%0, %%0, %%1";

/* The words are %3 to %5. No `and` with the mask as it is: a mask of 0 is no
 * immediate operand. */
static const char arm64_reseed_format[] =
	"%1$s"
	"\tadrp\t%%0, " KSTACKRAND_MASK_SYMBOL "\n\t"
	"ldr\t%%0, [%%0, :lo12:" KSTACKRAND_MASK_SYMBOL "]\n\t"
	"mov\t%%2, #%2$u\n\t"
	"and\t%%0, %%0, %%2\n\t"
	"str\t%%0, [%%1, #" MASK "]\n\t"
	"ldr\t%%0, [%%1, #" COUNTER "]\n\t"
	"add\t%%0, %%0, %%3\n\t"
	"str\t%%0, [%%1, #" COUNTER "]\n\t"
	"ldr\t%%0, [%%1, #" KEY "]\n\t"
	"eor\t%%0, %%0, %%4\n\t"
	"str\t%%0, [%%1, #" KEY "]\n\t"
	"ldr\t%%0, [%%1, #" STEP "]\n\t"
	"eor\t%%0, %%0, %%5\n\t"
	"orr\t%%0, %%0, #1\n\t"
	"str\t%%0, [%%1, #" STEP "]";

/* clang-format on */

static const char *x86_segment(const struct kstackrand_kernel *kernel)
{
	return kernel->smp ? "%%gs:" : "";
}

static const char *arm64_address(const struct kstackrand_kernel *kernel)
{
	return kernel->smp ? arm64_address_smp : arm64_address_up;
}

char *kstackrand_linux_draw(const struct kstackrand_kernel *kernel, unsigned *outputs)
{
	if (kernel->arch == KSTACKRAND_ARCH_X86_64) {
		*outputs = 2;
		return kstackrand_format(x86_draw_format, x86_segment(kernel));
	}
	*outputs = 6;
	return kstackrand_format(arm64_draw_format, arm64_address(kernel));
}

char *kstackrand_linux_reseed(const struct kstackrand_kernel *kernel, unsigned *outputs)
{
	if (kernel->arch == KSTACKRAND_ARCH_X86_64) {
		*outputs = 1;
		return kstackrand_format(x86_reseed_format, x86_segment(kernel),
		                         (unsigned)kstackrand_mask(kernel->bits));
	}
	*outputs = 3;
	return kstackrand_format(arm64_reseed_format, arm64_address(kernel),
	                         (unsigned)kstackrand_mask(kernel->bits));
}
