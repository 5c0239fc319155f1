// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which functions are entries, decided before anything is inlined.
//
// The shift itself is made last (Instrument.cpp): earlier, coroutines die of an
// alloca that is not static, and inlining wraps it in a save and restore of the
// stack. So each entry must be kept whole until then: an entry that was
// inlined, cloned or merged away would be gone under its name. What keeps it:
//
//   noinline          the inliner; hot-cold splitting and the partial inliner
//                     leave such functions alone as well
//   noduplicate       specialisation, which would put clones for known
//                     arguments in its place. Its price: a caller that is
//                     called from several places is not inlined into them
//   nooutline         the outliners of IR and of machine code
//   kstackrand-entry  MergeFunctions compares attributes, and the value of this
//                     one is different for each entry
//
#include "Configuration.h"
#include "Passes.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/GlobalIFunc.h"
#include "llvm/IR/InstIterator.h"

#include <cstdlib>
#include <cxxabi.h>

using namespace llvm;

namespace kstackrand {

std::string assemblerName(const GlobalValue &Named) {
  StringRef Name = Named.getName();
  Name.consume_front("\1"); // LLVM's mark for names given by asm labels
  return Name.str();
}

std::string demangledName(const GlobalValue &Named) {
  std::string Name = assemblerName(Named);
  if (Name.compare(0, 2, "_Z") != 0)
    return "";
  char *Text = abi::__cxa_demangle(Name.c_str(), nullptr, nullptr, nullptr);
  std::string Result = Text ? Text : "";
  free(Text);
  return Result;
}

/// Attributes in the source: annotations named kstackrand and no_kstackrand,
/// which the Clang front makes of __attribute__((…)). An element is function,
/// text, file, line, arguments; with typed pointers, casts of them.
static DenseMap<const Function *, unsigned> annotatedFacts(const Module &M) {
  DenseMap<const Function *, unsigned> Facts;
  const GlobalVariable *Annotations =
      M.getNamedGlobal("llvm.global.annotations");
  if (!Annotations || !Annotations->hasInitializer())
    return Facts;
  for (const Use &Element : Annotations->getInitializer()->operands()) {
    const auto *Fields = dyn_cast<ConstantStruct>(Element.get());
    if (!Fields || Fields->getNumOperands() < 2)
      continue;
    const auto *F =
        dyn_cast<Function>(Fields->getOperand(0)->stripPointerCasts());
    const auto *Text =
        dyn_cast<GlobalVariable>(Fields->getOperand(1)->stripPointerCasts());
    const auto *String =
        Text && Text->hasInitializer()
            ? dyn_cast<ConstantDataSequential>(Text->getInitializer())
            : nullptr;
    if (!F || !String || !String->isCString())
      continue;
    if (String->getAsCString() == "kstackrand")
      Facts[F] |= KSTACKRAND_FACT_ATTRIBUTE_ENTRY;
    else if (String->getAsCString() == "no_kstackrand")
      Facts[F] |= KSTACKRAND_FACT_ATTRIBUTE_NO;
  }
  return Facts;
}

static bool resolvesIFunc(const Function &F) {
  for (const GlobalIFunc &IFunc : F.getParent()->ifuncs())
    if (IFunc.getResolverFunction() == &F)
      return true;
  return false;
}

/// Clang puts the body of await_suspend into a function of its own, named after
/// the coroutine, that LLVM inlines when the coroutine has been split (since
/// 19, #79712). Nobody can mean it.
static bool isPartOfCoroutine(const Function &F) {
  return F.getName().contains(".__await_suspend_wrapper__");
}

static bool is64Bit(const Module &M) {
  Triple Target(M.getTargetTriple());
  return targetHooks(M) && M.getDataLayout().getPointerSizeInBits() == 64 &&
         Target.isOSBinFormatELF();
}

/// Calls that must leave after the stack was put back.
static unsigned callFacts(const Function &F) {
  unsigned Facts = 0;
  if (compat::isTailConvention(F.getCallingConv()))
    Facts |= KSTACKRAND_FACT_SWIFT_TAIL;
  for (const Instruction &I : instructions(F)) {
    const auto *Call = dyn_cast<CallInst>(&I);
    if (!Call)
      continue;
    if (Call->isMustTailCall())
      Facts |= KSTACKRAND_FACT_MUST_TAIL;
    if (Call->isTailCall() && compat::isTailConvention(Call->getCallingConv()))
      Facts |= KSTACKRAND_FACT_SWIFT_TAIL;
  }
  return Facts;
}

unsigned bodyFacts(const Function &F) {
  unsigned Facts = callFacts(F);
  auto FactIf = [&](bool Holds, unsigned Fact) { Facts |= Holds ? Fact : 0; };
  FactIf(F.hasFnAttribute(Attribute::Naked), KSTACKRAND_FACT_NAKED);
  FactIf(resolvesIFunc(F), KSTACKRAND_FACT_IFUNC_RESOLVER);
  FactIf(F.hasFnAttribute(Attribute::AlwaysInline),
         KSTACKRAND_FACT_ALWAYS_INLINE);
  FactIf(F.hasAvailableExternallyLinkage(), KSTACKRAND_FACT_GNU_INLINE);
  FactIf(F.hasFnAttribute("split-stack"), KSTACKRAND_FACT_SPLIT_STACK);
  FactIf(!is64Bit(*F.getParent()), KSTACKRAND_FACT_NOT_64_BIT);
  FactIf(F.getCallingConv() == CallingConv::X86_INTR ||
             F.hasFnAttribute("interrupt"),
         KSTACKRAND_FACT_INTERRUPT);
  return Facts;
}

/// What stands against model linux alone.
static unsigned kernelFacts() {
  if (kstackrand_policy_model(policy()) != KSTACKRAND_MODEL_LINUX)
    return 0;
  return (kernel().is_kernel ? 0 : KSTACKRAND_FACT_NOT_KERNEL) |
         (kernel().is_module ? KSTACKRAND_FACT_MODULE : 0);
}

using Question = kstackrand_decision(const kstackrand_policy *,
                                     const kstackrand_function *);

/// Asks about F, of which Facts are known, by the name that Named, F itself or
/// an alias, gives it.
static kstackrand_decision decide(Question *Ask, const GlobalValue &Named,
                                  const Function &F, unsigned Facts) {
  std::string Name = assemblerName(Named), Demangled = demangledName(Named);
  std::string Section = F.getSection().str();
  const kstackrand_function Seen = {
      Name.c_str(), Demangled.empty() ? nullptr : Demangled.c_str(),
      Section.empty() ? nullptr : Section.c_str(), Facts};
  return Ask(policy(), &Seen);
}

static EntrySettings settings(bool Entry, bool Reseed) {
  EntrySettings Settings;
  Settings.Model = kstackrand_policy_model(policy());
  Settings.Rng = kstackrand_policy_rng(policy());
  Settings.Bits = kstackrand_policy_bits(policy());
  Settings.Entry = Entry;
  Settings.Reseed = Reseed;
  Settings.Smp = Settings.Model == KSTACKRAND_MODEL_LINUX && kernel().is_smp;
  Settings.Lto = kernel().is_lto;
  return Settings;
}

/// As Instrument.cpp reads it.
static std::string settingsText(const EntrySettings &Settings) {
  return std::string("model=") + kstackrand_model_name(Settings.Model) +
         ",rng=" + kstackrand_rng_name(Settings.Rng) +
         ",bits=" + std::to_string(Settings.Bits) +
         (Settings.Entry ? ",entry" : "") + (Settings.Reseed ? ",reseed" : "") +
         (Settings.Smp ? ",smp" : "") + (Settings.Lto ? ",lto" : "");
}

static void mark(Function &F, StringRef Settings, StringRef Because) {
  F.addFnAttr(MarkAttribute, Settings);
  F.addFnAttr(NameAttribute, assemblerName(F));
  F.addFnAttr(BecauseAttribute, Because);
  F.removeFnAttr(Attribute::InlineHint);
  F.addFnAttr(Attribute::NoInline);
  F.addFnAttr(Attribute::NoDuplicate);
  F.addFnAttr("nooutline");
}

static bool mayBeEntry(const Function &F) {
  return !F.isDeclaration() && !F.hasFnAttribute(MarkAttribute) &&
         !isPartOfCoroutine(F);
}

/// As if F's own name had been chosen, too, when an alias was: that may take it
/// out again.
static kstackrand_decision decideEntry(const GlobalValue &Named,
                                       const Function &F, unsigned Facts) {
  kstackrand_decision Decision =
      decide(kstackrand_policy_decide, Named, F, Facts);
  if (&Named == &F || Decision.verdict != KSTACKRAND_ENTRY_CHOSEN)
    return Decision;
  kstackrand_decision Own = decide(kstackrand_policy_decide, F, F,
                                   Facts | KSTACKRAND_FACT_ATTRIBUTE_ENTRY);
  return Own.verdict == KSTACKRAND_EXCEPTED ? Own : Decision;
}

/// Reports a decision, which was to make of F what Wanted says. True when F was
/// chosen.
static bool isChosen(Function &F, const kstackrand_decision &Decision,
                     StringRef What, const EntrySettings &Wanted) {
  switch (Decision.verdict) {
  case KSTACKRAND_NOT_CHOSEN:
    break;
  case KSTACKRAND_EXCEPTED:
    reportExcepted(F, Decision.because);
    break;
  case KSTACKRAND_ENTRY_CHOSEN:
    reportChosen(F, What, Decision.because);
    return true;
  case KSTACKRAND_REFUSED:
    reportRefusal(F, Decision.by_name, Decision.because, Decision.reason);
    if (Decision.noted)
      appendRefusalNote(F, Wanted, Decision.reason);
    break;
  }
  return false;
}

/// Marks F if it is an entry or a reseed point by the name that Named gives it.
static void markIfChosen(const GlobalValue &Named, Function &F,
                         unsigned Facts) {
  kstackrand_decision AsEntry = decideEntry(Named, F, Facts);
  kstackrand_decision AsReseed =
      decide(kstackrand_policy_decide_reseed, Named, F, Facts);
  bool Entry = isChosen(F, AsEntry, "an entry", settings(true, false));
  bool Reseed = isChosen(F, AsReseed, "a reseed point", settings(false, true));
  if (Entry || Reseed)
    mark(F, settingsText(settings(Entry, Reseed)),
         Entry ? AsEntry.because : AsReseed.because);
}

void requireCompileStep(const Module &M) {
  if (isConfigured() || M.getModuleFlag(SeenFlag))
    return;
  for (const Function &F : M)
    if (!F.isDeclaration() && !F.hasAvailableExternallyLinkage())
      return reportModule(M, "was compiled without the plugin, and the link "
                             "step cannot choose entries: compile it with the "
                             "plugin, or leave the plugin out of the link "
                             "step, which does not need it");
}

PreservedAnalyses MarkPass::run(Module &M, ModuleAnalysisManager &) {
  if (At == Step::Link)
    requireCompileStep(M);
  else if (!M.getModuleFlag(SeenFlag))
    M.addModuleFlag(Module::Max, SeenFlag, 1);
  // At the link step all was decided when the module was compiled, unless
  // there is something new to decide by.
  if (kstackrand_policy_disabled(policy()) ||
      (At == Step::Link && !isConfigured()))
    return PreservedAnalyses::all();

  DenseMap<const Function *, unsigned> Annotated = annotatedFacts(M);
  auto FactsOf = [&](const Function &F) {
    return Annotated.lookup(&F) | bodyFacts(F) | kernelFacts();
  };
  for (Function &F : M)
    if (mayBeEntry(F))
      markIfChosen(F, F, FactsOf(F));
  for (GlobalAlias &Alias : M.aliases()) {
    auto *F = dyn_cast_or_null<Function>(Alias.getAliaseeObject());
    // Asked again after an entry was chosen, its mark answers.
    if (F && mayBeEntry(*F) &&
        decideEntry(*F, *F, FactsOf(*F)).verdict == KSTACKRAND_NOT_CHOSEN)
      markIfChosen(Alias, *F, FactsOf(*F));
  }
  return PreservedAnalyses::none();
}

} // namespace kstackrand
