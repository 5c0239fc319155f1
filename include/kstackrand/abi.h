/* SPDX-License-Identifier: MIT */
/*
 * The contract between instrumented code and the runtime: symbols, state
 * layout and the generator. Both plugins, the runtime and its assembly include
 * this header; nothing here is repeated anywhere else.
 *
 * The inline prologue of an entry, in C:
 *
 *     key = __kstackrand_process.key;
 *     if (key != __kstackrand_thread.seal)             // unseeded, or forked
 *         offset = __kstackrand_draw_slow();
 *     else {
 *         counter = fetch_add(&__kstackrand_thread.counter, thread.step);
 *         offset = kstackrand_word(counter, key, counter);
 *     }
 *     stack pointer -= offset & kstackrand_mask(bits);
 *
 * With rng=siphash it is the same but for the word, and for the off switch,
 * which no product takes care of there:
 *
 *         word = kstackrand_siphash(counter, process.siphash_key);
 *         offset = thread.step & 1 ? word : 0;     // without a branch
 *
 * Whoever changes this file changes what objects built earlier expect: rebuild
 * everything that was instrumented.
 */
#ifndef KSTACKRAND_ABI_H
#define KSTACKRAND_ABI_H

/* The shift moves in cells of this many bytes: the stack alignment of both
 * architectures, so that a shifted stack is still aligned. */
#define KSTACKRAND_CELL_BYTES 16

/* 2^bits cells. 255 cells are 4080 bytes: less than one page, so that no guard
 * page is ever stepped over. */
#define KSTACKRAND_BITS_DEFAULT 6
#define KSTACKRAND_BITS_MAX 8

/* Symbols. */
#define KSTACKRAND_PROCESS_SYMBOL "__kstackrand_process"
#define KSTACKRAND_THREAD_SYMBOL "__kstackrand_thread"
#define KSTACKRAND_DRAW_SLOW_SYMBOL "__kstackrand_draw_slow"
#define KSTACKRAND_OFFSET_SYMBOL "__kstackrand_offset"
#define KSTACKRAND_OFFSET_SIPHASH_SYMBOL "__kstackrand_offset_siphash"

/* Byte offsets of the fields below, for the plugins, which know no C types. */
#define KSTACKRAND_PROCESS_KEY 0
#define KSTACKRAND_PROCESS_SIPHASH_KEY 8 /* and 16 */
#define KSTACKRAND_THREAD_COUNTER 0
#define KSTACKRAND_THREAD_SEAL 8
#define KSTACKRAND_THREAD_STEP 16

/*
 * Model `linux`: no runtime; the plugins themselves put into the image
 *
 *   - for each CPU a struct kstackrand_cpu, all zero until the first reseed
 *     point that this CPU runs. Until then every offset is 0;
 *   - the mask, an unsigned long that is read-only after boot, and the boot
 *     parameter that sets it.
 *
 * The prologue of an entry, in C:
 *
 *     counter = fetch_add(&cpu.counter, cpu.step);
 *     offset = kstackrand_word(counter, cpu.key, counter + cpu.step);
 *     stack pointer -= offset & cpu.mask;
 *
 * and of a reseed point, with words from the kernel's CRNG:
 *
 *     cpu.mask = __kstackrand_mask & kstackrand_mask(bits);
 *     cpu.counter += random();
 *     cpu.key ^= random();
 *     cpu.step = (cpu.step ^ random()) | 1;
 *
 * Each CPU has the mask on the line of its state, so that a draw reaches one
 * cache line and not two; and made valid by whoever wrote it, so that no draw
 * must do that again.
 */
#define KSTACKRAND_CPU_SYMBOL "__kstackrand_cpu"
#define KSTACKRAND_MASK_SYMBOL "__kstackrand_mask"
#define KSTACKRAND_MASK_PARAMETER "kstackrand.mask"
/* u64 (void), in every kernel since 4.11. */
#define KSTACKRAND_LINUX_RANDOM_SYMBOL "get_random_u64"

#define KSTACKRAND_CPU_COUNTER 0
#define KSTACKRAND_CPU_KEY 8
#define KSTACKRAND_CPU_STEP 16
#define KSTACKRAND_CPU_MASK 24
#define KSTACKRAND_CPU_BYTES 32

