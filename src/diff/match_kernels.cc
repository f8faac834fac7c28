#include "diff/match_kernels.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>

#include "report/kernel_name.h"

namespace muscope::diff {
namespace {

/// Renamed kernels that are less alike than this are two kernels. tiledV1 and tiledV2 are 0.83 alike, copyRow and
/// naiveRow 0.31.
constexpr double kSimilarEnough = 0.55;
/// Beyond so many comparisons nothing is matched by similarity: it would take long and mean little.
constexpr std::size_t kMostComparisons = 1'000'000;

std::string without_template(const std::string& kernel) {
  const std::string base = report::kernel_base_name(kernel);
  std::string out;
  int depth = 0;
  for (const char c : base) {
    if (c == '<') ++depth;
    if (depth == 0) out += c;
    if (c == '>' && depth > 0) --depth;
  }
  return out;
}

std::vector<std::uint16_t> pairs_of(std::string_view text) {
  std::vector<std::uint16_t> pairs;
  for (std::size_t i = 0; i + 1 < text.size(); ++i)
    pairs.push_back(
        static_cast<std::uint16_t>(static_cast<unsigned char>(text[i]) << 8 | static_cast<unsigned char>(text[i + 1])));
  std::sort(pairs.begin(), pairs.end());
  return pairs;
}

double similarity_of(const std::vector<std::uint16_t>& a, const std::vector<std::uint16_t>& b) {
  std::size_t common = 0;
  for (std::size_t i = 0, k = 0; i < a.size() && k < b.size();) {
    if (a[i] == b[k]) {
      ++common, ++i, ++k;
    } else if (a[i] < b[k]) {
      ++i;
    } else {
      ++k;
    }
  }
  return a.empty() && b.empty() ? 0 : 2 * static_cast<double>(common) / static_cast<double>(a.size() + b.size());
}

class Matcher {
 public:
  Matcher(const std::vector<KernelGroup>& before, const std::vector<KernelGroup>& after)
      : before_(before), after_(after), taken_(before.size()), pairs_(after.size()) {
    for (std::size_t i = 0; i < after.size(); ++i) pairs_[i].after = &after[i];
  }

  std::vector<KernelPair> run() {
    by_key([](const std::string& kernel) { return kernel; }, MatchedBy::kName);
    by_key([](const std::string& kernel) { return report::kernel_base_name(kernel); }, MatchedBy::kParameters);
    by_key(without_template, MatchedBy::kTemplate);
    by_similarity();
    for (std::size_t i = 0; i < before_.size(); ++i)
      if (!taken_[i]) pairs_.push_back({&before_[i], nullptr, MatchedBy::kNothing, 0});
    return std::move(pairs_);
  }

 private:
  void take(std::size_t before, std::size_t after, MatchedBy by, double similar) {
    taken_[before] = true;
    pairs_[after] = {&before_[before], &after_[after], by, similar};
  }

  /// Kernels whose keys are equal; of several the most similar ones first.
  void by_key(std::string (*key)(const std::string&), MatchedBy by) {
    std::map<std::string, std::pair<std::vector<std::size_t>, std::vector<std::size_t>>> left;
    for (std::size_t i = 0; i < before_.size(); ++i)
      if (!taken_[i]) left[key(before_[i].kernel)].first.push_back(i);
    for (std::size_t i = 0; i < after_.size(); ++i)
      if (pairs_[i].before == nullptr) left[key(after_[i].kernel)].second.push_back(i);
    for (const auto& [name, sides] : left) best_first(sides.first, sides.second, by, 0);
  }

  void by_similarity() {
    std::vector<std::size_t> a, b;
    for (std::size_t i = 0; i < before_.size(); ++i)
      if (!taken_[i]) a.push_back(i);
    for (std::size_t i = 0; i < after_.size(); ++i)
      if (pairs_[i].before == nullptr) b.push_back(i);
    best_first(a, b, MatchedBy::kSimilarity, kSimilarEnough);
  }

  void best_first(const std::vector<std::size_t>& a, const std::vector<std::size_t>& b, MatchedBy by, double least) {
    if (a.empty() || b.empty() || a.size() > kMostComparisons / b.size()) return;
    struct Candidate {
      double similar;
      std::size_t before, after;
    };
    std::vector<std::vector<std::uint16_t>> of_a, of_b;
    const auto letters = [&](const std::string& kernel) {
      return pairs_of(by == MatchedBy::kSimilarity ? without_template(kernel) : kernel);
    };
    for (const std::size_t i : a) of_a.push_back(letters(before_[i].kernel));
    for (const std::size_t i : b) of_b.push_back(letters(after_[i].kernel));
    std::vector<Candidate> candidates;
    for (std::size_t i = 0; i < a.size(); ++i)
      for (std::size_t k = 0; k < b.size(); ++k)
        if (const double similar = similarity_of(of_a[i], of_b[k]); similar >= least)
          candidates.push_back({similar, a[i], b[k]});
    std::stable_sort(candidates.begin(), candidates.end(),
                     [](const Candidate& x, const Candidate& y) { return x.similar > y.similar; });
    for (const Candidate& c : candidates)
      if (!taken_[c.before] && pairs_[c.after].before == nullptr) take(c.before, c.after, by, c.similar);
  }

  const std::vector<KernelGroup>& before_;
  const std::vector<KernelGroup>& after_;
  std::vector<bool> taken_;
  std::vector<KernelPair> pairs_;
};

}  // namespace

double similarity(std::string_view a, std::string_view b) {
  return a == b ? 1 : similarity_of(pairs_of(a), pairs_of(b));
}

std::vector<KernelPair> match_kernels(const std::vector<KernelGroup>& before, const std::vector<KernelGroup>& after) {
  return Matcher(before, after).run();
}

}  // namespace muscope::diff
