#include "toolchain/musa_source.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "toolchain/read_file.h"

namespace muscope::toolchain {
namespace {

std::string_view without_blanks(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  return text;
}

/// What stands between the marks of an #include line, with the first mark: "<musa.h". Empty for other lines.
std::string_view included_by(std::string_view line) {
  line = without_blanks(line);
  if (!line.starts_with('#')) return {};
  line = without_blanks(line.substr(1));
  if (!line.starts_with("include")) return {};
  line = without_blanks(line.substr(7));
  if (line.empty() || (line.front() != '<' && line.front() != '"')) return {};
  return line.substr(0, line.find(line.front() == '<' ? '>' : '"', 1));
}

bool is_musa_header(std::string_view name) {
  constexpr std::string_view kNames[] = {"musa.h",      "musa_runtime.h", "musa_runtime_api.h",
                                         "musa_fp16.h", "musa_bf16.h",    "mublas",
                                         "murand",      "mufft",          "musparse"};
  return std::any_of(std::begin(kNames), std::end(kNames),
                     [&](std::string_view each) { return name.starts_with(each); });
}

/// Follows headers that are named in quotes and lie beside the file.
bool search(const std::filesystem::path& file, int depth, std::set<std::filesystem::path>& seen) {
  constexpr int kDeepest = 8;
  constexpr std::size_t kMostFiles = 200;
  if (depth > kDeepest || seen.size() > kMostFiles || !seen.insert(file.lexically_normal()).second) return false;
  const std::optional<std::string> text = read_file(file.string());
  if (!text) return false;
  std::vector<std::filesystem::path> inner;
  for (std::size_t at = 0; at < text->size();) {
    const std::size_t end = std::min(text->find('\n', at), text->size());
    if (const std::string_view name = included_by(std::string_view(*text).substr(at, end - at)); !name.empty()) {
      if (is_musa_header(name.substr(1))) return true;
      if (name.front() == '"') inner.push_back(file.parent_path() / name.substr(1));
    }
    at = end + 1;
  }
  return std::any_of(inner.begin(), inner.end(), [&](const auto& each) { return search(each, depth + 1, seen); });
}

}  // namespace

bool includes_musa(const std::string& path) {
  std::set<std::filesystem::path> seen;
  return search(path, 0, seen);
}

}  // namespace muscope::toolchain
