// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Inline assembly. What both compilers put into a program as text stands in
// policy/, in GCC's spelling.
//
#include "Passes.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/InlineAsm.h"

#include <cstdlib>

using namespace llvm;

namespace kstackrand {

CallInst *createAsm(IRBuilderBase &IRB, Type *Result, StringRef Text,
                    StringRef Constraints, ArrayRef<Value *> Inputs) {
  SmallVector<Type *, 4> Types;
  for (Value *Input : Inputs)
    Types.push_back(Input->getType());
  auto *Signature = FunctionType::get(Result, Types, false);
  auto *Asm = InlineAsm::get(Signature, Text, Constraints,
                             /*hasSideEffects=*/true);
  CallInst *Call = IRB.CreateCall(Signature, Asm, Inputs);
  Call->addFnAttr(Attribute::NoUnwind);
  return Call;
}

std::string takeText(char *Text) {
  std::string Taken = Text;
  free(Text);
  return Taken;
}

std::string takeTemplate(char *Text) {
  std::string Taken = takeText(Text), Llvm;
  StringRef Gcc = Taken;
  while (!Gcc.empty()) {
    char First = Gcc.front();
    Gcc = Gcc.drop_front();
    if (First == '$')
      Llvm += "$$";
    else if (First != '%')
      Llvm += First;
    else if (Gcc.consume_front("="))
      Llvm += "${:uid}";
    else if (isDigit(Gcc.front()))
      Llvm += '$';
    else if (isAlpha(Gcc.front())) {
      Llvm += {'$', '{', Gcc[1], ':', Gcc[0], '}'};
      Gcc = Gcc.drop_front(2);
    } else {
      Llvm += Gcc.front();
      Gcc = Gcc.drop_front();
    }
  }
  return Llvm;
}

} // namespace kstackrand
