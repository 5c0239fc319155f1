// SPDX-License-Identifier: MIT
// What the fast path costs a leaf function at -O2, frame and seeded-and-not-
// forked check included: at most 16 instructions on x86_64 and 26 on arm64.
// RUN: %cc -O2 %fixed_address -fplugin-arg-kstackrand-entry=leaf %s %libs -o %t
// RUN: %python %support/instructions.py %arch %t leaf leaf_plain | tee %t.txt
// RUN: awk -v arch=%arch '{ count[$1] = $2 } END { \
// RUN:   budget = arch == "x86_64" ? 16 : 26; added = count["leaf"] - count["leaf_plain"]; \
// RUN:   print "added:", added, "budget:", budget; \
// RUN:   exit !(count["leaf_plain"] >= 2 && added >= 9 && added <= budget) }' %t.txt
#include <stdlib.h>

__attribute__((noinline)) int leaf(int x)
{
	__asm__ volatile("");
	return x + 1;
}

__attribute__((noinline)) int leaf_plain(int x)
{
	__asm__ volatile("" ::"i"(1));
	return x + 1;
}

int main(int argc, char **argv)
{
	int calls = argc > 1 ? atoi(argv[1]) : 1, sum = 0;

	for (int i = 0; i < calls; i++)
		sum += leaf(i) + leaf_plain(i);
	return sum == -1;
}
