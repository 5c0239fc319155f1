/* SPDX-License-Identifier: MIT */
/*
 * A program of 32 bits, without a library: makes system calls for init.c, which
 * sees from outside where the stack stood.
 *
 *     compat COUNT FD    for each byte of its input, which it gives back: writes
 *                        to LKDTM's trigger, open as FD, COUNT times; or calls
 *                        getppid() so often, if FD is 0
 */
/* The same numbers on i386 and arm. */
enum { EXIT = 1, READ = 3, WRITE = 4, GETPPID = 64 };

static const char report[] = "REPORT_STACK";

#ifdef __i386__
__asm__(".globl _start\n"
        "_start:\n\t"
        "mov %esp, %eax\n\t"
        "and $-16, %esp\n\t"
        "push %eax\n\t"
        "push %eax\n\t"
        "push %eax\n\t"
        "push %eax\n\t"
        "call run");

/* The vDSO's way into the kernel, SYSENTER or SYSCALL as the processor has it. */
static unsigned long way_in;

static long call(long number, long first, const void *second, unsigned long third)
{
	long result;

	__asm__ volatile("call *%1"
	                 : "=a"(result)
	                 : "m"(way_in), "a"(number), "b"(first), "c"(second), "d"(third)
	                 : "memory", "cc");
	return result;
}

static void find_way_in(const unsigned long *auxiliary)
{
	enum { AT_SYSINFO = 32 };

	for (; auxiliary[0] != 0; auxiliary += 2)
		if (auxiliary[0] == AT_SYSINFO)
			way_in = auxiliary[1];
}
#else
__asm__(".globl _start\n"
        "_start:\n\t"
        "mov r0, sp\n\t"
        "bl run");

static unsigned long way_in = 1;

static long call(long number, long first, const void *second, unsigned long third)
{
	register long r7 __asm__("r7") = number;
	register long r0 __asm__("r0") = first;
	register const void *r1 __asm__("r1") = second;
	register unsigned long r2 __asm__("r2") = third;

	__asm__ volatile("svc #0" : "+r"(r0) : "r"(r7), "r"(r1), "r"(r2) : "memory", "cc");
	return r0;
}

static void find_way_in(const unsigned long *auxiliary)
{
	(void)auxiliary;
}
#endif

static long number_in(const char *text)
{
	long number = 0;

	for (; *text >= '0' && *text <= '9'; text++)
		number = 10 * number + *text - '0';
	return number;
}

static int draw_some(long count, long fd)
{
	while (count-- > 0)
		if ((fd ? call(WRITE, fd, report, sizeof(report) - 1) : call(GETPPID, 0, 0, 0)) < 0)
			return 2;
	return 0;
}

static int draw_when_asked(long count, long fd)
{
	int status = 0;
	char byte;

	while (!status && call(READ, 0, &byte, 1) == 1) {
		status = draw_some(count, fd);
		if (call(WRITE, 1, &byte, 1) != 1)
			status = 3;
	}
	return status;
}

static void leave(int status)
{
#ifdef __i386__
	__asm__ volatile("int $0x80" : : "a"(EXIT), "b"(status));
#else
	call(EXIT, status, 0, 0);
#endif
	__builtin_unreachable();
}

/* As the kernel leaves the stack: the number of arguments, the arguments, a
 * zero, the environment, a zero, the auxiliary vector. */
void run(const unsigned long *stack);

void run(const unsigned long *stack)
{
	const char *const *arguments = (const char *const *)(stack + 1);
	const unsigned long *end = stack + 2 + stack[0];

	while (*end++ != 0)
		;
	find_way_in(end);
	if (stack[0] != 3 || !way_in)
		leave(1);
	leave(draw_when_asked(number_in(arguments[1]), number_in(arguments[2])));
}
