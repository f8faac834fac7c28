// What is known of all files before one of them is ported: names the project declares itself, and files' new names.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "port/rules.h"

namespace muscope::port {

struct Options {
  Target target;
  bool comments = false;  ///< names in comments are changed too
  bool strings = false;   ///< names in strings are changed too
  bool force = false;     ///< also files that speak both languages
};

/// The rules' answers for one direction, each name asked once.
class NameCache {
 public:
  NameCache(const Rules& rules, Direction direction) : rules_(rules), direction_(direction) {}
  const NameInfo& of(std::string_view name);

 private:
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };
  const Rules& rules_;
  Direction direction_;
  std::unordered_map<std::string, NameInfo, Hash, std::equal_to<>> known_;
  NameInfo plain_;
};

struct Project {
  /// Namespaces and classes that declare a name; "" for a class without one.
  struct Owners {
    std::set<std::string, std::less<>> scopes;
    bool in_namespace = false;  ///< one of them is a namespace
  };
  std::unordered_map<std::string, Owners> members;  ///< API names that are also the project's, in scopes of its own
  std::unordered_set<std::string> parameters;       ///< API names that some function calls a parameter of its own
  std::unordered_set<std::string> declared;         ///< names that look like API names but are the project's own
  std::unordered_set<std::string> arch_aliases;     ///< macros defined as __CUDA_ARCH__
  /// The new name of an included or listed file ("kernels/a.cuh") as seen from the file at `from`; empty: unchanged.
  std::function<std::string(const std::string& from, const std::string& name)> renamed_file;
};

/// Adds what one C++ file declares. True when the file speaks the language that is gone to.
bool collect_declarations(std::string_view text, NameCache& names, Project& project);

}  // namespace muscope::port
