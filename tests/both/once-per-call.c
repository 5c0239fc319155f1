// SPDX-License-Identifier: MIT
// One draw a call, before the function's own code: not one a turn of a loop at
// the function's start, not one a turn of a tail recursion that became a loop.
// RUN: %plain_cc -O1 -c %support/witness.c -o %t.witness.o
// RUN: for level in 0 g 1 2 3 s; do for model in inline call; do \
// RUN:   %cc -O$level -fplugin-arg-kstackrand-model=$model '-fplugin-arg-kstackrand-entry=entry_*' -I%support %s %t.witness.o %libs -o %t && \
// RUN:   %run %t $level || exit 1; \
// RUN: done; done
//
// In the code: one draw, wherever it stands.
// RUN: %cc -O2 '-fplugin-arg-kstackrand-entry=entry_*' -I%support -S %s -o %t.s
// RUN: %python %support/count_in_functions.py %t.s 'xadd|ldxr' | %FileCheck %s
// CHECK-DAG: entry_loop 1
// CHECK-DAG: entry_tail_recursion 1
#include <stdio.h>
#include <stdlib.h>
#include <witness.h>

static uintptr_t lowest, highest;
static unsigned turns;

static void look(void)
{
	uintptr_t at = witness();

	lowest = turns == 0 || at < lowest ? at : lowest;
	highest = turns == 0 || at > highest ? at : highest;
	turns++;
}

void entry_loop(volatile int *left)
{
	while (*left > 0) {
		look();
		--*left;
	}
}

/* Becomes a loop from -O2 on; before, each turn is a call and shifts. */
int entry_tail_recursion(int left)
{
	if (left == 0)
		return 0;
	look();
	return entry_tail_recursion(left - 1);
}

static void expect_one_address(const char *name)
{
	if (lowest != highest) {
		fprintf(stderr, "%s: %lu bytes between turns of one call\n", name,
		        (unsigned long)(highest - lowest));
		exit(1);
	}
}

int main(int argc, char **argv)
{
	for (int i = 0; i < 100; i++) {
		volatile int left = 1000;

		turns = 0;
		entry_loop(&left);
		expect_one_address("loop");
	}
	if (argc > 1 && (argv[1][0] == '2' || argv[1][0] == '3' || argv[1][0] == 's'))
		for (int i = 0; i < 100; i++) {
			turns = 0;
			entry_tail_recursion(1000);
			expect_one_address("tail recursion");
		}
	return 0;
}
