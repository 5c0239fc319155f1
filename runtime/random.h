/* SPDX-License-Identifier: MIT */
#ifndef KSTACKRAND_RUNTIME_RANDOM_H
#define KSTACKRAND_RUNTIME_RANDOM_H

#include <stddef.h>
#include <stdint.h>

/**
 * Fills `words` with `count` (at most 32) secret words from the kernel. Never
 * blocks and never fails: before the kernel's generator is ready, and where a
 * sandbox forbids getrandom(2), it takes the best that is left (see random.c).
 * Callable from anywhere; uses no vector register.
 */
void kstackrand_random(uint64_t *words, size_t count);

/** Takes the 16 random bytes the kernel gave this program at its start into
 *  the fallback. Called once, before main. */
void kstackrand_random_start(const void *at_random);

#endif
