// A112: lanes of one warp take different branches, and each branch accesses the same sectors for its own lanes.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "advice/advice.h"
#include "advice/redeal.h"
#include "advice/replay.h"
#include "advice/rules.h"
#include "report/number_format.h"

namespace muscope::advice {
namespace {

/// Sites whose first executions share no thread, put together: what the warps would ask for in one go.
struct Branches {
  std::vector<const Site*> sites;
  std::map<std::uint64_t, BlockAccess> whole;  ///< by witness block
  std::uint64_t apart = 0;                     ///< sectors of the sites as they are, in the witness blocks

  bool fits(const BlockAccess& access) const {
    const auto other = whole.find(access.block);
    if (other == whole.end()) return true;
    for (std::size_t t = 0; t < access.addresses.size(); ++t)
      if (access.addresses[t] && other->second.addresses[t]) return false;
    return true;
  }
  void add(const BlockAccess& access) {
    BlockAccess& to = whole.try_emplace(access.block, access).first->second;
    for (std::size_t t = 0; t < access.addresses.size(); ++t)
      if (access.addresses[t]) to.addresses[t] = access.addresses[t];
  }
};

bool is_candidate(const Site& site, bool store) {
  return (store ? site.is_store() : site.is_load()) && site.bytes() > 0 && site.efficiency() < kEfficient;
}

Branches join(const std::vector<BlockAccess>& accesses, const std::vector<std::uint32_t>& as_is, const Site& first,
              const std::vector<const Site*>& candidates) {
  Branches branches;
  for (const Site* site : candidates) {
    if (site->bytes() != first.bytes()) continue;
    std::vector<const BlockAccess*> own;
    for (const BlockAccess& access : accesses)
      if (access.site == site) own.push_back(&access);
    if (own.empty() || !std::all_of(own.begin(), own.end(), [&](const BlockAccess* a) { return branches.fits(*a); }))
      continue;
    branches.sites.push_back(site);
    for (const BlockAccess* access : own) {
      branches.add(*access);
      branches.apart += sectors_of(*access, as_is);
    }
  }
  return branches;
}

void say(const Context& context, const Branches& branches, std::uint64_t together, Advices& out) {
  std::uint64_t before = 0, ideal = 0, requests = 0;
  for (const Site* site : branches.sites) {
    before += site->counts->sectors;
    ideal += site->counts->ideal_sectors;
    requests += site->counts->requests;
  }
  const auto predicted = static_cast<std::uint64_t>(
      std::round(static_cast<double>(before) * static_cast<double>(together) / static_cast<double>(branches.apart)));
  report::AdviceReport advice = advice_at(context, branches.sites);
  const std::string lines = lines_text(branches.sites);
  const Site& first = *branches.sites.front();
  advice.text = fmt::format(
      "lanes of one warp take different branches, and each branch does its {} for its own lanes: {} "
      "instructions{} touch the same sectors one after the other, {} sectors per request, each used in "
      "part",
      verb_of(first), branches.sites.size(), lines.empty() ? "" : " of " + lines,
      report::average_text(before, requests));
  advice.change =
      first.is_store()
          ? "let the branches only choose the value, and store once after they join; or branch by warp "
            "(threadIdx.x / 32) instead of by lane, so that all lanes of a warp agree"
          : "load once, before the branch; or branch by warp (threadIdx.x / 32) instead of by lane, so that "
            "all lanes of a warp agree";
  advice.unit = "sectors";
  advice.before = static_cast<double>(before);
  advice.after = static_cast<double>(std::max(predicted, ideal));
  advice.grade = report::Grade::kModelled;
  advice.reason = "the branches' accesses of some blocks put together, which stand for all";
  advice.saves = advice.before - advice.after;
  out.push_back(std::move(advice));
}

}  // namespace

void find_split_by_branches(const Context& context, Advices& out) {
  const std::vector<BlockAccess> accesses = block_accesses(context);
  const std::vector<std::uint32_t> as_is = order_as_is(context);
  for (const Array& array : context.arrays()) {
    if (array.space != trace::Space::kGlobal) continue;
    for (const bool store : {false, true}) {
      std::vector<const Site*> candidates;
      for (const Site* site : array.sites)
        if (is_candidate(*site, store)) candidates.push_back(site);
      std::stable_sort(candidates.begin(), candidates.end(),
                       [](const Site* a, const Site* b) { return a->counts->site < b->counts->site; });
      while (candidates.size() > 1) {
        const Branches branches = join(accesses, as_is, *candidates.front(), candidates);
        std::uint64_t together = 0;
        for (const auto& [block, access] : branches.whole) together += sectors_of(access, as_is);
        if (branches.sites.size() > 1 &&
            static_cast<double>(together) <= kEfficient * static_cast<double>(branches.apart))
          say(context, branches, together, out);
        const Site* done = candidates.front();
        std::erase_if(candidates, [&](const Site* site) {
          return site == done || std::find(branches.sites.begin(), branches.sites.end(), site) != branches.sites.end();
        });
      }
    }
  }
}

}  // namespace muscope::advice
