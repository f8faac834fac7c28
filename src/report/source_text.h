// Source lines for excerpts: reading them, and which part of one a caret underlines.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace muscope::report {

/// Tabs to spaces, columns of 8; control characters to spaces.
std::string expand_tabs(std::string_view line);
/// The 0-based place in expand_tabs(line) of 1-based `column` of `line`.
std::size_t expanded_column(std::string_view line, int column);

/// Characters of the expression that starts at `start`: a name with its members, subscripts and calls, or one
/// character when no name stands there.
std::size_t expression_length(std::string_view line, std::size_t start);

}  // namespace muscope::report
