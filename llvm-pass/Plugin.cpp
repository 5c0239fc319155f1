// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// kstackrand for LLVM: shifts the stack by a fresh random amount each time one
// of the functions that the user chose is called.
//
//   clang -fplugin=…/kstackrand.so -fplugin-arg-kstackrand-entry='handle_*' …
//   opt -load-pass-plugin …/kstackrand-pass.so -kstackrand=entry='handle_*' …
//
// Passes.h tells which file does what.
//
#include "Configuration.h"
#include "Host.h"
#include "Passes.h"

#include <kstackrand/version.h>
#include <memory>

using namespace llvm;
using namespace kstackrand;

/// Before anything else of this library.
__attribute__((constructor)) static void load() {
  requireMatchingHost();
  registerOption();
}

namespace {
/// What is known about one PassBuilder's pipeline while it is being built.
struct Pipeline {
  bool Compiles = false;
  bool HasLast = false;
};
} // namespace

/// Asks for the last place among those that come last. Sanitizers stand there,
/// too, and Clang registers them after its plugins: so we ask only when the
/// pipeline is already being built, and everybody else has asked.
static void instrumentLast(PassBuilder &PB, Pipeline &P) {
  if (P.HasLast)
    return;
  P.HasLast = true;
  // 20 gave this callback, and that for early simplification, one more
  // argument.
  PB.registerOptimizerLastEPCallback(
      [](ModulePassManager &MPM, OptimizationLevel, auto &&...) {
        MPM.addPass(InstrumentPass());
      });
}

/// At -O0, thin LTO's link step asks at no extension point at all; but these
/// two passes it always runs.
static void watchThinLinkAtO0(PassBuilder &PB, std::shared_ptr<Pipeline> P) {
  PassInstrumentationCallbacks *Callbacks =
      PB.getPassInstrumentationCallbacks();
  if (!Callbacks)
    return;
  Callbacks->registerBeforeNonSkippedPassCallback([P](StringRef Pass, Any IR) {
    if (P->HasLast ||
        (Pass != "WholeProgramDevirtPass" && Pass != "LowerTypeTestsPass"))
      return;
    P->HasLast = true; // once
    if (const auto *M = any_cast<const Module *>(&IR))
      requireCompileStep(**M);
  });
}

static void registerCallbacks(PassBuilder &PB) {
  auto P = std::make_shared<Pipeline>();
  PB.registerPipelineStartEPCallback(
      [&PB, P](ModulePassManager &MPM, OptimizationLevel, auto &&...) {
        P->Compiles = true;
        instrumentLast(PB, *P);
        MPM.addPass(MarkPass(Step::Compile));
      });
  // Thin LTO's link step has no start: this is its first place.
  PB.registerPipelineEarlySimplificationEPCallback(
      [&PB, P](ModulePassManager &MPM, OptimizationLevel, auto &&...) {
        if (P->Compiles)
          return;
        instrumentLast(PB, *P);
        MPM.addPass(MarkPass(Step::Link));
      });
  compat::registerFullLinkTimeCallbacks(
      PB,
      [P](ModulePassManager &MPM, OptimizationLevel, auto &&...) {
        P->HasLast = true;
        MPM.addPass(MarkPass(Step::Link));
      },
      [](ModulePassManager &MPM, OptimizationLevel, auto &&...) {
        MPM.addPass(InstrumentPass());
      });
  watchThinLinkAtO0(PB, P);
  // opt -passes=kstackrand-mark,…,kstackrand-instrument, and a name that adds
  // nothing: kstackrand<KEY=VALUE;…>, rustc -C passes=…
  PB.registerPipelineParsingCallback(
      [](StringRef Name, ModulePassManager &MPM,
         ArrayRef<PassBuilder::PipelineElement>) {
        if (Name == "kstackrand-mark")
          MPM.addPass(MarkPass(Step::Compile));
        else if (Name == "kstackrand-instrument")
          MPM.addPass(InstrumentPass());
        else if (Name.consume_front("kstackrand<") && Name.consume_back(">"))
          configureByPipeline(Name);
        else
          return false;
        return true;
      });
}

extern "C" __attribute__((visibility("default"))) PassPluginLibraryInfo
llvmGetPassPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "kstackrand", KSTACKRAND_VERSION,
          registerCallbacks};
}
