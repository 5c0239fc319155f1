/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * How the Clang front hands its configuration to the pass library, which it
 * finds beside itself, and later what only the source could tell: two exported
 * functions, in plain C types.
 */
#ifndef KSTACKRAND_LLVM_PASS_INTERFACE_H
#define KSTACKRAND_LLVM_PASS_INTERFACE_H

#include <stdbool.h>
#include <stddef.h>

#define KSTACKRAND_PASS_LIBRARY "kstackrand-pass.so"
#define KSTACKRAND_PASS_CONFIGURE "kstackrand_pass_configure"
#define KSTACKRAND_PASS_DESCRIBE_KERNEL "kstackrand_pass_describe_kernel"

#ifdef __cplusplus
extern "C" {
#endif

struct kstackrand_pass_argument {
  const char *option; /* as the user wrote it, whole */
  const char *key;
  const char *value; /* NULL when there was none */
};

enum kstackrand_pass_severity {
  KSTACKRAND_PASS_NOTE,
  KSTACKRAND_PASS_WARNING,
  KSTACKRAND_PASS_ERROR,
};

/* Shows a message about the function of that assembler name to the user. */
typedef void kstackrand_pass_reporter(void *context,
                                      enum kstackrand_pass_severity severity,
                                      const char *function,
                                      const char *message);

struct kstackrand_pass_configuration {
  const struct kstackrand_pass_argument *arguments;
  size_t count;
  kstackrand_pass_reporter *reporter;
  void *context;
};

/*
 * Puts a configuration in force, in place of any earlier one. Nothing of it is
 * kept but reporter and context. Returns NULL, or what is wrong with it, to be
 * freed with free().
 */
typedef char *
kstackrand_pass_configure_fn(const struct kstackrand_pass_configuration *);

/* For model linux: which macros the source has, and what becomes of it. */
struct kstackrand_pass_kernel {
  bool is_kernel; /* __KERNEL__ */
  bool is_module; /* MODULE */
  bool is_smp;    /* CONFIG_SMP */
  bool is_lto;    /* the output is bitcode that will be optimized once more */
};

/* After all of the source was read, before a pass runs. */
typedef void
kstackrand_pass_describe_kernel_fn(const struct kstackrand_pass_kernel *);

#ifdef __cplusplus
}
#endif
#endif
