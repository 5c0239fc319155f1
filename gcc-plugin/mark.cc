/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which functions are entries, decided before anything is inlined.
 *
 * The shift itself is made last (prologue.cc), so each entry must be kept whole
 * until then: an entry that was inlined, cloned or merged away would be gone
 * under its name, and its copies would not shift. The start of the IPA passes
 * is the one place where all functions of a unit exist, of every language, C++
 * instantiations and outlined OpenMP bodies among them, and none has been
 * inlined. In LTO's whole-program step it comes again, for functions of objects
 * that were compiled without the plugin.
 */

#include "plugin.h"

#include <cxxabi.h>

/* The mark, and its settings as arguments. No source can spell it: there is a
   space in it.  */
static const char marked[] = "kstackrand entry";

/* The last argument of the mark.  */
enum mark_flag
{
  MARK_SMP = 1 << 0,
  MARK_ENTRY = 1 << 1,
  MARK_RESEED = 1 << 2
};

static const char attribute_entry[] = "kstackrand";
static const char attribute_no[] = "no_kstackrand";

/* Attributes for users.  */

static tree
check_attribute (tree *node, tree name, tree, int, bool *no_add_attrs)
{
  if (TREE_CODE (*node) == FUNCTION_DECL)
    return NULL_TREE;
  warning (OPT_Wattributes, "%qE attribute only applies to functions", name);
  *no_add_attrs = true;
  return NULL_TREE;
}

static attribute_spec attributes[]
  = { { attribute_entry, 0, 0, true, false, false, false, check_attribute,
	NULL },
      { attribute_no, 0, 0, true, false, false, false, check_attribute, NULL },
      { marked, 3, 3, true, false, false, false, NULL, NULL } };

void
register_attributes (void *, void *)
{
  for (attribute_spec &spec : attributes)
    register_attribute (&spec);
}

/* Present in the compilers for C and C++ only: weak, like all that is taken
   from the host (see CMakeLists.txt).  */
extern cpp_reader *parse_in __attribute__ ((weak));
extern void cpp_define (cpp_reader *, const char *) __attribute__ ((weak));

/* Not in a source that was preprocessed before (-save-temps, distcc): there the
   preprocessor knows no directive but those that it wrote itself.  */

void
define_macro (void *, void *)
{
  if (&parse_in && &cpp_define && parse_in
      && !cpp_get_options (parse_in)->preprocessed)
    cpp_define (parse_in, "__KSTACKRAND__=1");
}

/* Where GCC only preprocesses, no unit starts. Where it compiles, -g3 cannot
   take a definition this early.  */

void
define_macro_for_preprocessing (void *, void *)
{
  if (flag_preprocess_only)
    define_macro (NULL, NULL);
}

/* What the policy is asked about.  */

static bool
has_attribute (tree fndecl, const char *name)
{
  return lookup_attribute (name, DECL_ATTRIBUTES (fndecl)) != NULL_TREE;
}

/* Some of the target's attributes belong to the function's type.  */

static bool
has_type_attribute (tree fndecl, const char *name)
{
  return lookup_attribute (name, TYPE_ATTRIBUTES (TREE_TYPE (fndecl)))
	 != NULL_TREE;
}

static bool
resolves_ifunc (cgraph_node *node)
{
  ipa_ref *alias;
  for (unsigned i = 0; node->iterate_direct_aliases (i, alias); i++)
    if (alias->referring->ifunc_resolver)
      return true;
  return false;
}

bool
has_must_tail_call (function *fn)
{
  basic_block bb;
  if (!fn || !fn->cfg)
    return false;
  FOR_EACH_BB_FN (bb, fn)
    for (gimple_stmt_iterator gsi = gsi_start_bb (bb); !gsi_end_p (gsi);
	 gsi_next (&gsi))
      if (gcall *call = dyn_cast<gcall *> (gsi_stmt (gsi)))
	if (gimple_call_must_tail_p (call))
	  return true;
  return false;
}

/* What the source says about it.  */

static unsigned
source_facts_of (cgraph_node *node)
{
  return (has_attribute (node->decl, attribute_entry)
	    ? KSTACKRAND_FACT_ATTRIBUTE_ENTRY
	    : 0)
	 | (has_attribute (node->decl, attribute_no)
	      ? KSTACKRAND_FACT_ATTRIBUTE_NO
	      : 0);
}

static unsigned
facts_of (cgraph_node *node)
{
  tree fndecl = node->decl;
  unsigned facts = source_facts_of (node);
  auto fact_if = [&] (bool holds, unsigned fact) { facts |= holds ? fact : 0; };

  fact_if (has_attribute (fndecl, "naked"), KSTACKRAND_FACT_NAKED);
  fact_if (has_type_attribute (fndecl, "interrupt"), KSTACKRAND_FACT_INTERRUPT);
  fact_if (has_attribute (fndecl, "always_inline"),
	   KSTACKRAND_FACT_ALWAYS_INLINE);
  fact_if (DECL_EXTERNAL (fndecl), KSTACKRAND_FACT_GNU_INLINE);
  fact_if (resolves_ifunc (node), KSTACKRAND_FACT_IFUNC_RESOLVER);
  fact_if (has_must_tail_call (DECL_STRUCT_FUNCTION (fndecl)),
	   KSTACKRAND_FACT_MUST_TAIL);
  fact_if (flag_split_stack && !has_attribute (fndecl, "no_split_stack"),
	   KSTACKRAND_FACT_SPLIT_STACK);
  fact_if (POINTER_SIZE != 64, KSTACKRAND_FACT_NOT_64_BIT);
  if (kstackrand_policy_model (kstackrand_policy) == KSTACKRAND_MODEL_LINUX)
    facts |= kernel_facts ();
  return facts;
}

