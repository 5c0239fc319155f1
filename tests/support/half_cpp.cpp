/* SPDX-License-Identifier: MIT */
#include <half.h>
#include <stdexcept>
#include <witness.h>

uintptr_t entry_cpp(void)
{
	return witness();
}

void throw_from_cpp(void)
{
	throw std::runtime_error("thrown");
}

int entry_through_cpp(int fail)
{
	try {
		witness();
		callback_c(fail);
	} catch (const std::runtime_error &) {
		return !fail;
	}
	return fail;
}
