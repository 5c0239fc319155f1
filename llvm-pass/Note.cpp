// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The record in the object of what was instrumented, and what was not.
//
#include "Passes.h"

#include <note.h>

using namespace llvm;

namespace kstackrand {

static kstackrand_note describe(const std::string &Symbol,
                                const EntrySettings &Settings) {
  return {Symbol.c_str(), Settings.Model, Settings.Rng,
          Settings.Bits,  Settings.Entry, Settings.Reseed};
}

void createEntryNote(IRBuilderBase &IRB, const EntrySettings &Settings) {
  Function *F = IRB.GetInsertBlock()->getParent();
  std::string Symbol = assemblerName(*F);
  kstackrand_note Note = describe(Symbol, Settings);
  // LTO gives local functions new names where they meet others. Only then an
  // operand: it counts as taking the function's address, for which Clang adds
  // an instruction with -fcf-protection.
  bool Renamed = Settings.Lto && F->hasLocalLinkage();
  std::string Text = takeTemplate(kstackrand_entry_note(
      &Note, Renamed ? "%c0" : nullptr, KSTACKRAND_NOTE_GROUP_OF_CODE));
  if (Renamed)
    createAsm(IRB, IRB.getVoidTy(), Text, "i", {F});
  else
    createAsm(IRB, IRB.getVoidTy(), Text, "", {});
}

void appendRefusalNote(Function &F, const EntrySettings &Settings,
                       const char *Reason) {
  std::string Symbol = assemblerName(F);
  kstackrand_note Note = describe(Symbol, Settings);
  F.getParent()->appendModuleInlineAsm(
      takeText(kstackrand_refusal_note(&Note, Reason)));
}

} // namespace kstackrand
