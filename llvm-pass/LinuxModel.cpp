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

#include <linux_model.h>

using namespace llvm;

namespace kstackrand {

static bool isX86(const Module &M) { return targetHooks(M) == &TargetX86; }

static kstackrand_kernel describe(const Module &M,
                                  const EntrySettings &Settings) {
  return {isX86(M) ? KSTACKRAND_ARCH_X86_64 : KSTACKRAND_ARCH_AARCH64,
          Settings.Smp, Settings.Bits};
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
  M.appendModuleInlineAsm(takeText(kstackrand_linux_state(&Kernel)));
}

Value *createLinuxDraw(IRBuilderBase &IRB, const EntrySettings &Settings) {
  Module &M = *IRB.GetInsertBlock()->getModule();
  const kstackrand_kernel Kernel = describe(M, Settings);
  unsigned Outputs;
  std::string Draw = takeTemplate(kstackrand_linux_draw(&Kernel, &Outputs));
  SmallVector<Type *, KSTACKRAND_LINUX_OUTPUTS_MAX> Types;
  std::string Constraints = describeOutputs(M, Outputs, Types);
  CallInst *Results = createAsm(IRB, StructType::get(IRB.getContext(), Types),
                                Draw, Constraints + "," + clobbers(M), {});
  return IRB.CreateExtractValue(Results, 0, "offset");
}

void createLinuxReseed(IRBuilderBase &IRB, const EntrySettings &Settings) {
  Module &M = *IRB.GetInsertBlock()->getModule();
  const kstackrand_kernel Kernel = describe(M, Settings);
  unsigned Outputs;
  std::string Reseed = takeTemplate(kstackrand_linux_reseed(&Kernel, &Outputs));
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
  createAsm(IRB, Results, Reseed, Constraints + "," + clobbers(M), Words);
}

} // namespace kstackrand
