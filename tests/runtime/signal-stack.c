// SPDX-License-Identifier: MIT
// Entries in signal handlers that run on a stack of their own (sigaltstack) stay on
// it and use each of its cells. The first draw of a thread, and of a child, takes no
// more of it than docs/using.md says, 512 bytes, before the shift.
// RUN: %plain_cc -O1 -c %support/witness.c -o %t.witness.o
// RUN: for model in inline call; do for bits in 0 6; do \
// RUN:   %cc -O2 -pthread -DBITS=$bits -fplugin-arg-kstackrand-bits=$bits -fplugin-arg-kstackrand-model=$model \
// RUN:     -fplugin-arg-kstackrand-entry=entry -I%support %s %t.witness.o %libs -o %t && \
// RUN:   %run %t && %run_bare %t || exit 1; \
// RUN: done; done
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <witness.h>

#define CELLS (1 << BITS)
#define LARGEST ((CELLS - 1) * 16)
#define SLOW_PATH 512
#define PAINT 0x5a
#define SIGNALS 3000
#define TIMES 20

static char *stack;
static size_t size;
static volatile uintptr_t handler, callee; /* where they stood */

uintptr_t entry(void)
{
	return witness();
}

static void on_signal(int number)
{
	(void)number;
	handler = (uintptr_t)__builtin_frame_address(0);
	callee = entry();
}

static void make_stack(void)
{
	long least = sysconf(_SC_MINSIGSTKSZ);
	stack_t alternate = { 0 };

	size = (size_t)(least > MINSIGSTKSZ ? least : MINSIGSTKSZ) + LARGEST + SLOW_PATH;
	stack = malloc(size);
	EXPECT(stack);
	memset(stack, PAINT, size);
	alternate.ss_sp = stack;
	alternate.ss_size = size;
	EXPECT(sigaltstack(&alternate, NULL) == 0);
}

static uintptr_t one_signal(void)
{
	raise(SIGUSR1);
	EXPECT(callee > (uintptr_t)stack && callee < (uintptr_t)stack + size);
	return callee;
}

static void first_draw(void)
{
	size_t untouched = 0;

	memset(stack, PAINT, size);
	one_signal();
	while (stack[untouched] == PAINT)
		untouched++;
	EXPECT(untouched > 0 && handler - (uintptr_t)(stack + untouched) <= LARGEST + SLOW_PATH);
}

static void *thread(void *unused)
{
	make_stack();
	first_draw();
	free(stack);
	return unused;
}

static void expect_all_cells(void)
{
	static uintptr_t at[SIGNALS];
	uintptr_t low = UINTPTR_MAX, high = 0;
	unsigned seen[CELLS] = { 0 }, count = 0;

	for (int i = 0; i < SIGNALS; i++) {
		at[i] = one_signal();
		low = at[i] < low ? at[i] : low;
		high = at[i] > high ? at[i] : high;
	}
	EXPECT(high - low == LARGEST);
	for (int i = 0; i < SIGNALS; i++) {
		EXPECT((at[i] - low) % 16 == 0);
		count += !seen[(at[i] - low) / 16]++;
	}
	EXPECT(count == CELLS);
}

int main(void)
{
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_ONSTACK };
	int status;

	sigaction(SIGUSR1, &action, NULL);
	for (int i = 0; i < TIMES; i++) {
		pthread_t other;

		EXPECT(pthread_create(&other, NULL, thread, NULL) == 0);
		pthread_join(other, NULL);
	}
	make_stack();
	for (int i = 0; i < TIMES; i++) {
		if (fork() == 0) {
			first_draw();
			_exit(0);
		}
		EXPECT(wait(&status) > 0 && status == 0);
	}
	expect_all_cells();
	return 0;
}
