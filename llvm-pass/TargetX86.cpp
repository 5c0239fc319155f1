// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// x86_64: what IR cannot say. Both spellings of each instruction, for
// -masm=intel.
//
#include "Passes.h"

using namespace llvm;

namespace kstackrand {

/// One instruction, which a signal cannot split. No lock prefix, which
/// atomicrmw would bring: no other thread writes to this counter.
static Value *fetchAdd(IRBuilderBase &IRB, Value *Counter, Value *Step) {
  CallInst *Old = createAsm(
      IRB, IRB.getInt64Ty(), "$(xaddq\t$0, $1$|xadd\t$1, $0$)",
      "=r,=*m,0,*m,~{dirflag},~{fpsr},~{flags}", {Counter, Step, Counter});
  Attribute Word = Attribute::get(IRB.getContext(), Attribute::ElementType,
                                  IRB.getInt64Ty());
  Old->addParamAttr(0, Word);
  Old->addParamAttr(2, Word);
  return Old;
}

/// Through the GOT, not the PLT: binding a PLT slot at the first call would
/// clobber registers that the callee itself keeps. In a static program the
/// linker makes it a direct call.
static Value *drawSlow(IRBuilderBase &IRB) {
  return createAsm(IRB, IRB.getInt64Ty(),
                   "$(call\t*" KSTACKRAND_DRAW_SLOW_SYMBOL "@GOTPCREL(%rip)"
                   "$|call\t[qword ptr [rip + " KSTACKRAND_DRAW_SLOW_SYMBOL
                   "@GOTPCREL]]$)",
                   "={r11},~{memory},~{dirflag},~{fpsr},~{flags}", {});
}

/// The stack pointer as an output nobody reads: LLVM sets up the frame only
/// where it first sees one used.
static void shift(IRBuilderBase &IRB, Value *Offset) {
  createAsm(IRB, IRB.getInt64Ty(), "$(subq\t$1, %rsp$|sub\trsp, $1$)",
            "={rsp},r,~{memory},~{dirflag},~{fpsr},~{flags}", {Offset});
}

const TargetHooks TargetX86 = {fetchAdd, drawSlow, shift};

} // namespace kstackrand
