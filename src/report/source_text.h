// Source lines for excerpts: reading them, and which part of one a caret underlines.
#pragma once

#include <cstddef>
#include <optional>
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

enum class AccessKind { kRead, kWrite, kUpdate };

/// A part of a line.
struct Extent {
  std::size_t start = 0;
  std::size_t length = 0;
  bool operator==(const Extent&) const = default;
};

/// The expression on `line` that reads, writes or atomically updates memory, as far as text can tell: a subscript, a
/// dereference, a call of atomic...(). `start` is where the compiler says that the code stands: nvcc names the
/// beginning of the statement, clang the expression itself, or the `=` of an assignment. Nothing when several would do.
std::optional<Extent> find_access(std::string_view line, std::size_t start, AccessKind kind);

/// Whether the file belongs to a toolkit, a compiler or the system, by its place: what is inlined from there is shown
/// at the line that called it.
bool is_system_header(std::string_view file);

/// `file` as seen from `directory`: "/a/b/c.cu" from "/a" is "b/c.cu"; others stay as they are.
std::string relative_path(std::string_view file, std::string_view directory);

}  // namespace muscope::report
