// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Is this process the LLVM that we were built for? LLVM's own check, the plugin
// API's number, is the same for all versions and comes too late: a plugin for
// 14 ends clang-19 with "out of memory". All our references to the host are
// weak (see CMakeLists.txt), so the library loads anywhere, and this runs
// first.
//
#include "Host.h"

#include "compat.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <string>

// Only some hosts have each of these. The mangled names, because they are not
// to be taken from a header of one version.
extern "C" {
void LLVMGetVersion(unsigned *, unsigned *, unsigned *) __attribute__((weak));
void hostErrs() __asm__("_ZN4llvm4errsEv") __attribute__((weak));
void hostRunInterruptHandlers() __asm__("_ZN4llvm3sys20RunInterruptHandlersEv")
    __attribute__((weak));
}
std::string
hostClangVersion() __asm__("_ZN5clang19getClangFullVersionB5cxx11Ev")
    __attribute__((weak));

namespace kstackrand {

const char *libraryPath() {
  Dl_info Info;
  static const char Here = 0;
  return dladdr(&Here, &Info) ? Info.dli_fname : "kstackrand.so";
}

/// The first number in Text, or 0.
static unsigned firstNumber(const char *Text) {
  Text += strcspn(Text, "0123456789");
  return static_cast<unsigned>(strtoul(Text, nullptr, 10));
}

/// From the file name of the shared libLLVM: libLLVM-14.so.1, libLLVM.so.19.1.
static unsigned versionOfLibrary() {
  Dl_info Info;
  if (!hostErrs || !dladdr(reinterpret_cast<void *>(hostErrs), &Info))
    return 0;
  const char *Name = strrchr(Info.dli_fname, '/');
  Name = strstr(Name ? Name : Info.dli_fname, "libLLVM");
  return Name ? firstNumber(Name) : 0;
}

/// The major version of the host; 0 when it cannot be told.
static unsigned hostMajor() {
  if (LLVMGetVersion) { // 16 and later
    unsigned Major, Minor, Patch;
    LLVMGetVersion(&Major, &Minor, &Patch);
    return Major;
  }
  if (unsigned Major = versionOfLibrary())
    return Major;
  if (hostClangVersion)
    if (const char *Version = strstr(hostClangVersion().c_str(), "version "))
      return firstNumber(Version);
  return 0;
}

void requireMatchingHost() {
  unsigned Host = hostMajor();
  if (Host == LLVM_VERSION_MAJOR)
    return;
  // Without a trace of its version, a host that has LLVM in it is older
  // than 16.
  if (Host == 0 && hostErrs && !compat::ExportsItsVersion)
    return;
  std::string Name = Host ? "is LLVM " + std::to_string(Host)
                          : "tells no LLVM version that could be compared";
  std::string Cure = Host ? "use the plugin in lib/llvm/" +
                                std::to_string(Host) + "/, or install llvm-" +
                                std::to_string(Host) + "-dev and libclang-" +
                                std::to_string(Host) +
                                "-dev and rebuild kstackrand"
                          : "it is older than 16, or no LLVM at all";
  fprintf(stderr,
          "kstackrand: error: plugin '%s' was built for LLVM %d, but this "
          "program %s: %s\n",
          libraryPath(), LLVM_VERSION_MAJOR, Name.c_str(), Cure.c_str());
  // Removes output files that the host has begun; it takes nothing and gives
  // nothing back, in every version.
  if (hostRunInterruptHandlers)
    hostRunInterruptHandlers();
  // Not exit(): destructors of a host that we know nothing of would run under
  // the loader's lock.
  fflush(nullptr);
  _Exit(1);
}

} // namespace kstackrand
