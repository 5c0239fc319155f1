/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The draw and the shift, put on the entry edge of each marked function.
 *
 * The place is just before the pass `optimized`, the last one on GIMPLE, as for
 * Linux's stackleak plugin: it runs at every -O level and in LTO's code
 * generation, and comes after all that would do harm. Earlier, inlining would
 * copy the shift into callers, tail recursion would put it inside the loop,
 * AddressSanitizer would poison it, and -Walloca would report it. One thing has
 * then gone too far: calls are already marked as tail calls, which would leave
 * by a jump after the stack was put back, and the callee would run unshifted.
 * The marks are cleared.
 */

#include "plugin.h"

/* The symbol that an object holds while its entries still wait for the link
   step of LTO. Nobody defines it: a link without the plugin fails and names
   what is missing.  */
#define LTO_GUARD_SYMBOL "__kstackrand_lto_link_needs_fplugin_kstackrand"

/* GCC's collector must know these: they live from function to function.  */
static GTY (()) tree process_decl;
static GTY (()) tree thread_decl;
static GTY (()) tree offset_fndecl;
static GTY (()) tree offset_siphash_fndecl;
static GTY (()) tree lto_guard_fndecl;

#define ROOT(variable)                                                         \
  {                                                                            \
    &variable, 1, sizeof (variable), &gt_ggc_mx_tree_node,                     \
      &gt_pch_nx_tree_node                                                     \
  }

const struct ggc_root_tab prologue_roots[]
  = { ROOT (process_decl),     ROOT (thread_decl),
      ROOT (offset_fndecl),    ROOT (offset_siphash_fndecl),
      ROOT (lto_guard_fndecl), LAST_GGC_ROOT_TAB };

/* What the runtime defines.  */

static tree
extern_variable (const char *name, unsigned bytes)
{
  tree type
    = build_array_type_nelts (uint64_type_node, bytes / sizeof (uint64_t));
  tree decl
    = build_decl (UNKNOWN_LOCATION, VAR_DECL, get_identifier (name), type);
  TREE_PUBLIC (decl) = 1;
  DECL_EXTERNAL (decl) = 1;
  return decl;
}

tree
extern_function (const char *name, tree return_type)
{
  tree type = build_function_type_list (return_type, NULL_TREE);
  return build_fn_decl (name, type);
}

static void
declare_runtime (void)
{
  if (process_decl)
    return;
  process_decl
    = extern_variable (KSTACKRAND_PROCESS_SYMBOL, sizeof (kstackrand_process));
  thread_decl
    = extern_variable (KSTACKRAND_THREAD_SYMBOL, sizeof (kstackrand_thread));
  /* A general access would be a call to __tls_get_addr in a shared library.  */
  set_decl_tls_model (thread_decl, TLS_MODEL_INITIAL_EXEC);
  offset_fndecl = extern_function (KSTACKRAND_OFFSET_SYMBOL, size_type_node);
  offset_siphash_fndecl
    = extern_function (KSTACKRAND_OFFSET_SIPHASH_SYMBOL, size_type_node);
}

static tree
lto_guard (void)
{
  if (!lto_guard_fndecl)
    lto_guard_fndecl = extern_function (LTO_GUARD_SYMBOL, void_type_node);
  return lto_guard_fndecl;
}

/* The 64-bit word at BYTE in DECL.  */

static tree
word_at (tree decl, unsigned byte)
{
  return build2 (MEM_REF, uint64_type_node, build_fold_addr_expr (decl),
		 build_int_cst (ptr_type_node, byte));
}

/* Statements, appended one after the other.  */

static void
append (gimple_stmt_iterator *gsi, gimple *stmt)
{
  gimple_set_location (stmt, cfun->function_start_locus);
  gsi_insert_after (gsi, stmt, GSI_NEW_STMT);
}

static tree
append_load (gimple_stmt_iterator *gsi, tree decl, unsigned byte)
{
  tree value = make_ssa_name (uint64_type_node);
  append (gsi, gimple_build_assign (value, word_at (decl, byte)));
  return value;
}

static tree
append_binary (gimple_stmt_iterator *gsi, tree_code code, tree left, tree right)
{
  tree value = make_ssa_name (uint64_type_node);
  append (gsi, gimple_build_assign (value, code, left, right));
  return value;
}

tree
emit_call (gimple_stmt_iterator *gsi, tree fndecl, tree type)
{
  tree value = make_ssa_name (type);
  gcall *call = gimple_build_call (fndecl, 0);
  gimple_call_set_lhs (call, value);
  append (gsi, call);
  return value;
}

/* An lvalue or SSA name becomes the statement's; so does its definition.  */

