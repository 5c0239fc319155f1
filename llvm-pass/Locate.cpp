// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From the name of a function in LLVM's IR back to its place in the source.
// Clang's code generator knows it, but lets no plugin ask. Only done for
// messages, so a walk over all declarations is good enough.
//
#include "Locate.h"

#include "clang/AST/Decl.h"
#include "clang/AST/DeclTemplate.h"
#include "clang/AST/Mangle.h"

using namespace clang;

namespace kstackrand {

namespace {
class Search {
  ASTNameGenerator Names;
  llvm::StringRef Wanted;

public:
  Search(ASTContext &Context, llvm::StringRef Wanted)
      : Names(Context), Wanted(Wanted) {}

  const FunctionDecl *inContext(const DeclContext *Context);

private:
  const FunctionDecl *inDeclaration(const Decl *D);
  bool isWanted(const FunctionDecl *Function);
};
} // namespace

bool Search::isWanted(const FunctionDecl *Function) {
  if (!Function->doesThisDeclarationHaveABody() ||
      Function->isDependentContext())
    return false;
  if (isa<CXXConstructorDecl>(Function) || isa<CXXDestructorDecl>(Function)) {
    for (const std::string &Name : Names.getAllManglings(Function))
      if (Name == Wanted)
        return true;
    return false;
  }
  return Names.getName(Function) == Wanted;
}

const FunctionDecl *Search::inDeclaration(const Decl *D) {
  if (const auto *Function = dyn_cast<FunctionDecl>(D))
    return isWanted(Function) ? Function : nullptr;
  if (const auto *Template = dyn_cast<FunctionTemplateDecl>(D)) {
    for (const FunctionDecl *Instance : Template->specializations())
      if (const FunctionDecl *Found = inDeclaration(Instance))
        return Found;
    return nullptr;
  }
  if (const auto *Template = dyn_cast<ClassTemplateDecl>(D)) {
    for (const auto *Instance : Template->specializations())
      if (const FunctionDecl *Found = inContext(Instance))
        return Found;
    return nullptr;
  }
  if (const auto *Context = dyn_cast<DeclContext>(D))
    return inContext(Context);
  return nullptr;
}

const FunctionDecl *Search::inContext(const DeclContext *Context) {
  if (Context->isDependentContext())
    return nullptr;
  for (const Decl *D : Context->decls())
    if (const FunctionDecl *Found = inDeclaration(D))
      return Found;
  return nullptr;
}

SourceLocation locateFunction(ASTContext &Context,
                              llvm::StringRef AssemblerName) {
  const FunctionDecl *Function =
      Search(Context, AssemblerName)
          .inContext(Context.getTranslationUnitDecl());
  return Function ? Function->getLocation() : SourceLocation();
}

} // namespace kstackrand