/*
 * The note: the record in the binary of what was instrumented and what was not.
 * ELF notes of one owner, one for each function, in an allocated section; here is
 * what a note's descriptor holds, in the target's byte order, with no padding.
 * docs/note.md tells how it fares in linkers and other tools.
 *
 *     0   u8      format of the rest: KSTACKRAND_NOTE_FORMAT
 *     1   u8      model: 0 inline, 1 call, 2 linux
 *     2   u8      rng: 0 fast, 1 siphash
 *     3   u8      bits
 *     4   u8      what the function is, or was to be: KSTACKRAND_NOTE_SHIFTS, _RESEEDS
 *     5   u8[3]   version of kstackrand: major, minor, patch
 *
 * then, in a note of type KSTACKRAND_NOTE_ENTRY,
 *
 *     8   s64     the function's first byte, relative to this field
 *     16  s64     what follows the shift (or the reseed), relative to this field
 *     24  char[]  the function's symbol, ended by a zero byte
 *
 * and in one of type KSTACKRAND_NOTE_REFUSED
 *
 *     8   char[]  the function's symbol, ended by a zero byte
 *         char[]  why it is not instrumented, ended by a zero byte
 *
 * Notes of different objects end up in one section: each tells its own settings.
 */
#define KSTACKRAND_NOTE_SECTION ".note.kstackrand"
#define KSTACKRAND_NOTE_OWNER "kstackrand"
#define KSTACKRAND_NOTE_ENTRY 1
#define KSTACKRAND_NOTE_REFUSED 2
#define KSTACKRAND_NOTE_FORMAT 1
#define KSTACKRAND_NOTE_SHIFTS 1
#define KSTACKRAND_NOTE_RESEEDS 2

/*
 * SipHash-1-3 (Aumasson and Bernstein) of a message of eight bytes: one round for
 * it, one for the block that holds its length, three to finish. It stands here
 * once, as steps, for C and for both plugins, which make of each step what their
 * compiler calls it:
 *
 *     ADD(a, b)       a = a + b           XOR(a, b)      a = a ^ b
 *     ROTATE(a, n)    a = a rotated to the left by n bits
 *     WORD(n)         the constant n, as an operand
 *
 * v0 … v3 come in as k0, k1, k0, k1, the two halves of the key; the hash is then in
 * v0. They are modified, and all may be named more than once.
 */
#define KSTACKRAND_SIPHASH_ROUND(ADD, XOR, ROTATE, v0, v1, v2, v3)                                 \
	ADD(v0, v1)                                                                                \
	ROTATE(v1, 13)                                                                             \
	XOR(v1, v0)                                                                                \
	ROTATE(v0, 32)                                                                             \
	ADD(v2, v3)                                                                                \
	ROTATE(v3, 16)                                                                             \
	XOR(v3, v2)                                                                                \
	ADD(v0, v3)                                                                                \
	ROTATE(v3, 21)                                                                             \
	XOR(v3, v0)                                                                                \
	ADD(v2, v1)                                                                                \
	ROTATE(v1, 17)                                                                             \
	XOR(v1, v2)                                                                                \
	ROTATE(v2, 32)

#define KSTACKRAND_SIPHASH_BLOCK(ADD, XOR, ROTATE, v0, v1, v2, v3, block)                          \
	XOR(v3, block)                                                                             \
	KSTACKRAND_SIPHASH_ROUND(ADD, XOR, ROTATE, v0, v1, v2, v3)                                 \
	XOR(v0, block)

#define KSTACKRAND_SIPHASH_STEPS(ADD, XOR, ROTATE, WORD, v0, v1, v2, v3, message)                  \
	XOR(v0, WORD(0x736f6d6570736575))                                                          \
	XOR(v1, WORD(0x646f72616e646f6d))                                                          \
	XOR(v2, WORD(0x6c7967656e657261))                                                          \
	XOR(v3, WORD(0x7465646279746573))                                                          \
	KSTACKRAND_SIPHASH_BLOCK(ADD, XOR, ROTATE, v0, v1, v2, v3, message)                        \
	KSTACKRAND_SIPHASH_BLOCK(ADD, XOR, ROTATE, v0, v1, v2, v3, WORD(0x0800000000000000))       \
	XOR(v2, WORD(0xff))                                                                        \
	KSTACKRAND_SIPHASH_ROUND(ADD, XOR, ROTATE, v0, v1, v2, v3)                                 \
	KSTACKRAND_SIPHASH_ROUND(ADD, XOR, ROTATE, v0, v1, v2, v3)                                 \
	KSTACKRAND_SIPHASH_ROUND(ADD, XOR, ROTATE, v0, v1, v2, v3)                                 \
	XOR(v0, v1)                                                                                \
	XOR(v0, v2)                                                                                \
	XOR(v0, v3)

