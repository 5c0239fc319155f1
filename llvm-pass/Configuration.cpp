// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where the policy comes from: the Clang front in the same process, or, for
// users of opt and of -fpass-plugin, -mllvm -kstackrand=KEY=VALUE, or a
// pipeline in text. Without any there is an empty policy, by which attributes
// in the source still choose entries.
//
#include "Configuration.h"
#include "PassInterface.h"
#include "Passes.h"

#include <cstring>
#include <memory>
#include <mutex>

using namespace llvm;

namespace kstackrand {

namespace {
struct PolicyDeleter {
  void operator()(kstackrand_policy *P) const { kstackrand_policy_free(P); }
};
using PolicyPtr = std::unique_ptr<kstackrand_policy, PolicyDeleter>;

/// All that is known in this process. Thin LTO runs passes in many threads.
struct State {
  std::mutex Lock;
  PolicyPtr Policy;
  bool Configured = false;
  kstackrand_pass_reporter *Reporter = nullptr;
  void *Context = nullptr;
  /// Without the front, nobody knows of a kernel.
  kstackrand_pass_kernel Kernel = {};
};
} // namespace

static State &state() {
  static State &TheState = *new State; // outlives every thread
  return TheState;
}

/// Never freed: the host's table of options points to it. Null when another
/// copy of this library has registered it.
static cl::list<std::string> *Option;

void registerOption() {
  if (cl::getRegisteredOptions().count("kstackrand"))
    return;
  Option = new cl::list<std::string>(
      "kstackrand", cl::value_desc("KEY[=VALUE]"),
      cl::desc("kstackrand: shift the stack at each call of an entry"));
}

static std::string take(kstackrand_policy *Policy, const char *Name,
                        const char *Key, const char *Value) {
  kstackrand_error Error;
  if (!kstackrand_policy_argument(Policy, Name, Key, Value, &Error))
    return Error.text;
  return "";
}

static std::string check(const kstackrand_policy *Policy) {
  kstackrand_error Error;
  return kstackrand_policy_check(Policy, &Error) ? "" : Error.text;
}

/// KEY=VALUE or KEY into a policy. Name is what the user wrote.
static std::string takeText(kstackrand_policy *Policy, const std::string &Name,
                            const std::string &Text) {
  size_t Equals = Text.find('=');
  std::string Key = Text.substr(0, Equals);
  return take(Policy, Name.c_str(), Key.c_str(),
              Equals == std::string::npos ? nullptr
                                          : Text.c_str() + Equals + 1);
}

/// The options of -mllvm into a policy.
static std::string takeOptions(kstackrand_policy *Policy) {
  for (const std::string &Text : *Option) {
    std::string Error = takeText(Policy, "-kstackrand=" + Text, Text);
    if (!Error.empty())
      return Error;
  }
  return check(Policy);
}

void configureByPipeline(StringRef Parameters) {
  PolicyPtr Policy(kstackrand_policy_new());
  std::string Error;
  while (!Parameters.empty() && Error.empty()) {
    StringRef Text;
    std::tie(Text, Parameters) = Parameters.split(';');
    Error =
        takeText(Policy.get(), "kstackrand<" + Text.str() + ">", Text.str());
  }
  if (Error.empty())
    Error = check(Policy.get());
  if (!Error.empty())
    fail(Error);

  State &S = state();
  std::lock_guard<std::mutex> Guard(S.Lock);
  // Each module's pipeline says it again, perhaps while others use the policy.
  if (S.Configured)
    return;
  S.Policy = std::move(Policy);
  S.Configured = true;
}

/// The policy, made on first use: options of -mllvm are known only then.
static State &configuredState() {
  State &S = state();
  std::lock_guard<std::mutex> Guard(S.Lock);
  if (S.Policy)
    return S;
  S.Policy.reset(kstackrand_policy_new());
  if (Option && !Option->empty()) {
    S.Configured = true;
    std::string Error = takeOptions(S.Policy.get());
    if (!Error.empty())
      fail(Error);
  }
  return S;
}

const kstackrand_policy *policy() { return configuredState().Policy.get(); }
bool isConfigured() { return configuredState().Configured; }
const kstackrand_pass_kernel &kernel() { return configuredState().Kernel; }

bool reportThroughFront(Severity How, const std::string &Function,
                        const std::string &Message) {
  State &S = configuredState();
  if (!S.Reporter)
    return false;
  S.Reporter(S.Context, static_cast<kstackrand_pass_severity>(How),
             Function.c_str(), Message.c_str());
  return true;
}

} // namespace kstackrand

extern "C" __attribute__((visibility("default"))) char *
kstackrand_pass_configure(const kstackrand_pass_configuration *Configuration) {
  using namespace kstackrand;
  PolicyPtr Policy(kstackrand_policy_new());
  std::string Error;
  for (size_t I = 0; I < Configuration->count && Error.empty(); ++I) {
    const kstackrand_pass_argument &Argument = Configuration->arguments[I];
    Error = take(Policy.get(), Argument.option, Argument.key, Argument.value);
  }
  if (Error.empty())
    Error = check(Policy.get());
  if (!Error.empty())
    return strdup(Error.c_str());

  State &S = state();
  std::lock_guard<std::mutex> Guard(S.Lock);
  S.Policy = std::move(Policy);
  S.Configured = true;
  S.Reporter = Configuration->reporter;
  S.Context = Configuration->context;
  return nullptr;
}

extern "C" __attribute__((visibility("default"))) void
kstackrand_pass_describe_kernel(const kstackrand_pass_kernel *Kernel) {
  using namespace kstackrand;
  State &S = state();
  std::lock_guard<std::mutex> Guard(S.Lock);
  S.Kernel = *Kernel;
}
