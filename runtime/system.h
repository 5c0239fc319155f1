/* SPDX-License-Identifier: MIT */
/*
 * The system calls of the slow path, made without libc. The slow path stands in
 * the prologue of any function, with its arguments live in any register:
 * libc's own wrappers may use vector registers and set errno, these do neither.
 *
 * All return what the kernel returned: a negative errno value for failure.
 * All may be called from signal handlers, before main and after fork.
 */
#ifndef KSTACKRAND_RUNTIME_SYSTEM_H
#define KSTACKRAND_RUNTIME_SYSTEM_H

#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>

#if defined(__x86_64__)

static inline long system_call(long number, long a, long b, long c, long d)
{
	register long r10 __asm__("r10") = d;
	long result;

	__asm__ volatile("syscall"
	                 : "=a"(result)
	                 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10)
	                 : "rcx", "r11", "memory");
	return result;
}

/* Ticks of a counter that nobody outside can read exactly. */
static inline uint64_t system_ticks(void)
{
	uint32_t low, high;

	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
	return (uint64_t)high << 32 | low;
}

/*
 * Adds `amount` to a counter of this thread and gives its old value, in one
 * instruction: a signal handler that draws comes before it or after it, never
 * between the load and the store. No lock prefix: no other thread writes here.
 */
static inline uint64_t thread_fetch_add(uint64_t *counter, uint64_t amount)
{
	__asm__ volatile("xaddq %0, %1" : "+r"(amount), "+m"(*counter) : : "cc");
	return amount;
}

#elif defined(__aarch64__)

static inline long system_call(long number, long a, long b, long c, long d)
{
	register long x8 __asm__("x8") = number;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;

	__asm__ volatile("svc #0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3) : "cc", "memory");
	return x0;
}

static inline uint64_t system_ticks(void)
{
	uint64_t ticks;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
	return ticks;
}

/* As on x86_64; here the store fails, and all is done again, when an exception
 * came between: returning from one clears the exclusive monitor. */
static inline uint64_t thread_fetch_add(uint64_t *counter, uint64_t amount)
{
	uint64_t old, new;
	uint32_t failed;

	__asm__ volatile("1:	ldxr	%0, %3\n"
	                 "	add	%1, %0, %4\n"
	                 "	stxr	%w2, %1, %3\n"
	                 "	cbnz	%w2, 1b"
	                 : "=&r"(old), "=&r"(new), "=&r"(failed), "+Q"(*counter)
	                 : "r"(amount));
	return old;
}

#else
#error "kstackrand: only x86_64 and aarch64 are supported"
#endif

#endif /* KSTACKRAND_RUNTIME_SYSTEM_H */
