// SPDX-License-Identifier: MIT
// 10^4 threads in a row, 64 at a time, most of them in the memory of threads that
// died: no two draw the same first eight offsets.
// RUN: %plain_cc -O1 -c %support/witness.c -o %t.witness.o
// RUN: for model in inline call; do \
// RUN:   %cc -O2 -pthread -fplugin-arg-kstackrand-model=$model -fplugin-arg-kstackrand-entry=entry \
// RUN:     -I%support %s %t.witness.o %libs -o %t && \
// RUN:   %run %t 10000 && %run_bare %t 1000 || exit 1; \
// RUN: done
#include <pthread.h>
#include <sequences.h>

#define AT_A_TIME 64

uintptr_t entry(void)
{
	return witness();
}

static void *thread(void *sequence)
{
	record(sequence, entry);
	return NULL;
}

int main(int argc, char **argv)
{
	size_t count = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000;
	struct sequence *sequences = calloc(count, sizeof(*sequences));
	pthread_t threads[AT_A_TIME];

	for (size_t i = 0; i < count; i++) {
		if (i >= AT_A_TIME)
			pthread_join(threads[i % AT_A_TIME], NULL);
		if (pthread_create(&threads[i % AT_A_TIME], NULL, thread, &sequences[i]))
			return 1;
	}
	for (size_t i = 0; i < AT_A_TIME && i < count; i++)
		pthread_join(threads[i], NULL);
	expect_all_different("threads", sequences, count);
	return 0;
}
