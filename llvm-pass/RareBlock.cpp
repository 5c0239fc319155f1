// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where in a function something can stand that must be there but should not
// run: on the way that is taken most rarely.
//
// How rarely, what the source says is told by the weights at its branches: of
// __builtin_expect, or measured. LLVM's own guesses, where there are none, are
// left out: they call it unlikely that something is zero, and in a kernel's
// entry code what is zero are the flags of work to do, nearly always.
//
#include "Passes.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Constants.h"

using namespace llvm;

namespace kstackrand {

/// What runs more often than once in so many calls is not rare: code in front
/// of it would run less often, but there is more of it.
constexpr double RareCalls = 16;

namespace {
/// One way out of a conditional branch.
struct Way {
  BranchInst *Branch;
  unsigned Successor;
};
} // namespace

/// How often Branch takes each of its two ways, by its weights; half the time
/// when it has none.
static double probability(const BranchInst &Branch, unsigned Successor) {
  const MDNode *Weights = Branch.getMetadata(LLVMContext::MD_prof);
  // "branch_weights", what they come from (since LLVM 20, or not), and one for
  // each way.
  if (!Weights || Weights->getNumOperands() < 3)
    return 0.5;
  unsigned First = Weights->getNumOperands() - 2;
  auto *Taken = mdconst::dyn_extract<ConstantInt>(Weights->getOperand(First));
  auto *Other =
      mdconst::dyn_extract<ConstantInt>(Weights->getOperand(First + 1));
  if (!Taken || !Other)
    return 0.5;
  double One = Taken->getZExtValue(), Two = Other->getZExtValue();
  return One + Two > 0 ? (Successor ? Two : One) / (One + Two) : 0.5;
}

/// Makes a block on Way.
static BasicBlock *splitWay(const Way &Rarest) {
  BranchInst *Branch = Rarest.Branch;
  BasicBlock *From = Branch->getParent();
  BasicBlock *To = Branch->getSuccessor(Rarest.Successor);
  BasicBlock *Rare = BasicBlock::Create(From->getContext(), "kstackrand.rare",
                                        From->getParent());
  IRBuilder<> IRB(Rare);
  IRB.SetCurrentDebugLocation(Branch->getDebugLoc());
  IRB.CreateBr(To);
  Branch->setSuccessor(Rarest.Successor, Rare);
  To->replacePhiUsesWith(From, Rare);
  return Rare;
}

BasicBlock *rareBlock(Function &F) {
  // How often each block is come to, once from each side: a loop, which comes
  // back, is not counted, so what is in it counts for less than it runs.
  DenseMap<const BasicBlock *, double> Reached;
  Reached[&F.getEntryBlock()] = 1;
  double Least = 1 / RareCalls;
  Way Rarest = {};
  for (BasicBlock *Block : ReversePostOrderTraversal<Function *>(&F)) {
    auto *Branch = dyn_cast<BranchInst>(Block->getTerminator());
    double Here = Reached.lookup(Block);
    if (!Branch || !Branch->isConditional() ||
        Branch->getSuccessor(0) == Branch->getSuccessor(1)) {
      for (BasicBlock *Next : successors(Block))
        Reached[Next] += Here;
      continue;
    }
    for (unsigned Successor = 0; Successor < 2; ++Successor) {
      double There = Here * probability(*Branch, Successor);
      Reached[Branch->getSuccessor(Successor)] += There;
      if (There < Least) {
        Least = There;
        Rarest = {Branch, Successor};
      }
    }
  }
  return Rarest.Branch ? splitWay(Rarest) : nullptr;
}

} // namespace kstackrand
