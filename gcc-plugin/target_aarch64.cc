/* SPDX-License-Identifier: GPL-3.0-or-later */
/* arm64: what GIMPLE cannot say.  */

#include "plugin.h"

enum kstackrand_arch
target_arch (void)
{
  return KSTACKRAND_ARCH_AARCH64;
}

/* The step lies beside the seal, and comes with it.  */

bool
target_loads_pairs (void)
{
  return true;
}

/* Returning from an exception clears the exclusive monitor: after a signal
   handler that drew, the store fails and all is done again.  The three
   instructions between the labels must not be split by a spill, hence one
   asm and no builtins.  */

void
emit_fetch_add (gimple_stmt_iterator *gsi, tree old, tree counter, tree step)
{
  tree sum = make_ssa_name (TREE_TYPE (old));
  tree failed = make_ssa_name (unsigned_type_node);
  const asm_operand outputs[] = {
    { "=&r", old }, { "=&r", sum }, { "=&r", failed }, { "=Q", counter }, {}
  };
  const asm_operand inputs[] = { { "r", step }, { "Q", counter }, {} };
  const char *const clobbers[] = { NULL };
  emit_asm (gsi,
	    "1:\n\tldxr\t%0, %3\n\t"
	    "add\t%1, %0, %4\n\t"
	    "stxr\t%w2, %1, %3\n\t"
	    "cbnz\t%w2, 1b",
	    outputs, inputs, clobbers);
}

/* Through the GOT, not the PLT: binding a PLT slot at the first call would
   clobber registers that the callee itself keeps.  x16 and x17 are free at any
   call, and x16 is the register that BTI allows to jump through.  */

void
emit_draw_slow (gimple_stmt_iterator *gsi, tree offset)
{
  const asm_operand outputs[] = { { "=r", offset }, {} };
  const asm_operand inputs[] = { {} };
  const char *const clobbers[] = { "x16", "x17", "x30", "cc", "memory", NULL };
  emit_asm (gsi,
	    "adrp\tx16, :got:" KSTACKRAND_DRAW_SLOW_SYMBOL "\n\t"
	    "ldr\tx16, [x16, :got_lo12:" KSTACKRAND_DRAW_SLOW_SYMBOL "]\n\t"
	    "blr\tx16\n\t"
	    "mov\t%0, x16",
	    outputs, inputs, clobbers);
}
