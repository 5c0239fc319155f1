// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Model linux: what is special about a kernel.
//
// There is no runtime: each module with an entry or a reseed point brings the
// state along, of which the linker keeps one, and the prologue reaches it by
// machine code of its own, without a call. That text is the same for both
// compilers and stands in policy/linux_model.c, in GCC's spelling.
//
#include "Passes.h"

#include "llvm/ADT/StringExtras.h"

#include <cstdlib>
#include <linux_model.h>
#include <memory>

using namespace llvm;

namespace kstackrand {

namespace {
struct TextDeleter {
  void operator()(char *Text) const { free(Text); }
};
using Text = std::unique_ptr<char, TextDeleter>;
} // namespace

static bool isX86(const Module &M) { return targetHooks(M) == &TargetX86; }

static kstackrand_kernel describe(const Module &M,
                                  const EntrySettings &Settings) {
  return {isX86(M) ? KSTACKRAND_ARCH_X86_64 : KSTACKRAND_ARCH_AARCH64,
          Settings.Smp, Settings.Bits};
}

/// Inline assembly in GCC's spelling, in LLVM's: %0 is $0, %w0 is ${0:w}, %% is
/// a percent sign, and a dollar sign is doubled.
static std::string translate(StringRef Gcc) {
  std::string Llvm;
  while (!Gcc.empty()) {
    char First = Gcc.front();
    Gcc = Gcc.drop_front();
    if (First == '$')
      Llvm += "$$";
    else if (First != '%')
      Llvm += First;
    else if (Gcc.consume_front("%"))
      Llvm += '%';
    else if (isDigit(Gcc.front()))
      Llvm += '$';
    else {
      Llvm += {'$', '{', Gcc[1], ':', Gcc[0], '}'};
      Gcc = Gcc.drop_front(2);
    }
  }
  return Llvm;
}

/// Constraints of Count outputs, and the type of them all.
static std::string describeOutputs(Module &M, unsigned Count,
                                   SmallVectorImpl<Type *> &Types) {
  static constexpr const char *X86[] = {"=&{rdx}", "=&{rax}"};
  std::string Constraints;
  for (unsigned I = 0; I < Count; ++I) {
    Constraints += std::string(I ? "," : "") + (isX86(M) ? X86[I] : "=&r");
    Types.push_back(Type::getInt64Ty(M.getContext()));
  }
  return Constraints;
}

static const char *clobbers(const Module &M) {
  return isX86(M) ? "~{dirflag},~{fpsr},~{flags}" : "~{cc}";
}

void appendLinuxState(Module &M, const EntrySettings &Settings) {
  const kstackrand_kernel Kernel = describe(M, Settings);
  M.appendModuleInlineAsm(Text(kstackrand_linux_state(&Kernel)).get());
}

Value *createLinuxDraw(IRBuilderBase &IRB, const EntrySettings &Settings) {
  Module &M = *IRB.GetInsertBlock()->getModule();
  const kstackrand_kernel Kernel = describe(M, Settings);
  unsigned Outputs;
  Text Draw(kstackrand_linux_draw(&Kernel, &Outputs));
  SmallVector<Type *, KSTACKRAND_LINUX_OUTPUTS_MAX> Types;
  std::string Constraints = describeOutputs(M, Outputs, Types);
  CallInst *Results =
      createAsm(IRB, StructType::get(IRB.getContext(), Types),
                translate(Draw.get()), Constraints + "," + clobbers(M), {});
  return IRB.CreateExtractValue(Results, 0, "offset");
}

void createLinuxReseed(IRBuilderBase &IRB, const EntrySettings &Settings) {
  Module &M = *IRB.GetInsertBlock()->getModule();
  const kstackrand_kernel Kernel = describe(M, Settings);
  unsigned Outputs;
  Text Reseed(kstackrand_linux_reseed(&Kernel, &Outputs));
  SmallVector<Type *, KSTACKRAND_LINUX_OUTPUTS_MAX> Types;
  std::string Constraints = describeOutputs(M, Outputs, Types);
  FunctionCallee Random = M.getOrInsertFunction(
      KSTACKRAND_LINUX_RANDOM_SYMBOL,
      FunctionType::get(IRB.getInt64Ty(), /*isVarArg=*/false));
  SmallVector<Value *, KSTACKRAND_LINUX_RANDOM_WORDS> Words;
  for (unsigned I = 0; I < KSTACKRAND_LINUX_RANDOM_WORDS; ++I) {
    CallInst *Word = IRB.CreateCall(Random, {}, "word");
    Word->setTailCallKind(CallInst::TCK_NoTail);
    Words.push_back(Word);
    Constraints += Constraints.empty() ? "r" : ",r";
  }
  Type *Results = Types.empty() ? IRB.getVoidTy()
                                : StructType::get(IRB.getContext(), Types);
  createAsm(IRB, Results, translate(Reseed.get()),
            Constraints + "," + clobbers(M), Words);
}

} // namespace kstackrand
