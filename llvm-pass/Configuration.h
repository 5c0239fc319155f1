// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KSTACKRAND_LLVM_CONFIGURATION_H
#define KSTACKRAND_LLVM_CONFIGURATION_H

#include "Passes.h"

namespace kstackrand {

/// Shows a message by the Clang front's own diagnostics. False when there is no
/// front in this process.
bool reportThroughFront(Severity How, const std::string &Function,
                        const std::string &Message);

} // namespace kstackrand

#endif
