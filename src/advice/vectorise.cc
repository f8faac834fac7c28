// A105: several accesses of a thread that lie side by side, aligned, could be one of 8 or 16 bytes: fewer instructions
// and requests, and fewer sector look-ups where lanes are a stride apart.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "advice/advice.h"
#include "advice/replay.h"
#include "advice/rules.h"
#include "report/number_format.h"

namespace muscope::advice {
namespace {

using trace::Space;

/// Two accesses of the same warps at a fixed distance: their patterns differ by it alone.
bool at_distance(const Site& a, const Site& b, std::uint64_t distance) {
  const views::SiteSamples &x = *a.samples, &y = *b.samples;
  if (x.requests != y.requests || x.low + distance != y.low || x.high + distance != y.high) return false;
  if (!x.complete || !y.complete || x.patterns.size() != y.patterns.size()) return false;
  return std::equal(x.patterns.begin(), x.patterns.end(), y.patterns.begin(),
                    [&](const views::AccessPattern& p, const views::AccessPattern& q) {
                      return !p.scattered() && !q.scattered() && p.mask == q.mask && p.stride == q.stride &&
                             p.count == q.count && p.low + distance == q.low && p.high + distance == q.high;
                    });
}

/// Whether all lanes of all requests may take `width` bytes at once.
bool is_aligned(const Site& site, std::uint64_t width) {
  return std::all_of(site.samples->patterns.begin(), site.samples->patterns.end(), [&](const views::AccessPattern& p) {
    return (p.low | p.high | p.base | static_cast<std::uint64_t>(p.stride)) % width == 0;
  });
}

bool is_candidate(const Site& site) {
  return (site.counts->space == Space::kGlobal || site.counts->space == Space::kShared) && site.samples != nullptr &&
         (site.is_load() || site.is_store()) && site.bytes() >= 1 && site.bytes() <= 8 && site.counts->requests > 0;
}

}  // namespace

void find_vectorisable(const Context& context, Advices& out) {
  std::set<const Site*> taken;
  std::vector<const Site*> sites;
  for (const Site& site : context.sites())
    if (is_candidate(site)) sites.push_back(&site);
  std::stable_sort(sites.begin(), sites.end(),
                   [](const Site* a, const Site* b) { return a->samples->low < b->samples->low; });
  for (const Site* first : sites) {
    for (std::uint64_t width = 16; width > first->bytes() && !taken.contains(first); width /= 2) {
      if (!is_aligned(*first, width)) continue;
      std::vector<const Site*> run{first};
      for (std::uint64_t distance = first->bytes(); distance < width; distance += first->bytes())
        for (const Site* next : sites)
          if (!taken.contains(next) && next->counts->space == first->counts->space &&
              next->counts->kind == first->counts->kind && next->bytes() == first->bytes() &&
              at_distance(*first, *next, distance)) {
            run.push_back(next);
            break;
          }
      if (run.size() * first->bytes() != width) continue;
      taken.insert(run.begin(), run.end());
      const bool shared = first->counts->space == Space::kShared;
      std::uint64_t before = 0, requests = 0;
      for (const Site* site : run) {
        before += shared ? site->counts->wavefronts : site->counts->sectors;
        requests += site->counts->requests;
      }
      const auto after = replay(
          *first, [](const views::AccessPattern&, Lanes&) { return true; }, {}, static_cast<std::uint32_t>(width));
      if (!after || after->sum > before) break;
      report::AdviceReport advice = advice_at(context, run);
      const std::string_view unit = shared ? "wavefronts" : "sectors";
      advice.text = fmt::format("{} {}s of {} by each thread lie side by side, aligned to {}", run.size(),
                                verb_of(*first), bytes_text(first->bytes()), bytes_text(width));
      advice.change = fmt::format(
          "make one {} of {} of them (float{} and its like, or a structure with __align__({})): {} "
          "-> {}",
          verb_of(*first), bytes_text(width), width / 4, width, report::grouped(requests),
          report::counted_noun(requests / run.size(), "request", "requests"));
      advice.unit = unit;
      advice.before = static_cast<double>(before);
      advice.after = static_cast<double>(after->sum);
      grade_replay(context, advice, after->exact, "the wide access");
      advice.picture = picture_of(
          *first, [](const views::AccessPattern&, Lanes&) { return true; }, {}, static_cast<std::uint32_t>(width));
      // Fewer instructions count too: a request passes the address stage once.
      const std::uint64_t fewer = requests - requests / run.size();
      advice.saves = (advice.before - advice.after) / (shared ? 1 : 4) + static_cast<double>(fewer);
      if (after->sum == before)
        advice.bound = fmt::format("the {} stay: what falls are instructions and requests", unit);
      else if (!shared)
        advice.bound = "fewer L1 look-ups; L2 and DRAM move the same bytes";
      out.push_back(std::move(advice));
      break;
    }
  }
}

}  // namespace muscope::advice
