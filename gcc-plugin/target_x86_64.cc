/* SPDX-License-Identifier: GPL-3.0-or-later */
/* x86_64: what GIMPLE cannot say.  Both spellings of each instruction, for
   -masm=intel.  Every asm clobbers the flags here.  */

#include "plugin.h"

enum kstackrand_arch
target_arch (void)
{
  return KSTACKRAND_ARCH_X86_64;
}

/* Where the step is loaded in an earlier block than it is used in, GCC takes it
   for another register than that of the old counter, and copies it.  */

bool
target_loads_pairs (void)
{
  return false;
}

/* One instruction, which a signal cannot split; no lock prefix, since no other
   thread writes to this counter.  In %rax, where the multiplication wants it.  */

void
emit_fetch_add (gimple_stmt_iterator *gsi, tree old, tree counter, tree step)
{
  const asm_operand outputs[] = { { "=a", old }, { "=m", counter }, {} };
  const asm_operand inputs[] = { { "0", step }, { "m", counter }, {} };
  const char *const clobbers[] = { NULL };
  emit_asm (gsi, "{xaddq\t%0, %1|xadd\t%1, %0}", outputs, inputs, clobbers);
}

/* Through the GOT, not the PLT: binding a PLT slot at the first call would
   clobber registers that the callee itself keeps.  The linker makes it a
   direct call in a static program.  */

void
emit_draw_slow (gimple_stmt_iterator *gsi, tree offset)
{
  const asm_operand outputs[] = { { "=r", offset }, {} };
  const asm_operand inputs[] = { {} };
  const char *const clobbers[] = { "r11", "memory", NULL };
  emit_asm (gsi,
	    "{call\t*" KSTACKRAND_DRAW_SLOW_SYMBOL "@GOTPCREL(%%rip)"
	    "|call\t[QWORD PTR " KSTACKRAND_DRAW_SLOW_SYMBOL
	    "@GOTPCREL[rip]]}\n\t"
	    "{movq\t%%r11, %0|mov\t%0, r11}",
	    outputs, inputs, clobbers);
}
