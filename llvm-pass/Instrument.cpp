// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes each marked function shift its stack. Runs after everything else that
// works on IR, sanitizers included (see Plugin.cpp): ASan would give the alloca
// red zones, and cells would no longer be exact.
//
// With LTO this is already so when the compile step writes its bitcode, so that
// the link step needs no plugin. What the link step's optimizers could undo is
// kept from them by attributes that stay.
//
#include "Passes.h"

#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/MDBuilder.h"

using namespace llvm;

namespace kstackrand {

/// The settings that Mark.cpp wrote. False when they are none of ours.
static bool readSettings(const Function &F, EntrySettings &Settings) {
  StringRef Model, Bits;
  std::tie(Model, Bits) =
      F.getFnAttribute(MarkAttribute).getValueAsString().split(',');
  if (!Model.consume_front("model=") || !Bits.consume_front("bits=") ||
      Bits.getAsInteger(10, Settings.Bits) ||
      Settings.Bits > KSTACKRAND_BITS_MAX)
    return false;
  for (kstackrand_model Known :
       {KSTACKRAND_MODEL_INLINE, KSTACKRAND_MODEL_CALL})
    if (Model == kstackrand_model_name(Known)) {
      Settings.Model = Known;
      return true;
    }
  return false;
}

/// A call that leaves by a jump does so after the stack was put back: what it
/// calls would not be shifted. The attribute is for calls that the link step's
/// inliner brings here later, and for its tail recursion pass.
static void forbidTailCalls(Function &F) {
  for (Instruction &I : instructions(F))
    if (auto *Call = dyn_cast<CallInst>(&I))
      if (!Call->isInlineAsm() && !isa<IntrinsicInst>(Call))
        Call->setTailCallKind(CallInst::TCK_NoTail);
  F.addFnAttr("disable-tail-calls", "true");
}

/// A variable alloca gets a function with ssp or sspstrong a canary. If it
/// would not have had one, it shall not have one now; nor lose one later.
static void keepCanaryAsItWas(Function &F, AllocaInst &Shift, bool HadCanary) {
  if (compat::HasStackProtectorOptOut) {
    MDBuilder MDB(F.getContext());
    auto *No = ConstantInt::get(Type::getInt32Ty(F.getContext()), 0);
    Shift.setMetadata("stack-protector",
                      MDNode::get(F.getContext(), MDB.createConstant(No)));
    return;
  }
  bool Asked = F.hasFnAttribute(Attribute::StackProtect) ||
               F.hasFnAttribute(Attribute::StackProtectStrong);
  if (HadCanary || !Asked)
    return;
  F.removeFnAttr(Attribute::StackProtect);
  F.removeFnAttr(Attribute::StackProtectStrong);
  // LTO's inliner may bring what is a reason for a canary, and the inliner
  // gives none to a caller without the attribute (adjustCallerSSPLevel in
  // lib/IR/Attributes.cpp): it shall bring nothing.
  for (Instruction &I : instructions(F))
    if (auto *Call = dyn_cast<CallBase>(&I))
      if (!Call->isInlineAsm() && !isa<IntrinsicInst>(Call))
        Call->addFnAttr(Attribute::NoInline);
}

/// Instruments F, or says why not.
static void instrument(Function &F) {
  EntrySettings Settings;
  std::string Because =
      F.getFnAttribute(BecauseAttribute).getValueAsString().str();
  F.removeFnAttr(BecauseAttribute);
  if (!readSettings(F, Settings))
    return report(F, Severity::Error,
                  "kstackrand: '" + assemblerName(F) +
                      "' was marked by another version of the plugin: rebuild "
                      "its object");

  // Things that show only now: calls that coroutines are split into.
  const char *Reason = compat::isUnsplitCoroutine(F)
                           ? "it is a coroutine that has not been split yet"
                           : kstackrand_refusal(bodyFacts(F));
  if (Reason) {
    F.removeFnAttr(MarkAttribute);
    // Of the parts of a coroutine, only the first has the chosen name.
    bool ByName =
        F.getFnAttribute(NameAttribute).getValueAsString() == assemblerName(F);
    return reportRefusal(F, ByName, Because, Reason);
  }

  bool HadCanary = wantsStackProtector(F);
  forbidTailCalls(F);
  AllocaInst *Shift = insertPrologue(F, Settings);
  keepCanaryAsItWas(F, *Shift, HadCanary);
  // The prologue writes to the state of its thread.
  compat::forgetMemoryEffects(F);
  F.removeFnAttr(Attribute::Speculatable);
  // The slow path pushes onto the stack from within an asm. Only for the case
  // that the alloca folds to nothing: a variable one rules out the red zone.
  F.addFnAttr(Attribute::NoRedZone);
  F.addFnAttr(DoneAttribute);
  remarkInstrumented(F, Settings);
}

PreservedAnalyses InstrumentPass::run(Module &M, ModuleAnalysisManager &) {
  bool Changed = false;
  for (Function &F : M) {
    if (!F.hasFnAttribute(MarkAttribute) || F.hasFnAttribute(DoneAttribute))
      continue;
    // A copy for inlining, of which nothing reaches the object file.
    if (F.isDeclaration() || F.hasAvailableExternallyLinkage())
      continue;
    instrument(F);
    Changed = true;
  }
  return Changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
}

} // namespace kstackrand
