#include "diff/lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "diff/match_kernels.h"
#include "report/cause.h"
#include "report/names.h"
#include "report/user_place.h"

namespace muscope::diff {
namespace {

/// Cells of the alignment's table; kernels of more lines are matched by equal text and line number alone.
constexpr std::size_t kMostCells = 250'000;

std::string trimmed(std::string text) {
  const std::size_t start = text.find_first_not_of(" \t\r");
  if (start == std::string::npos) return {};
  return text.substr(start, text.find_last_not_of(" \t\r") + 1 - start);
}

std::string_view name_of_file(std::string_view path) { return path.substr(path.rfind('/') + 1); }

/// How well two lines correspond, 0: not at all.
int score(const LineSums& a, const LineSums& b) {
  const bool same_accesses = a.accesses == b.accesses;
  if (a.text && b.text) {
    if (*a.text == *b.text) return 100;
    const double similar = similarity(*a.text, *b.text);
    if (similar >= 0.5) return static_cast<int>(30 + 50 * similar) + (same_accesses ? 10 : 0);
    return same_accesses && !a.accesses.empty() ? 20 : 0;
  }
  // Without their text the order and what they do have to tell.
  if (same_accesses && !a.accesses.empty()) return a.line == b.line ? 70 : 50;
  if (a.line == b.line) return 30;
  return same_accesses ? 10 : 0;
}

/// The alignment with the greatest sum of scores.
std::vector<LinePair> aligned(const std::vector<const LineSums*>& a, const std::vector<const LineSums*>& b) {
  const std::size_t rows = a.size() + 1, columns = b.size() + 1;
  std::vector<int> best(rows * columns);
  const auto at = [&](std::size_t i, std::size_t k) -> int& { return best[i * columns + k]; };
  for (std::size_t i = a.size(); i-- > 0;)
    for (std::size_t k = b.size(); k-- > 0;) {
      const int match = score(*a[i], *b[k]);
      at(i, k) = std::max({match > 0 ? match + at(i + 1, k + 1) : 0, at(i + 1, k), at(i, k + 1)});
    }
  std::vector<LinePair> pairs;
  std::size_t i = 0, k = 0;
  while (i < a.size() || k < b.size()) {
    const int match = i < a.size() && k < b.size() ? score(*a[i], *b[k]) : 0;
    if (match > 0 && at(i, k) == match + at(i + 1, k + 1)) {
      pairs.push_back({a[i++], b[k++]});
    } else if (i < a.size() && (k == b.size() || at(i, k) == at(i + 1, k))) {
      pairs.push_back({a[i++], nullptr});
    } else {
      pairs.push_back({nullptr, b[k++]});
    }
  }
  return pairs;
}

std::vector<LinePair> by_number(const std::vector<const LineSums*>& a, const std::vector<const LineSums*>& b) {
  std::map<int, LinePair> pairs;
  for (const LineSums* line : a) pairs[line->line].before = line;
  for (const LineSums* line : b) pairs[line->line].after = line;
  std::vector<LinePair> out;
  for (const auto& [number, pair] : pairs) out.push_back(pair);
  return out;
}

}  // namespace

const report::SourcePosition& shown_at(const report::LineReport& line) {
  return *report::user_place(line.at, line.inlined_at).at;
}

std::vector<LineSums> lines_of(const KernelGroup& group, const SourceText& text) {
  std::map<std::pair<std::string_view, int>, LineSums> lines;
  std::map<std::pair<std::string_view, int>, std::set<std::string>> accesses;
  for (const report::LaunchReport* launch : group.launches) {
    for (const report::LineReport& line : launch->lines) {
      const report::SourcePosition& at = shown_at(line);
      LineSums& sums = lines[{at.file, at.line}];
      sums.file = at.file;
      sums.line = at.line;
      if (const auto all = line.metrics.find("smsp__inst_executed.sum"); all != line.metrics.end())
        if (const auto* count = std::get_if<std::uint64_t>(&all->second.value)) sums.warp_instructions += *count;
      for (const report::SiteReport& site : line.sites) {
        sums.counts.add(site);
        accesses[{at.file, at.line}].insert(
            fmt::format("{} {}", report::word_of(site.kind), report::word_of(site.space)));
        if (report::waste_of(site) > (sums.worst == nullptr ? 0 : report::waste_of(*sums.worst))) sums.worst = &site;
      }
    }
  }
  std::vector<LineSums> out;
  for (auto& [place, sums] : lines) {
    sums.accesses = fmt::format("{}", fmt::join(accesses[place], ", "));
    if (!sums.file.empty() && text) {
      if (auto found = text(sums.file, sums.line)) sums.text = trimmed(std::move(*found));
      if (sums.text && sums.text->empty()) sums.text.reset();
    }
    out.push_back(std::move(sums));
  }
  return out;
}

std::vector<LinePair> match_lines(const std::vector<LineSums>& before, const std::vector<LineSums>& after) {
  // By the name of the file without its folders: the two programs may stand in different ones. A line of one file is
  // never one of another, so each is aligned by itself.
  std::map<std::string_view, std::pair<std::vector<const LineSums*>, std::vector<const LineSums*>>> files;
  for (const LineSums& line : before) files[name_of_file(line.file)].first.push_back(&line);
  for (const LineSums& line : after) files[name_of_file(line.file)].second.push_back(&line);
  // A file that was renamed with the program (transpose_v1.cu, transpose_v2.cu) is the only one that is left.
  std::string_view only_before, only_after;
  std::size_t left_before = 0, left_after = 0;
  for (const auto& [name, sides] : files) {
    if (sides.second.empty()) ++left_before, only_before = name;
    if (sides.first.empty()) ++left_after, only_after = name;
  }
  if (left_before == 1 && left_after == 1) {
    files[only_after].first = std::move(files[only_before].first);
    files.erase(only_before);
  }
  std::vector<LinePair> pairs;
  for (const auto& [name, sides] : files) {
    const auto& [a, b] = sides;
    const std::vector<LinePair> some = (a.size() + 1) * (b.size() + 1) <= kMostCells ? aligned(a, b) : by_number(a, b);
    pairs.insert(pairs.end(), some.begin(), some.end());
  }
  return pairs;
}

}  // namespace muscope::diff
