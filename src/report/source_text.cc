#include "report/source_text.h"

#include <array>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <vector>

#include "report/text.h"

namespace muscope::report {
namespace {

constexpr std::size_t kTab = 8;
constexpr std::size_t kLargestFile = std::size_t{64} << 20;  ///< bytes; a longer "source" is not one

bool is_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

std::vector<std::string> read_lines(const std::string& file) {
  std::vector<std::string> lines;
  std::ifstream in(file, std::ios::binary);
  std::string line;
  std::size_t bytes = 0;
  while (std::getline(in, line)) {
    bytes += line.size() + 1;
    if (bytes > kLargestFile) return {};
    if (!line.empty() && line.back() == '\r') line.pop_back();
    lines.push_back(line);
  }
  return lines;
}

struct Candidate {
  Extent extent;
  bool subscript = false;  ///< or a dereference
  bool atomic = false;     ///< atomicAdd(...)
  bool assigned = false;   ///< `=` follows
  bool updated = false;    ///< `+=` and the like, `++`, `--`
};

/// What follows an expression: an assignment, an update, or neither.
void classify(std::string_view rest, Candidate& candidate) {
  while (rest.starts_with(' ')) rest.remove_prefix(1);
  if (rest.starts_with("++") || rest.starts_with("--")) candidate.updated = true;
  if (rest.starts_with("=") && !rest.starts_with("==")) candidate.assigned = true;
  for (const std::string_view op : {"+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="})
    if (rest.starts_with(op)) candidate.updated = true;
}

/// Expressions that access memory, in order of their place, nested ones included.
std::vector<Candidate> candidates_in(std::string_view line) {
  std::vector<Candidate> all;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line.substr(i, 2) == "//") break;
    const bool starts_name = is_name(line[i]) && std::isdigit(static_cast<unsigned char>(line[i])) == 0 &&
                             (i == 0 || (!is_name(line[i - 1]) && line[i - 1] != '.')) &&
                             !(i > 1 && (line.substr(i - 2, 2) == "->" || line.substr(i - 2, 2) == "::"));
    if (!starts_name) continue;
    Candidate candidate{{i, expression_length(line, i)}};
    const std::string_view text = line.substr(i, candidate.extent.length);
    const std::size_t bracket = text.find('['), call = text.find('(');
    candidate.atomic = text.starts_with("atomic") && call != std::string_view::npos;
    candidate.subscript = bracket != std::string_view::npos && bracket < call;
    // `*p`, but not `a * b`: a star that follows an operand multiplies.
    if (i > 0 && line[i - 1] == '*' && call == std::string_view::npos) {
      std::size_t before = i - 1;
      while (before > 0 && line[before - 1] == ' ') --before;
      const bool operand =
          before > 0 && (is_name(line[before - 1]) || line[before - 1] == ')' || line[before - 1] == ']');
      if (!operand) {
        candidate.subscript = true;
        --candidate.extent.start;
        ++candidate.extent.length;
      }
    }
    // `float tile[32];` declares.
    classify(line.substr(i + text.size()), candidate);
    if (candidate.subscript || candidate.atomic) all.push_back(candidate);
    while (i + 1 < line.size() && is_name(line[i + 1])) ++i;
  }
  return all;
}

bool fits(const Candidate& candidate, AccessKind kind) {
  switch (kind) {
    case AccessKind::kRead:
      return candidate.subscript && !candidate.assigned;
    case AccessKind::kWrite:
      return candidate.subscript && (candidate.assigned || candidate.updated);
    case AccessKind::kUpdate:
      break;
  }
  return candidate.atomic;
}

/// The end of the bracketed part that opens at `start`, or npos.
std::size_t closing(std::string_view line, std::size_t start) {
  int depth = 0;
  for (std::size_t i = start; i < line.size(); ++i) {
    if (line[i] == '(' || line[i] == '[') ++depth;
    if ((line[i] == ')' || line[i] == ']') && --depth == 0) return i + 1;
  }
  return std::string_view::npos;
}

}  // namespace

