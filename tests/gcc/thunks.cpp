// SPDX-License-Identifier: MIT
// A call through a second base class goes by a thunk, which is no entry itself:
// the method it leads to is, and shifts once.
// RUN: %plain_cc -O1 -c %support/witness.c -o %t.witness.o
// RUN: for level in 0 2; do \
// RUN:   %cxx -O$level '-fplugin-arg-kstackrand-entry=*Both::handle*' -fplugin-arg-kstackrand-verbose -I%support \
// RUN:     %s %t.witness.o %libs -o %t 2>%t.err && \
// RUN:   %run %t && test $(grep -c 'is an entry' %t.err) = 1 || exit 1; \
// RUN: done
#include <witness.h>

struct Left {
	virtual uintptr_t left() = 0;
	long member;
};
struct Right {
	virtual uintptr_t handle() = 0;
};
struct Both : Left, Right {
	uintptr_t left() override
	{
		return 0;
	}
	uintptr_t handle() override;
};
uintptr_t Both::handle()
{
	return witness();
}

static Both both;
static Right *volatile right = &both;

int main()
{
	expect_cells("through a thunk", [] { return right->handle(); }, 6);
	return 0;
}
