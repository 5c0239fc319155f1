/* SPDX-License-Identifier: MIT */
/*
 * As much of a kernel as kernel-check.test looks at: entries and reseed points
 * under their names, and what the plugin wants of a kernel. It does not run.
 */
typedef unsigned long u64;

const char param_ops_ulong[1];
u64 __stack_chk_guard;

u64 get_random_u64(void)
{
	return 4;
}

void __stack_chk_fail(void)
{
	for (;;)
		;
}

__attribute__((noinline)) void work(volatile char *room)
{
	*room = 1;
}

/* A buffer, which a stack protector would guard. */
#define ENTRY(name)            \
	void name(void);       \
	void name(void)        \
	{                      \
		char room[32]; \
		work(room);    \
	}

#define RESEED(name)         \
	void name(void);     \
	void name(void)      \
	{                    \
		work((char *)0); \
	}

ENTRY(do_syscall_64)
ENTRY(do_fast_syscall_32)
ENTRY(do_el0_svc)
ENTRY(do_el0_svc_compat)
RESEED(cpu_startup_entry)
RESEED(kernel_execve)
#ifndef NO_TICK
RESEED(sched_tick)
#endif
