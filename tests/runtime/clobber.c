// SPDX-License-Identifier: MIT
// The way into the slow path keeps every register that a prologue counts on,
// whatever the code behind it does to those that C may use freely.
// RUN: %plain_cc -O1 -I%include %s %source/runtime/draw_slow_%arch.S -o %t && %run_bare %t
#include <stdint.h>
#include <stdio.h>

__attribute__((used)) uint64_t seen[20];

#if defined(__x86_64__)
#define REGISTERS 8
__asm__(".text\n.globl kstackrand_slow_offset\nkstackrand_slow_offset:\n"
        /* Called with an unaligned stack, it gives 1 and not the offset. */
        "leaq 8(%rsp), %rcx\n andl $15, %ecx\n"
        "movl $0x50, %eax\n testl %ecx, %ecx\n je 1f\n movl $1, %eax\n1:\n"
        "xorl %ecx, %ecx\n xorl %edx, %edx\n xorl %esi, %esi\n xorl %edi, %edi\n"
        "xorl %r8d, %r8d\n xorl %r9d, %r9d\n xorl %r10d, %r10d\n xorl %r11d, %r11d\n ret\n"
        "run:\n subq $8, %rsp\n call run_unaligned\n addq $8, %rsp\n ret\n"
        "run_unaligned:\n"
        "movl $1, %eax\n movl $2, %ecx\n movl $3, %edx\n movl $4, %esi\n movl $5, %edi\n"
        "movl $6, %r8d\n movl $7, %r9d\n movl $8, %r10d\n"
        "call __kstackrand_draw_slow\n"
        "movq %rax, seen(%rip)\n movq %rcx, seen+8(%rip)\n movq %rdx, seen+16(%rip)\n"
        "movq %rsi, seen+24(%rip)\n movq %rdi, seen+32(%rip)\n movq %r8, seen+40(%rip)\n"
        "movq %r9, seen+48(%rip)\n movq %r10, seen+56(%rip)\n movq %r11, %rax\n ret\n");
#else
#define REGISTERS 17
__asm__(".text\n.globl kstackrand_slow_offset\nkstackrand_slow_offset:\n"
        ".irp n, 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18\n mov x\\n, 0\n .endr\n"
        "mov x0, 0x50\n ret\n"
        "run:\n stp x29, x30, [sp, -16]!\n"
        ".irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n mov x\\n, \\n + 1\n .endr\n"
        "mov x18, 17\n bl __kstackrand_draw_slow\n mov x17, x16\n"
        "adrp x16, seen\n add x16, x16, :lo12:seen\n"
        ".irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n str x\\n, [x16], 8\n .endr\n"
        "str x18, [x16]\n mov x0, x17\n ldp x29, x30, [sp], 16\n ret\n");
#endif

uint64_t run(void);
uint64_t run_unaligned(void);

static int check(uint64_t offset)
{
	if (offset != 0x50) {
		fprintf(stderr, "offset %#lx\n", (unsigned long)offset);
		return 1;
	}
	for (unsigned i = 0; i < REGISTERS; i++) {
		if (seen[i] != i + 1) {
			fprintf(stderr, "register %u is lost\n", i);
			return 1;
		}
		seen[i] = 0;
	}
	return 0;
}

int main(void)
{
	if (check(run()))
		return 1;
#if defined(__x86_64__)
	if (check(run_unaligned()))
		return 1;
#endif
	return 0;
}
