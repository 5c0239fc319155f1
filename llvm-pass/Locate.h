// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KSTACKRAND_LLVM_LOCATE_H
#define KSTACKRAND_LLVM_LOCATE_H

#include "clang/AST/ASTContext.h"
#include "llvm/ADT/StringRef.h"

namespace kstackrand {

/// Where the function of that assembler name stands in the source; invalid when
/// it does not.
clang::SourceLocation locateFunction(clang::ASTContext &Context,
                                     llvm::StringRef AssemblerName);

} // namespace kstackrand

#endif
