// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The prologue of an entry: a draw, and the alloca that shifts the stack by
// what was drawn. abi.h tells in C what is built here. For model inline:
//
//   entry:  static allocas of the function
//           key == seal ?  fast : slow
//   fast:   counter += step; word; offset       slow: offset by the runtime
//           stack pointer -= offset & mask            alloca i8, offset & mask
//   rest:   the function as it was
//
// The alloca stands in the entry itself, not in a helper: inlined, it would be
// wrapped in a save and restore of the stack, and shift nothing. One byte per
// element and alignment 1 make it exact; the stack stays aligned because every
// offset is a multiple of 16.
//
// LLVM makes three instructions of an alloca where one would do, and so the
// fast path subtracts in an asm. It may, because of the alloca on the slow
// path: a function with one of variable size reaches its locals and finds its
// way back by the frame pointer, keeps arguments of calls nowhere fixed, and
// has no red zone, on all its paths. Nothing can fold that alloca: its size
// comes out of an asm. With -fstack-clash-protection both paths meet at one
// alloca, which LLVM then probes.
//
// Model linux has no slow path. There the alloca, of no bytes, stands where the
// function itself hardly ever comes by.
//
#include "Passes.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Support/DJB.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

using namespace llvm;
using namespace llvm::PatternMatch;

