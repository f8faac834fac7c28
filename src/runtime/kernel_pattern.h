// The expression of --kernel. POSIX extended regular expressions, as `grep -E` has them: the C library matches without
// recursion, so that long template names do no harm on the small stacks of a program's threads.
#pragma once

#include <regex.h>

#include <memory>
#include <string>

namespace muscope::runtime {

class KernelPattern {
 public:
  /// Matches everything.
  KernelPattern() = default;

  /// Null when `expression` is not a regular expression, with the reason in `why`. An empty one matches everything.
  static std::shared_ptr<const KernelPattern> compile(const std::string& expression, std::string& why) {
    auto pattern = std::make_shared<KernelPattern>();
    if (expression.empty()) return pattern;
    auto compiled = std::make_unique<regex_t>();
    if (const int error = ::regcomp(compiled.get(), expression.c_str(), REG_EXTENDED | REG_NOSUB); error != 0) {
      char text[200];
      ::regerror(error, compiled.get(), text, sizeof text);
      why = text;
      return nullptr;
    }
    pattern->compiled_.reset(compiled.release());
    return pattern;
  }

  /// Is the expression found anywhere in `name`, the demangled name of a kernel?
  bool matches(const std::string& name) const {
    return !compiled_ || ::regexec(compiled_.get(), name.c_str(), 0, nullptr, 0) == 0;
  }

 private:
  struct Free {
    void operator()(regex_t* compiled) const {
      ::regfree(compiled);
      delete compiled;
    }
  };
  std::unique_ptr<regex_t, Free> compiled_;
};

}  // namespace muscope::runtime
