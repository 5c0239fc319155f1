// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// arm64: what IR cannot say.
//
#include "Passes.h"

using namespace llvm;

namespace kstackrand {

/// An exclusive pair: a signal or a context switch in between makes the store
/// fail. In one asm, because at -O0 LLVM would spill registers between the two,
/// and a store between them may make them fail for ever. No ordering: no other
/// thread looks at this counter.
static Value *fetchAdd(IRBuilderBase &IRB, Value *Counter, Value *Step) {
  Type *Word = IRB.getInt64Ty();
  CallInst *Results = createAsm(
      IRB, StructType::get(Word, Word, IRB.getInt32Ty()),
      "1:\tldxr\t$0, [$3]\n\tadd\t$1, $0, $4\n\tstxr\t${2:w}, $1, [$3]\n\t"
      "cbnz\t${2:w}, 1b",
      "=&r,=&r,=&r,r,r,~{memory}", {Counter, Step});
  return IRB.CreateExtractValue(Results, 0);
}

/// Through the GOT, not the PLT: binding a PLT slot at the first call would
/// clobber registers that the callee itself keeps. The link register by the
/// name "lr": a clobber of "x30" is ignored without a word, and the frame,
/// which is set up only after the draw since shrink-wrapping came, saves a lost
/// one.
static Value *drawSlow(IRBuilderBase &IRB) {
  return createAsm(IRB, IRB.getInt64Ty(),
                   "adrp\tx16, :got:" KSTACKRAND_DRAW_SLOW_SYMBOL "\n\t"
                   "ldr\tx16, [x16, :got_lo12:" KSTACKRAND_DRAW_SLOW_SYMBOL
                   "]\n\tblr\tx16",
                   "={x16},~{x17},~{lr},~{memory},~{cc}", {});
}

/// The stack pointer as an output nobody reads: LLVM sets up the frame only
/// where it first sees one used.
static void shift(IRBuilderBase &IRB, Value *Offset) {
  createAsm(IRB, IRB.getInt64Ty(), "sub\tsp, sp, $1", "={sp},r,~{memory}",
            {Offset});
}

const TargetHooks TargetAArch64 = {fetchAdd, drawSlow, shift};

} // namespace kstackrand
