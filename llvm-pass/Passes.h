// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the parts of the pass library tell each other.
//
//   Plugin.cpp         loading: host check, extension points, names for opt
//   Configuration.cpp  where the policy comes from
//   Mark.cpp           early: decides which functions are entries, and keeps
//                      them whole until the end
//   Instrument.cpp     late: makes each marked function shift its stack
//   Prologue.cpp       the instructions that draw and shift
//   Note.cpp           the record in the object of what was done
//   Assembly.cpp       inline assembly; from GCC's spelling into LLVM's
//   RareBlock.cpp      where in a function something stands that hardly ever
//                      runs
//   LinuxModel.cpp     those of model linux, which a kernel brings along
//   Target*.cpp        what must be written in machine code
//   Canary.cpp         no stack protector gained or lost
//   Report.cpp         notes, warnings, errors, remarks
//   Host.cpp           is this process the LLVM that we were built for?
//
#ifndef KSTACKRAND_LLVM_PASSES_H
#define KSTACKRAND_LLVM_PASSES_H

#include "compat.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/PassManager.h"

#include <kstackrand/abi.h>
#include <policy.h>
#include <string>

namespace kstackrand {

// Attributes by which the two passes, and the steps of LTO, talk to each other.

/// A marked entry or reseed point, with its settings:
/// "model=inline,rng=fast,bits=6,entry" or
/// "model=linux,rng=fast,bits=6,entry,reseed,smp".
constexpr char MarkAttribute[] = "kstackrand";
/// The name it was chosen under. Differs from the function's own in the parts
/// of a coroutine; differs between all entries, so that no two are merged.
constexpr char NameAttribute[] = "kstackrand-entry";
/// Who chose it. Gone once it is instrumented.
constexpr char BecauseAttribute[] = "kstackrand-because";
/// It shifts its stack: not again.
constexpr char DoneAttribute[] = "kstackrand-done";
/// Module flag: the plugin was there when this module was compiled.
constexpr char SeenFlag[] = "kstackrand";

struct EntrySettings {
  kstackrand_model Model = KSTACKRAND_MODEL_INLINE;
  kstackrand_rng Rng = KSTACKRAND_RNG_FAST;
  unsigned Bits = KSTACKRAND_BITS_DEFAULT;
  bool Entry = false; /// to draw and shift
  // Model linux:
  bool Reseed = false; /// to mix fresh entropy into the state
  bool Smp = false;    /// of a kernel with CONFIG_SMP
  // Of every model:
  bool Lto = false; /// optimized once more, when all is linked
};

/// Which step of a build a pass runs in.
enum class Step { Compile, Link };

class MarkPass : public llvm::PassInfoMixin<MarkPass> {
  Step At;

public:
  explicit MarkPass(Step At) : At(At) {}
  llvm::PreservedAnalyses run(llvm::Module &M, llvm::ModuleAnalysisManager &);
  /// Also at -O0 and for optnone functions.
  static bool isRequired() { return true; }
};

/// A link step without the compile step would leave everything as it was, and
/// nobody would notice, since options cannot be given to it: an error.
void requireCompileStep(const llvm::Module &M);

class InstrumentPass : public llvm::PassInfoMixin<InstrumentPass> {
public:
  llvm::PreservedAnalyses run(llvm::Module &M, llvm::ModuleAnalysisManager &);
  static bool isRequired() { return true; }
};

// Mark.cpp

/// What stands against F as an entry; facts of enum kstackrand_fact.
unsigned bodyFacts(const llvm::Function &F);
/// The assembler name of a function or an alias, and the demangled one, or "".
std::string assemblerName(const llvm::GlobalValue &Named);
std::string demangledName(const llvm::GlobalValue &Named);

// Configuration.cpp

/// Makes -kstackrand=KEY=VALUE known. Once, when the library is loaded.
void registerOption();
/// Whether anybody gave a configuration in this process.
bool isConfigured();
/// The policy in force. Ends the process on a bad option.
const kstackrand_policy *policy();

// Prologue.cpp

/// Makes F reseed, or draw and shift its stack, or both, as the first thing it
/// does. The alloca that shifts is returned; null when F is no entry.
llvm::AllocaInst *insertPrologue(llvm::Function &F, const EntrySettings &);

/// What must be written in machine code. Each appends at the builder.
struct TargetHooks {
  /// Adds Step to the counter that Counter points to, such that a signal
  /// handler that does the same cannot come between. Gives the old value.
  llvm::Value *(*FetchAdd)(llvm::IRBuilderBase &, llvm::Value *Counter,
                           llvm::Value *Step);
  /// Calls __kstackrand_draw_slow by its private calling convention. Gives the
  /// offset in bytes.
  llvm::Value *(*DrawSlow)(llvm::IRBuilderBase &);
  /// Subtracts Offset from the stack pointer.
  void (*Shift)(llvm::IRBuilderBase &, llvm::Value *Offset);
};

/// The hooks for the architecture of M; null when there are none.
const TargetHooks *targetHooks(const llvm::Module &M);
extern const TargetHooks TargetX86, TargetAArch64;

// Assembly.cpp

/// An asm statement with side effects.
llvm::CallInst *createAsm(llvm::IRBuilderBase &, llvm::Type *Result,
                          llvm::StringRef Text, llvm::StringRef Constraints,
                          llvm::ArrayRef<llvm::Value *> Inputs);
/// Text for the top level of a file, which is freed.
std::string takeText(char *Text);
/// A template of inline assembly in GCC's spelling, which is freed, in LLVM's:
/// %0 is $0, %w0 is ${0:w}, %= is ${:uid}, %% is a percent sign, and a dollar
/// sign is doubled.
std::string takeTemplate(char *Text);

// Note.cpp

/// That the function of the builder is what the settings say; behind the shift.
void createEntryNote(llvm::IRBuilderBase &, const EntrySettings &);
/// That F was to be what the settings say, and is not.
void appendRefusalNote(llvm::Function &F, const EntrySettings &,
                       const char *Reason);

// RareBlock.cpp

/// A new, empty block on the way through F that is taken most rarely, as far as
/// F's profile tells; null when there is none that is rare.
llvm::BasicBlock *rareBlock(llvm::Function &F);

// LinuxModel.cpp

/// The state, mask and boot parameter of model linux, into a module that has
/// functions with these settings.
void appendLinuxState(llvm::Module &M, const EntrySettings &);
/// Draws; gives the offset in bytes, a valid one.
llvm::Value *createLinuxDraw(llvm::IRBuilderBase &, const EntrySettings &);
void createLinuxReseed(llvm::IRBuilderBase &, const EntrySettings &);

// Canary.cpp

/// Whether F gets a stack protector as it stands.
bool wantsStackProtector(const llvm::Function &F);

// Report.cpp

enum class Severity { Note, Warning, Error };

/// Says something about F at its own location.
void report(const llvm::Function &F, Severity, const std::string &Message);
/// An error about all of M.
void reportModule(const llvm::Module &M, const std::string &Message);
/// That F is What: an entry, a reseed point.
void reportChosen(const llvm::Function &F, llvm::StringRef What,
                  llvm::StringRef Because);
void reportExcepted(const llvm::Function &F, llvm::StringRef Because);
/// As loudly as the policy asks for.
void reportRefusal(llvm::Function &F, bool ByName, llvm::StringRef Because,
                   llvm::StringRef Reason);
/// -Rpass=kstackrand.
void remarkInstrumented(llvm::Function &F, const EntrySettings &);
/// One line on stderr, no output file, status 1.
[[noreturn]] void fail(const std::string &Message);

} // namespace kstackrand

#endif
