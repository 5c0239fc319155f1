// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The Clang side: makes the command line equal to GCC's.
//
//   clang -fplugin=…/kstackrand.so -fplugin-arg-kstackrand-KEY[=VALUE] …
//
// A plugin action that runs before the main action takes the arguments, gives
// them to the pass library that lies beside this one, and adds that library to
// the passes of the code generator. Two libraries, because one that needs
// symbols of Clang cannot be loaded by opt or lld.
//
#include "Host.h"
#include "Locate.h"
#include "PassInterface.h"
#include "compat.h"

#include "clang/AST/ASTConsumer.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/Attr.h"
#include "clang/AST/Decl.h"
#include "clang/Frontend/CompilerInstance.h"
#include "clang/Frontend/FrontendAction.h"
#include "clang/Frontend/FrontendPluginRegistry.h"
#include "clang/Lex/Preprocessor.h"
#include "clang/Sema/ParsedAttr.h"
#include "clang/Sema/Sema.h"

#include <cstdlib>
#include <dlfcn.h>

using namespace clang;

namespace kstackrand {

constexpr char Name[] = "kstackrand";

/// One line on stderr and nothing of Clang's around it, no output file,
/// status 1.
[[noreturn]] static void fail(CompilerInstance &CI,
                              const std::string &Message) {
  llvm::errs() << "kstackrand: error: " << Message << "\n";
  CI.clearOutputFiles(/*EraseFiles=*/true);
  exit(1);
}

/// Shows a message of the pass library by Clang's own diagnostics.
static void showMessage(void *Context, kstackrand_pass_severity Severity,
                        const char *Function, const char *Message) {
  auto &CI = *static_cast<CompilerInstance *>(Context);
  DiagnosticsEngine &Diagnostics = CI.getDiagnostics();
  static constexpr DiagnosticsEngine::Level Levels[] = {
      DiagnosticsEngine::Note, DiagnosticsEngine::Warning,
      DiagnosticsEngine::Error};
  // A note is dropped when what came before it was, and nothing did.
  Diagnostics.setLastDiagnosticIgnored(false);
  unsigned Id = Diagnostics.getCustomDiagID(Levels[Severity], "%0");
  Diagnostics.Report(locateFunction(CI.getASTContext(), Function), Id)
      << Message;
}

static std::string passLibrary() {
  std::string Path = libraryPath();
  return Path.substr(0, Path.rfind('/') + 1) + KSTACKRAND_PASS_LIBRARY;
}

/// The function Symbol of the pass library.
template <typename Function>
static Function *findInPassLibrary(CompilerInstance &CI,
                                   const std::string &Library,
                                   const char *Symbol) {
  void *Handle = dlopen(Library.c_str(), RTLD_LAZY);
  void *Found = Handle ? dlsym(Handle, Symbol) : nullptr;
  if (!Found)
    fail(CI, "the pass library that belongs to plugin '" +
                 std::string(libraryPath()) +
                 "' cannot be loaded: " + dlerror());
  return reinterpret_cast<Function *>(Found);
}

static void configurePass(CompilerInstance &CI, const std::string &Library,
                          const std::vector<std::string> &Arguments) {
  // Strings first, so that what points to them stays in place.
  std::vector<std::string> Options, Keys;
  for (const std::string &Argument : Arguments) {
    Options.push_back("-fplugin-arg-kstackrand-" + Argument);
    Keys.push_back(Argument.substr(0, Argument.find('=')));
  }
  std::vector<kstackrand_pass_argument> Pointers;
  for (size_t I = 0; I < Arguments.size(); ++I) {
    const char *Text = Arguments[I].c_str();
    const char *Value = Text + Keys[I].size();
    Pointers.push_back({Options[I].c_str(), Keys[I].c_str(),
                        *Value == '=' ? Value + 1 : nullptr});
  }
  const kstackrand_pass_configuration Configuration = {
      Pointers.data(), Pointers.size(), showMessage, &CI};
  auto *Configure = findInPassLibrary<kstackrand_pass_configure_fn>(
      CI, Library, KSTACKRAND_PASS_CONFIGURE);
  if (char *Error = Configure(&Configuration))
    fail(CI, Error);
}

namespace {
/// Tells the pass library what kernel this is. Macros come with the source, for
/// the most part, so this waits for the end of it; the code generator, which
/// runs the passes, is told of the end after us.
class KernelDescriber : public ASTConsumer {
  CompilerInstance &CI;

public:
  explicit KernelDescriber(CompilerInstance &CI) : CI(CI) {}

