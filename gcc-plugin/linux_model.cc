/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Model `linux`: what is special about a kernel.
 *
 * There is no runtime: each file with an entry or a reseed point brings the
 * state along, of which the linker keeps one, and the prologue reaches it by
 * machine code of its own, without a call. That text is the same for both
 * compilers and stands in policy/linux_model.c.
 */

#include "plugin.h"

#include <linux_model.h>

/* Weak, as in mark.cc.  */
extern cpp_reader *parse_in __attribute__ ((weak));
extern int cpp_defined (cpp_reader *, const unsigned char *, int)
  __attribute__ ((weak));

static GTY (()) tree random_fndecl;

const struct ggc_root_tab linux_roots[]
  = { { &random_fndecl, 1, sizeof (random_fndecl), &gt_ggc_mx_tree_node,
	&gt_pch_nx_tree_node },
      LAST_GGC_ROOT_TAB };

/* Kernel configuration comes as macros, defined before the first line.  */

static bool
is_defined (const char *macro)
{
  return &parse_in && &cpp_defined && parse_in
	 && cpp_defined (parse_in, (const unsigned char *) macro,
			 strlen (macro));
}

bool
kernel_is_smp (void)
{
  return is_defined ("CONFIG_SMP");
}

unsigned
kernel_facts (void)
{
  unsigned facts = 0;
  if (!is_defined ("__KERNEL__"))
    facts |= KSTACKRAND_FACT_NOT_KERNEL;
  if (is_defined ("MODULE"))
    facts |= KSTACKRAND_FACT_MODULE;
  return facts;
}

static kstackrand_kernel
describe (const entry_settings &settings)
{
  return { target_arch (), settings.smp, settings.bits };
}

void
emit_linux_state (const entry_settings &settings)
{
  const kstackrand_kernel kernel = describe (settings);
  char *text = kstackrand_linux_state (&kernel);
  symtab->finalize_toplevel_asm (build_string (strlen (text), text));
  free (text);
}

/* Fills OPERANDS with COUNT new registers.  */

static void
fill_outputs (asm_operand *operands, unsigned count, kstackrand_arch arch)
{
  static const char *const x86[] = { "=&d", "=&a" };
  for (unsigned i = 0; i < count; i++)
    operands[i] = { arch == KSTACKRAND_ARCH_X86_64 ? x86[i] : "=&r",
		    make_ssa_name (uint64_type_node) };
  operands[count] = {};
}

static const char *const clobbers[] = { "cc", NULL };

tree
emit_linux_draw (gimple_stmt_iterator *gsi, const entry_settings &settings)
{
  const kstackrand_kernel kernel = describe (settings);
  unsigned count;
  asm_operand outputs[KSTACKRAND_LINUX_OUTPUTS_MAX + 1];
  const asm_operand inputs[] = { {} };
  char *text = kstackrand_linux_draw (&kernel, &count);

  fill_outputs (outputs, count, kernel.arch);
  emit_asm (gsi, text, outputs, inputs, clobbers);
  free (text);
  return outputs[0].value;
}

void
emit_linux_reseed (gimple_stmt_iterator *gsi, const entry_settings &settings)
{
  const kstackrand_kernel kernel = describe (settings);
  unsigned count;
  asm_operand outputs[KSTACKRAND_LINUX_OUTPUTS_MAX + 1];
  asm_operand inputs[KSTACKRAND_LINUX_RANDOM_WORDS + 1];
  char *text = kstackrand_linux_reseed (&kernel, &count);

  if (!random_fndecl)
    random_fndecl
      = extern_function (KSTACKRAND_LINUX_RANDOM_SYMBOL, uint64_type_node);
  for (unsigned i = 0; i < KSTACKRAND_LINUX_RANDOM_WORDS; i++)
    {
      inputs[i] = { "r", emit_call (gsi, random_fndecl, uint64_type_node) };
      inputs[i + 1] = {};
    }
  fill_outputs (outputs, count, kernel.arch);
  emit_asm (gsi, text, outputs, inputs, clobbers);
  free (text);
}

/* The draw masks with what is in memory, and that is always a valid mask.  GCC
   cannot know: it needs a mask of its own to see that the stack stays aligned,
   or else it would round the offset up.  It has seen it for the last time in
   `combine`, which throws the rounding away; from there on the mask is one
   instruction for nothing.  */

/* Whether INSN is an asm of ours, a draw or a reseed; OFFSET is then its first
   output.  */

static bool
is_ours (rtx_insn *insn, rtx *offset)
{
  rtx pattern = PATTERN (insn);
  if (GET_CODE (pattern) != PARALLEL)
    return false;
  rtx set = XVECEXP (pattern, 0, 0);
  if (GET_CODE (set) != SET || GET_CODE (SET_SRC (set)) != ASM_OPERANDS
      || !strstr (ASM_OPERANDS_TEMPLATE (SET_SRC (set)), KSTACKRAND_CPU_SYMBOL))
    return false;
  *offset = SET_DEST (set);
  return REG_P (*offset);
}

/* Whether INSN is RESULT = OFFSET & MASK.  */

static bool
is_mask_of (rtx_insn *insn, rtx offset, uint64_t mask, rtx *result)
{
  rtx set = single_set (insn);
  if (!set || GET_CODE (SET_SRC (set)) != AND
      || !rtx_equal_p (XEXP (SET_SRC (set), 0), offset)
      || !CONST_INT_P (XEXP (SET_SRC (set), 1))
      || UINTVAL (XEXP (SET_SRC (set), 1)) != mask)
    return false;
  *result = SET_DEST (set);
  return REG_P (*result);
}

static bool
unmask (rtx_insn *draw, rtx offset, uint64_t mask)
{
  rtx result;
  for (rtx_insn *insn = next_nonnote_nondebug_insn_bb (draw); insn;
       insn = next_nonnote_nondebug_insn_bb (insn))
    if (is_mask_of (insn, offset, mask, &result))
      {
	emit_insn_before (gen_rtx_SET (result, offset), insn);
	delete_insn (insn);
	return true;
      }
  return false;
}

static const pass_data unmask_data = {
  RTL_PASS, "kstackrand_unmask", OPTGROUP_NONE, TV_PLUGIN_RUN, 0, 0, 0, 0, 0,
};

class unmask_pass : public rtl_opt_pass
{
public:
  unmask_pass (gcc::context *context) : rtl_opt_pass (unmask_data, context) {}

  bool
  gate (function *fn) override
  {
    entry_settings settings;
    return is_marked (fn->decl, &settings) && settings.entry
	   && settings.model == KSTACKRAND_MODEL_LINUX;
  }

  unsigned int
  execute (function *fn) override
  {
    entry_settings settings;
    rtx offset;
    is_marked (fn->decl, &settings);
    for (rtx_insn *insn = get_insns (); insn; insn = NEXT_INSN (insn))
      if (NONJUMP_INSN_P (insn) && is_ours (insn, &offset)
	  && unmask (insn, offset, kstackrand_mask (settings.bits)))
	break;
    return 0;
  }
};

opt_pass *
make_unmask_pass (gcc::context *context)
{
  return new unmask_pass (context);
}
