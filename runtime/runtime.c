/* SPDX-License-Identifier: MIT */
/*
 * The state behind the draws: who owns it, how it is seeded, and how a fork is
 * noticed.
 *
 * Two facts hold at every moment:
 *
 *   - A thread draws on the fast path only while its seal equals the process
 *     key. The seal is thread-local and starts at a value that no key has, so
 *     each thread comes through the slow path first and gets secrets of its
 *     own there, also when its memory was a dead thread's.
 *   - The process key stands on a page that the kernel empties in a forked
 *     child (MADV_WIPEONFORK), however it was forked. A key of 0 fits no seal,
 *     so that the child comes through the slow path, too, and seeds anew.
 *
 * Where the kernel cannot do that (before 4.14, or an emulator that says yes
 * and does nothing), no thread is ever sealed: each draw is a slow one and
 * takes its offset straight from the kernel's generator. Slow, and right. Nor
 * is one in fixed mode, where each draw is to give the same.
 */

#include "random.h"
#include "system.h"

#include <kstackrand/abi.h>
#include <kstackrand/kstackrand.h>

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#define PUBLIC __attribute__((visibility("default")))

/* The largest page that kernels for this architecture use: what must be alone
 * on a page is aligned to it and as large. It costs address space, not memory:
 * only pages that are touched exist. */
#if defined(__aarch64__)
#define PAGE 65536
#else
#define PAGE 4096
#endif

#define ON_ITS_OWN_PAGES __attribute__((aligned(PAGE)))

/* Of the kernel's own headers, which musl's compiler wrapper does not find. */
#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif
#define FUTEX_WAIT_PRIVATE 128
#define FUTEX_WAKE_PRIVATE 129

/* Read-only after start, emptied in a child. */
union process_page {
	struct kstackrand_process process;
	char pages[PAGE];
};
PUBLIC ON_ITS_OWN_PAGES union process_page __kstackrand_process;

/* Starts unseeded. Initial-exec, so that a prologue reaches it without a call;
 * 24 bytes, far less than what libc keeps free for libraries loaded late. */
PUBLIC __thread struct kstackrand_thread __kstackrand_thread
	__attribute__((tls_model("initial-exec"))) = {.seal = KSTACKRAND_SEAL_UNSEEDED};

/* Read-only after start, and the same in a child. One word, so that a fork in
 * another thread's update finds it old or new. */
struct settings {
	uint8_t started;
	uint8_t mode;           /* enum kstackrand_mode */
	uint8_t fork_detection; /* enum kstackrand_fork_detection */
	uint8_t unused;
	uint16_t fixed_offset; /* bytes */
	uint16_t unused_too;
};
_Static_assert(sizeof(struct settings) == sizeof(uint64_t), "settings are one word");

static ON_ITS_OWN_PAGES union {
	uint64_t word;
	char pages[PAGE];
} settings_page;

/* Guards both pages above. Emptied in a child, where its owner may not exist. */
static ON_ITS_OWN_PAGES union {
	uint32_t lock; /* 0 free, 1 taken, 2 taken and waited for */
	char pages[PAGE];
} lock_page;

static struct settings settings_now(void)
{
	uint64_t word = __atomic_load_n(&settings_page.word, __ATOMIC_ACQUIRE);
	struct settings settings;

	__builtin_memcpy(&settings, &word, sizeof(settings));
	return settings;
}

/* --- the lock ------------------------------------------------------------ */

/* A signal handler that draws while its own thread holds the lock would wait
 * for itself: signals are kept out. `saved` is the kernel's 8-byte mask. */
static void lock(uint64_t *saved)
{
	const uint64_t all = ~UINT64_C(0);
	uint32_t expected = 0;

	system_call(SYS_rt_sigprocmask, SIG_SETMASK, (long)&all, (long)saved, sizeof(all));
	if (__atomic_compare_exchange_n(&lock_page.lock, &expected, 1, false, __ATOMIC_ACQUIRE,
	                                __ATOMIC_RELAXED))
		return;
	while (__atomic_exchange_n(&lock_page.lock, 2, __ATOMIC_ACQUIRE) != 0)
		system_call(SYS_futex, (long)&lock_page.lock, FUTEX_WAIT_PRIVATE, 2, 0);
}

