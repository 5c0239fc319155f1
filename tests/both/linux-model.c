// SPDX-License-Identifier: MIT
// Model linux outside of a kernel: as in one without CONFIG_SMP, the state is
// ordinary data, and the test supplies what else a kernel would. No shift
// before the first reseed point; then 64 cells; the mask counts from the next
// one on, and no value of it does harm; the way through an entry that is hardly
// ever taken is as good as the others; of each draw, the stack shows the word that
// abi.h defines; one boot parameter, however many files have an entry.
// RUN: %plain_cc -O1 -c %support/witness.c -o %t.witness.o
// RUN: for level in 0 1 2 3 s; do \
// RUN:   %cc -O$level -D__KERNEL__ -fplugin-arg-kstackrand-model=linux -fplugin-arg-kstackrand-entry=entry_\* -fno-pie -fplugin-arg-kstackrand-reseed=tick -I%support -I%include -DSECOND -c %s -o %t.2.o && \
// RUN:   %cc -O$level -D__KERNEL__ -fplugin-arg-kstackrand-model=linux -fplugin-arg-kstackrand-entry=entry_\* -fno-pie -fplugin-arg-kstackrand-reseed=tick -I%support -I%include -c %s -o %t.1.o && \
// RUN:   %plain_cc -r -nostdlib %t.1.o %t.2.o -o %t.r.o && \
// RUN:   %plain_cc %t.r.o %t.witness.o -no-pie -o %t && \
// RUN:   echo "-O$level" && %run %t || exit 1; \
// RUN: done
#include <kstackrand/abi.h>
#include <stdio.h>
#include <stdlib.h>
#include <witness.h>

#ifdef SECOND

/* Another file with an entry of its own. */
__attribute__((section(".noinstr.text"))) uintptr_t entry_second(void)
{
	return witness();
}

#else

uintptr_t entry_second(void);

/* struct kernel_param, include/linux/moduleparam.h. */
struct kernel_param {
	const char *name;
	void *module;
	const void *operations;
	uint16_t permissions;
	int8_t level;
	uint8_t flags;
	unsigned long *argument;
};

extern const struct kernel_param __start___param[], __stop___param[];
extern unsigned long __kstackrand_mask __attribute__((visibility("hidden")));
extern struct kstackrand_cpu __kstackrand_cpu __attribute__((visibility("hidden")));
const char param_ops_ulong[1];

/* What a kernel has; good enough to be random. */
uint64_t get_random_u64(void)
{
	static uint64_t state = 88172645463325252;

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state * 2685821657736338717;
}

__attribute__((section(".noinstr.text"))) uintptr_t entry_first(void)
{
	return witness();
}

/* On its rare way, too, and with locals on both sides of the shift. */
static volatile int is_rare;

uintptr_t entry_rare(void)
{
	volatile char before[] = "before the shift";
	uintptr_t place;

	if (__builtin_expect(is_rare, 0))
		before[0] = 'B';
	place = witness();
	if (before[0] != (is_rare ? 'B' : 'b') || before[15] != 't')
		abort();
	return place;
}

static int ticks;

void tick(void)
{
	ticks++;
}

static void expect(int holds, const char *what)
{
	if (!holds) {
		printf("not so: %s\n", what);
		exit(1);
	}
}

static __attribute__((noinline)) uint64_t distance(void)
{
	return (uintptr_t)__builtin_frame_address(0) - entry_first();
}

static void expect_words(void)
{
	uint64_t zero;

	__kstackrand_mask = 0;
	tick();
	zero = distance();
	__kstackrand_mask = 1008;
	tick();
	for (int i = 0; i < 10000; i++) {
		struct kstackrand_cpu before = __kstackrand_cpu;
		uint64_t word =
			kstackrand_word(before.counter, before.key, before.counter + before.step);

		expect(distance() - zero == (word & before.mask), "it is the word that abi.h defines");
		expect(__kstackrand_cpu.counter == before.counter + before.step, "the counter moves by a step");
	}
}

int main(void)
{
	static const unsigned long masks[][2] = {{0, 0}, {0x1f0, 5}, {15, 0}, {~0UL, 6}, {0x3f0, 6}};

	expect(__stop___param - __start___param == 1, "one boot parameter");
	expect(__start___param->argument == &__kstackrand_mask, "it is the mask");
	expect(__start___param->operations == param_ops_ulong, "it is an unsigned long");
	expect(__start___param->permissions == 0444, "nobody may write it");
	expect(__kstackrand_mask == 1008, "6 bits");
	expect_cells("before a seed", entry_first, 0);
	tick();
	expect(ticks == 1, "a reseed point does what it did");
	expect_cells("first file", entry_first, 6);
	expect_cells("second file", entry_second, 6);
	expect_cells("the usual way", entry_rare, 6);
	is_rare = 1;
	expect_cells("the rare way", entry_rare, 6);
	for (unsigned i = 0; i < sizeof(masks) / sizeof(masks[0]); i++) {
		__kstackrand_mask = masks[i][0];
		tick();
		expect_cells("mask", entry_first, (int)masks[i][1]);
	}
	expect_words();
	return 0;
}
#endif
