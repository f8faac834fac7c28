#include "diff/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace muscope::diff {
namespace {

/// What got worse or better by less than this share of the opposite is not worth a word in the headline.
constexpr double kMinor = 0.25;

/// The row of a class of accesses that decides, by its label; null: none does.
const Change* deciding(const AccessChange& access) {
  const auto find = [&](std::string_view label) -> const Change* {
    const auto found =
        std::find_if(access.changes.begin(), access.changes.end(), [&](const Change& c) { return c.label == label; });
    return found == access.changes.end() ? nullptr : &*found;
  };
  if (const Change* sectors = find("sectors")) return sectors;
  if (const Change* wavefronts = find("wavefronts")) {
    const bool both = wavefronts->before && wavefronts->after && as_double(*wavefronts->before) > 0 &&
                      as_double(*wavefronts->after) > 0;
    return both ? wavefronts : find("conflicts");
  }
  return access.label == "constant load" ? find("replays") : find("requests");
}

/// Adds up both directions and remembers the rows that got worse most.
struct Balance {
  double better = 0, worse = 0, worst = 0;
  std::string worst_row;

  void add(double by, const std::string& row) {
    if (by < 0) better -= by;
    if (by <= 0) return;
    worse += by;
    if (by > worst) worst = by, worst_row = row;
  }
  Verdict verdict() const {
    if (better == 0 && worse == 0) return {};
    if (worse <= kMinor * better) return {Direction::kBetter, false, {}};
    if (better <= kMinor * worse) return {Direction::kWorse, false, {}};
    return {Direction::kOther, true, worst_row};
  }
};

}  // namespace

Verdict verdict_of(const std::vector<AccessChange>& accesses, const std::vector<Change>& launch,
                   const std::vector<Change>& hardware) {
  Balance traffic;
  for (const AccessChange& access : accesses)
    if (const Change* row = deciding(access); row != nullptr && row->before && row->after)
      traffic.add(as_double(*row->after) - as_double(*row->before), access.label + " " + row->label);
  if (const Verdict verdict = traffic.verdict(); verdict.direction != Direction::kSame) return verdict;
  // Their units differ: what moved by the larger share of what it was says more.
  Balance others;
  bool different =
      std::any_of(accesses.begin(), accesses.end(), [](const AccessChange& access) { return access.moved(); });
  for (const auto* changes : {&launch, &hardware})
    for (const Change& c : *changes) {
      different |= c.moved();
      if (c.direction != Direction::kBetter && c.direction != Direction::kWorse) continue;
      const double a = as_double(*c.before), b = as_double(*c.after);
      const double share = std::fabs(a - b) / std::max(a, b);
      others.add(c.direction == Direction::kWorse ? share : -share, c.label);
    }
  if (const Verdict verdict = others.verdict(); verdict.direction != Direction::kSame) return verdict;
  return {different ? Direction::kOther : Direction::kSame, false, {}};
}

std::string verdict_text(const KernelChange& kernel) {
  if (kernel.kernels.by == MatchedBy::kNothing) return kernel.kernels.before == nullptr ? "new" : "gone";
  if (kernel.verdict.mixed) return fmt::format("mixed: {} worse", kernel.verdict.worse_row);
  return std::string(name_of(kernel.verdict.direction));
}

std::vector<report::PageVerdict> page_verdicts(const Difference& difference) {
  std::vector<report::PageVerdict> all;
  for (const KernelChange& kernel : difference.kernels)
    all.push_back({kernel.kernels.before != nullptr ? kernel.kernels.before->kernel : std::string(),
                   kernel.kernels.after != nullptr ? kernel.kernels.after->kernel : std::string(),
                   verdict_text(kernel)});
  return all;
}

}  // namespace muscope::diff
