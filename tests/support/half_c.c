/* SPDX-License-Identifier: MIT */
#include <half.h>
#include <stdio.h>
#include <witness.h>

uintptr_t entry_c(void)
{
	return witness();
}

/* An entry as well: the exception passes through it. */
void callback_c(int fail)
{
	witness();
	if (fail)
		throw_from_cpp();
}

int main(void)
{
	expect_cells("C", entry_c, 6);
	expect_cells("C++", entry_cpp, 6);
	for (int i = 0; i < 1000; i++)
		if (entry_through_cpp(i % 2)) {
			fprintf(stderr, "call %d went wrong\n", i);
			return 1;
		}
	return 0;
}
