// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What users get to see. Under Clang the front shows messages, since only it
// knows where a function stands in the source; elsewhere LLVM's own diagnostics
// do, with what debug info tells.
//
#include "Configuration.h"
#include "Passes.h"

#include "llvm/Analysis/OptimizationRemarkEmitter.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdlib>

using namespace llvm;

namespace kstackrand {

constexpr char RemarkPass[] = "kstackrand";

namespace {
class Message : public DiagnosticInfo {
  const std::string &Text;

public:
  Message(DiagnosticSeverity How, const std::string &Text)
      : DiagnosticInfo(kind(), How), Text(Text) {}
  void print(DiagnosticPrinter &Printer) const override { Printer << Text; }

private:
  static int kind() {
    static const int Kind = getNextAvailablePluginDiagnosticKind();
    return Kind;
  }
};
} // namespace

/// "file:line: ", or "" without debug info.
static std::string location(const Function &F) {
  const DISubprogram *Program = F.getSubprogram();
  if (!Program)
    return "";
  return Program->getFilename().str() + ":" +
         std::to_string(Program->getLine()) + ": ";
}

static std::string shownName(const Function &F) {
  std::string Demangled = demangledName(F);
  return "'" + (Demangled.empty() ? assemblerName(F) : Demangled) + "'";
}

void report(const Function &F, Severity How, const std::string &Text) {
  if (reportThroughFront(How, assemblerName(F), Text))
    return;
  std::string Located = location(F);
  // Clang swallows notes that follow on nothing.
  if (How == Severity::Note) {
    errs() << Located << "note: " << Text << "\n";
    return;
  }
  Located += Text;
  F.getContext().diagnose(
      Message(How == Severity::Error ? DS_Error : DS_Warning, Located));
}

void reportModule(const Module &M, const std::string &Text) {
  std::string Named = "kstackrand: '" + M.getModuleIdentifier() + "' " + Text;
  M.getContext().diagnose(Message(DS_Error, Named));
}

void reportChosen(const Function &F, StringRef What, StringRef Because) {
  if (kstackrand_policy_verbose(policy()))
    report(F, Severity::Note,
           "kstackrand: " + shownName(F) + " is " + What.str() +
               " (chosen by " + Because.str() + ")");
}

void reportExcepted(const Function &F, StringRef Because) {
  if (kstackrand_policy_verbose(policy()))
    report(F, Severity::Note,
           "kstackrand: " + shownName(F) + " is no entry (taken out by " +
               Because.str() + ")");
}

void reportRefusal(Function &F, bool ByName, StringRef Because,
                   StringRef Reason) {
  OptimizationRemarkEmitter(&F).emit([&] {
    return OptimizationRemarkMissed(RemarkPass, "NotInstrumented",
                                    F.getSubprogram(), &F.getEntryBlock())
           << ore::NV("Function", &F)
           << " is not instrumented: " << ore::NV("Reason", Reason)
           << " (chosen by " << ore::NV("ChosenBy", Because) << ")";
  });
  std::string Text = "kstackrand: " + shownName(F) +
                     " is not instrumented: " + Reason.str() + " (chosen by " +
                     Because.str() + ")";
  if (kstackrand_policy_werror(policy()))
    report(F, Severity::Error, Text);
  else if (ByName)
    report(F, Severity::Warning, Text);
  else if (kstackrand_policy_verbose(policy()))
    report(F, Severity::Note, Text);
}

void remarkInstrumented(Function &F, const EntrySettings &Settings) {
  OptimizationRemarkEmitter(&F).emit([&] {
    return OptimizationRemark(RemarkPass, "Instrumented", F.getSubprogram(),
                              &F.getEntryBlock())
           << ore::NV("Function", &F) << " shifts the stack: model "
           << ore::NV("Model", StringRef(kstackrand_model_name(Settings.Model)))
           << ", " << ore::NV("Bits", Settings.Bits) << " bits, rng "
           << ore::NV("Rng", StringRef(kstackrand_rng_name(Settings.Rng)));
  });
}

void fail(const std::string &Text) {
  errs() << "kstackrand: error: " << Text << "\n";
  // Removes the output files that the host has begun.
  sys::RunInterruptHandlers();
  exit(1);
}

} // namespace kstackrand
