// user_place(): where people see a piece of code: at the innermost place of its inline chain that is their own code,
// not a header of a toolkit or of the system.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "report/report.h"

namespace muscope::report {

struct UserPlace {
  const SourcePosition* at = nullptr;
  std::size_t depth = 0;  ///< 0: the code's own place; n: inlined_at[n - 1]
};

/// The code's own place where all of the chain is system headers (`is_system_header`). Refers to its arguments.
UserPlace user_place(const SourcePosition& at, const std::vector<SourcePosition>& inlined_at);

/// A function's name as people call it: "atomicAdd"; without parameters and without the name that nvcc gives to a
/// file's own namespace. Empty where it is not known.
std::string function_text(std::string_view name);

/// What the place calls: "atomicAdd, sm_60_atomic_functions.hpp:75"; empty where the code is the user's own.
std::string callee_text(const SourcePosition& at, const std::vector<SourcePosition>& inlined_at);

}  // namespace muscope::report
