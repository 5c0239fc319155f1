/* SPDX-License-Identifier: MIT */
/*
 * __kstackrand_draw_slow, called from inside prologues, where arguments are
 * live in any register. Takes nothing, gives the offset in bytes in x16, and
 * keeps every other register but x17, x30 and the flags; vector registers too,
 * since what it calls is compiled without them.
 *
 * The landing pad and the signing of the return address are in the hint space:
 * no-ops on a CPU that has neither BTI nor PAC.
 */
#include <kstackrand/abi.h>

	.text
	.globl	__kstackrand_draw_slow
	.type	__kstackrand_draw_slow, %function
__kstackrand_draw_slow:
	.cfi_startproc
	hint	#25			/* paciasp, which is a landing pad, too */
	.cfi_negate_ra_state
	stp	x29, x30, [sp, -160]!
	.cfi_def_cfa_offset 160
	.cfi_offset x29, -160
	.cfi_offset x30, -152
	mov	x29, sp
	stp	x0, x1, [sp, 16]
	stp	x2, x3, [sp, 32]
	stp	x4, x5, [sp, 48]
	stp	x6, x7, [sp, 64]
	stp	x8, x9, [sp, 80]
	stp	x10, x11, [sp, 96]
	stp	x12, x13, [sp, 112]
	stp	x14, x15, [sp, 128]
	str	x18, [sp, 144]
	bl	kstackrand_slow_offset
	mov	x16, x0
	ldp	x0, x1, [sp, 16]
	ldp	x2, x3, [sp, 32]
	ldp	x4, x5, [sp, 48]
	ldp	x6, x7, [sp, 64]
	ldp	x8, x9, [sp, 80]
	ldp	x10, x11, [sp, 96]
	ldp	x12, x13, [sp, 112]
	ldp	x14, x15, [sp, 128]
	ldr	x18, [sp, 144]
	ldp	x29, x30, [sp], 160
	.cfi_restore x29
	.cfi_restore x30
	.cfi_def_cfa_offset 0
	hint	#29			/* autiasp */
	.cfi_negate_ra_state
	ret
	.cfi_endproc
	.size	__kstackrand_draw_slow, .-__kstackrand_draw_slow

	/* "Made for BTI and PAC": a linker asked for them wants it of each object. */
	.section .note.gnu.property,"a",%note
	.align	3
	.word	4, 16, 5		/* name size, descriptor size, NT_GNU_PROPERTY_TYPE_0 */
	.asciz	"GNU"
	.word	0xc0000000, 4, 3, 0	/* FEATURE_1_AND, size, BTI | PAC, padding */

	.section .note.GNU-stack,"",%progbits
