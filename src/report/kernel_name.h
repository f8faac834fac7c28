// Long kernel names made short enough for a column.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace muscope::report {

/// The name in at most `width` characters (at least 8). What goes first: parameters of the function, then template
/// arguments from the deepest level up, then namespaces; the rest is cut in the middle.
///   "void a::scan<a::Policy<128, (int)7>, float>(float*, int)" -> "a::scan<...>" -> "scan<...>"
std::string shorten_kernel_name(std::string_view name, std::size_t width);

/// The same for the rows of a table: different names stay different. Template arguments in which they differ are kept:
///   "scan<float, Policy<128>, 1>", "scan<float, Policy<128>, 2>" -> "scan<..., 1>", "scan<..., 2>"
/// Where that does not fit either, they are numbered.
std::vector<std::string> shorten_kernel_names(const std::vector<std::string>& names, std::size_t width);

/// The name without its parameters and without the return type that templates have.
std::string kernel_base_name(std::string_view name);

}  // namespace muscope::report
