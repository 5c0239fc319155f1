/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * kstackrand for GCC: shifts the stack by a fresh random amount each time one
 * of the functions that the user chose is called.
 *
 *   gcc -fplugin=kstackrand.so -fplugin-arg-kstackrand-entry='handle_*' …
 *
 * plugin.h tells which file does what.
 */

#include "plugin.h"

#include <kstackrand/version.h>

#define PUBLIC __attribute__ ((visibility ("default")))

PUBLIC int plugin_is_GPL_compatible;

struct kstackrand_policy *kstackrand_policy;

/* GCC's own way to fail in plugin_init takes three lines, and the first of them
   is not ours.  */

static void ATTRIBUTE_NORETURN ATTRIBUTE_PRINTF_1
fail (const char *format, ...)
{
  va_list arguments;
  va_start (arguments, format);
  fputs ("kstackrand: error: ", stderr);
  vfprintf (stderr, format, arguments);
  fputc ('\n', stderr);
  va_end (arguments);
  exit (FATAL_EXIT_CODE);
}

/* The value of --target in configure's arguments, in BUFFER.  */

static const char *
configured_target (const char *arguments, char (&buffer)[64])
{
  const char *target = strstr (arguments, "--target=");
  size_t length = 0;
  if (target)
    {
      target += strlen ("--target=");
      length = MIN (strcspn (target, " "), sizeof buffer - 1);
      memcpy (buffer, target, length);
    }
  buffer[length] = 0;
  return buffer;
}

static bool
same_major_minor (const char *running)
{
  size_t length = strlen (KSTACKRAND_BUILT_FOR);
  return startswith (running, KSTACKRAND_BUILT_FOR)
	 && (running[length] == '.' || running[length] == 0);
}

/* GCC's own check compares five strings, configure's arguments among them, so
   that a distribution's update of a package is refused. What breaks a plugin is
   another minor version or another target.  Nothing of GCC may be called
   before this: it may not be there (see CMakeLists.txt).  */

static void
check_version (const plugin_gcc_version *running)
{
  char built_target[64], running_target[64];
  configured_target (gcc_version.configuration_arguments, built_target);
  configured_target (running->configuration_arguments, running_target);

  if (strcmp (built_target, running_target) != 0)
    fail ("this plugin was built for GCC's target %s, but this compiler's "
	  "target is %s: use the plugin in lib/gcc/%s/, or install "
	  "gcc-%d-plugin-dev-%s and rebuild kstackrand",
	  built_target, running_target, running_target, atoi (running->basever),
	  running_target);
  if (!same_major_minor (running->basever))
    fail ("this plugin was built for GCC version %s, but this compiler's "
	  "version is %s: install gcc-%d-plugin-dev and rebuild kstackrand",
	  KSTACKRAND_BUILT_FOR, running->basever, atoi (running->basever));
}

static void
read_arguments (const plugin_name_args *plugin)
{
  kstackrand_error error;
  for (int i = 0; i < plugin->argc; i++)
    {
      const plugin_argument &argument = plugin->argv[i];
      char *option
	= concat ("-fplugin-arg-", plugin->base_name, "-", argument.key,
		  argument.value ? "=" : "", argument.value, NULL);
      if (!kstackrand_policy_argument (kstackrand_policy, option, argument.key,
				       argument.value, &error))
	fail ("%s", error.text);
      free (option);
    }
  if (!kstackrand_policy_check (kstackrand_policy, &error))
    fail ("%s", error.text);
}

/* What `gcc -v --help` and `gcc --version` show.  */

static plugin_info *
make_plugin_info (void)
{
  static plugin_info info;
  char *text = NULL;
  size_t size;
  FILE *stream = open_memstream (&text, &size);
  if (!stream)
    return NULL;
  kstackrand_policy_help (stream);
  fclose (stream);
  info.version = KSTACKRAND_VERSION;
  info.help = text;
  return &info;
}

static void
add_pass (const char *plugin, opt_pass *pass, const char *reference,
	  pass_positioning_ops where)
{
  register_pass_info info = { pass, reference, 1, where };
  register_callback (plugin, PLUGIN_PASS_MANAGER_SETUP, NULL, &info);
}

PUBLIC int
plugin_init (plugin_name_args *plugin, plugin_gcc_version *version)
{
  const char *name = plugin->base_name;

  check_version (version);
  kstackrand_policy = kstackrand_policy_new ();
  read_arguments (plugin);
  register_callback (name, PLUGIN_INFO, NULL, make_plugin_info ());
  register_callback (name, PLUGIN_ATTRIBUTES, register_attributes, NULL);
  register_callback (name, PLUGIN_START_UNIT, define_macro, NULL);
  register_callback (name, PLUGIN_PRAGMAS, define_macro_for_preprocessing,
		     NULL);
  if (kstackrand_policy_disabled (kstackrand_policy))
    return 0;

  register_callback (name, PLUGIN_REGISTER_GGC_ROOTS, NULL,
		     const_cast<ggc_root_tab *> (prologue_roots));
  register_callback (name, PLUGIN_REGISTER_GGC_ROOTS, NULL,
		     const_cast<ggc_root_tab *> (linux_roots));
  register_callback (name, PLUGIN_ALL_IPA_PASSES_START, mark_entries, NULL);
  add_pass (name, make_link_marker_pass (g), "whole-program",
	    PASS_POS_INSERT_BEFORE);
  add_pass (name, make_lto_guard_pass (g), "ssa", PASS_POS_INSERT_AFTER);
  add_pass (name, make_prologue_pass (g), "optimized", PASS_POS_INSERT_BEFORE);
  add_pass (name, make_unmask_pass (g), "combine", PASS_POS_INSERT_AFTER);
  return 0;
}
