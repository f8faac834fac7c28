// Long kernel names made short enough for a column.
#pragma once

#include <string>
#include <string_view>

namespace muscope::report {

/// The name in at most `width` characters (at least 8). What goes first: parameters of the function, then template
/// arguments from the deepest level up, then namespaces; the rest is cut in the middle.
///   "void a::scan<a::Policy<128, (int)7>, float>(float*, int)" -> "a::scan<...>" -> "scan<...>"
std::string shorten_kernel_name(std::string_view name, std::size_t width);

/// The name without its parameters and without the return type that templates have.
std::string kernel_base_name(std::string_view name);

}  // namespace muscope::report
