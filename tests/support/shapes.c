/* SPDX-License-Identifier: MIT */
/*
 * Functions in pairs, one of each an entry, for counting what that costs.
 * The argument is a number of calls.
 */
#include <stdlib.h>

/* Different texts of no instructions, so that no compiler makes two functions
 * one. */
#define DIFFERENT(n) __asm__ volatile("" ::"i"(n))

__attribute__((noinline)) int leaf(int x)
{
	DIFFERENT(0);
	return x + 1;
}

__attribute__((noinline)) int leaf_plain(int x)
{
	DIFFERENT(1);
	return x + 1;
}

__attribute__((noinline)) static int callee(int x)
{
	DIFFERENT(2);
	return x ^ 5;
}

__attribute__((noinline)) int calls(int x)
{
	DIFFERENT(3);
	return callee(x) + callee(x + 1);
}

__attribute__((noinline)) int calls_plain(int x)
{
	DIFFERENT(4);
	return callee(x) + callee(x + 1);
}

__attribute__((noinline)) int array(int x)
{
	volatile char bytes[64];

	bytes[x & 63] = 1;
	return callee(x) + bytes[x & 63];
}

__attribute__((noinline)) int array_plain(int x)
{
	volatile char bytes[64];

	DIFFERENT(6);
	bytes[x & 63] = 1;
	return callee(x) + bytes[x & 63];
}

int main(int argc, char **argv)
{
	int number = argc > 1 ? atoi(argv[1]) : 1, sum = 0;

	for (int i = 0; i < number; i++)
		sum += leaf(i) + leaf_plain(i) + calls(i) + calls_plain(i) + array(i) +
		       array_plain(i);
	return sum == -1;
}
