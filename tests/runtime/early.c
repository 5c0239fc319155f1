// SPDX-License-Identifier: MIT
// Entries that run before main, in constructors of any priority and before any of
// them, and after main, in destructors of threads and of the program, shift, too.
// RUN: %plain_cc -O1 -c %support/witness.c -o %t.witness.o
// RUN: for flags in "" "-static"; do \
// RUN:   %cc -O2 $flags -pthread -fplugin-arg-kstackrand-entry=entry -I%support -I%include %s %t.witness.o %libs -o %t && \
// RUN:   %run %t && %run_bare %t || exit 1; \
// RUN: done
// What the environment says holds in the program's constructors.
// RUN: %cc -O2 -pthread -DOFF -fplugin-arg-kstackrand-entry=entry -I%support -I%include %s %t.witness.o %libs -o %t
// RUN: env KSTACKRAND=off %run_bare %t
#include <kstackrand/kstackrand.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <witness.h>

uintptr_t entry(void)
{
	return witness();
}

static void expect_moves(const char *when)
{
	uintptr_t first = entry();
	int moves = 0;

	for (int i = 0; i < 100; i++)
		moves |= entry() != first;
#ifdef OFF
	moves = !moves;
#endif
	if (!moves) {
		fprintf(stderr, "%s: the addresses of 100 calls are wrong\n", when);
		_exit(1);
	}
}

#if defined(__x86_64__) && !defined(OFF)
static void preinit(void)
{
	uintptr_t first;
	int moves = 0;

	/* Not started: it says so, and setting the mode starts it. */
	if (kstackrand_get_fork_detection() != KSTACKRAND_FORK_NONE ||
	    kstackrand_set_mode(KSTACKRAND_RANDOM, 0) != 0 ||
	    kstackrand_get_fork_detection() != KSTACKRAND_FORK_WIPE)
		_exit(3);
	first = entry();
	for (int i = 0; i < 100; i++)
		moves |= entry() != first;
	if (!moves)
		_exit(2);
}
__attribute__((section(".preinit_array"), used)) static void (*const run_preinit)(void) = preinit;
#endif

/* 101 is the runtime's own. */
__attribute__((constructor(102))) static void first_constructor(void)
{
	expect_moves("first constructor");
}

__attribute__((constructor)) static void constructor(void)
{
	expect_moves("constructor");
}

__attribute__((destructor)) static void destructor(void)
{
	expect_moves("destructor");
}

static void at_exit(void)
{
	expect_moves("atexit");
}

static pthread_key_t key;

static void thread_destructor(void *unused)
{
	(void)unused;
	expect_moves("thread destructor");
}

static void *thread(void *unused)
{
	pthread_setspecific(key, &key);
	return unused;
}

int main(void)
{
	pthread_t other;

	atexit(at_exit);
	pthread_key_create(&key, thread_destructor);
	pthread_create(&other, NULL, thread, NULL);
	pthread_join(other, NULL);
	expect_moves("main");
	return 0;
}
