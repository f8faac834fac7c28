// Source text for the HTML report.
#include <algorithm>
#include <optional>

#include "report/html_parts.h"
#include "report/source_text.h"

namespace muscope::report {
namespace {

constexpr int kWholeFile = 2000;              ///< lines up to which all of a file is taken
constexpr int kAround = 40;                   ///< lines of a longer file before and after each that is spoken of
constexpr std::size_t kLongestLine = 1000;    ///< characters
constexpr std::size_t kMostFiles = 200;       ///< with text
constexpr std::size_t kMostText = 16u << 20;  ///< bytes in all

/// A run of lines that follow each other.
struct Excerpt {
  int first = 0;
  int lines = 0;
  std::string text;
};

std::string shortened(std::string line) {
  if (line.size() > kLongestLine) {
    std::size_t end = kLongestLine;
    while (end > 0 && (static_cast<unsigned char>(line[end]) & 0xc0) == 0x80) --end;  // not inside a character
    line.resize(end);
    line += " ...";
  }
  return line;
}

/// The lines of `file` that are wanted, in excerpts.
std::vector<Excerpt> excerpts_of(const std::string& file, const std::set<int>& used, const SourceReader& read) {
  std::vector<Excerpt> excerpts;
  const bool whole = read(file, 1).has_value() && !read(file, kWholeFile + 1).has_value();
  const auto add = [&](int line) {
    const std::optional<std::string> text = read(file, line);
    if (!text) return false;
    if (excerpts.empty() || excerpts.back().first + excerpts.back().lines != line) excerpts.push_back({line, 0, {}});
    ++excerpts.back().lines;
    excerpts.back().text += shortened(expand_tabs(*text)) + '\n';
    return true;
  };
  if (whole) {
    for (int line = 1; line <= kWholeFile && add(line); ++line) {
    }
    return excerpts;
  }
  int done = 0;
  for (const int line : used) {
    if (line < 1) continue;
    for (int near = std::max(done + 1, line - kAround); near <= line + kAround; ++near) {
      add(near);
      done = near;
    }
  }
  return excerpts;
}

}  // namespace

PageJson sources_of(const SourceUse& used, const HtmlOptions& options) {
  PageJson json = PageJson::array();
  std::size_t files = 0, bytes = 0;
  for (const auto& [file, lines] : used) {
    const bool system = is_system_header(file);
    PageJson one{{"file", file}, {"shown", relative_path(file, options.directory)}};
    if (system) one["system"] = true;
    if (!system && options.source && files < kMostFiles && bytes < kMostText) {
      one["excerpts"] = PageJson::array();
      for (const Excerpt& excerpt : excerpts_of(file, lines, options.source)) {
        bytes += excerpt.text.size();
        one["excerpts"].push_back({excerpt.first, excerpt.text});
      }
      files += one["excerpts"].empty() ? 0 : 1;
    }
    json.push_back(std::move(one));
  }
  return json;
}

}  // namespace muscope::report
