/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * GCC's headers, and every difference between its versions: 11 to 16. The only
 * file here with conditions on a version.
 *
 * BUILDING_GCC_VERSION tells which compiler the plugin is for; __GNUC__ would
 * tell which one compiles it.
 */
#ifndef KSTACKRAND_GCC_COMPAT_H
#define KSTACKRAND_GCC_COMPAT_H

#include "gcc-plugin.h"
#include "plugin-version.h"
#include "bversion.h"

/* stringpool.h before attribs.h, whose inline functions need it. */
#include "tree.h"
#include "stringpool.h"
#include "attribs.h"
#include "basic-block.h"
#include "bitmap.h"
#include "c-family/c-common.h"
#include "cfghooks.h"
#include "cfgloop.h"
#include "cgraph.h"
#include "context.h"
#include "cpplib.h"
#include "diagnostic.h"
#include "dominance.h"
#include "dumpfile.h"
#include "fold-const.h"
#include "function.h"
#include "gimple.h"
#include "gimple-expr.h"
/* Since 13, gimple-fold.h wants gimple-iterator.h before it. The other order is right for all versions. */
#include "gimple-iterator.h"
#include "gimple-fold.h"
#include "gimple-ssa.h"
#include "gimplify.h"
#include "intl.h"
#include "options.h"
#include "opts.h"
#include "output.h"
#include "predict.h"
#include "profile.h"
#include "ssa.h"
#include "target.h"
#include "toplev.h"
#include "tree-cfg.h"
#include "tree-into-ssa.h"
#include "tree-pass.h"
#include "tree-phinodes.h"
#include "tree-ssanames.h"
#include "varasm.h"
/* For the pass on RTL; memmodel.h before emit-rtl.h, which needs it.  */
#include "rtl.h"
#include "memmodel.h"
#include "emit-rtl.h"

#define KSTACKRAND_STRING_(x) #x
#define KSTACKRAND_STRING(x) KSTACKRAND_STRING_ (x)

/* "12.2", of GCCPLUGIN_VERSION_MAJOR and _MINOR, which came with GCC 4.8. */
#define KSTACKRAND_BUILT_FOR                                                   \
  KSTACKRAND_STRING (GCCPLUGIN_VERSION_MAJOR)                                  \
  "." KSTACKRAND_STRING (GCCPLUGIN_VERSION_MINOR)

/* Came with 12.  */
#if BUILDING_GCC_MAJOR < 12
static inline bool
startswith (const char *text, const char *prefix)
{
  return strncmp (text, prefix, strlen (prefix)) == 0;
}
#endif

/* 16 dropped TODO_verify_il and its neighbours; no TODO but the update of
 * virtual operands is asked for here, and that one stayed. */
#define KSTACKRAND_TODO TODO_update_ssa_only_virtuals

#endif /* KSTACKRAND_GCC_COMPAT_H */