#ifndef __ASSEMBLER__

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One per process, on pages of its own that are read-only after start and that
 * the kernel empties in a forked child. */
struct kstackrand_process {
	uint64_t key; /* 0: no thread may draw on the fast path */
	uint64_t siphash_key[2];
};

/* One per thread, thread-local, initial-exec. A new thread starts with a seal
 * that fits no key. `seal` and `step` are neighbours so that arm64 loads them
 * with one instruction. */
struct kstackrand_thread {
	uint64_t counter; /* advanced by step at every draw */
	uint64_t seal;    /* the process key this thread was seeded under */
	uint64_t step;    /* secret, odd; 0 when switched off */
};

/* One per CPU of a kernel. `key` and `step` are neighbours so that arm64 loads
 * them with one instruction. */
struct kstackrand_cpu {
	uint64_t counter; /* advanced by step at every draw */
	uint64_t key;     /* secret */
	uint64_t step;    /* secret, odd; 0 until seeded */
	uint64_t mask;    /* of offsets in bytes, always a valid one */
};

/* Even, while every key is odd or 0: a thread that was never seeded. */
#define KSTACKRAND_SEAL_UNSEEDED UINT64_C(2)

/**
 * The offset of the next draw, for model `call`: a multiple of 16 bytes in
 * 0 … 4080, of which the prologue uses what its bits allow. libkstackrand has
 * one; firmware, an RTOS or a hypervisor may supply its own. Called at the
 * start of every entry, from any context in which an entry may run: it must
 * not fail, not block and not call an entry.
 */
size_t __kstackrand_offset(void);

/** The same with rng=siphash. */
size_t __kstackrand_offset_siphash(void);

__extension__ typedef unsigned __int128 kstackrand_u128;

/**
 * The word of one draw, whose low bits are the offset in bytes, as they are: they
 * lie in the middle of a product of 128 bits, which every bit of both factors
 * reaches. `counter` is what it was before this draw. One factor is its square,
 * disguised by the key; the other is the counter once more, since a constant
 * there would let the square show, as bench/waves.sh tells:
 *
 *   - in programs, before this draw. On x86_64 it is in a register by then: to
 *     wait for what was just stored would take two nanoseconds more;
 *   - in kernels, after it, straight from memory: one instruction less.
 *
 * A counter and step of 0 give 0, which is how the off switch works without a
 * branch.
 */
static inline uint64_t kstackrand_word(uint64_t counter, uint64_t key, uint64_t factor)
{
	uint64_t keyed = counter ^ key;

	return (uint64_t)(((kstackrand_u128)(keyed * keyed) * factor) >> 64);
}

/** The word of one draw with rng=siphash. `counter` is what it was before this
 *  draw, or any other message of eight bytes. */
static inline uint64_t kstackrand_siphash(uint64_t counter, const uint64_t key[2])
{
	uint64_t v0 = key[0], v1 = key[1], v2 = key[0], v3 = key[1];

/* clang-format off */
#define KSTACKRAND_ADD(a, b) (a) += (b);
#define KSTACKRAND_XOR(a, b) (a) ^= (b);
#define KSTACKRAND_ROTATE(a, bits) (a) = (a) << (bits) | (a) >> (64 - (bits));
	/* clang-format on */
	KSTACKRAND_SIPHASH_STEPS(KSTACKRAND_ADD, KSTACKRAND_XOR, KSTACKRAND_ROTATE, UINT64_C, v0,
	                         v1, v2, v3, counter)
#undef KSTACKRAND_ADD
#undef KSTACKRAND_XOR
#undef KSTACKRAND_ROTATE
	return v0;
}

/** The largest offset in bytes that `bits` allow; bits 0 … 8. */
static inline uint64_t kstackrand_mask(unsigned bits)
{
	return ((UINT64_C(1) << bits) - 1) * KSTACKRAND_CELL_BYTES;
}

/** The offset in bytes, 0 … 4080, that a word stands for. */
static inline uint64_t kstackrand_offset_of(uint64_t word)
{
	return word & kstackrand_mask(KSTACKRAND_BITS_MAX);
}

#ifdef __cplusplus
}
#endif

#endif /* __ASSEMBLER__ */
#endif /* KSTACKRAND_ABI_H */
