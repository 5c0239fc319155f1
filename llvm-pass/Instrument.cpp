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

/// The one of All whose name is Word, into Setting. False when there is none.
template <typename T>
static bool readName(StringRef Word, const char *Name(T), ArrayRef<T> All,
                     T &Setting) {
  for (T Known : All)
    if (Word == Name(Known)) {
      Setting = Known;
      return true;
    }
  return false;
}

/// One word of what Mark.cpp wrote. False when it is none of ours.
static bool readSetting(StringRef Word, EntrySettings &Settings) {
  if (Word.consume_front("model="))
    return readName<kstackrand_model>(Word, kstackrand_model_name,
                                      {KSTACKRAND_MODEL_INLINE,
                                       KSTACKRAND_MODEL_CALL,
                                       KSTACKRAND_MODEL_LINUX},
                                      Settings.Model);
  if (Word.consume_front("rng="))
    return readName<kstackrand_rng>(
        Word, kstackrand_rng_name,
        {KSTACKRAND_RNG_FAST, KSTACKRAND_RNG_SIPHASH}, Settings.Rng);
  if (Word.consume_front("bits="))
    return !Word.getAsInteger(10, Settings.Bits) &&
           Settings.Bits <= KSTACKRAND_BITS_MAX;
  bool *Flag = Word == "entry"    ? &Settings.Entry
               : Word == "reseed" ? &Settings.Reseed
               : Word == "smp"    ? &Settings.Smp
               : Word == "lto"    ? &Settings.Lto
                                  : nullptr;
  return Flag && (*Flag = true);
}

/// The settings that Mark.cpp wrote. False when they are none of ours.
static bool readSettings(const Function &F, EntrySettings &Settings) {
  StringRef Rest = F.getFnAttribute(MarkAttribute).getValueAsString();
  Settings = {};
  while (!Rest.empty()) {
    StringRef Word;
    std::tie(Word, Rest) = Rest.split(',');
    if (!readSetting(Word, Settings))
      return false;
  }
  return Settings.Entry || Settings.Reseed;
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

/// Why an entry cannot be had after all: things that show only now, such as
/// calls that coroutines are split into. Null when it can.
static const char *lateRefusal(const Function &F) {
  if (compat::isUnsplitCoroutine(F))
    return "it is a coroutine that has not been split yet";
  return kstackrand_refusal(bodyFacts(F));
}

/// What a shift asks for besides the prologue.
static void instrumentEntry(Function &F, const EntrySettings &Settings) {
  bool HadCanary = wantsStackProtector(F);
  forbidTailCalls(F);
  AllocaInst *Shift = insertPrologue(F, Settings);
  keepCanaryAsItWas(F, *Shift, HadCanary);
  // The slow path pushes onto the stack from within an asm. Only for the case
  // that the alloca folds to nothing: a variable one rules out the red zone.
  F.addFnAttr(Attribute::NoRedZone);
  remarkInstrumented(F, Settings);
}

/// Instruments F, or says why not. True when F now needs the state of model
/// linux.
static bool instrument(Function &F, EntrySettings &Settings) {
  std::string Because =
      F.getFnAttribute(BecauseAttribute).getValueAsString().str();
  F.removeFnAttr(BecauseAttribute);
  if (!readSettings(F, Settings)) {
    report(F, Severity::Error,
           "kstackrand: '" + assemblerName(F) +
               "' was marked by another version of the plugin: rebuild "
               "its object");
    return false;
  }

  const char *Reason = Settings.Entry ? lateRefusal(F) : nullptr;
  if (Reason) {
    F.removeFnAttr(MarkAttribute);
    // Of the parts of a coroutine, only the first has the chosen name.
    bool ByName =
        F.getFnAttribute(NameAttribute).getValueAsString() == assemblerName(F);
    reportRefusal(F, ByName, Because, Reason);
    appendRefusalNote(F, Settings, Reason);
    return false;
  }

  if (Settings.Entry)
    instrumentEntry(F, Settings);
  else
    insertPrologue(F, Settings);
  // The prologue writes to the state of its thread or CPU.
  compat::forgetMemoryEffects(F);
  F.removeFnAttr(Attribute::Speculatable);
  F.addFnAttr(DoneAttribute);
  return Settings.Model == KSTACKRAND_MODEL_LINUX;
}

PreservedAnalyses InstrumentPass::run(Module &M, ModuleAnalysisManager &) {
  bool Changed = false, HasState = false;
  for (Function &F : M) {
    if (!F.hasFnAttribute(MarkAttribute) || F.hasFnAttribute(DoneAttribute))
      continue;
    // A copy for inlining, of which nothing reaches the object file.
    if (F.isDeclaration() || F.hasAvailableExternallyLinkage())
      continue;
    EntrySettings Settings;
    if (instrument(F, Settings) && !HasState) {
      appendLinuxState(M, Settings);
      HasState = true;
    }
    Changed = true;
  }
  return Changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
}

} // namespace kstackrand