static vec<tree, va_gc> *
asm_operands (const asm_operand *operands)
{
  vec<tree, va_gc> *list = NULL;
  for (; operands->constraint; operands++)
    {
      tree constraint = build_string (strlen (operands->constraint) + 1,
				      operands->constraint);
      vec_safe_push (list,
		     build_tree_list (build_tree_list (NULL_TREE, constraint),
				      unshare_expr (operands->value)));
    }
  return list;
}

void
emit_asm (gimple_stmt_iterator *gsi, const char *text,
	  const asm_operand *outputs, const asm_operand *inputs,
	  const char *const *clobbers)
{
  vec<tree, va_gc> *clobber_list = NULL;
  for (; *clobbers; clobbers++)
    vec_safe_push (
      clobber_list,
      build_tree_list (NULL_TREE,
		       build_string (strlen (*clobbers) + 1, *clobbers)));
  gasm *stmt = gimple_build_asm_vec (
    text, asm_operands (inputs), asm_operands (outputs), clobber_list, NULL);
  gimple_asm_set_volatile (stmt, true);
  for (; outputs->constraint; outputs++)
    if (TREE_CODE (outputs->value) == SSA_NAME)
      SSA_NAME_DEF_STMT (outputs->value) = stmt;
  append (gsi, stmt);
}

/* The shift.  Alignment of one byte and a size known to be a multiple of the
   stack's alignment: with more, GCC would round up, and the range would be 16
   … 1024 instead of 0 … 1008.  "For a variable" keeps -Walloca and
   -Wstack-usage silent; the maximum makes -fstack-usage say "bounded".  Nobody
   uses what is allocated; expansion, which is next, shifts all the same.  */

static void
append_shift (gimple_stmt_iterator *gsi, tree offset, unsigned bits)
{
  gcall *call = gimple_build_call (
    builtin_decl_explicit (BUILT_IN_ALLOCA_WITH_ALIGN_AND_MAX), 3, offset,
    size_int (BITS_PER_UNIT), size_int (kstackrand_mask (bits)));
  gimple_call_set_alloca_for_var (call, true);
  append (gsi, call);
}

static tree
append_mask (gimple_stmt_iterator *gsi, tree offset, unsigned bits)
{
  return append_binary (
    gsi, BIT_AND_EXPR, offset,
    build_int_cst (uint64_type_node, kstackrand_mask (bits)));
}

/* Model `call`.  */

static void
append_call_draw (basic_block bb, const entry_settings &settings)
{
  gimple_stmt_iterator gsi = gsi_last_bb (bb);
  tree drawn
    = emit_call (&gsi,
		 settings.rng == KSTACKRAND_RNG_SIPHASH ? offset_siphash_fndecl
							: offset_fndecl,
		 size_type_node);
  tree offset = make_ssa_name (uint64_type_node);
  append (&gsi, gimple_build_assign (offset, NOP_EXPR, drawn));
  append_shift (&gsi, append_mask (&gsi, offset, settings.bits), settings.bits);
  emit_entry_note (&gsi, settings);
}

/* Model `inline`, as abi.h spells it:

     draw: if (key != seal) goto slow; else goto fast;
     fast: counter = fetch_add (...);  word = ...;  offset_1 = word & mask;
     slow: offset_2 = __kstackrand_draw_slow ();
     join: offset = PHI <offset_1, offset_2>; shift

   Both paths mask for themselves: a mask after the join would be combined with
   the subtraction into a longer sequence on arm64.  */

static tree
append_fast_word (gimple_stmt_iterator *gsi, tree counter, tree key)
{
  tree keyed = append_binary (gsi, BIT_XOR_EXPR, counter, key);
  tree square = append_binary (gsi, MULT_EXPR, keyed, keyed);
  return append_binary (gsi, MULT_HIGHPART_EXPR, square, counter);
}

static tree
append_siphash_word (gimple_stmt_iterator *gsi, tree counter, tree step)
{
  const unsigned key_at = KSTACKRAND_PROCESS_SIPHASH_KEY;
  tree key0 = append_load (gsi, process_decl, key_at);
  tree key1 = append_load (gsi, process_decl, key_at + sizeof (uint64_t));
  tree v0 = key0, v1 = key1, v2 = key0, v3 = key1;
#define ADD(a, b) a = append_binary (gsi, PLUS_EXPR, a, b);
#define XOR(a, b) a = append_binary (gsi, BIT_XOR_EXPR, a, b);
#define ROTATE(a, bits)                                                        \
  a = append_binary (gsi, LROTATE_EXPR, a,                                     \
		     build_int_cst (unsigned_type_node, bits));
#define WORD(word) build_int_cst (uint64_type_node, word)
  KSTACKRAND_SIPHASH_STEPS (ADD, XOR, ROTATE, WORD, v0, v1, v2, v3, counter)
#undef ADD
#undef XOR
#undef ROTATE
#undef WORD
  /* All ones, or nothing when switched off.  */
  tree odd
    = append_binary (gsi, BIT_AND_EXPR, step, build_one_cst (uint64_type_node));
  tree on
    = append_binary (gsi, MINUS_EXPR, build_zero_cst (uint64_type_node), odd);
  return append_binary (gsi, BIT_AND_EXPR, v0, on);
}

