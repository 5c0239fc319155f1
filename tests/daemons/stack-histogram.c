/* SPDX-License-Identifier: MIT */
/*
 * Shows where the stack stood in the calls that stack-watch.c noted.
 *
 *     stack-histogram [--summary] FILE
 *
 * Without an option: a chart for a terminal of 80 columns and 24 rows, each
 * position with its distance in bytes below the highest one, a bar, and how
 * often it was seen. With --summary: one line for scripts,
 *
 *     calls 6400 positions 64 spacing 16 span 1008 chi2 58.1
 *
 * where spacing is the distance in bytes between neighbours, 0 if there is only
 * one position and -1 if it is not the same everywhere; span is from the lowest
 * position to the highest; chi2 measures the counts against equal ones, with
 * positions - 1 degrees of freedom. Exit status: 0, or 2 for a bad file.
 */
#include "stack-watch.h"

#include <langinfo.h>
#include <locale.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ROWS_MAX 16
#define COLUMNS_MAX 4
#define BAR_WIDTH 8 /* characters; 4 columns of 4 + 1 + 8 + 1 + 4 fit in 80 */

struct position {
	uint64_t address;
	uint64_t count;
};

struct histogram {
	struct position *position; /* highest address first */
	size_t positions;
	uint64_t calls;
};

static int compare_falling(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return (a < b) - (a > b);
}

/* The addresses in the file; NULL, with a message, if there are none. */
static uint64_t *read_addresses(const char *path, uint64_t *calls)
{
	FILE *file = fopen(path, "rb");
	uint64_t *address = NULL;

	if (!file || fread(calls, sizeof(*calls), 1, file) != 1) {
		fprintf(stderr, "stack-histogram: error: cannot read %s\n", path);
	} else if (!*calls || *calls > STACK_WATCH_CAPACITY) {
		fprintf(stderr, "stack-histogram: error: %s: %llu calls, not 1 to %llu\n", path,
		        (unsigned long long)*calls, (unsigned long long)STACK_WATCH_CAPACITY);
	} else {
		address = calloc(*calls, sizeof(*address));
		if (!address || fread(address, sizeof(*address), *calls, file) != *calls) {
			fprintf(stderr, "stack-histogram: error: %s is cut short\n", path);
			free(address);
			address = NULL;
		}
	}
	if (file)
		fclose(file);
	return address;
}

static bool read_histogram(const char *path, struct histogram *histogram)
{
	uint64_t *address = read_addresses(path, &histogram->calls);

	if (!address)
		return false;
	qsort(address, histogram->calls, sizeof(*address), compare_falling);
	histogram->position = calloc(histogram->calls, sizeof(*histogram->position));
	if (!histogram->position)
		abort();
	for (uint64_t i = 0; i < histogram->calls; i++) {
		if (i == 0 || address[i] != address[i - 1])
			histogram->position[histogram->positions++].address = address[i];
		histogram->position[histogram->positions - 1].count++;
	}
	free(address);
	return true;
}

static uint64_t depth(const struct histogram *histogram, size_t position)
{
	return histogram->position[0].address - histogram->position[position].address;
}

static long long spacing(const struct histogram *histogram)
{
	if (histogram->positions < 2)
		return 0;
	for (size_t i = 1; i < histogram->positions; i++)
		if (depth(histogram, i) != i * depth(histogram, 1))
			return -1;
	return (long long)depth(histogram, 1);
}

static double chi2(const struct histogram *histogram)
{
	double expected = (double)histogram->calls / (double)histogram->positions, sum = 0;

	for (size_t i = 0; i < histogram->positions; i++) {
		double difference = (double)histogram->position[i].count - expected;

		sum += difference * difference / expected;
	}
	return sum;
}

/* A bar of BAR_WIDTH characters with blanks, to an eighth of a character where
 * the terminal knows such blocks. */
static void print_bar(uint64_t count, uint64_t highest, bool blocks, bool colour)
{
	static const char *const eighth[] = {" ", "▏", "▎", "▍", "▌", "▋", "▊", "▉", "█"};
	uint64_t filled = (count * BAR_WIDTH * 8 + highest / 2) / highest;

	if (colour)
		fputs("\033[32m", stdout);
	for (uint64_t i = 0; i < BAR_WIDTH; i++) {
		uint64_t here = filled > i * 8 ? filled - i * 8 : 0;

		if (blocks)
			fputs(eighth[here > 8 ? 8 : here], stdout);
		else
			putchar(here >= 4 ? '#' : ' ');
	}
	if (colour)
		fputs("\033[0m", stdout);
}

/* Down the first column, then the next: neighbours stand below each other. */
static void print_chart(const struct histogram *histogram)
{
	bool terminal = isatty(STDOUT_FILENO);
	const char *no_colour = getenv("NO_COLOR"), *kind = getenv("TERM");
	bool colour = terminal && !(no_colour && *no_colour) && !(kind && !strcmp(kind, "dumb"));
	bool blocks = terminal && !strcmp(nl_langinfo(CODESET), "UTF-8");
	size_t shown = histogram->positions, rows;
	uint64_t highest = 0;

	if (shown > ROWS_MAX * COLUMNS_MAX)
		shown = ROWS_MAX * COLUMNS_MAX;
	for (size_t i = 0; i < shown; i++)
		if (histogram->position[i].count > highest)
			highest = histogram->position[i].count;
	rows = shown < ROWS_MAX ? shown : ROWS_MAX;
	for (size_t row = 0; row < rows; row++) {
		for (size_t i = row; i < shown; i += rows) {
			printf("%s%4llu ", i == row ? "" : "  ",
			       (unsigned long long)depth(histogram, i));
			print_bar(histogram->position[i].count, highest, blocks, colour);
			printf(" %4llu", (unsigned long long)histogram->position[i].count);
		}
		putchar('\n');
	}
	if (shown < histogram->positions)
		printf("and %zu positions more\n", histogram->positions - shown);
}

int main(int argc, char **argv)
{
	bool summary = argc == 3 && !strcmp(argv[1], "--summary");
	struct histogram histogram = {0};

	setlocale(LC_CTYPE, "");
	if (argc != 2 && !summary) {
		fputs("usage: stack-histogram [--summary] FILE\n", stderr);
		return 2;
	}
	if (!read_histogram(argv[argc - 1], &histogram))
		return 2;
	if (summary)
		printf("calls %llu positions %zu spacing %lld span %llu chi2 %.1f\n",
		       (unsigned long long)histogram.calls, histogram.positions,
		       spacing(&histogram),
		       (unsigned long long)depth(&histogram, histogram.positions - 1),
		       chi2(&histogram));
	else
		print_chart(&histogram);
	free(histogram.position);
	return 0;
}
