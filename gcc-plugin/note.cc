/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The record in the object of what was instrumented, and what was not.  */

#include "plugin.h"

static kstackrand_note
note_on (tree fndecl, const entry_settings &settings)
{
  const char *symbol = IDENTIFIER_POINTER (DECL_ASSEMBLER_NAME (fndecl));
  return { targetm.strip_name_encoding (symbol),
	   settings.model,
	   settings.rng,
	   settings.bits,
	   settings.entry,
	   settings.reseed };
}

void
emit_entry_note (gimple_stmt_iterator *gsi, const entry_settings &settings)
{
  const kstackrand_note note = note_on (cfun->decl, settings);
  const asm_operand none[] = { {} };
  const char *const clobbers[] = { NULL };
  char *text = kstackrand_entry_note (&note, NULL,
				      DECL_COMDAT_GROUP (cfun->decl)
					? KSTACKRAND_NOTE_GROUP_OF_CODE
					: KSTACKRAND_NOTE_GROUP_OWN);
  emit_asm (gsi, text, none, none, clobbers);
  free (text);
}

/* At the top level, and so part of what an object for LTO holds; but while
   functions are being written it is too late for that.  */

void
emit_refusal_note (tree fndecl, const entry_settings &settings,
		   const char *reason)
{
  const kstackrand_note note = note_on (fndecl, settings);
  char *text = kstackrand_refusal_note (&note, reason);
  if (symtab->state < EXPANSION)
    symtab->finalize_toplevel_asm (build_string (strlen (text), text));
  else
    fputs (text, asm_out_file);
  free (text);
}