static void unlock(const uint64_t *saved)
{
	if (__atomic_exchange_n(&lock_page.lock, 0, __ATOMIC_RELEASE) == 2)
		system_call(SYS_futex, (long)&lock_page.lock, FUTEX_WAKE_PRIVATE, 1, 0);
	system_call(SYS_rt_sigprocmask, SIG_SETMASK, (long)saved, 0, sizeof(*saved));
}

/* --- the pages: the lock is held ----------------------------------------- */

/* Stores words, the first of them last, on a page that is read-only before and
 * after. Returns 0 or an errno value, with nothing stored then. */
static int store_protected(void *page, uint64_t *where, const uint64_t *words, size_t count)
{
	long error = system_call(SYS_mprotect, (long)page, PAGE, PROT_READ | PROT_WRITE, 0);

	if (error)
		return (int)-error;
	while (count-- > 0)
		__atomic_store_n(&where[count], words[count], __ATOMIC_RELEASE);
	system_call(SYS_mprotect, (long)page, PAGE, PROT_READ, 0);
	return 0;
}

#define KEYS 3 /* all words of struct kstackrand_process */
_Static_assert(sizeof(struct kstackrand_process) == KEYS * sizeof(uint64_t), "nothing but keys");

/* The one that threads are sealed with comes last: by then the others are there. */
static int store_keys(const uint64_t *keys)
{
	return store_protected(&__kstackrand_process, &__kstackrand_process.process.key, keys,
	                       KEYS);
}

static int store_settings(struct settings settings)
{
	uint64_t word;

	__builtin_memcpy(&word, &settings, sizeof(word));
	return store_protected(&settings_page, &settings_page.word, &word, 1);
}

/* An emulator may accept any advice: only one that refuses nonsense is believed. */
static bool wipe_on_fork(void *page)
{
	return system_call(SYS_madvise, (long)page, PAGE, -1, 0) == -EINVAL &&
	       system_call(SYS_madvise, (long)page, PAGE, MADV_WIPEONFORK, 0) == 0;
}

/* Finds out, once per process image, what can be had. */
static void start(void)
{
	struct settings settings = settings_now();

	if (settings.started)
		return;
	settings.started = true;
	settings.mode = KSTACKRAND_RANDOM;
	settings.fork_detection = KSTACKRAND_FORK_NONE;
	if (wipe_on_fork(&__kstackrand_process) && wipe_on_fork(&lock_page))
		settings.fork_detection = KSTACKRAND_FORK_WIPE;
	store_settings(settings);
}

static bool has_fast_path(struct settings settings)
{
	return settings.mode != KSTACKRAND_FIXED && settings.fork_detection != KSTACKRAND_FORK_NONE;
}

static int store_new_keys(void)
{
	uint64_t keys[KEYS];

	kstackrand_random(keys, KEYS);
	keys[0] |= 1;
	return store_keys(keys);
}

/* --- the slow path ------------------------------------------------------- */

/* The process key, made, with the others, if it is not there; 0 if it cannot be
 * written (a sandbox that forbids mprotect). */
static uint64_t process_key(void)
{
	uint64_t *key = &__kstackrand_process.process.key;
	uint64_t saved;

	if (__atomic_load_n(key, __ATOMIC_ACQUIRE) == 0) {
		lock(&saved);
		start();
		if (__atomic_load_n(key, __ATOMIC_RELAXED) == 0)
			store_new_keys();
		unlock(&saved);
	}
	return __atomic_load_n(key, __ATOMIC_ACQUIRE);
}

/* Gives this draw's offset: from the kernel as well, so that it is right for any
 * generator. The seal goes last: a signal handler that draws in between seeds all
 * of the state itself, and what is then written over its work is as random. */
