#include "toolchain/musa_source.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "toolchain/read_file.h"

namespace muscope::toolchain {
namespace {

std::string_view without_blanks(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  return text;
}

/// "  # include <musa.h>"
bool line_includes_musa(std::string_view line) {
  line = without_blanks(line);
  if (!line.starts_with('#')) return false;
  line = without_blanks(line.substr(1));
  if (!line.starts_with("include")) return false;
  line = without_blanks(line.substr(7));
  if (line.empty() || (line.front() != '<' && line.front() != '"')) return false;
  line.remove_prefix(1);
  for (const std::string_view name : {"musa.h", "musa_runtime.h", "musa_runtime_api.h", "musa_fp16.h", "musa_bf16.h",
                                      "mublas", "murand", "mufft", "musparse"})
    if (line.starts_with(name)) return true;
  return false;
}

}  // namespace

bool includes_musa(const std::string& path) {
  const std::optional<std::string> text = read_file(path);
  if (!text) return false;
  for (std::size_t at = 0; at < text->size();) {
    const std::size_t end = std::min(text->find('\n', at), text->size());
    if (line_includes_musa(std::string_view(*text).substr(at, end - at))) return true;
    at = end + 1;
  }
  return false;
}

}  // namespace muscope::toolchain
