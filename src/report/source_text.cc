#include "report/source_text.h"

#include <cctype>
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

}  // namespace muscope::report
