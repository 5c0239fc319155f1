// SPDX-License-Identifier: MIT
// The switches: off, the largest and a fixed offset, by environment and by API,
// in all threads, in children, at every number of bits.
// RUN: %plain_cc -O1 -c %support/witness.c -o %t.witness.o
// RUN: for model in inline call; do for bits in 6 8 3; do \
// RUN:   %cc -O2 -pthread -DBITS=$bits -fplugin-arg-kstackrand-bits=$bits \
// RUN:     -fplugin-arg-kstackrand-model=$model -fplugin-arg-kstackrand-entry=entry \
// RUN:     -I%support -I%include %s %t.witness.o %libs -o %t && %run %t || exit 1; \
// RUN: done; done
#include <errno.h>
#include <kstackrand/kstackrand.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include <witness.h>

#define LARGEST (((1u << BITS) - 1) * 16)

uintptr_t entry(void)
{
	return witness();
}

/* Where the witness stands with an offset of 0, below this frame. */
static long zero;

static __attribute__((noinline)) long distance(void)
{
	return (long)((uintptr_t)__builtin_frame_address(0) - entry());
}

static void expect_fixed(const char *name, long offset)
{
	for (int i = 0; i < 1000; i++) {
		long seen = distance() - zero;

		if (seen != offset) {
			fprintf(stderr, "%s: offset %ld, expected %ld\n", name, seen, offset);
			exit(1);
		}
	}
}

static void expect_random(const char *name)
{
	unsigned seen[LARGEST / 16 + 1] = { 0 };
	unsigned cells = 0;

	for (int i = 0; i < 20000; i++) {
		long at = distance() - zero;

		if (at < 0 || at > (long)LARGEST || at % 16) {
			fprintf(stderr, "%s: offset %ld\n", name, at);
			exit(1);
		}
		cells += !seen[at / 16]++;
	}
	if (cells != LARGEST / 16 + 1) {
		fprintf(stderr, "%s: %u cells\n", name, cells);
		exit(1);
	}
}

static void expect_set(int mode, size_t offset, int expected)
{
	int error = kstackrand_set_mode(mode, offset);

	if (error != expected) {
		fprintf(stderr, "kstackrand_set_mode(%d, %zu): %d, expected %d\n", mode, offset, error,
		        expected);
		exit(1);
	}
}

static pthread_barrier_t barrier;

static void *other_thread(void *unused)
{
	expect_random("thread, random");
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	expect_fixed("thread, off", 0);
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	expect_random("thread, random again");
	return unused;
}

static void in_child(void (*expect)(const char *, long), long offset)
{
	int status;

	fflush(NULL);
	if (fork() == 0) {
		expect("child", offset);
		_exit(0);
	}
	if (wait(&status) < 0 || status != 0)
		exit(1);
}

static void expect_random_too(const char *name, long unused)
{
	(void)unused;
	expect_random(name);
}

int main(void)
{
	pthread_t thread;

	pthread_barrier_init(&barrier, NULL, 2);
	expect_set(KSTACKRAND_OFF, 0, 0);
	zero = distance();
	expect_fixed("off", 0);
	in_child(expect_fixed, 0);
	if (kstackrand_get_mode() != KSTACKRAND_OFF)
		return 1;

	expect_set(KSTACKRAND_FIXED, 4080, 0);
	expect_fixed("largest", LARGEST);
	in_child(expect_fixed, LARGEST);
	expect_set(KSTACKRAND_FIXED, 48, 0);
	expect_fixed("fixed", 48 & LARGEST);
	expect_set(KSTACKRAND_FIXED, 4096, EINVAL);
	expect_set(KSTACKRAND_FIXED, 8, EINVAL);
	expect_set(17, 0, EINVAL);
	expect_fixed("still fixed", 48 & LARGEST);

	expect_set(KSTACKRAND_RANDOM, 0, 0);
	expect_random("random");
	in_child(expect_random_too, 0);

	pthread_create(&thread, NULL, other_thread, NULL);
	pthread_barrier_wait(&barrier);
	expect_set(KSTACKRAND_OFF, 0, 0);
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	expect_set(KSTACKRAND_RANDOM, 0, 0);
	pthread_barrier_wait(&barrier);
	pthread_join(thread, NULL);
	return 0;
}
