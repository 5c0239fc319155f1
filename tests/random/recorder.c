/* SPDX-License-Identifier: MIT */
/*
 * Writes offsets as the stack shows them: where witness(), which nobody
 * instruments, stands when an entry calls it. Built with the plugin.
 *
 *   recorder draws COUNT FILE      one thread's draws
 *   recorder threads COUNT FILE    the first FIRST_DRAWS of each of COUNT threads
 *   recorder forks COUNT FILE      the same of children by fork(3)
 *   recorder stream                packed, four draws in three bytes, for ever
 */
#include "first_draws.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <witness.h>

#define CELL_BYTES 16
#define AT_A_TIME 64

uintptr_t entry(void)
{
	return witness();
}

/* How far below this frame, in cells. */
static __attribute__((noinline)) void record(uint16_t *distances, size_t count)
{
	uintptr_t here = (uintptr_t)__builtin_frame_address(0);

	for (size_t i = 0; i < count; i++) {
		uintptr_t distance = here - entry();

		if (distance % CELL_BYTES || distance / CELL_BYTES > UINT16_MAX)
			abort();
		distances[i] = (uint16_t)(distance / CELL_BYTES);
	}
}

/* What lies between the frames is the same for each draw: the nearest is cell 0. */
static void write_cells(const char *path, const uint16_t *distances, size_t count)
{
	FILE *file = fopen(path, "wb");
	uint16_t nearest = UINT16_MAX;

	for (size_t i = 0; i < count; i++)
		nearest = distances[i] < nearest ? distances[i] : nearest;
	for (size_t i = 0; file && i < count; i++)
		fputc(distances[i] - nearest > 255 ? 255 : distances[i] - nearest, file);
	if (!file || fclose(file)) {
		perror(path);
		exit(2);
	}
}

static void *thread(void *distances)
{
	record(distances, FIRST_DRAWS);
	return NULL;
}

static void record_threads(uint16_t *distances, size_t count)
{
	pthread_t threads[AT_A_TIME];

	for (size_t i = 0; i < count; i++) {
		if (i >= AT_A_TIME)
			pthread_join(threads[i % AT_A_TIME], NULL);
		if (pthread_create(&threads[i % AT_A_TIME], NULL, thread, &distances[i * FIRST_DRAWS]))
			exit(2);
	}
	for (size_t i = 0; i < AT_A_TIME && i < count; i++)
		pthread_join(threads[i], NULL);
}

static void record_forks(uint16_t *distances, size_t count)
{
	uint16_t before;

	record(&before, 1);
	for (size_t i = 0; i < count; i++) {
		pid_t child = fork();
		int status;

		if (child == 0) {
			thread(&distances[i * FIRST_DRAWS]);
			_exit(0);
		}
		if (child < 0 || waitpid(child, &status, 0) < 0 || status != 0)
			exit(2);
	}
}

static void stream(void)
{
	static uint16_t distances[4 * 4096];
	static unsigned char bytes[3 * 4096];
	uint16_t nearest = UINT16_MAX;

	record(distances, sizeof(distances) / sizeof(*distances));
	for (size_t i = 0; i < sizeof(distances) / sizeof(*distances); i++)
		nearest = distances[i] < nearest ? distances[i] : nearest;
	do {
		record(distances, sizeof(distances) / sizeof(*distances));
		for (size_t i = 0; i < 4096; i++) {
			uint32_t word = 0;

			for (int j = 0; j < 4; j++)
				word = word << 6 | (uint32_t)(distances[4 * i + j] - nearest);
			for (int j = 0; j < 3; j++)
				bytes[3 * i + j] = (unsigned char)(word >> 8 * j);
		}
	} while (fwrite(bytes, 1, sizeof(bytes), stdout) == sizeof(bytes));
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	size_t count = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
	size_t all = strcmp(what, "draws") ? count * FIRST_DRAWS : count;
	uint16_t *distances;

	if (!strcmp(what, "stream")) {
		stream();
		return 0;
	}
	if (argc != 4 || count == 0) {
		fprintf(stderr, "usage: recorder draws|threads|forks COUNT FILE, or stream\n");
		return 2;
	}
	/* Shared, for children to write into. */
	distances = mmap(NULL, all * sizeof(*distances), PROT_READ | PROT_WRITE,
	                 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (distances == MAP_FAILED)
		return 2;
	if (!strcmp(what, "draws"))
		record(distances, count);
	else if (!strcmp(what, "threads"))
		record_threads(distances, count);
	else
		record_forks(distances, count);
	write_cells(argv[3], distances, all);
	return 0;
}