namespace kstackrand {

const TargetHooks *targetHooks(const Module &M) {
  Triple Target(M.getTargetTriple());
  switch (Target.getArch()) {
  case Triple::x86_64:
    return &TargetX86;
  case Triple::aarch64:
  case Triple::aarch64_be:
    return &TargetAArch64;
  default:
    return nullptr;
  }
}

/// Whether data of a shared library may be reached as if it were M's own: in an
/// executable, by a copy relocation, which the runtime provides for. Linkers
/// for arm64 make none in a position-independent one.
static bool reachesDataDirectly(const Module &M) {
  if (M.getPICLevel() == PICLevel::NotPIC)
    return true;
  return M.getPIELevel() != PIELevel::Default && targetHooks(M) == &TargetX86;
}

/// The runtime's variable Name, of Bytes bytes; whatever M thinks of its type.
static GlobalVariable *runtimeVariable(Module &M, StringRef Name,
                                       unsigned Bytes) {
  if (GlobalVariable *Known = M.getNamedGlobal(Name))
    return Known;
  Type *Words = ArrayType::get(Type::getInt64Ty(M.getContext()),
                               Bytes / sizeof(uint64_t));
  auto *Variable = new GlobalVariable(M, Words, /*isConstant=*/false,
                                      GlobalValue::ExternalLinkage,
                                      /*Initializer=*/nullptr, Name);
  Variable->setAlignment(Align(8));
  return Variable;
}

static GlobalVariable *processVariable(Module &M) {
  GlobalVariable *Process =
      runtimeVariable(M, KSTACKRAND_PROCESS_SYMBOL, sizeof(kstackrand_process));
  if (reachesDataDirectly(M))
    Process->setDSOLocal(true);
  return Process;
}

static GlobalVariable *threadVariable(Module &M) {
  GlobalVariable *Thread =
      runtimeVariable(M, KSTACKRAND_THREAD_SYMBOL, sizeof(kstackrand_thread));
  // Initial-exec: reached without a call, in shared libraries as well.
  if (!Thread->isThreadLocal())
    Thread->setThreadLocalMode(GlobalValue::InitialExecTLSModel);
  return Thread;
}

/// The asm of the slow path is no reference that the symbol tables of bitcode
/// know of, and a linker takes members out of an archive by those.
static void referToDrawSlow(Module &M) {
  if (M.getFunction(KSTACKRAND_DRAW_SLOW_SYMBOL))
    return;
  auto *Signature = FunctionType::get(Type::getVoidTy(M.getContext()), false);
  appendToCompilerUsed(
      M, {Function::Create(Signature, GlobalValue::ExternalLinkage,
                           KSTACKRAND_DRAW_SLOW_SYMBOL, M)});
}

/// A pointer to the 64-bit field at Offset bytes in Variable.
static Value *field(IRBuilderBase &IRB, GlobalVariable *Variable,
                    unsigned Offset) {
  Type *Byte = IRB.getInt8Ty();
  Value *Start = IRB.CreatePointerCast(Variable, compat::pointerTo(Byte));
  Value *Field =
      Offset ? IRB.CreateConstInBoundsGEP1_64(Byte, Start, Offset) : Start;
  return IRB.CreatePointerCast(Field, compat::pointerTo(IRB.getInt64Ty()));
}

static Value *loadField(IRBuilderBase &IRB, GlobalVariable *Variable,
                        unsigned Offset, const char *Name) {
  return IRB.CreateAlignedLoad(IRB.getInt64Ty(), field(IRB, Variable, Offset),
                               Align(8), Name);
}

/// kstackrand_word() of abi.h.
static Value *createFastWord(IRBuilderBase &IRB, Value *Counter, Value *Key) {
  Value *Keyed = IRB.CreateXor(Counter, Key);
  Value *Square = IRB.CreateMul(Keyed, Keyed);
  // Both compilers' targets have an instruction for the high half.
  Type *Double = IRB.getInt128Ty();
  Value *Product = IRB.CreateMul(IRB.CreateZExt(Square, Double),
                                 IRB.CreateZExt(Counter, Double));
  return IRB.CreateTrunc(IRB.CreateLShr(Product, 64), IRB.getInt64Ty(), "word");
}

/// kstackrand_siphash() of abi.h, or 0 when switched off.
static Value *createSiphashWord(IRBuilderBase &IRB, GlobalVariable *Process,
                                Value *Counter, Value *Step) {
  Value *Key0 = loadField(IRB, Process, KSTACKRAND_PROCESS_SIPHASH_KEY, "key0");
  Value *Key1 =
      loadField(IRB, Process, KSTACKRAND_PROCESS_SIPHASH_KEY + 8, "key1");
  Value *V0 = Key0, *V1 = Key1, *V2 = Key0, *V3 = Key1;
#define ADD(A, B) A = IRB.CreateAdd(A, B);
#define XOR(A, B) A = IRB.CreateXor(A, B);
#define ROTATE(A, Bits)                                                        \
  A = IRB.CreateIntrinsic(Intrinsic::fshl, {IRB.getInt64Ty()},                 \
                          {A, A, IRB.getInt64(Bits)});
#define WORD(Word) IRB.getInt64(Word)
  KSTACKRAND_SIPHASH_STEPS(ADD, XOR, ROTATE, WORD, V0, V1, V2, V3, Counter)
#undef ADD
#undef XOR
#undef ROTATE
#undef WORD
  Value *Odd = IRB.CreateAnd(Step, IRB.getInt64(1));
  return IRB.CreateAnd(V0, IRB.CreateNeg(Odd), "word");
}

/// Advances the thread's counter; gives the word of this draw.
static Value *drawFast(IRBuilderBase &IRB, const TargetHooks &Target,
                       const EntrySettings &Settings, GlobalVariable *Process,
                       GlobalVariable *Thread, Value *Key, Value *Step) {
  Value *Counter =
      Target.FetchAdd(IRB, field(IRB, Thread, KSTACKRAND_THREAD_COUNTER), Step);
  if (Settings.Rng == KSTACKRAND_RNG_SIPHASH)
    return createSiphashWord(IRB, Process, Counter, Step);
  return createFastWord(IRB, Counter, Key);
}

/// Offset & mask. Not by the builder, which folds a mask of 0: an alloca must
/// stay variable.
static Value *maskOffset(IRBuilderBase &IRB, Value *Offset, unsigned Bits) {
  return IRB.Insert(
      BinaryOperator::CreateAnd(Offset, IRB.getInt64(kstackrand_mask(Bits))));
}

static AllocaInst *shiftByAlloca(IRBuilderBase &IRB, Value *Offset) {
  AllocaInst *Shift =
      IRB.CreateAlloca(IRB.getInt8Ty(), Offset, "kstackrand.shift");
  Shift->setAlignment(Align(1));
  // Keeps the alloca. As an input: an asm output would let it be deleted. It
  // neither keeps the pointer nor looks through it, so that SafeStack leaves
  // the alloca on the stack that is to be shifted.
  CallInst *KeepAlive = createAsm(IRB, IRB.getVoidTy(), "", "r", {Shift});
  compat::addNoCapture(*KeepAlive, 0);
  KeepAlive->addParamAttr(0, Attribute::ReadNone);
  return Shift;
}

/// Draw and shift by model inline, in front of what F does first.
static AllocaInst *insertInline(IRBuilderBase &IRB, const TargetHooks &Target,
                                const EntrySettings &Settings) {
  BasicBlock *Entry = IRB.GetInsertBlock();
  Function *F = Entry->getParent();
  Module &M = *F->getParent();
  LLVMContext &Context = F->getContext();
  GlobalVariable *Process = processVariable(M);
  GlobalVariable *Thread = threadVariable(M);
  referToDrawSlow(M);

  BasicBlock *Rest =
      Entry->splitBasicBlock(IRB.GetInsertPoint(), "kstackrand.rest");
  BasicBlock *Fast = BasicBlock::Create(Context, "kstackrand.fast", F, Rest);
  // Last, so that it is out of the way also where nothing moves blocks.
  BasicBlock *Slow = BasicBlock::Create(Context, "kstackrand.slow", F);

  Entry->getTerminator()->eraseFromParent();
  IRB.SetInsertPoint(Entry);
  Value *Key = loadField(IRB, Process, KSTACKRAND_PROCESS_KEY, "key");
  // Neighbours, which arm64 loads with one instruction; but not if the second
  // load sinks to its use, behind the branch, which the empty asm keeps it
  // from.
  Value *Seal = loadField(IRB, Thread, KSTACKRAND_THREAD_SEAL, "seal");
  Value *Step = loadField(IRB, Thread, KSTACKRAND_THREAD_STEP, "step");
  Step = createAsm(IRB, Step->getType(), "", "=r,0", {Step});
  IRB.CreateCondBr(IRB.CreateICmpEQ(Key, Seal), Fast, Slow,
                   MDBuilder(Context).createBranchWeights(1 << 20, 1));

  IRB.SetInsertPoint(Fast);
  Value *Word = drawFast(IRB, Target, Settings, Process, Thread, Key, Step);
  Value *FastOffset = maskOffset(IRB, Word, Settings.Bits);
  Instruction *FastEnd = IRB.CreateBr(Rest);

  IRB.SetInsertPoint(Slow);
  Value *SlowOffset = maskOffset(IRB, Target.DrawSlow(IRB), Settings.Bits);
  Instruction *SlowEnd = IRB.CreateBr(Rest);

  if (F->hasFnAttribute("probe-stack")) {
    IRB.SetInsertPoint(Rest, Rest->begin());
    PHINode *Offset = IRB.CreatePHI(IRB.getInt64Ty(), 2);
    Offset->addIncoming(FastOffset, Fast);
    Offset->addIncoming(SlowOffset, Slow);
    AllocaInst *Shift = shiftByAlloca(IRB, Offset);
    createEntryNote(IRB, Settings);
    return Shift;
  }
  IRB.SetInsertPoint(FastEnd);
  Target.Shift(IRB, FastOffset);
  createEntryNote(IRB, Settings);
  IRB.SetInsertPoint(SlowEnd);
  return shiftByAlloca(IRB, SlowOffset);
}

/// Draw and shift by model call.
static AllocaInst *insertCall(IRBuilderBase &IRB,
                              const EntrySettings &Settings) {
  Module &M = *IRB.GetInsertBlock()->getModule();
  FunctionCallee Draw = M.getOrInsertFunction(
      Settings.Rng == KSTACKRAND_RNG_SIPHASH ? KSTACKRAND_OFFSET_SIPHASH_SYMBOL
                                             : KSTACKRAND_OFFSET_SYMBOL,
      FunctionType::get(IRB.getInt64Ty(), /*isVarArg=*/false));
  CallInst *Offset = IRB.CreateCall(Draw, {}, "offset");
  Offset->addFnAttr(Attribute::NoUnwind);
  Offset->setTailCallKind(CallInst::TCK_NoTail);
  AllocaInst *Shift =
      shiftByAlloca(IRB, maskOffset(IRB, Offset, Settings.Bits));
  createEntryNote(IRB, Settings);
  return Shift;
}

/// Shifts by an asm, with the alloca that this needs in Rare, which does not
/// move the stack when it is run: its size is 0, and nobody knows. Were it lost
/// later, with the way that leads to it, the frame would be laid out for a
/// stack pointer that stands still. Then the label in Rare is lost with it, and
/// the assembler stops at the reference to it. That lies in a section that
/// kernels discard.
static AllocaInst *shiftAndAllocateInRare(IRBuilderBase &IRB,
                                          const TargetHooks &Target,
                                          Value *Offset, BasicBlock *Rare,
                                          unsigned Bits) {
  const Function &F = *Rare->getParent();
  std::string Label =
      ".Lkstackrand_rare_" + utohexstr(djbHash(assemblerName(F)));
  createAsm(IRB, IRB.getVoidTy(),
            ".pushsection .discard.kstackrand\n\t.quad " + Label +
                "\n\t.popsection",
            "", {});
  Target.Shift(IRB, Offset);

  IRBuilder<> InRare(Rare->getTerminator());
  InRare.SetCurrentDebugLocation(IRB.getCurrentDebugLocation());
  Value *None = createAsm(InRare, InRare.getInt64Ty(), Label + ":", "=r,0",
                          {InRare.getInt64(0)});
  return shiftByAlloca(InRare, maskOffset(InRare, None, Bits));
}

/// Model linux. The reseed comes first: what it calls runs where the function
/// itself would have been, and the draw is the first from what is fresh.
static AllocaInst *insertLinux(IRBuilderBase &IRB, const TargetHooks &Target,
                               const EntrySettings &Settings) {
  if (Settings.Reseed)
    createLinuxReseed(IRB, Settings);
  if (!Settings.Entry) {
    createEntryNote(IRB, Settings);
    return nullptr;
  }
  Value *Offset = createLinuxDraw(IRB, Settings);
  // What optimizes the function once more may well find another use for the
  // rare block; and a prober must see the shift.
  Function &F = *IRB.GetInsertBlock()->getParent();
  BasicBlock *Rare =
      Settings.Lto || F.hasFnAttribute("probe-stack") ? nullptr : rareBlock(F);
  AllocaInst *Shift =
      Rare ? shiftAndAllocateInRare(IRB, Target, Offset, Rare, Settings.Bits)
           : shiftByAlloca(IRB, maskOffset(IRB, Offset, Settings.Bits));
  createEntryNote(IRB, Settings);
  return Shift;
}

/// Static allocas must stay in the entry block, which the prologue cuts in two:
/// gathers them at its start. Gives the place behind them.
static BasicBlock::iterator gatherStaticAllocas(BasicBlock &Entry) {
  auto IsStatic = [](Instruction &I) {
    auto *Alloca = dyn_cast<AllocaInst>(&I);
    return Alloca && Alloca->isStaticAlloca();
  };
  BasicBlock::iterator First = Entry.begin();
  while (IsStatic(*First))
    ++First;
  for (auto I = First; I != Entry.end();) {
    Instruction &Candidate = *I++;
    if (IsStatic(Candidate))
      compat::moveBefore(Candidate, Entry, First);
  }
  return First;
}

/// Whether AddressSanitizer asks by Condition if it shall take the locals of a
/// function from the heap, or whether it got them there.
static bool asksForFakeStack(const Value *Condition) {
  const auto *Compare = dyn_cast<ICmpInst>(Condition);
  if (!Compare)
    return false;
  const Value *Asked = Compare->getOperand(0);
  if (const auto *Either = dyn_cast<PHINode>(Asked))
    for (const Value *Incoming : Either->incoming_values())
      if (isa<CallBase>(Incoming))
        Asked = Incoming;
  if (const auto *Load = dyn_cast<LoadInst>(Asked))
    return Load->getPointerOperand()->getName() ==
           "__asan_option_detect_stack_use_after_return";
  const auto *Call = dyn_cast<CallBase>(Asked);
  return Call && Call->getCalledFunction() &&
         Call->getCalledFunction()->getName().find("__asan_stack_malloc") == 0;
}

/// Where two ways, one of which is a block that does something more, meet
/// again; null when they do not.
static BasicBlock *meetingPoint(BasicBlock *One, BasicBlock *Other) {
  if (One->getSingleSuccessor() == Other)
    return Other;
  return Other->getSingleSuccessor() == One ? One : nullptr;
}

/// AddressSanitizer gathers the locals of F in one alloca, of variable size to
/// LLVM, that it aligns to 32 bytes: a shift in front of it would lose every
/// other cell. Gives the block at whose start that alloca has been made, which
/// all calls come to before any code of F; the entry block when there is none.
static BasicBlock *behindAddressSanitizer(Function &F) {
  BasicBlock *Block = &F.getEntryBlock();
  if (!F.hasFnAttribute(Attribute::SanitizeAddress))
    return Block;
  // Two questions, or one, see FunctionStackPoisoner::processStaticAllocas.
  for (int Questions = 0; Questions < 2; ++Questions) {
    Value *Condition;
    BasicBlock *True, *False;
    if (!match(Block->getTerminator(),
               m_Br(m_Value(Condition), m_BasicBlock(True),
                    m_BasicBlock(False))) ||
        !asksForFakeStack(Condition))
      break;
    BasicBlock *Next = meetingPoint(True, False);
    if (!Next)
      break;
    Block = Next;
  }
  return Block;
}

AllocaInst *insertPrologue(Function &F, const EntrySettings &Settings) {
  BasicBlock &Entry = F.getEntryBlock();
  BasicBlock::iterator Start = gatherStaticAllocas(Entry);
  BasicBlock *Block = behindAddressSanitizer(F);
  if (Block != &Entry)
    Start = Block->getFirstInsertionPt();
  IRBuilder<> IRB(Block, Start);
  // Line 0: of no source line, so that a breakpoint on the function comes to
  // stand behind the prologue. Without any, LTO's verifier rejects calls.
  if (DISubprogram *Program = F.getSubprogram())
    IRB.SetCurrentDebugLocation(DILocation::get(F.getContext(), 0, 0, Program));
  else
    IRB.SetCurrentDebugLocation(DebugLoc());

  if (Settings.Model == KSTACKRAND_MODEL_LINUX)
    return insertLinux(IRB, *targetHooks(*F.getParent()), Settings);
  if (Settings.Model == KSTACKRAND_MODEL_CALL)
    return insertCall(IRB, Settings);
  return insertInline(IRB, *targetHooks(*F.getParent()), Settings);
}

} // namespace kstackrand