SourceReader read_sources_from_disk() {
  auto files = std::make_shared<std::map<std::string, std::vector<std::string>>>();
  return [files](const std::string& file, int line) -> std::optional<std::string> {
    if (file.empty() || line < 1) return {};
    auto found = files->find(file);
    if (found == files->end()) found = files->emplace(file, read_lines(file)).first;
    if (static_cast<std::size_t>(line) > found->second.size()) return {};
    return found->second[static_cast<std::size_t>(line) - 1];
  };
}

std::string working_directory() {
  std::error_code error;
  const std::filesystem::path path = std::filesystem::current_path(error);
  return error ? std::string() : path.string();
}

std::string expand_tabs(std::string_view line) {
  std::string out;
  for (const char c : line) {
    if (c == '\t') {
      out.append(kTab - out.size() % kTab, ' ');
    } else {
      out += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? ' ' : c;
    }
  }
  return out;
}

std::size_t expanded_column(std::string_view line, int column) {
  const std::size_t characters = column < 1 ? 0 : static_cast<std::size_t>(column) - 1;
  return expand_tabs(line.substr(0, characters)).size();
}

std::size_t expression_length(std::string_view line, std::size_t start) {
  std::size_t end = start;
  while (end < line.size()) {
    if (is_name(line[end])) {
      ++end;
    } else if (line[end] == '[' || (line[end] == '(' && end > start)) {
      const std::size_t close = closing(line, end);
      if (close == std::string_view::npos) break;
      end = close;
    } else if (line[end] == '.' && end + 1 < line.size() && is_name(line[end + 1])) {
      ++end;
    } else if (line.substr(end, 2) == "->" || line.substr(end, 2) == "::") {
      end += 2;
    } else {
      break;
    }
  }
  return end > start ? end - start : 1;
}

std::optional<Extent> find_access(std::string_view line, std::size_t start, AccessKind kind) {
  std::optional<Extent> only;
  bool several = false;
  for (const Candidate& candidate : candidates_in(line)) {
    if (!fits(candidate, kind)) continue;
    const std::size_t end = candidate.extent.start + candidate.extent.length;
    if (candidate.extent.start == start) return candidate.extent;
    // clang places a store at its `=`.
    if (kind == AccessKind::kWrite && end <= start &&
        line.substr(end, start - end).find_first_not_of(' ') == std::string_view::npos)
      return candidate.extent;
    if (end <= start) continue;
    several = only.has_value();
    only = only ? only : candidate.extent;
  }
  return several ? std::nullopt : only;
}

bool is_system_header(std::string_view file) {
  if (file.starts_with("/usr/") || file.starts_with("/opt/")) return true;
  for (const std::string_view part : {"/targets/x86_64-linux/include/", "/lib/clang/", "/share/muscope/toolkit/",
                                      "/site-packages/nvidia/", "/include/crt/", "/include/cccl/", "/include/cub/",
                                      "/include/thrust/", "/include/cooperative_groups/", "/include/cuda/std/"})
    if (file.find(part) != std::string_view::npos) return true;
  // The toolkit's own headers, wherever it was unpacked.
  const std::size_t slash = file.rfind('/');
  if (slash == std::string_view::npos) return false;
  const std::string_view folder = file.substr(0, slash), name = file.substr(slash + 1);
  if (!folder.ends_with("/include") && !folder.ends_with("/toolkit")) return false;
  for (const std::string_view start :
       {"cuda_fp", "cuda_bf16", "curand", "cooperative_groups", "device_atomic_functions", "device_functions",
        "math_functions", "cuda_runtime", "musa_", "texture_", "surface_"})
    if (name.starts_with(start)) return true;
  return name.starts_with("sm_") && (name.ends_with("_intrinsics.hpp") || name.ends_with("_functions.hpp") ||
                                     name.ends_with("_intrinsics.h") || name.ends_with("_functions.h"));
}

std::string relative_path(std::string_view file, std::string_view directory) {
  if (!directory.empty() && directory != "/" && file.size() > directory.size() + 1 && file.starts_with(directory) &&
      file[directory.size()] == '/')
    file.remove_prefix(directory.size() + 1);
  return std::string(file);
}

}  // namespace muscope::report
