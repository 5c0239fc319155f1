// SPDX-License-Identifier: MIT
// From a callee below the shift, and from a signal handler there, the unwinder
// and the chain of frame pointers both lead back to main.
// RUN: %plain_cc -O1 -c %support/witness.c -o %t.witness.o
// RUN: for level in 0 2 s; do for model in inline call; do \
// RUN:   %cc -O$level -g -fno-omit-frame-pointer -rdynamic -fplugin-arg-kstackrand-model=$model \
// RUN:     '-fplugin-arg-kstackrand-entry=entry_*' -I%support %s %t.witness.o %libs -o %t && \
// RUN:   %run %t || exit 1; \
// RUN: done; done
#include <execinfo.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unwind.h>
#include <witness.h>

static int frames_seen, main_seen;
static void *main_frame;
int main(void);

static _Unwind_Reason_Code frame(struct _Unwind_Context *context, void *unused)
{
	(void)unused;
	frames_seen++;
	if (_Unwind_FindEnclosingFunction((void *)_Unwind_GetIP(context)) == (void *)main)
		main_seen = 1;
	return _URC_NO_REASON;
}

static void expect_main(const char *from)
{
	frames_seen = main_seen = 0;
	_Unwind_Backtrace(frame, NULL);
	if (!main_seen) {
		fprintf(stderr, "%s: %d frames, and main is not among them\n", from, frames_seen);
		exit(1);
	}
}

static void expect_frame_chain(void)
{
	void **at = __builtin_frame_address(0);

	for (int i = 0; i < 100 && at; i++) {
		if (at == main_frame)
			return;
		at = *at;
	}
	fprintf(stderr, "the frame pointers do not lead to main\n");
	exit(1);
}

static void on_signal(int number)
{
	(void)number;
	expect_main("signal handler");
}

__attribute__((noinline)) void leaf(void)
{
	witness();
	expect_main("callee");
	expect_frame_chain();
	raise(SIGUSR1);
}

void entry_inner(int n)
{
	char bytes[32];

	memset(opaque(bytes), n, sizeof(bytes));
	leaf();
	opaque(bytes);
}

void entry_outer(int n)
{
	entry_inner(n);
}

int main(void)
{
	main_frame = __builtin_frame_address(0);
	signal(SIGUSR1, on_signal);
	for (int i = 0; i < 100; i++)
		entry_outer(i);
	return 0;
}