static tree
append_fast_path (basic_block bb, tree key, tree step,
		  const entry_settings &settings)
{
  gimple_stmt_iterator gsi = gsi_last_bb (bb);
  if (!step)
    step = append_load (&gsi, thread_decl, KSTACKRAND_THREAD_STEP);
  tree counter = make_ssa_name (uint64_type_node);
  emit_fetch_add (&gsi, counter,
		  word_at (thread_decl, KSTACKRAND_THREAD_COUNTER), step);
  tree word = settings.rng == KSTACKRAND_RNG_SIPHASH
		? append_siphash_word (&gsi, counter, step)
		: append_fast_word (&gsi, counter, key);
  return append_mask (&gsi, word, settings.bits);
}

static tree
append_slow_path (basic_block bb, unsigned bits)
{
  gimple_stmt_iterator gsi = gsi_last_bb (bb);
  tree offset = make_ssa_name (uint64_type_node);
  emit_draw_slow (&gsi, offset);
  return append_mask (&gsi, offset, bits);
}

/* Gives FAST and SLOW, the two ways from DRAW to what followed it.  */

static void
split_ways (basic_block draw, edge *fast, edge *slow)
{
  edge to_fast = single_succ_edge (draw);
  basic_block fast_bb = split_edge (to_fast);
  basic_block join = split_edge (single_succ_edge (fast_bb));
  basic_block slow_bb = create_empty_bb (fast_bb);

  to_fast = single_succ_edge (draw);
  to_fast->flags = (to_fast->flags & ~EDGE_FALLTHRU) | EDGE_FALSE_VALUE;
  edge to_slow = make_edge (draw, slow_bb, EDGE_TRUE_VALUE);
  to_slow->probability = profile_probability::very_unlikely ();
  to_fast->probability = to_slow->probability.invert ();
  slow_bb->count = to_slow->count ();
  fast_bb->count = to_fast->count ();
  if (current_loops && draw->loop_father)
    add_bb_to_loop (slow_bb, draw->loop_father);
  *slow = make_single_succ_edge (slow_bb, join, EDGE_FALLTHRU);
  *fast = single_succ_edge (fast_bb);
}

static void
append_inline_draw (basic_block draw, const entry_settings &settings)
{
  edge fast, slow;
  gimple_stmt_iterator gsi = gsi_last_bb (draw);
  tree key = append_load (&gsi, process_decl, KSTACKRAND_PROCESS_KEY);
  tree seal = append_load (&gsi, thread_decl, KSTACKRAND_THREAD_SEAL);
  tree step = NULL_TREE;
  if (target_loads_pairs ())
    step = append_load (&gsi, thread_decl, KSTACKRAND_THREAD_STEP);
  append (&gsi, gimple_build_cond (NE_EXPR, key, seal, NULL_TREE, NULL_TREE));
  split_ways (draw, &fast, &slow);

  gphi *offset = create_phi_node (make_ssa_name (uint64_type_node), fast->dest);
  add_phi_arg (offset, append_fast_path (fast->src, key, step, settings), fast,
	       UNKNOWN_LOCATION);
  add_phi_arg (offset, append_slow_path (slow->src, settings.bits), slow,
	       UNKNOWN_LOCATION);
  gsi = gsi_last_bb (fast->dest);
  append_shift (&gsi, gimple_phi_result (offset), settings.bits);
  emit_entry_note (&gsi, settings);
}

/* Model `linux`. The reseed comes first: what it calls runs where the function
   itself would have been, and the draw is the first from what is fresh.  */

static void
append_linux_draw (basic_block draw, const entry_settings &settings)
{
  gimple_stmt_iterator gsi = gsi_last_bb (draw);
  if (settings.reseed)
    emit_linux_reseed (&gsi, settings);
  if (settings.entry)
    {
      tree offset = emit_linux_draw (&gsi, settings);
      append_shift (&gsi, append_mask (&gsi, offset, settings.bits),
		    settings.bits);
    }
  emit_entry_note (&gsi, settings);
}

/* The entry edge, not the first block: that one may head a loop.  */

static void
instrument (const entry_settings &settings)
{
  basic_block draw
    = split_edge (single_succ_edge (ENTRY_BLOCK_PTR_FOR_FN (cfun)));
  declare_runtime ();
  switch (settings.model)
    {
    case KSTACKRAND_MODEL_INLINE:
      append_inline_draw (draw, settings);
      break;
    case KSTACKRAND_MODEL_CALL:
      append_call_draw (draw, settings);
      break;
    case KSTACKRAND_MODEL_LINUX:
      append_linux_draw (draw, settings);
      break;
    }
  free_dominance_info (CDI_DOMINATORS);
  free_dominance_info (CDI_POST_DOMINATORS);
  mark_virtual_operands_for_renaming (cfun);
}

