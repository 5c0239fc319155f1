/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the parts of the plugin tell each other.
 *
 *   plugin.cc    loading: version check, arguments, help
 *   mark.cc      early: decides which functions are entries, and keeps them
 *                whole until the end
 *   note.cc      the record in the object of what was done
 *   prologue.cc  late: puts the draw and the shift into each marked function
 *   linux_model.cc  what model `linux` puts into a kernel
 *   target_*.cc  what must be written in machine code
 */
#ifndef KSTACKRAND_GCC_PLUGIN_H
#define KSTACKRAND_GCC_PLUGIN_H

#include "compat.h"

#include <kstackrand/abi.h>
#include <linux_model.h>
#include <note.h>
#include <policy.h>

extern struct kstackrand_policy *kstackrand_policy;

/* mark.cc */

/* How a marked function is to be instrumented. Travels with the function, as
 * an attribute, through LTO. */
struct entry_settings
{
  enum kstackrand_model model;
  enum kstackrand_rng rng;
  unsigned bits;
  bool smp;    /* model linux: the kernel has per-CPU areas */
  bool entry;  /* the stack is shifted */
  bool reseed; /* fresh entropy is mixed in */
};

/* PLUGIN_ATTRIBUTES: makes the attributes for users known.  */
void register_attributes (void *, void *);

/* PLUGIN_START_UNIT, and PLUGIN_PRAGMAS for gcc -E: tell the source that the
   plugin is there.  */
void define_macro (void *, void *);
void define_macro_for_preprocessing (void *, void *);

/* PLUGIN_ALL_IPA_PASSES_START: marks the entries of this unit.  */
void mark_entries (void *, void *);

/* The same for LTO's link step; GCC owns what is returned.  */
opt_pass *make_link_marker_pass (gcc::context *context);

/* Whether FNDECL is marked; fills SETTINGS then.  */
bool is_marked (tree fndecl, entry_settings *settings);

/* Says, as loudly as was asked for, that FNDECL stays as it is.  */
void report_refusal (tree fndecl, bool by_name, const char *because,
		     const char *reason);

/* Whether FN holds a call that must stay a tail call.  */
bool has_must_tail_call (function *fn);

/* note.cc */

/* That this function is an entry or a reseed point; appended at GSI, behind the
   shift.  */
void emit_entry_note (gimple_stmt_iterator *gsi,
		      const entry_settings &settings);

/* That FNDECL was to be what SETTINGS say, and is not, because of REASON.  */
void emit_refusal_note (tree fndecl, const entry_settings &settings,
			const char *reason);

/* prologue.cc */

/* The two passes; GCC owns what is returned.  */
opt_pass *make_lto_guard_pass (gcc::context *context);
opt_pass *make_prologue_pass (gcc::context *context);

/* Trees that live across functions, for GCC's collector.  */
extern const struct ggc_root_tab prologue_roots[];

/* linux_model.cc */

/* What the preprocessor knows of the kernel that this file is a part of.  */
bool kernel_is_smp (void);

/* What stands against model linux in this file: enum kstackrand_fact.  */
unsigned kernel_facts (void);

/* The state, the mask and the boot parameter, at the top of this file.  */
void emit_linux_state (const entry_settings &settings);

/* The draw, appended at GSI; gives the offset, of unsigned 64 bits.  It is a
   valid one, but GCC has yet to be told, by a mask.  */
tree emit_linux_draw (gimple_stmt_iterator *gsi,
		      const entry_settings &settings);

/* Mixes words from the kernel's CRNG into this CPU's state.  */
void emit_linux_reseed (gimple_stmt_iterator *gsi,
			const entry_settings &settings);

/* Takes out a mask that the draw does not need; GCC owns what is returned.  */
opt_pass *make_unmask_pass (gcc::context *context);

extern const struct ggc_root_tab linux_roots[];

/* target_*.cc */

enum kstackrand_arch target_arch (void);

/* Whether two words beside each other come with one instruction, if both are
   loaded in one block.  */
bool target_loads_pairs (void);

/* Statements for this architecture, appended at GSI.  */

/* OLD = *COUNTER, *COUNTER += STEP, such that a signal handler that does the
   same cannot come between.  COUNTER is an lvalue of unsigned 64 bits, OLD and
   STEP are SSA names of that type.  */
void emit_fetch_add (gimple_stmt_iterator *gsi, tree old, tree counter,
		     tree step);

/* OFFSET = __kstackrand_draw_slow (), by its private calling convention.  */
void emit_draw_slow (gimple_stmt_iterator *gsi, tree offset);

/* prologue.cc, for the others.  */

/* A function without arguments that is defined elsewhere.  */
tree extern_function (const char *name, tree return_type);

/* Calls it; gives what it returns, as an SSA name of TYPE.  */
tree emit_call (gimple_stmt_iterator *gsi, tree fndecl, tree type);

/* A volatile asm statement with outputs and inputs, each a constraint and a
   value; a NULL constraint ends the list.  Clobbers are names, ended by
   NULL.  */
struct asm_operand
{
  const char *constraint;
  tree value;
};
void emit_asm (gimple_stmt_iterator *gsi, const char *text,
	       const asm_operand *outputs, const asm_operand *inputs,
	       const char *const *clobbers);

#endif /* KSTACKRAND_GCC_PLUGIN_H */
