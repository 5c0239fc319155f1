// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whether a function gets a stack protector: the rule of LLVM's
// lib/CodeGen/StackProtector.cpp, which offers no way to ask. Asked before the
// function gets an alloca that would be a reason of its own.
//
// ssp:       a variable alloca, or an array of characters of 8 bytes or more
//            (--param ssp-buffer-size), also within a structure when it is
//            large
// sspstrong: also any array, and any local variable whose address is taken, or
//            that is accessed beyond its end
// sspreq:    always
//
#include "Passes.h"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/MemoryLocation.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

#include <optional>

using namespace llvm;

namespace kstackrand {

constexpr uint64_t DefaultBufferSize = 8;

namespace {
/// The rule, for one function.
class ProtectorRule {
  const Function &F;
  const DataLayout &DL;
  bool Strong;
  uint64_t BufferSize = DefaultBufferSize;
  SmallPtrSet<const PHINode *, 16> VisitedPhis;

public:
  explicit ProtectorRule(const Function &F)
      : F(F), DL(F.getParent()->getDataLayout()),
        Strong(F.hasFnAttribute(Attribute::StackProtectStrong)) {
    F.getFnAttribute("stack-protector-buffer-size")
        .getValueAsString()
        .getAsInteger(10, BufferSize);
  }

  bool applies();

private:
  bool alloca(const AllocaInst &Alloca);
  bool isProtectable(Type *Ty, bool InStructure, bool &IsLarge);
  bool isAddressTaken(const Instruction &Address, TypeSize Bytes);
  bool isTakenBy(const Instruction &User, const Instruction &Address,
                 TypeSize Bytes);
  bool isTakenByOffset(const GetElementPtrInst &Offset, TypeSize Bytes);
};
} // namespace

/// Whether Ty is or holds an array that is to be protected.
bool ProtectorRule::isProtectable(Type *Ty, bool InStructure, bool &IsLarge) {
  if (auto *Array = dyn_cast<ArrayType>(Ty)) {
    bool OfCharacters = Array->getElementType()->isIntegerTy(8);
    if (!OfCharacters && !Strong &&
        (InStructure || !Triple(F.getParent()->getTargetTriple()).isOSDarwin()))
      return false;
    if (DL.getTypeAllocSize(Array).getFixedValue() >= BufferSize)
      return IsLarge = true;
    return Strong;
  }
  auto *Structure = dyn_cast<StructType>(Ty);
  if (!Structure)
    return false;
  bool Found = false;
  for (Type *Element : Structure->elements())
    if (isProtectable(Element, /*InStructure=*/true, IsLarge)) {
      if (IsLarge)
        return true;
      Found = true;
    }
  return Found;
}

/// Steps by Offset within what has Bytes bytes left.
bool ProtectorRule::isTakenByOffset(const GetElementPtrInst &Offset,
                                    TypeSize Bytes) {
  APInt Steps(DL.getIndexTypeSizeInBits(Offset.getType()), 0);
  if (!Offset.accumulateConstantOffset(DL, Steps))
    return true;
  TypeSize Skipped = compat::fixedSize(Steps.getLimitedValue());
  if (!TypeSize::isKnownGT(Bytes, Skipped))
    return true;
  uint64_t Left = Bytes.getKnownMinValue() - Skipped.getFixedValue();
  return isAddressTaken(Offset, compat::fixedSize(Left));
}

/// Whether User lets the address of a local variable escape, or accesses more
/// than the Bytes bytes there.
bool ProtectorRule::isTakenBy(const Instruction &User,
                              const Instruction &Address, TypeSize Bytes) {
  if (compat::accessesMoreThan(User, Bytes))
    return true;
  switch (User.getOpcode()) {
  case Instruction::Store:
    return cast<StoreInst>(User).getValueOperand() == &Address;
  case Instruction::AtomicCmpXchg:
    return cast<AtomicCmpXchgInst>(User).getNewValOperand() == &Address;
  case Instruction::PtrToInt:
    return User.getOperand(0) == &Address;
  case Instruction::Call: {
    const auto *Intrinsic = dyn_cast<IntrinsicInst>(&User);
    return !Intrinsic ||
           !(Intrinsic->isLifetimeStartOrEnd() || User.isDebugOrPseudoInst());
  }
  case Instruction::GetElementPtr:
    return isTakenByOffset(cast<GetElementPtrInst>(User), Bytes);
  case Instruction::BitCast:
  case Instruction::Select:
  case Instruction::AddrSpaceCast:
    return isAddressTaken(User, Bytes);
  case Instruction::PHI:
    return VisitedPhis.insert(cast<PHINode>(&User)).second &&
           isAddressTaken(User, Bytes);
  case Instruction::Load:
  case Instruction::AtomicRMW:
  case Instruction::Ret:
    return false;
  default:
    return true;
  }
}

bool ProtectorRule::isAddressTaken(const Instruction &Address, TypeSize Bytes) {
  for (const User *U : Address.users())
    if (isTakenBy(*cast<Instruction>(U), Address, Bytes))
      return true;
  return false;
}

bool ProtectorRule::alloca(const AllocaInst &Alloca) {
  if (Alloca.isArrayAllocation()) {
    const auto *Count = dyn_cast<ConstantInt>(Alloca.getArraySize());
    return !Count || Strong || Count->getLimitedValue(BufferSize) >= BufferSize;
  }
  bool IsLarge = false;
  if (isProtectable(Alloca.getAllocatedType(), /*InStructure=*/false, IsLarge))
    return true;
  return Strong &&
         isAddressTaken(Alloca, DL.getTypeAllocSize(Alloca.getAllocatedType()));
}

bool ProtectorRule::applies() {
  for (const Instruction &I : instructions(F))
    if (const auto *Alloca = dyn_cast<AllocaInst>(&I))
      if (alloca(*Alloca))
        return true;
  return false;
}

bool wantsStackProtector(const Function &F) {
  if (F.hasFnAttribute(Attribute::SafeStack))
    return false;
  if (F.hasFnAttribute(Attribute::StackProtectReq))
    return true;
  if (!F.hasFnAttribute(Attribute::StackProtect) &&
      !F.hasFnAttribute(Attribute::StackProtectStrong))
    return false;
  return ProtectorRule(F).applies();
}

} // namespace kstackrand
