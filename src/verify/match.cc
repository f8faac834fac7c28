#include "verify/match.h"

#include <algorithm>
#include <map>
#include <set>

#include "report/kernel_name.h"

namespace muscope::verify {
namespace {

bool is_word(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; }

std::string without_spaces(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != ' ') {
      out += text[i];
    } else if (!out.empty() && is_word(out.back()) && i + 1 < text.size() && is_word(text[i + 1])) {
      out += ' ';  // "unsigned int"
    }
  }
  return out;
}

/// "cub::reduce::Kernel<a::b<(int)16, 4u, true>, T>" -> "Kernel<b<16,4,1>,T>"
std::string plain_arguments(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    if (text[i] == '(') {  // a cast before a value
      const std::size_t end = text.find(')', i);
      if (end != std::string_view::npos && end + 1 < text.size() && (is_word(text[end + 1]) || text[end + 1] == '-')) {
        i = end + 1;
        continue;
      }
    }
    if (!is_word(text[i])) {
      out += text[i++];
      continue;
    }
    std::size_t end = i;
    while (end < text.size() && is_word(text[end])) ++end;
    std::string_view word = text.substr(i, end - i);
    i = end;
    if (text.substr(i, 2) == "::") {
      i += 2;
      continue;
    }
    if (word.front() >= '0' && word.front() <= '9') {
      while (word.size() > 1 && std::string_view("uUlL").find(word.back()) != std::string_view::npos)
        word.remove_suffix(1);
    }
    out += word == "true" ? "1" : word == "false" ? "0" : word;
  }
  return out;
}

struct Shape {
  bool known = false;
  std::array<std::uint32_t, 3> grid{}, block{};
  bool fits(const Shape& other) const { return !known || !other.known || (grid == other.grid && block == other.block); }
};

Shape shape_of(const report::LaunchReport& launch) { return {true, launch.grid, launch.block}; }
Shape shape_of(const CaptureLaunch& launch) {
  if (!launch.grid || !launch.block) return {};
  return {true, *launch.grid, *launch.block};
}

class Matcher {
 public:
  Matcher(const report::Report& report, const Capture& capture)
      : report_(report), capture_(capture), here_used_(report.launches.size()), there_used_(capture.launches.size()) {
    std::map<std::string_view, std::size_t> symbols;  // of `ncu --print-kernel-base mangled`
    for (std::size_t a = 0; a < report.launches.size(); ++a) {
      here_.push_back(keys_of(report.launches[a].kernel));
      symbols.emplace(report.launches[a].mangled, a);
    }
    for (const auto& launch : capture.launches) {
      const auto symbol = launch.kernel.starts_with("_Z") ? symbols.find(launch.kernel) : symbols.end();
      there_.push_back(symbol != symbols.end() ? here_[symbol->second] : keys_of(launch.kernel));
    }
  }

  Matching run() {
    const auto here_processes = processes_of(report_.launches), there_processes = processes_of(capture_.launches);
    if (here_processes.size() == there_processes.size() && here_processes.size() <= kMostProcesses) {
      for (std::size_t i = 0; i < here_processes.size(); ++i)
        match([&, i](std::size_t a) { return report_.launches[a].process == here_processes[i]; },
              [&, i](std::size_t b) { return capture_.launches[b].process == there_processes[i]; });
    } else {
      match([](std::size_t) { return true; }, [](std::size_t) { return true; });
    }
    Matching result{std::move(pairs_), {}, {}};
    std::sort(result.pairs.begin(), result.pairs.end());
    for (std::size_t a = 0; a < here_used_.size(); ++a)
      if (!here_used_[a]) result.report_only.push_back(a);
    for (std::size_t b = 0; b < there_used_.size(); ++b)
      if (!there_used_[b]) result.capture_only.push_back(b);
    return result;
  }

 private:
  static constexpr std::size_t kMostProcesses = 64;

  /// In the order of their first launches.
  template <typename Launches>
  static std::vector<std::size_t> processes_of(const Launches& launches) {
    std::set<std::size_t> seen;
    std::vector<std::size_t> order;
    for (const auto& launch : launches)
      if (seen.insert(launch.process).second) order.push_back(launch.process);
    return order;
  }

