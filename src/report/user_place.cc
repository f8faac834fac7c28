#include "report/user_place.h"

#include <fmt/format.h>

#include "report/kernel_name.h"
#include "report/source_text.h"

namespace muscope::report {

UserPlace user_place(const SourcePosition& at, const std::vector<SourcePosition>& inlined_at) {
  if (!is_system_header(at.file)) return {&at, 0};
  for (std::size_t i = 0; i < inlined_at.size(); ++i)
    if (!is_system_header(inlined_at[i].file)) return {&inlined_at[i], i + 1};
  return {&at, 0};
}

std::string function_text(std::string_view name) {
  std::string text = kernel_base_name(name);
  if (const std::size_t end = text.find("::"); text.starts_with("_INTERNAL_") && end != std::string::npos)
    text.erase(0, end + 2);
  return shorten_kernel_name(text, 40);
}

std::string callee_text(const SourcePosition& at, const std::vector<SourcePosition>& inlined_at) {
  const UserPlace place = user_place(at, inlined_at);
  if (place.depth == 0) return {};
  // What the user's line calls is the outermost of the system's functions.
  const SourcePosition& called = place.depth == 1 ? at : inlined_at[place.depth - 2];
  const std::size_t slash = called.file.rfind('/');
  const std::string file = slash == std::string::npos ? called.file : called.file.substr(slash + 1);
  const std::string function = called.function.empty() ? std::string() : function_text(called.function) + ", ";
  return fmt::format("{}{}:{}", function, file, called.line);
}

}  // namespace muscope::report
