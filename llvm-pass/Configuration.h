// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KSTACKRAND_LLVM_CONFIGURATION_H
#define KSTACKRAND_LLVM_CONFIGURATION_H

#include "PassInterface.h"
#include "Passes.h"

namespace kstackrand {

/// Shows a message by the Clang front's own diagnostics. False when there is no
/// front in this process.
bool reportThroughFront(Severity How, const std::string &Function,
                        const std::string &Message);

/// What the source says about the kernel that it belongs to, if any.
const kstackrand_pass_kernel &kernel();

/// Puts "KEY=VALUE;KEY;…" in force, from a pipeline given in text as
/// kstackrand<KEY=VALUE;KEY;…>. For hosts that parse their options before they
/// load us, as rustc does. Ends the process on a bad one.
void configureByPipeline(llvm::StringRef Parameters);

} // namespace kstackrand

#endif