static uint64_t seed_thread(uint64_t key, bool off)
{
	volatile struct kstackrand_thread *thread = &__kstackrand_thread;
	uint64_t secret[3] = {0, 0, 0};

	if (!off) {
		kstackrand_random(secret, 3);
		secret[1] |= 1;
	}
	thread->counter = secret[0];
	thread->step = secret[1];
	thread->seal = key;
	return kstackrand_offset_of(secret[2]);
}

/* Every draw that may not seal its thread ends here: no state, so that there is nothing
 * to repeat. */
static uint64_t draw_without_state(struct settings settings)
{
	uint64_t word;

	switch (settings.mode) {
	case KSTACKRAND_FIXED:
		return settings.fixed_offset;
	case KSTACKRAND_OFF:
		return 0;
	default:
		kstackrand_random(&word, 1);
		return kstackrand_offset_of(word);
	}
}

/* What __kstackrand_draw_slow calls; offset in bytes. */
__attribute__((visibility("hidden"))) uint64_t kstackrand_slow_offset(void)
{
	/* In this order: whoever changes the settings changes the key after them. */
	uint64_t key = process_key();
	struct settings settings = settings_now();

	if (key == 0 || !has_fast_path(settings))
		return draw_without_state(settings);
	return seed_thread(key, settings.mode == KSTACKRAND_OFF);
}

/* --- model `call` -------------------------------------------------------- */

/* Whether this thread may draw; gives the key then. */
static bool is_sealed(uint64_t *key)
{
	*key = __atomic_load_n(&__kstackrand_process.process.key, __ATOMIC_RELAXED);
	return __builtin_expect(*key == __kstackrand_thread.seal, 1);
}

PUBLIC size_t __kstackrand_offset(void)
{
	struct kstackrand_thread *thread = &__kstackrand_thread;
	uint64_t key, counter;

	if (!is_sealed(&key))
		return kstackrand_slow_offset();
	counter = thread_fetch_add(&thread->counter, thread->step);
	return kstackrand_offset_of(kstackrand_word(counter, key, counter));
}

PUBLIC size_t __kstackrand_offset_siphash(void)
{
	struct kstackrand_thread *thread = &__kstackrand_thread;
	const uint64_t *siphash_key = __kstackrand_process.process.siphash_key;
	uint64_t key, counter, word;

	if (!is_sealed(&key))
		return kstackrand_slow_offset();
	counter = thread_fetch_add(&thread->counter, thread->step);
	/* One half may be old and one new while the mode changes: no harm is done. */
	word = kstackrand_siphash(counter,
	                          (uint64_t[]){__atomic_load_n(&siphash_key[0], __ATOMIC_RELAXED),
	                                       __atomic_load_n(&siphash_key[1], __ATOMIC_RELAXED)});
	return kstackrand_offset_of(thread->step & 1 ? word : 0);
}

/* --- the calls for users ------------------------------------------------- */

/* Puts settings in force. A new key makes every thread seed itself anew. */
static int apply(struct settings settings)
{
	int error = store_settings(settings);

	return error ? error : store_new_keys();
}

PUBLIC int kstackrand_set_mode(enum kstackrand_mode mode, size_t fixed_offset)
{
	struct settings settings;
	uint64_t saved;
	int error;

	if (mode != KSTACKRAND_RANDOM && mode != KSTACKRAND_OFF && mode != KSTACKRAND_FIXED)
		return EINVAL;
	if (mode == KSTACKRAND_FIXED && (fixed_offset > kstackrand_mask(KSTACKRAND_BITS_MAX) ||
	                                 fixed_offset % KSTACKRAND_CELL_BYTES))
		return EINVAL;
	lock(&saved);
	start();
	settings = settings_now();
	settings.mode = (uint8_t)mode;
	settings.fixed_offset = mode == KSTACKRAND_FIXED ? (uint16_t)fixed_offset : 0;
	error = apply(settings);
	unlock(&saved);
	return error;
}

PUBLIC enum kstackrand_mode kstackrand_get_mode(void)
{
	return (enum kstackrand_mode)settings_now().mode;
}