  template <typename Here, typename There>
  void match(Here here, There there) {
    const auto by = [&](auto key_of, bool bare) {
      std::map<std::string, std::pair<std::vector<std::size_t>, std::vector<std::size_t>>> groups;
      for (std::size_t a = 0; a < here_.size(); ++a)
        if (!here_used_[a] && here(a)) groups[key_of(here_[a])].first.push_back(a);
      for (std::size_t b = 0; b < there_.size(); ++b)
        if (!there_used_[b] && there(b)) groups[key_of(there_[b])].second.push_back(b);
      for (const auto& [key, group] : groups) {
        const auto& [ours, theirs] = group;
        if (ours.empty() || theirs.empty()) continue;
        if (bare && ours.size() != theirs.size() && !one_side_plain(ours, theirs)) continue;
        align(ours, theirs);
      }
    };
    by([](const KernelKeys& k) { return k.full; }, false);
    by([](const KernelKeys& k) { return k.templated; }, false);
    by([](const KernelKeys& k) { return k.bare; }, true);
  }

  /// Different instances of a template are not each other's counterparts; names without arguments say nothing of them.
  bool one_side_plain(const std::vector<std::size_t>& ours, const std::vector<std::size_t>& theirs) const {
    const auto plain = [](const KernelKeys& k) { return k.templated == k.bare; };
    return std::all_of(ours.begin(), ours.end(), [&](std::size_t a) { return plain(here_[a]); }) ||
           std::all_of(theirs.begin(), theirs.end(), [&](std::size_t b) { return plain(there_[b]); });
  }

  void pair(std::size_t a, std::size_t b) {
    pairs_.emplace_back(a, b);
    here_used_[a] = there_used_[b] = true;
  }

  void align(const std::vector<std::size_t>& ours, const std::vector<std::size_t>& theirs) {
    const std::size_t n = ours.size(), m = theirs.size();
    constexpr std::size_t kMostCells = 4'000'000;
    if (n != m && n * m <= kMostCells && align_by_shape(ours, theirs)) return;
    for (std::size_t i = 0; i < std::min(n, m); ++i) pair(ours[i], theirs[i]);
  }

  /// The longest common subsequence of shapes; false where shapes do not agree at all.
  bool align_by_shape(const std::vector<std::size_t>& ours, const std::vector<std::size_t>& theirs) {
    const std::size_t n = ours.size(), m = theirs.size();
    const auto fits = [&](std::size_t i, std::size_t j) {
      return shape_of(report_.launches[ours[i]]).fits(shape_of(capture_.launches[theirs[j]]));
    };
    std::vector<std::uint32_t> best((n + 1) * (m + 1));
    const auto at = [&](std::size_t i, std::size_t j) -> std::uint32_t& { return best[i * (m + 1) + j]; };
    for (std::size_t i = n; i-- > 0;)
      for (std::size_t j = m; j-- > 0;)
        at(i, j) = std::max({at(i + 1, j), at(i, j + 1), at(i + 1, j + 1) + (fits(i, j) ? 1u : 0u)});
    if (at(0, 0) == 0) return false;
    for (std::size_t i = 0, j = 0; i < n && j < m;) {
      if (fits(i, j) && at(i, j) == at(i + 1, j + 1) + 1) {
        pair(ours[i++], theirs[j++]);
      } else if (at(i, j) == at(i + 1, j)) {
        ++i;
      } else {
        ++j;
      }
    }
    return true;
  }

  const report::Report& report_;
  const Capture& capture_;
  std::vector<KernelKeys> here_, there_;
  std::vector<bool> here_used_, there_used_;
  std::vector<std::pair<std::size_t, std::size_t>> pairs_;
};

}  // namespace

KernelKeys keys_of(std::string_view name) {
  KernelKeys keys;
  std::string known(name);
  for (const std::string_view unnamed : {"(anonymous namespace)::", "<unnamed>::"})
    for (std::size_t at; (at = known.find(unnamed)) != std::string::npos;) known.erase(at, unnamed.size());
  name = known;
  std::string_view shown = name;
  if (shown.starts_with("void ")) shown.remove_prefix(5);
  keys.full = without_spaces(shown);
  keys.templated = plain_arguments(without_spaces(report::kernel_base_name(name)));
  if (keys.templated.empty()) keys.templated = keys.full;
  keys.bare = keys.templated.substr(0, keys.templated.find('<'));
  return keys;
}

Matching match_launches(const report::Report& report, const Capture& capture) { return Matcher(report, capture).run(); }

}  // namespace muscope::verify