  void HandleTranslationUnit(ASTContext &) override {
    Preprocessor &PP = CI.getPreprocessor();
    const CodeGenOptions &CodeGen = CI.getCodeGenOpts();
    const kstackrand_pass_kernel Kernel = {
        PP.isMacroDefined("__KERNEL__"), PP.isMacroDefined("MODULE"),
        PP.isMacroDefined("CONFIG_SMP"),
        CodeGen.PrepareForLTO || CodeGen.PrepareForThinLTO};
    findInPassLibrary<kstackrand_pass_describe_kernel_fn>(
        CI, passLibrary(), KSTACKRAND_PASS_DESCRIBE_KERNEL)(&Kernel);
  }
};

class Action : public PluginASTAction {
protected:
  /// Called once per file, with what followed -fplugin-arg-kstackrand-.
  bool ParseArgs(const CompilerInstance &ConstCI,
                 const std::vector<std::string> &Arguments) override {
    // Clang hands out a constant one and means CreateASTConsumer to change it.
    auto &CI = const_cast<CompilerInstance &>(ConstCI);
    std::string Library = passLibrary();
    configurePass(CI, Library, Arguments);

    CodeGenOptions &CodeGen = CI.getCodeGenOpts();
    compat::addPassLibrary(CodeGen, Library,
                           findInPassLibrary<decltype(llvmGetPassPluginInfo)>(
                               CI, Library, "llvmGetPassPluginInfo"));
    // -save-temps writes bitcode first, and would run no pass before that; the
    // step that then reads it never asks a plugin like this one.
    CodeGen.DisableLLVMPasses = false;
    // Messages of the passes are shown at places that the syntax tree knows.
    CodeGen.ClearASTBeforeBackend = false;
    Preprocessor &PP = CI.getPreprocessor();
    PP.setPredefines(PP.getPredefines() + "#define __KSTACKRAND__ 1\n");
    return true;
  }

  std::unique_ptr<ASTConsumer> CreateASTConsumer(CompilerInstance &CI,
                                                 llvm::StringRef) override {
    return std::make_unique<KernelDescriber>(CI);
  }

  ActionType getActionType() override { return AddBeforeMainAction; }
};

/// __attribute__((Spelled)), which becomes an annotation of the same name: the
/// pass finds those in llvm.global.annotations.
class FunctionAttribute : public ParsedAttrInfo {
  Spelling Ways[2];
  const char *Spelled;

public:
  FunctionAttribute(const char *Spelled, const char *SpelledGnu)
      : Ways{{ParsedAttr::AS_GNU, Spelled}, {ParsedAttr::AS_CXX11, SpelledGnu}},
        Spelled(Spelled) {
    Spellings = Ways;
  }

  bool diagAppertainsToDecl(Sema &S, const ParsedAttr &Attribute,
                            const Decl *D) const override {
    if (isa<FunctionDecl>(D))
      return true;
    DiagnosticsEngine &Diagnostics = S.getDiagnostics();
    unsigned Id = Diagnostics.getCustomDiagID(
        DiagnosticsEngine::Warning, "'%0' attribute only applies to functions");
    Diagnostics.Report(Attribute.getLoc(), Id) << Spelled;
    return false;
  }

  AttrHandling handleDeclAttribute(Sema &S, Decl *D,
                                   const ParsedAttr &Attribute) const override {
    D->addAttr(AnnotateAttr::Create(S.Context, Spelled, nullptr, 0,
                                    Attribute.getRange()));
    return AttributeApplied;
  }
};

struct EntryAttribute : FunctionAttribute {
  EntryAttribute() : FunctionAttribute("kstackrand", "gnu::kstackrand") {}
};
struct NoAttribute : FunctionAttribute {
  NoAttribute() : FunctionAttribute("no_kstackrand", "gnu::no_kstackrand") {}
};
} // namespace

/// Before anything else of this library. What is registered stays for ever.
__attribute__((constructor)) static void load() {
  requireMatchingHost();
  new FrontendPluginRegistry::Add<Action>(
      Name, "shift the stack at each call of an entry");
  new ParsedAttrInfoRegistry::Add<EntryAttribute>("kstackrand",
                                                  "this function is an entry");
  new ParsedAttrInfoRegistry::Add<NoAttribute>("no_kstackrand",
                                               "this function is no entry");
}

} // namespace kstackrand
