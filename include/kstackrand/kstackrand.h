/* SPDX-License-Identifier: MIT */
/*
 * For users of libkstackrand: attributes to choose entries in the source, and
 * the few calls that steer the runtime. Nothing here is needed to harden a
 * program: compiler flags and -lkstackrand are enough.
 */
#ifndef KSTACKRAND_KSTACKRAND_H
#define KSTACKRAND_KSTACKRAND_H

#include <stddef.h>

/* The plugins define it, but for Clang's where the compiler only preprocesses;
 * there Clang 17 and later still know the attribute. */
#if !defined(__KSTACKRAND__) && defined(__has_attribute)
#if __has_attribute(kstackrand)
#define __KSTACKRAND__ 1
#endif
#endif

/*
 * KSTACKRAND_ENTRY on a declaration or definition makes the function an entry;
 * KSTACKRAND_NO takes it out again, whatever a policy says. Without the plugin
 * both are empty, so that the source builds everywhere.
 */
#if defined(__KSTACKRAND__)
#define KSTACKRAND_ENTRY __attribute__((kstackrand))
#define KSTACKRAND_NO __attribute__((no_kstackrand))
#else
#define KSTACKRAND_ENTRY
#define KSTACKRAND_NO
#endif

#ifdef __cplusplus
extern "C" {
#endif

enum kstackrand_mode {
	KSTACKRAND_RANDOM, /* a fresh offset at every call: the default */
	KSTACKRAND_OFF,    /* every offset is 0 */
	KSTACKRAND_FIXED   /* every offset is the same: for testers, to meet an
	                      overflow at each run and not at one in 64 */
};

/**
 * Sets what the entries of this process do from their next call on, in all
 * threads and in children forked later.
 *
 * `fixed_offset` is in bytes, a multiple of 16 in 0 … 4080, and is looked at
 * with KSTACKRAND_FIXED only; an entry uses as much of it as its bits allow, so
 * 4080 is the largest offset of each. Returns 0, or an errno value: EINVAL for
 * a bad mode or offset, or what mprotect(2) said, with nothing changed then.
 * Any thread may call it at any time; not from a signal handler.
 */
int kstackrand_set_mode(enum kstackrand_mode mode, size_t fixed_offset);

/** What is in force. Callable from anywhere. */
enum kstackrand_mode kstackrand_get_mode(void);

enum kstackrand_fork_detection {
	KSTACKRAND_FORK_WIPE,   /* the kernel empties our page in a child: every
	                           way to fork is seen */
	KSTACKRAND_FORK_ATFORK, /* asked for by KSTACKRAND=atfork: fork(3) is seen,
	                           _Fork(3) and raw clone(2) are not */
	KSTACKRAND_FORK_NONE    /* cannot be seen: each draw asks the kernel for
	                           random bytes instead, right but slow */
};

/** How this process learns that it was forked. Callable from anywhere. */
enum kstackrand_fork_detection kstackrand_get_fork_detection(void);

#ifdef __cplusplus
}
#endif
#endif /* KSTACKRAND_KSTACKRAND_H */