static bool
calls_lto_guard (gimple *stmt)
{
  tree callee = is_gimple_call (stmt) ? gimple_call_fndecl (stmt) : NULL_TREE;
  return callee && id_equal (DECL_ASSEMBLER_NAME (callee), LTO_GUARD_SYMBOL);
}

static void
remove_lto_guard (function *fn)
{
  basic_block bb;
  FOR_EACH_BB_FN (bb, fn)
    for (gimple_stmt_iterator gsi = gsi_start_bb (bb); !gsi_end_p (gsi);
	 gsi_next (&gsi))
      if (calls_lto_guard (gsi_stmt (gsi)))
	{
	  gimple *call = gsi_stmt (gsi);
	  unlink_stmt_vdef (call);
	  gsi_remove (&gsi, true);
	  release_defs (call);
	  return;
	}
}

static void
clear_tail_marks (function *fn)
{
  basic_block bb;
  FOR_EACH_BB_FN (bb, fn)
    for (gimple_stmt_iterator gsi = gsi_start_bb (bb); !gsi_end_p (gsi);
	 gsi_next (&gsi))
      if (gcall *call = dyn_cast<gcall *> (gsi_stmt (gsi)))
	gimple_call_set_tail (call, false);
}

static void
remark (tree fndecl, const entry_settings &settings)
{
  if (settings.entry && dump_enabled_p ())
    dump_printf_loc (
      MSG_OPTIMIZED_LOCATIONS,
      dump_user_location_t::from_function_decl (fndecl),
      "kstackrand: shifting the stack of %s, model %s, %u bits, rng %s\n",
      IDENTIFIER_POINTER (DECL_ASSEMBLER_NAME (fndecl)),
      kstackrand_model_name (settings.model), settings.bits,
      kstackrand_rng_name (settings.rng));
}

/* Passes.  */

static const pass_data prologue_data = {
  GIMPLE_PASS,
  "kstackrand",
  OPTGROUP_OTHER,
  TV_PLUGIN_RUN,
  PROP_cfg | PROP_ssa,
  0,
  0,
  0,
  KSTACKRAND_TODO,
};

class prologue_pass : public gimple_opt_pass
{
public:
  prologue_pass (gcc::context *context)
    : gimple_opt_pass (prologue_data, context)
  {
  }

  bool
  gate (function *fn) override
  {
    entry_settings settings;
    return is_marked (fn->decl, &settings);
  }

  unsigned int
  execute (function *fn) override
  {
    entry_settings settings;
    is_marked (fn->decl, &settings);
    remove_lto_guard (fn);
    if (settings.entry && has_must_tail_call (fn))
      {
	const char *reason = kstackrand_refusal (KSTACKRAND_FACT_MUST_TAIL);
	report_refusal (fn->decl, true, "its mark", reason);
	emit_refusal_note (fn->decl, settings, reason);
	return 0;
      }
    if (settings.entry)
      clear_tail_marks (fn);
    instrument (settings);
    remark (fn->decl, settings);
    return 0;
  }
};

opt_pass *
make_prologue_pass (gcc::context *context)
{
  return new prologue_pass (context);
}

/* Objects for LTO hold the functions as they are before the prologue is made;
   that is left to the link step, which has the plugin only if it is given
   there, too. A call to a function that does not exist makes sure.  */

static const pass_data lto_guard_data = {
  GIMPLE_PASS,
  "kstackrand_lto_guard",
  OPTGROUP_NONE,
  TV_PLUGIN_RUN,
  PROP_cfg | PROP_ssa,
  0,
  0,
  0,
  KSTACKRAND_TODO,
};

class lto_guard_pass : public gimple_opt_pass
{
public:
  lto_guard_pass (gcc::context *context)
    : gimple_opt_pass (lto_guard_data, context)
  {
  }

  bool
  gate (function *fn) override
  {
    entry_settings settings;
    return flag_generate_lto && is_marked (fn->decl, &settings);
  }

  unsigned int
  execute (function *fn) override
  {
    basic_block bb
      = split_edge (single_succ_edge (ENTRY_BLOCK_PTR_FOR_FN (fn)));
    gimple_stmt_iterator gsi = gsi_last_bb (bb);
    append (&gsi, gimple_build_call (lto_guard (), 0));
    cgraph_edge::rebuild_edges ();
    mark_virtual_operands_for_renaming (fn);
    return 0;
  }
};

opt_pass *
make_lto_guard_pass (gcc::context *context)
{
  return new lto_guard_pass (context);
}
