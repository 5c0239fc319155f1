// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// LLVM's and Clang's headers differ between versions: 14 to 23. All differences
// stand here, by what they are about, each with the change upstream that made
// it. The only file of this folder with conditions on a version.
//
#ifndef KSTACKRAND_LLVM_COMPAT_H
#define KSTACKRAND_LLVM_COMPAT_H

#include "llvm/Analysis/MemoryLocation.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/IR/Attributes.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/Passes/PassBuilder.h"
#if __has_include("llvm/Plugins/PassPlugin.h")
#include "llvm/Plugins/PassPlugin.h" // 22: "Move PassPlugin to its own library"
#else
#include "llvm/Passes/PassPlugin.h"
#endif
#include "llvm/Support/CommandLine.h"
#if __has_include("llvm/TargetParser/Triple.h")
#include "llvm/TargetParser/Triple.h" // 17: "Move Triple into TargetParser"
#else
#include "llvm/ADT/Triple.h"
#endif

namespace kstackrand {
namespace compat {

// Opaque pointers are the only ones since 17, and the default since 15; 14 has
// them under a flag.
inline llvm::PointerType *pointerTo(llvm::Type *Pointee) {
#if LLVM_VERSION_MAJOR < 17
  return llvm::PointerType::get(Pointee, 0);
#else
  return llvm::PointerType::get(Pointee->getContext(), 0);
#endif
}

// 21 replaced the attribute nocapture by captures(none) ("Add captures
// attribute", #116990); readnone is for parameters in all versions.
inline void addNoCapture(llvm::CallBase &Call, unsigned Operand) {
#if LLVM_VERSION_MAJOR < 21
  Call.addParamAttr(Operand, llvm::Attribute::NoCapture);
#else
  Call.addParamAttr(Operand, llvm::Attribute::getWithCaptureInfo(
                                 Call.getContext(), llvm::CaptureInfo::none()));
#endif
}

// 16 gathered what a function does to memory in one attribute (D135780).
inline void forgetMemoryEffects(llvm::Function &F) {
#if LLVM_VERSION_MAJOR < 16
  for (llvm::Attribute::AttrKind Kind :
       {llvm::Attribute::ReadNone, llvm::Attribute::ReadOnly,
        llvm::Attribute::WriteOnly, llvm::Attribute::ArgMemOnly,
        llvm::Attribute::InaccessibleMemOnly,
        llvm::Attribute::InaccessibleMemOrArgMemOnly})
    F.removeFnAttr(Kind);
#else
  F.removeFnAttr(llvm::Attribute::Memory);
#endif
}

// Debug records hang on instructions since 18 (RemoveDIs); those of I must stay
// where they are.
inline void moveBefore(llvm::Instruction &I, llvm::BasicBlock &Block,
                       llvm::BasicBlock::iterator Where) {
#if LLVM_VERSION_MAJOR < 18
  I.moveBefore(Block, Where);
#else
  I.moveBeforePreserving(Block, Where);
#endif
}

// Since 22 an alloca can say that it needs no stack protector (before, the
// attribute of the whole function has to go: see Canary.cpp).
constexpr bool HasStackProtectorOptOut = LLVM_VERSION_MAJOR >= 22;

// 15 brought extension points into the full LTO pipeline (D126446).
template <typename Early, typename Last>
void registerFullLinkTimeCallbacks(llvm::PassBuilder &PB, Early AtEarly,
                                   Last AtLast) {
#if LLVM_VERSION_MAJOR >= 15
  PB.registerFullLinkTimeOptimizationEarlyEPCallback(AtEarly);
  PB.registerFullLinkTimeOptimizationLastEPCallback(AtLast);
#endif
}

// A coroutine before it is split: a string until 14, an attribute since
// 15 (D127383).
inline bool isUnsplitCoroutine(const llvm::Function &F) {
#if LLVM_VERSION_MAJOR < 15
  return F.hasFnAttribute("coroutine.presplit");
#else
  return F.isPresplitCoroutine();
#endif
}

// TypeSize::Fixed became getFixed in 17 ("Drop TypeSize::Fixed").
inline llvm::TypeSize fixedSize(uint64_t Bytes) {
#if LLVM_VERSION_MAJOR < 17
  return llvm::TypeSize::Fixed(Bytes);
#else
  return llvm::TypeSize::getFixed(Bytes);
#endif
}

// Whether I accesses memory, and is known to access more than Bytes: as
// StackProtector.cpp asks it. 14 and 15 know Optional, 16 std::optional (both
// have operator bool); 18 made the size of a location able to be scalable.
inline bool accessesMoreThan(const llvm::Instruction &I, llvm::TypeSize Bytes) {
  auto Location = llvm::MemoryLocation::getOrNone(&I);
  if (!Location || !Location->Size.hasValue())
    return false;
#if LLVM_VERSION_MAJOR < 18
  return !llvm::TypeSize::isKnownGE(Bytes,
                                    fixedSize(Location->Size.getValue()));
#else
  return !llvm::TypeSize::isKnownGE(Bytes, Location->Size.getValue());
#endif
}

// Has Clang run the pass library, of which the front knows path and entry
// point. 22 loads the libraries of CodeGenOptions::PassPlugins before it asks
// the actions of plugins, and later looks at none that was added; but there are
// callbacks, since 17.
template <typename CodeGenOptions>
void addPassLibrary(CodeGenOptions &Options, const std::string &Path,
                    decltype(&llvmGetPassPluginInfo) Describe) {
#if LLVM_VERSION_MAJOR < 22
  if (!llvm::is_contained(Options.PassPlugins, Path))
    Options.PassPlugins.push_back(Path);
#else
  Options.PassBuilderCallbacks.push_back(
      Describe().RegisterPassBuilderCallbacks);
#endif
}

// 16 and later export LLVMGetVersion: a host without a trace of its version is
// older.
constexpr bool ExportsItsVersion = LLVM_VERSION_MAJOR >= 16;

// Calling conventions with guaranteed tail calls.
inline bool isTailConvention(llvm::CallingConv::ID Convention) {
  return Convention == llvm::CallingConv::Tail ||
         Convention == llvm::CallingConv::SwiftTail;
}

} // namespace compat
} // namespace kstackrand

#endif
