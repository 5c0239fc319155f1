/* SPDX-License-Identifier: MIT */
/*
 * The outside view: where a callee that nobody instruments finds its stack.
 * Compiled without the plugin, in a file of its own.
 */
#ifndef WITNESS_H
#define WITNESS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The address of its own frame. Dies with a message when its stack is not
 *  aligned as the ABI wants it. */
uintptr_t witness(void);

/** Hands the compiler a value that it cannot know anything about. */
void *opaque(void *pointer);

/**
 * Calls `entry` 2^20 times, and dies with a message unless it returns, from
 * witness(), exactly 2^bits addresses, 16 bytes apart, each as often as chance
 * allows: chi-squared under the 0.1 % bound. That bound is crossed by one good
 * run in a thousand, so a run that crosses it has a second chance.
 */
void expect_cells(const char *name, uintptr_t (*entry)(void), unsigned bits);

/** Ends the test, with what was expected, unless it holds. */
#define EXPECT(condition) \
	do { \
		if (!(condition)) { \
			fprintf(stderr, "line %d: %s\n", __LINE__, #condition); \
			exit(1); \
		} \
	} while (0)

#ifdef __cplusplus
}
#endif
#endif
