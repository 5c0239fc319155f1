// SPDX-License-Identifier: MIT
// The process key is on memory that cannot be written after start, in a child
// too.
// REQUIRES: native
// RUN: %cc -O2 -fplugin-arg-kstackrand-entry=entry -I%include %s %libs -o %t
// RUN: %run %t
#include <kstackrand/abi.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

extern struct kstackrand_process __kstackrand_process;

__attribute__((noinline)) void entry(void)
{
	__asm__ volatile("");
}

static int writing_faults(void)
{
	int status;

	fflush(NULL);
	if (fork() == 0) {
		entry();
		if (__kstackrand_process.key == 0)
			_exit(2);
		*(volatile uint64_t *)&__kstackrand_process.key = 1;
		_exit(0);
	}
	wait(&status);
	return WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV;
}

int main(void)
{
	entry();
	if (!writing_faults()) {
		fprintf(stderr, "the key could be written\n");
		return 1;
	}
	return 0;
}
