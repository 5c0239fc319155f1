// SPDX-License-Identifier: MIT
// Coroutines with stacks of their own (ucontext) are switched below their entries,
// in any order, and go on in another thread than they began in: each draws at its
// entry alone, keeps its place and its locals until it returns, and draws from the
// state of the thread that calls the entry.
// RUN: %plain_cc -O1 -c %support/witness.c -o %t.witness.o
// RUN: for model in inline call; do for rng in fast siphash; do \
// RUN:   %cc -O2 -pthread -fplugin-arg-kstackrand-model=$model -fplugin-arg-kstackrand-rng=$rng \
// RUN:     -fplugin-arg-kstackrand-entry=entry -I%support -I%include %s %t.witness.o %libs -o %t && \
// RUN:   %run %t || exit 1; \
// RUN: done; done
#include <kstackrand/abi.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <witness.h>

#define CONTEXTS 64
#define STACK 65536
#define CALLS 400 /* of the entry, by each */
#define TURNS 3   /* away from it and back, in each */
#define CELLS 64

extern __thread struct kstackrand_thread __kstackrand_thread __attribute__((tls_model("initial-exec")));

static struct context {
	ucontext_t self, *back;
	char *stack;
	unsigned done, cells[CELLS];
} contexts[CONTEXTS];

static struct context *volatile running;
/* How many draws the threads made: the test counts by itself. */
static __thread unsigned long draws;

/* Nothing of the thread may be kept over a switch: these look anew. */
static __attribute__((noinline)) void count_draw(void)
{
	__asm__ volatile("");
	draws++;
}

static __attribute__((noinline)) void give_way(struct context *context)
{
	__asm__ volatile("");
	EXPECT(swapcontext(&context->self, context->back) == 0);
}

/* Goes away and comes back, below the shift. */
static __attribute__((noinline)) uintptr_t leave_and_return(struct context *context, unsigned call)
{
	uintptr_t at = witness();
	unsigned locals[32];

	for (unsigned i = 0; i < 32; i++)
		locals[i] = call + i;
	for (int turn = 0; turn < TURNS; turn++) {
		opaque(locals);
		give_way(context);
		for (unsigned i = 0; i < 32; i++)
			EXPECT(locals[i] == call + i);
		EXPECT(witness() == at);
	}
	return at;
}

uintptr_t entry(struct context *context, unsigned call)
{
	return leave_and_return(context, call);
}

static void run_context(void)
{
	struct context *self = running;
	uintptr_t top = (uintptr_t)self->stack + STACK, nearest = 0, seen[CALLS];

	for (unsigned call = 0; call < CALLS; call++) {
		count_draw();
		seen[call] = top - entry(self, call);
		nearest = !nearest || seen[call] < nearest ? seen[call] : nearest;
	}
	for (unsigned call = 0; call < CALLS; call++) {
		EXPECT((seen[call] - nearest) % 16 == 0 && (seen[call] - nearest) / 16 < CELLS);
		self->cells[(seen[call] - nearest) / 16]++;
	}
	self->done = 1;
	for (;;)
		give_way(self);
}

/* Each that is not done gets a turn, in an order that changes. */
static int turn_of_each(unsigned start)
{
	ucontext_t here;
	int left = 0;

	for (unsigned i = 0; i < CONTEXTS; i++) {
		struct context *context = &contexts[(i * 37 + start) % CONTEXTS];

		if (context->done)
			continue;
		context->back = &here;
		running = context;
		EXPECT(swapcontext(&here, &context->self) == 0);
		left += !context->done;
	}
	return left;
}

/* Two threads, in turns: nothing runs at once, and all that a context does is done
 * now in the one and now in the other. */
static pthread_barrier_t barrier;
static volatile int left = 1;

static void *take_turns(void *mine)
{
	struct kstackrand_thread before;

	running = NULL;
	for (unsigned turn = 0; left; turn++) {
		pthread_barrier_wait(&barrier);
		if (turn % 2 == *(unsigned *)mine) {
			int sealed = __kstackrand_thread.seal != KSTACKRAND_SEAL_UNSEEDED;

			before = __kstackrand_thread;
			draws = 0;
			left = turn_of_each(turn);
			/* The first draw seeds. */
			EXPECT(!sealed || __kstackrand_thread.step == before.step);
			EXPECT(!sealed ||
			       __kstackrand_thread.counter - before.counter == draws * before.step);
		}
		pthread_barrier_wait(&barrier);
	}
	return mine;
}

int main(void)
{
	unsigned mine[2] = { 0, 1 }, cells[CELLS] = { 0 };
	double expected = (double)CONTEXTS * CALLS / CELLS, chi2 = 0;
	pthread_t threads[2];

	for (int i = 0; i < CONTEXTS; i++) {
		contexts[i].stack =
			mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		EXPECT(contexts[i].stack != MAP_FAILED && getcontext(&contexts[i].self) == 0);
		contexts[i].self.uc_stack.ss_sp = contexts[i].stack;
		contexts[i].self.uc_stack.ss_size = STACK;
		makecontext(&contexts[i].self, run_context, 0);
	}
	pthread_barrier_init(&barrier, NULL, 2);
	for (int i = 0; i < 2; i++)
		EXPECT(pthread_create(&threads[i], NULL, take_turns, &mine[i]) == 0);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < CONTEXTS; i++)
		for (int cell = 0; cell < CELLS; cell++)
			cells[cell] += contexts[i].cells[cell];
	for (int cell = 0; cell < CELLS; cell++)
		chi2 += (cells[cell] - expected) * (cells[cell] - expected) / expected;
	printf("%d contexts, %d calls each: chi2 %.1f of 63\n", CONTEXTS, CALLS, chi2);
	/* Chance goes beyond that once in 10^9 runs. */
	EXPECT(chi2 < 150);
	return 0;
}
