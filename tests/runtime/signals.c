// SPDX-License-Identifier: MIT
// A signal handler that draws in the middle of a draw, at every instruction of
// it: no draw is lost, so no offset is replayed. The counter tells: it moves by
// its step at each draw. Nor does a handler find a thread that is half seeded.
// RUN: for model in inline call; do \
// RUN:   %cc -O2 -pthread -fplugin-arg-kstackrand-model=$model -fplugin-arg-kstackrand-entry=entry -I%include %s %libs -o %t && \
// RUN:   %run %t || exit 1; \
// RUN: done
#include <kstackrand/abi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

extern __thread struct kstackrand_thread __kstackrand_thread __attribute__((tls_model("initial-exec")));

extern struct kstackrand_process __kstackrand_process;

static unsigned long draws, half_seeded;
static volatile int watching;

__attribute__((noinline)) void entry(void)
{
	__atomic_fetch_add(&draws, 1, __ATOMIC_RELAXED);
}

static void on_trap(int number)
{
	volatile struct kstackrand_thread *thread = &__kstackrand_thread;

	(void)number;
	half_seeded += thread->seal == __kstackrand_process.key &&
	               thread->step % 2 == 0;
	if (!watching)
		entry();
}

#if defined(__x86_64__)
/* The trap flag: SIGTRAP after every instruction. */
#define STEP(on) \
	__asm__ volatile("subq $128, %%rsp\n\t" /* the red zone */ \
	                 "pushfq\n\t" \
	                 "andq $~0x100, (%%rsp)\n\t" \
	                 "orq %0, (%%rsp)\n\t" \
	                 "popfq\n\t" \
	                 "addq $128, %%rsp" ::"r"((on) ? 0x100UL : 0UL) : "memory", "cc")
#define ROUNDS 2000
#else
/* No such flag in user space: a timer, as often as it can. */
#define STEP(on) ((void)0)
#define ROUNDS 3000000
#endif

static void *first_draw(void *unused)
{
	STEP(1);
	entry();
	STEP(0);
	return unused;
}

int main(void)
{
	struct sigaction action = { .sa_handler = on_trap };
	struct itimerval often = { { 0, 100 }, { 0, 100 } }, never = { { 0, 0 }, { 0, 0 } };
	struct kstackrand_thread before;
	unsigned long started;

	sigaction(SIGTRAP, &action, NULL);
	sigaction(SIGALRM, &action, NULL);
	entry();
	/* A handler that draws would seed the thread itself, and hide the gap. */
	for (watching = 20; watching; watching--) {
		pthread_t thread;

		pthread_create(&thread, NULL, first_draw, NULL);
		pthread_join(thread, NULL);
	}
	if (half_seeded) {
		fprintf(stderr, "a thread drew before it was seeded\n");
		return 1;
	}
	before = __kstackrand_thread;
	started = draws;
	setitimer(ITIMER_REAL, &often, NULL);
	for (int i = 0; i < ROUNDS; i++) {
		STEP(1);
		entry();
		STEP(0);
	}
	setitimer(ITIMER_REAL, &never, NULL);

	unsigned long made = draws - started;
	uint64_t moved = __kstackrand_thread.counter - before.counter;

	printf("%lu draws, %lu of them in handlers\n", made, made - ROUNDS);
	if (__kstackrand_thread.step != before.step || made < ROUNDS + 10) {
		fprintf(stderr, "the state was seeded anew, or no signal came\n");
		return 1;
	}
	if (moved != made * before.step) {
		fprintf(stderr, "draws were lost: the counter moved by another number of steps\n");
		return 1;
	}
	return 0;
}
