/* SPDX-License-Identifier: MIT */
/*
 * Functions for mca.sh to look at: what the plugin makes of an empty one, and
 * what Linux does by hand at each system call, with its flags and its order of
 * steps, written anew here.
 */
#include "generators.h"

void ours(void); /* as the plugin has it */

void ours(void)
{
}

#ifdef UPSTREAM

/* What the kernel reaches through a register of its own. */
#if defined(__x86_64__)
extern __seg_gs unsigned long this_cpu_off;
extern __seg_gs unsigned preempt_count;
extern struct task *__seg_gs current_task;

static inline struct task *current(void)
{
	return current_task;
}

static inline unsigned long per_cpu_offset(void)
{
	return this_cpu_off;
}
#else
static inline struct task *current(void)
{
	struct task *task;

	__asm__("mrs %0, sp_el0" : "=r"(task));
	return task;
}

static inline unsigned long per_cpu_offset(void)
{
	unsigned long offset;

	__asm__ volatile("mrs %0, tpidr_el1" : "=r"(offset));
	return offset;
}
#endif

struct task {
	/* In arm64, the count and whether to reschedule are the halves of one
	 * word: both are zero at once. */
	union {
		volatile uint64_t both;
		struct {
			volatile uint32_t count, no_need;
		} preempt;
	};
	uint32_t kstack_offset;
};

__attribute__((cold)) void reschedule(void);

static inline void preempt_disable(void)
{
#if defined(__x86_64__)
	preempt_count++;
#else
	current()->preempt.count++;
#endif
	__asm__ volatile("" : : : "memory");
}

#define RARELY(condition) __builtin_expect(condition, 0)

static inline void preempt_enable(void)
{
	__asm__ volatile("" : : : "memory");
#if defined(__x86_64__)
	if (RARELY(--preempt_count == 0))
		reschedule();
#else
	struct task *task = current();
	uint64_t both = task->both - 1;

	task->preempt.count = (uint32_t)both;
	if (RARELY(both == 0) || RARELY(task->both == 0))
		reschedule();
#endif
}

/* The option is on by default, so that its static branch is one nop. */
#define STATIC_BRANCH() __asm__ volatile("nop")

/* The compiler aligns what it allocates as the platform says. */
#define SHIFT(offset)                                                                              \
	do {                                                                                       \
		char *shift = __builtin_alloca(offset);                                            \
                                                                                                   \
		__asm__ volatile("" : : "r"(shift) : "memory");                                    \
	} while (0)

/* Since 7.1: an LFSR113 for each CPU, stepped by a function of another file. */
extern struct lfsr113_state kstack_state;
uint32_t next_word(struct lfsr113_state *state);
void upstream_lfsr113(void);

void upstream_lfsr113(void)
{
	uint32_t word;

	STATIC_BRANCH();
	preempt_disable();
	word = next_word((struct lfsr113_state *)((uintptr_t)&kstack_state + per_cpu_offset()));
	preempt_enable();
	SHIFT(word & 0x3f0);
}

/* 6.1: at entry, shift by what the task keeps; at exit, turn it and mix in 32
 * bits for the next entry, on x86 of the clock, on arm64 of the CRNG. */
uint16_t get_random_u16(void);
void upstream_kept(void);

void upstream_kept(void)
{
	uint32_t offset, random;

	STATIC_BRANCH();
	SHIFT(current()->kstack_offset & 0x3ff);
	STATIC_BRANCH();
#if defined(__x86_64__)
	random = (uint32_t)system_ticks();
#else
	random = get_random_u16();
#endif
	offset = current()->kstack_offset;
	current()->kstack_offset = (offset >> 5 | offset << 27) ^ random;
}

#endif /* UPSTREAM */

#ifdef NEXT_WORD
uint32_t next_word(struct lfsr113_state *state);

uint32_t next_word(struct lfsr113_state *state)
{
	return lfsr113_word(state);
}
#endif
