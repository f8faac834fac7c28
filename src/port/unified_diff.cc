// Differences of a file whose lines correspond one to one: porting never adds or takes away a line.
#include <fmt/format.h>

#include <algorithm>

#include "port/port.h"

namespace muscope::port {
namespace {

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::size_t size = end == std::string_view::npos ? text.size() : end + 1;
    lines.push_back(text.substr(0, size));
    text.remove_prefix(size);
  }
  return lines;
}

void add_line(std::string& out, char mark, std::string_view line) {
  out += mark;
  out += line;
  if (!line.ends_with('\n')) out += "\n\\ No newline at end of file\n";
}

}  // namespace

std::string unified_diff(const TreeFile& file, std::string_view before, std::string_view after) {
  constexpr std::size_t kContext = 3;
  const std::vector<std::string_view> a = lines_of(before), b = lines_of(after);
  std::vector<std::size_t> changed;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i)
    if (a[i] != b[i]) changed.push_back(i);
  if (changed.empty() && file.path == file.new_path) return {};
  std::string out = fmt::format("diff --git a/{} b/{}\n", file.path, file.new_path);
  if (file.path != file.new_path) out += fmt::format("rename from {}\nrename to {}\n", file.path, file.new_path);
  if (changed.empty()) return out;
  out += fmt::format("--- a/{}\n+++ b/{}\n", file.path, file.new_path);
  for (std::size_t i = 0; i < changed.size();) {
    std::size_t last = i;
    while (last + 1 < changed.size() && changed[last + 1] - changed[last] <= 2 * kContext) ++last;
    const std::size_t from = changed[i] - std::min(kContext, changed[i]);
    const std::size_t to = std::min(changed[last] + kContext + 1, a.size());
    out += fmt::format("@@ -{},{} +{},{} @@\n", from + 1, to - from, from + 1, to - from);
    for (std::size_t line = from; line < to;) {
      if (a[line] == b[line]) {
        add_line(out, ' ', a[line++]);
        continue;
      }
      std::size_t end = line;
      while (end < to && a[end] != b[end]) ++end;
      for (std::size_t k = line; k < end; ++k) add_line(out, '-', a[k]);
      for (std::size_t k = line; k < end; ++k) add_line(out, '+', b[k]);
      line = end;
    }
    i = last + 1;
  }
  return out;
}

}  // namespace muscope::port