/* Asks the policy about FUNCTION, of which FACTS are known, by the name that NODE,
   itself or an alias, gives it.  */

typedef kstackrand_decision question (const struct kstackrand_policy *,
				      const kstackrand_function *);

static kstackrand_decision
decide (question *ask, cgraph_node *node, cgraph_node *function, unsigned facts)
{
  const char *symbol = IDENTIFIER_POINTER (DECL_ASSEMBLER_NAME (node->decl));
  char *demangled = startswith (symbol, "_Z")
		      ? abi::__cxa_demangle (symbol, NULL, NULL, NULL)
		      : NULL;
  const kstackrand_function asked
    = { symbol, demangled, DECL_SECTION_NAME (function->decl), facts };
  const kstackrand_decision result = ask (kstackrand_policy, &asked);
  free (demangled);
  return result;
}

/* Reports.  */

void
report_refusal (tree fndecl, bool by_name, const char *because,
		const char *reason)
{
  location_t location = DECL_SOURCE_LOCATION (fndecl);

  if (kstackrand_policy_werror (kstackrand_policy))
    error_at (location,
	      "kstackrand: %qD is not instrumented: %s (chosen by %s)", fndecl,
	      reason, because);
  else if (by_name)
    warning_at (location, 0,
		"kstackrand: %qD is not instrumented: %s (chosen by %s)",
		fndecl, reason, because);
  else if (kstackrand_policy_verbose (kstackrand_policy))
    inform (location, "kstackrand: %qD is not instrumented: %s (chosen by %s)",
	    fndecl, reason, because);
}

static void
report_decision (tree fndecl, const kstackrand_decision &decision,
		 const char *what)
{
  if (decision.verdict == KSTACKRAND_REFUSED)
    report_refusal (fndecl, decision.by_name, decision.because,
		    decision.reason);
  else if (!kstackrand_policy_verbose (kstackrand_policy))
    return;
  else if (decision.verdict == KSTACKRAND_ENTRY_CHOSEN)
    inform (DECL_SOURCE_LOCATION (fndecl),
	    "kstackrand: %qD is %s (chosen by %s)", fndecl, what,
	    decision.because);
  else if (decision.verdict == KSTACKRAND_EXCEPTED)
    inform (DECL_SOURCE_LOCATION (fndecl),
	    "kstackrand: %qD is no entry (taken out by %s)", fndecl,
	    decision.because);
}

static void
note_refusals (tree fndecl, entry_settings settings,
	       const kstackrand_decision &entry,
	       const kstackrand_decision &reseed)
{
  settings.entry = entry.noted;
  settings.reseed = reseed.noted;
  if (entry.noted || reseed.noted)
    emit_refusal_note (fndecl, settings,
		       entry.noted ? entry.reason : reseed.reason);
}

/* Marks.  */

static void
add_attribute (tree fndecl, const char *name, tree arguments)
{
  DECL_ATTRIBUTES (fndecl)
    = tree_cons (get_identifier (name), arguments, DECL_ATTRIBUTES (fndecl));
}

static tree
settings_list (const entry_settings &settings)
{
  const unsigned flags = (settings.smp ? MARK_SMP : 0)
			 | (settings.entry ? MARK_ENTRY : 0)
			 | (settings.reseed ? MARK_RESEED : 0);
  const unsigned values[]
    = { flags, settings.bits, settings.rng, settings.model };
  tree list = NULL_TREE;
  for (unsigned value : values)
    list
      = tree_cons (NULL_TREE, build_int_cst (integer_type_node, value), list);
  return list;
}

static void
mark (tree fndecl, const entry_settings &settings)
{
  add_attribute (fndecl, marked, settings_list (settings));
  DECL_UNINLINABLE (fndecl) = 1;
  /* Keeps -Winline silent.  */
  add_attribute (fndecl, "noinline", NULL_TREE);
  add_attribute (fndecl, "no_icf", NULL_TREE);
  /* GCC refuses to compile a function that is to have clones per target and
     may not be cloned. Those clones carry the mark themselves.  */
  if (!has_attribute (fndecl, "target_clones"))
    add_attribute (fndecl, "noclone", NULL_TREE);
}

/* Takes the first value off a list that settings_list made.  */

static unsigned
next_value (tree *list)
{
  const unsigned value = TREE_INT_CST_LOW (TREE_VALUE (*list));
  *list = TREE_CHAIN (*list);
  return value;
}

