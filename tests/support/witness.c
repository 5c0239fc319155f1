/* SPDX-License-Identifier: MIT */
#include "witness.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define CALLS (1u << 20)
#define CELL 16

__attribute__((noreturn, format(printf, 1, 2))) static void die(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fputc('\n', stderr);
	exit(1);
}

uintptr_t witness(void)
{
	uintptr_t frame = (uintptr_t)__builtin_frame_address(0);

	/* Both ABIs want 16 bytes at a call, and both keep the frame pointer so. */
	if (frame % 16 != 0)
		die("witness: the stack is not aligned: frame at %#lx", (unsigned long)frame);
	return frame;
}

void *opaque(void *pointer)
{
	__asm__ volatile("" : "+r"(pointer));
	return pointer;
}

/* The 0.1 % bound of chi-squared with cells - 1 degrees of freedom, by Wilson
 * and Hilferty; 103.4 for 64 cells. */
static double chi2_bound(unsigned cells)
{
	double k = cells - 1, h = 2 / (9 * k), root = 0;

	for (int i = 0; i < 60; i++) /* Newton, to do without libm */
		root = root ? root - (root * root - h) / (2 * root) : 1;
	double x = 1 - h + 3.0902 * root;
	return k * x * x * x;
}

static double count(const char *name, uintptr_t (*entry)(void), unsigned cells)
{
	static unsigned counts[8192];
	uintptr_t low = UINTPTR_MAX, high = 0, first = entry();
	double chi2 = 0, expected = (double)CALLS / cells;

	for (unsigned i = 0; i < 8192; i++)
		counts[i] = 0;
	for (unsigned i = 0; i < CALLS; i++) {
		uintptr_t at = entry(),
			  distance = at - first + sizeof(counts) / 2 / sizeof(*counts);

		if (distance >= 8192)
			die("%s: address %#lx is %ld bytes from the first", name, (unsigned long)at,
			    (long)(at - first));
		counts[distance]++;
		low = at < low ? at : low;
		high = at > high ? at : high;
	}
	if (high - low != (cells - 1) * CELL)
		die("%s: the addresses span %lu bytes, not %u", name, (unsigned long)(high - low),
		    (cells - 1) * CELL);
	for (uintptr_t at = low; at <= high; at++) {
		unsigned seen = counts[at - first + 4096];

		if ((at - low) % CELL != 0) {
			if (seen)
				die("%s: an address at %lu bytes, between cells", name,
				    (unsigned long)(at - low));
			continue;
		}
		if (!seen)
			die("%s: no address at %lu bytes", name, (unsigned long)(at - low));
		chi2 += (seen - expected) * (seen - expected) / expected;
	}
	return chi2;
}

void expect_cells(const char *name, uintptr_t (*entry)(void), unsigned bits)
{
	unsigned cells = 1u << bits;
	double chi2 = count(name, entry, cells);

	if (cells > 1 && chi2 >= chi2_bound(cells))
		chi2 = count(name, entry, cells);
	if (cells > 1 && chi2 >= chi2_bound(cells))
		die("%s: chi2 %.1f, the bound is %.1f, twice", name, chi2, chi2_bound(cells));
	printf("%s: %u cells, chi2 %.1f\n", name, cells, chi2);
}
