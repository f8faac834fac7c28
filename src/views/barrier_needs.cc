#include "views/barrier_needs.h"

#include <algorithm>
#include <numeric>

namespace muscope::views {

void BarrierWatch::pass(std::uint32_t op, bool plain) {
  if (!plain) give_up();
  if (!needs_.known) return;
  std::vector<BarrierUse>& all = needs_.barriers;
  const auto found = std::find_if(all.begin(), all.end(), [op](const BarrierUse& use) { return use.op == op; });
  const auto at = static_cast<std::size_t>(found - all.begin());
  if (found == all.end()) {
    if (all.size() == kMostBarriers) return give_up();
    all.push_back({op, kNoFrame, false, 0});
    last_passed_.push_back(0);
  }
  ++all[at].executed;
  last_passed_[at] = ++interval_;
}

void BarrierWatch::add_need(std::uint32_t since) {
  asked_since_ = since;
  asked_at_ = interval_;
  std::uint64_t set = 0;
  for (std::size_t i = 0; i < last_passed_.size(); ++i)
    if (last_passed_[i] > since) set |= std::uint64_t{1} << i;
  std::vector<std::uint64_t>& sets = needs_.one_of;
  if (std::any_of(sets.begin(), sets.end(), [set](std::uint64_t known) { return (known & set) == known; })) return;
  std::erase_if(sets, [set](std::uint64_t known) { return (known & set) == set; });
  if (sets.size() == kMostSets) return give_up();
  sets.push_back(set);
}

BarrierNeeds BarrierWatch::finish() const {
  BarrierNeeds out;
  out.known = needs_.known;
  if (!out.known) return out;
  std::vector<std::size_t> order(needs_.barriers.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return needs_.barriers[a].op < needs_.barriers[b].op; });
  for (const std::size_t i : order) out.barriers.push_back(needs_.barriers[i]);
  for (const std::uint64_t set : needs_.one_of) {
    std::uint64_t moved = 0;
    for (std::size_t i = 0; i < order.size(); ++i) moved |= (set >> order[i] & 1) << i;
    out.one_of.push_back(moved);
  }
  std::sort(out.one_of.begin(), out.one_of.end());
  return out;
}

}  // namespace muscope::views
