// SPDX-License-Identifier: MIT
// Entries that run while a thread ends, in destructors of C++ thread_local objects
// and of pthread keys, up to the last round of these, shift, also where that is the
// thread's first draw; and no such thread draws as another does. The main thread may
// end before the others, and destructors of static objects shift, too.
// RUN: %plain_cc -O1 -c %support/witness.c -o %t.witness.o
// RUN: for flags in "" -static; do \
// RUN:   %cxx -O2 $flags -pthread -fplugin-arg-kstackrand-entry=entry -I%support %s %t.witness.o %libs -o %t && \
// RUN:   %run %t && %run %t main-ends || exit 1; \
// RUN: done
#include <limits.h>
#include <pthread.h>
#include <sequences.h>
#include <unistd.h>

#define THREADS 400
#define ROUNDS PTHREAD_DESTRUCTOR_ITERATIONS

extern "C" __attribute__((noinline)) uintptr_t entry()
{
	return witness();
}

/* What a thread draws in its thread_local's destructor, and in each round of its keys'. */
struct ending {
	struct sequence object, rounds[ROUNDS];
	int objects, keys;
};

static pthread_key_t key;

struct object {
	ending *self = nullptr;

	~object()
	{
		record(&self->object, entry);
		self->objects++;
	}
};

static thread_local object own;

static void on_key(void *pointer)
{
	ending *self = (ending *)pointer;

	record(&self->rounds[self->keys++], entry);
	pthread_setspecific(key, self); /* and once more, as long as the library asks */
}

static void *thread(void *pointer)
{
	own.self = (ending *)pointer;
	pthread_setspecific(key, pointer);
	return nullptr;
}

static void expect_all()
{
	static ending endings[THREADS];
	struct sequence *all = (struct sequence *)calloc(THREADS, (1 + ROUNDS) * sizeof(*all)), *next = all;
	pthread_t other;

	for (int i = 0; i < THREADS; i++) {
		EXPECT(pthread_create(&other, NULL, thread, &endings[i]) == 0);
		pthread_join(other, NULL);
		EXPECT(endings[i].objects == 1 && endings[i].keys == ROUNDS);
		*next++ = endings[i].object;
		for (int round = 0; round < ROUNDS; round++)
			*next++ = endings[i].rounds[round];
	}
	expect_all_different("destructors", all, (size_t)(next - all));
}

static bool main_ends, said;

/* Of a static object: after main, or after the last thread. */
static struct last {
	~last()
	{
		struct sequence some[300];

		for (struct sequence &sequence : some)
			record(&sequence, entry);
		expect_all_different("static object", some, 300);
		if (main_ends && !said)
			_exit(1);
	}
} last;

static void *outlive(void *pointer)
{
	pthread_join(*(pthread_t *)pointer, NULL);
	expect_all();
	said = true;
	return nullptr;
}

int main(int argc, char **)
{
	static pthread_t self = pthread_self();
	pthread_t other;

	EXPECT(pthread_key_create(&key, on_key) == 0);
	if (argc == 1) {
		expect_all();
		return 0;
	}
	main_ends = true;
	EXPECT(pthread_create(&other, NULL, outlive, &self) == 0);
	pthread_exit(NULL);
}
