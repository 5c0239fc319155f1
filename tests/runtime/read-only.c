// SPDX-License-Identifier: MIT
// The process's keys and its mode are on memory that cannot be written after
// start, neither in the process that was started nor in a child that made its own.
// REQUIRES: native
// The mode is no symbol for others; here it is.
// RUN: cp %libdir/libkstackrand.a %t.a && objcopy --globalize-symbol=settings_page %t.a
// RUN: %cc -O2 -fplugin-arg-kstackrand-entry=entry -I%include %s %t.a -o %t
// RUN: %run %t
#include <kstackrand/abi.h>
#include <kstackrand/kstackrand.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

extern struct kstackrand_process __kstackrand_process;
extern uint64_t settings_page;

static sigjmp_buf after_fault;

__attribute__((noinline)) void entry(void)
{
	__asm__ volatile("");
}

static void on_fault(int number)
{
	siglongjmp(after_fault, number);
}

static int faults(uint64_t *word)
{
	if (sigsetjmp(after_fault, 1))
		return 1;
	*(volatile uint64_t *)word = *word;
	return 0;
}

/* 0, or a number for each fault that there was not. */
static int all_fault(void)
{
	entry();
	if (__kstackrand_process.key == 0 || settings_page == 0)
		return 1;
	if (!faults(&__kstackrand_process.key))
		return 2;
	if (!faults(&__kstackrand_process.siphash_key[0]) || !faults(&__kstackrand_process.siphash_key[1]))
		return 3;
	return faults(&settings_page) ? 0 : 4;
}

static int check(const char *who)
{
	int wrong = all_fault();

	/* Whoever changes the mode opens the pages, and must close them. */
	if (!wrong && !kstackrand_set_mode(KSTACKRAND_OFF, 0) && !kstackrand_set_mode(KSTACKRAND_RANDOM, 0))
		wrong = all_fault();
	if (wrong)
		fprintf(stderr, "%s: %s\n", who,
		        (const char *[]){ "no key", "the key could be written", "the other keys could be written",
		                          "the mode could be written" }[wrong - 1]);
	return wrong;
}

int main(void)
{
	int status;

	signal(SIGSEGV, on_fault);
	if (check("the process"))
		return 1;
	if (fork() == 0)
		_exit(check("a child"));
	return wait(&status) < 0 || status != 0;
}