PUBLIC enum kstackrand_fork_detection kstackrand_get_fork_detection(void)
{
	struct settings settings = settings_now();

	if (!settings.started)
		return KSTACKRAND_FORK_NONE;
	return (enum kstackrand_fork_detection)settings.fork_detection;
}

/* --- start --------------------------------------------------------------- */

static void forked_child(void)
{
	static const uint64_t none[KEYS];

	__atomic_store_n(&lock_page.lock, 0, __ATOMIC_RELAXED);
	store_keys(none);
}

/* Asked for by somebody who knows that this program forks by fork(3) alone:
 * the fast path where the kernel cannot tell of a fork. */
static void use_fork_handler(void)
{
	struct settings settings;
	uint64_t saved;

	lock(&saved);
	settings = settings_now();
	if (settings.fork_detection == KSTACKRAND_FORK_NONE &&
	    pthread_atfork(NULL, NULL, forked_child) == 0) {
		settings.fork_detection = KSTACKRAND_FORK_ATFORK;
		apply(settings);
	}
	unlock(&saved);
}

/* What the environment says is taken apart without libc: a program may have
 * functions of those names, all of them entries, which do as they like. */

/* What follows PREFIX in TEXT; NULL when it starts otherwise. */
static const char *after(const char *text, const char *prefix)
{
	while (*prefix)
		if (*text++ != *prefix++)
			return NULL;
	return text;
}

static bool ends_word(const char *text)
{
	return text && (*text == '\0' || *text == ',');
}

static bool take_fixed(const char *bytes)
{
	size_t offset = 0;
	const char *digit = bytes;

	while (*digit >= '0' && *digit <= '9' && offset <= kstackrand_mask(KSTACKRAND_BITS_MAX))
		offset = offset * 10 + (size_t)(*digit++ - '0');
	return digit != bytes && ends_word(digit) &&
	       kstackrand_set_mode(KSTACKRAND_FIXED, offset) == 0;
}

/* One word of the environment variable; false when it is none we know. */
static bool take_word(const char *word)
{
	const char *bytes = after(word, "fixed=");

	if (bytes)
		return take_fixed(bytes);
	if (ends_word(after(word, "off")))
		return kstackrand_set_mode(KSTACKRAND_OFF, 0) == 0;
	if (ends_word(after(word, "max")))
		return kstackrand_set_mode(KSTACKRAND_FIXED,
		                           kstackrand_mask(KSTACKRAND_BITS_MAX)) == 0;
	if (ends_word(after(word, "atfork"))) {
		use_fork_handler();
		return true;
	}
	return false;
}

/* A wrong word must not stop a daemon from starting, nor go unseen. */
static void complain(void)
{
	static const char text[] =
		"kstackrand: error: environment variable KSTACKRAND: expected off, max, atfork "
		"or fixed=BYTES (a multiple of 16, at most 4080), separated by commas; "
		"what is not understood is ignored\n";

	system_call(SYS_write, STDERR_FILENO, (long)text, sizeof(text) - 1, 0);
}

static const char *words_of_environment(void)
{
	const char *words = NULL;

	for (char **variable = environ; variable && *variable && !words; variable++)
		words = after(*variable, "KSTACKRAND=");
	return words;
}

static void read_environment(void)
{
	const char *words = words_of_environment();

	/* Whoever starts a set-user-ID program must not switch its hardening off. */
	if (!words || getauxval(AT_SECURE))
		return;
	while (*words) {
		if (*words != ',' && !take_word(words))
			complain();
		while (!ends_word(words))
			words++;
		words += *words == ',';
	}
}

/* First among the constructors, so that those of the program find the mode set.
 * Draws before it are right, too: they start the runtime themselves. */
__attribute__((constructor(101))) static void start_process(void)
{
	const void *at_random = (const void *)getauxval(AT_RANDOM);

	if (at_random)
		kstackrand_random_start(at_random);
	process_key();
	read_environment();
}
