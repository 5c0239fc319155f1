/* SPDX-License-Identifier: MIT */
/*
 * __kstackrand_draw_slow, called from inside prologues, where arguments are
 * live in any register. Takes nothing, gives the offset in bytes in r11, and
 * keeps every other register but the flags; vector registers too, since what
 * it calls is compiled without them. Aligns the stack by itself: a function
 * that makes no calls of its own need not have done so.
 */
#include <kstackrand/abi.h>
#ifdef __CET__
#include <cet.h>
#else
#define _CET_ENDBR
#endif

	.text
	.globl	__kstackrand_draw_slow
	.type	__kstackrand_draw_slow, @function
__kstackrand_draw_slow:
	.cfi_startproc
	_CET_ENDBR
	pushq	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset rbp, -16
	movq	%rsp, %rbp
	.cfi_def_cfa_register rbp
	pushq	%rax
	pushq	%rcx
	pushq	%rdx
	pushq	%rsi
	pushq	%rdi
	pushq	%r8
	pushq	%r9
	pushq	%r10
	andq	$-16, %rsp
	call	kstackrand_slow_offset
	movq	%rax, %r11
	leaq	-64(%rbp), %rsp
	popq	%r10
	popq	%r9
	popq	%r8
	popq	%rdi
	popq	%rsi
	popq	%rdx
	popq	%rcx
	popq	%rax
	popq	%rbp
	.cfi_def_cfa rsp, 8
	ret
	.cfi_endproc
	.size	__kstackrand_draw_slow, .-__kstackrand_draw_slow

	.section .note.GNU-stack,"",@progbits
