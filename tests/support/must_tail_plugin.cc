/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Makes every call of a function named `must_tail` one that must stay a tail
 * call, as front ends of other languages, and C from GCC 15 on, ask for it.
 * KEY is when: `early`, before entries are chosen, or `late`, after.
 */
#include "gcc-plugin.h"

#include "tree.h"
#include "basic-block.h"
#include "context.h"
#include "function.h"
#include "gimple.h"
#include "gimple-iterator.h"
#include "tree-pass.h"

int plugin_is_GPL_compatible;

static const pass_data data
  = { GIMPLE_PASS, "must_tail", OPTGROUP_NONE, TV_NONE, PROP_cfg, 0, 0, 0, 0 };

struct must_tail_pass : public gimple_opt_pass
{
  must_tail_pass () : gimple_opt_pass (data, g) {}

  unsigned int
  execute (function *fn) override
  {
    basic_block bb;
    FOR_EACH_BB_FN (bb, fn)
      for (gimple_stmt_iterator gsi = gsi_start_bb (bb); !gsi_end_p (gsi);
	   gsi_next (&gsi))
	if (gcall *call = dyn_cast<gcall *> (gsi_stmt (gsi)))
	  if (tree callee = gimple_call_fndecl (call))
	    if (id_equal (DECL_NAME (callee), "must_tail"))
	      gimple_call_set_must_tail (call, true);
    return 0;
  }
};

int
plugin_init (plugin_name_args *plugin, plugin_gcc_version *)
{
  bool early = plugin->argc > 0 && !strcmp (plugin->argv[0].key, "early");
  register_pass_info info = { new must_tail_pass, early ? "cfg" : "tailc", 1,
			      PASS_POS_INSERT_AFTER };
  register_callback (plugin->base_name, PLUGIN_PASS_MANAGER_SETUP, NULL, &info);
  return 0;
}
