// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KSTACKRAND_LLVM_HOST_H
#define KSTACKRAND_LLVM_HOST_H

namespace kstackrand {

/// Ends the process, with one line that says why, when it is not of the LLVM
/// major version that this library was built for. To be called when the
/// library is loaded, before anything of the host is touched.
void requireMatchingHost();

/// The path of the library that this code is in, and its folder. Static.
const char *libraryPath();

} // namespace kstackrand

#endif
