#include "arch/nearest.h"

#include <algorithm>
#include <utility>

namespace muscope::arch {
namespace {

/// Levenshtein distance, case ignored.
std::size_t distance(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = diagonal + (lower(a[i - 1]) != lower(b[j - 1]));
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, change});
    }
  }
  return row[b.size()];
}

}  // namespace

std::vector<std::string> nearest(std::string_view name, const std::vector<std::string>& names, std::size_t count) {
  if (name.size() > 64) name = name.substr(0, 64);
  std::vector<std::pair<std::size_t, std::string>> ranked;
  for (const std::string& candidate : names) {
    const std::size_t d = distance(name, candidate);
    const bool begins = name.size() >= 2 && candidate.starts_with(name);
    if (begins || d <= std::max<std::size_t>(1, std::min(name.size(), candidate.size()) / 2))
      ranked.emplace_back(begins ? 0 : d, candidate);
  }
  std::sort(ranked.begin(), ranked.end());
  std::vector<std::string> result;
  for (const auto& [d, candidate] : ranked)
    if (result.size() < count) result.push_back(candidate);
  return result;
}

std::string printable(std::string_view text) {
  std::string out;
  for (const char c : text.substr(0, 80)) out += c >= 0x20 && c < 0x7f ? c : '?';
  if (text.size() > 80) out += "...";
  return out;
}

}  // namespace muscope::arch