bool
is_marked (tree fndecl, entry_settings *settings)
{
  tree attribute = lookup_attribute (marked, DECL_ATTRIBUTES (fndecl));
  if (!attribute)
    return false;
  tree arguments = TREE_VALUE (attribute);
  settings->model = (kstackrand_model) next_value (&arguments);
  settings->rng = (kstackrand_rng) next_value (&arguments);
  settings->bits = next_value (&arguments);
  const unsigned flags = next_value (&arguments);
  settings->smp = flags & MARK_SMP;
  settings->entry = flags & MARK_ENTRY;
  settings->reseed = flags & MARK_RESEED;
  return true;
}

/* As if FUNCTION's own name were chosen, too, when an alias was: that may take
   it out again.  */

static kstackrand_decision
decide_entry (cgraph_node *node, cgraph_node *function, unsigned facts)
{
  kstackrand_decision decision
    = decide (kstackrand_policy_decide, node, function, facts);
  if (node == function || decision.verdict != KSTACKRAND_ENTRY_CHOSEN)
    return decision;
  kstackrand_decision own
    = decide (kstackrand_policy_decide, function, function,
	      facts | KSTACKRAND_FACT_ATTRIBUTE_ENTRY);
  return own.verdict == KSTACKRAND_EXCEPTED ? own : decision;
}

/* Marks FUNCTION if it is an entry or a reseed point by the name that NODE gives
   it.  */

static bool
mark_if_chosen (cgraph_node *node, cgraph_node *function,
		entry_settings settings)
{
  const unsigned facts = facts_of (function) | source_facts_of (node);
  const kstackrand_decision entry = decide_entry (node, function, facts);
  const kstackrand_decision reseed
    = decide (kstackrand_policy_decide_reseed, node, function, facts);
  report_decision (node->decl, entry, "an entry");
  report_decision (node->decl, reseed, "a reseed point");
  note_refusals (node->decl, settings, entry, reseed);
  settings.entry = entry.verdict == KSTACKRAND_ENTRY_CHOSEN;
  settings.reseed = reseed.verdict == KSTACKRAND_ENTRY_CHOSEN;
  if (!settings.entry && !settings.reseed)
    return false;
  mark (function->decl, settings);
  return true;
}

static bool
is_decided (cgraph_node *function)
{
  entry_settings settings;
  return is_marked (function->decl, &settings)
	 || decide_entry (function, function, facts_of (function)).verdict
	      != KSTACKRAND_NOT_CHOSEN;
}

/* Whether ALIAS is one more name of a function, of which nothing is decided
   yet.  */

static bool
is_undecided_alias (cgraph_node *alias)
{
  cgraph_node *function = alias->ultimate_alias_target ();
  return alias->alias && function->definition && !is_decided (function);
}

/* Marks the entries and reseed points among all functions that are defined
   here.  */

static void
mark_all (void)
{
  cgraph_node *node;
  entry_settings settings = { kstackrand_policy_model (kstackrand_policy),
			      kstackrand_policy_rng (kstackrand_policy),
			      kstackrand_policy_bits (kstackrand_policy),
			      kernel_is_smp (),
			      false,
			      false };
  entry_settings present;
  unsigned entries = 0;

  FOR_EACH_DEFINED_FUNCTION (node)
    if (!node->alias && !node->thunk && !is_marked (node->decl, &present))
      entries += mark_if_chosen (node, node, settings);
  FOR_EACH_DEFINED_FUNCTION (node)
    if (is_undecided_alias (node))
      entries
	+= mark_if_chosen (node, node->ultimate_alias_target (), settings);
  if (entries && settings.model == KSTACKRAND_MODEL_LINUX)
    emit_linux_state (settings);
  if (entries && in_lto_p)
    warning (
      0,
      "kstackrand: entries chosen at the link step only: %u; where they "
      "were inlined when they were compiled, they do not shift: give the "
      "plugin when compiling, too",
      entries);
}

/* Where LTO generates code, its partitions hold what the whole-program step
   made of the functions: too late to choose.  */

void
mark_entries (void *, void *)
{
  if (!flag_ltrans)
    mark_all ();
}

/* LTO's whole-program step does not come by the start of the IPA passes, only
   by those that stand for it. Here the functions of objects that were compiled
   without the plugin are chosen. Their names are still there, so that callers
   in other objects are served; what was inlined within an object is not.  */

static const pass_data link_marker_data = {
  IPA_PASS, "kstackrand_link_marker", OPTGROUP_NONE, TV_PLUGIN_RUN, 0, 0, 0, 0,
  0,
};

class link_marker_pass : public ipa_opt_pass_d
{
public:
  link_marker_pass (gcc::context *context)
    : ipa_opt_pass_d (link_marker_data, context, NULL, NULL, NULL, NULL, NULL,
		      NULL, 0, NULL, NULL)
  {
  }

  bool
  gate (function *) override
  {
    return in_lto_p;
  }

  unsigned int
  execute (function *) override
  {
    mark_all ();
    return 0;
  }
};

opt_pass *
make_link_marker_pass (gcc::context *context)
{
  return new link_marker_pass (context);
}
