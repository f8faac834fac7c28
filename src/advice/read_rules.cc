// A108: loads that the compiler must repeat because a store might have changed them. A109: lanes that gather from here
// and there. A110: one array taken by narrow and by wide accesses.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "advice/advice.h"
#include "advice/replay.h"
#include "advice/rules.h"
#include "report/number_format.h"

namespace muscope::advice {
namespace {

bool is_read_only_path(const Site& site) {
  return site.counts->text.find(".nc") != std::string::npos || site.counts->text.find("CONSTANT") != std::string::npos;
}

std::uint64_t sectors_of(const std::vector<const Site*>& sites) {
  std::uint64_t sum = 0;
  for (const Site* site : sites) sum += site->counts->sectors;
  return sum;
}

/// The sites that read the site's array if it reads, that write it if it writes. Footprints tell what a site touched
/// first among these: of one of them alone they tell nothing.
std::vector<const Site*> same_way(const Array* array, const Site& site) {
  if (array == nullptr) return {&site};
  std::vector<const Site*> found;
  for (const Site* other : array->sites)
    if (other->is_load() == site.is_load()) found.push_back(other);
  return found;
}

}  // namespace

void find_read_only_path(const Context& context, Advices& out) {
  const std::vector<const Site*> all = context.sites_in(trace::Space::kGlobal);
  if (std::none_of(all.begin(), all.end(), [](const Site* s) { return s->is_store(); })) return;
  for (const Array& array : context.arrays()) {
    if (array.space != trace::Space::kGlobal || array.written()) continue;
    std::vector<const Site*> plain;
    for (const Site* site : array.sites)
      if (site->is_load() && !is_read_only_path(*site)) plain.push_back(site);
    if (plain.empty()) continue;
    const std::optional<Footprint> footprint = footprint_of(context, plain);
    // The same warp comes again for what it had: a value that could have stayed in a register.
    if (!footprint || 4 * footprint->again_by_warp < footprint->touches) continue;
    report::AdviceReport advice = advice_at(context, plain);
    const double again = static_cast<double>(footprint->again_by_warp) / static_cast<double>(footprint->touches);
    advice.text = fmt::format(
        "this launch never writes here, and {:.0f} % of the sectors are ones that the same warp touched just "
        "before, yet the loads are ordinary ones",
        100 * again);
    advice.change =
        "mark the parameter const T* __restrict__ (and the others __restrict__), or read through __ldg(): the compiler "
        "may "
        "then keep, merge and move these loads, for no store can change them";
    advice.unit = "sectors";
    advice.before = static_cast<double>(sectors_of(plain));
    advice.after = std::round(advice.before * (1 - again));
    advice.grade = report::Grade::kEstimated;
    advice.reason = "if every repetition by the same warp goes";
    advice.bound =
        "L1 caches both kinds of load alike on GPUs of today: what is gained is what the compiler leaves out";
    advice.saves = (advice.before - advice.after) / 8;
    out.push_back(std::move(advice));
  }
}

void find_gathers(const Context& context, Advices& out) {
  for (const Site* site : context.sites_in(trace::Space::kGlobal)) {
    if (site->is_atomic() || site->samples == nullptr || site->efficiency() >= kEfficient) continue;
    if (site->counts->sectors <= site->counts->ideal_sectors || stride_of(*site).regular()) continue;
    if (sparse_stride_of(*site).regular()) continue;  // some lanes only, but in order
    const Array* array = context.array_of(*site);
    const std::optional<Footprint> footprint = footprint_of(context, same_way(array, *site));
    if (!footprint) continue;
    const double times =
        static_cast<double>(footprint->touches) / static_cast<double>(std::max<std::uint64_t>(1, footprint->sectors));
    report::AdviceReport advice = advice_at(context, {site});
    advice.text = fmt::format(
        "lanes gather from all over: {} sectors per {} where {} would hold the data; a block touches each of its "
        "sectors {:.1f} times and uses {:.0f} % of their bytes",
        report::average_text(site->counts->sectors, site->counts->requests), verb_of(*site),
        report::average_text(site->counts->ideal_sectors, site->counts->requests), times, 100 * footprint->used());
    const bool read_only = array != nullptr && !array->written();
    if (times >= 2 && read_only)
      advice.change =
          "neighbourhoods in two dimensions: a texture (cudaArray, whose layout keeps them together) or a shared tile "
          "serves "
          "them better; in one dimension, copy the part to shared memory first";
    else
      advice.change =
          "order the work so that neighbouring lanes need neighbouring elements (sort the indices, or the data by "
          "them); "
          "where order cannot be had, let several lanes share one element's sector";
    advice.unit = "sectors";
    advice.before = static_cast<double>(site->counts->sectors);
    const auto ideal = static_cast<double>(site->counts->ideal_sectors);
    advice.after = times >= 2 ? std::max(ideal, std::round(advice.before / times)) : ideal;
    advice.grade = report::Grade::kEstimated;
    advice.reason =
        times >= 2 ? "if each sector is fetched once per block" : "if lanes could be ordered so that no byte is wasted";
    advice.bound = "a bound: how much of it can be had depends on the indices";
    advice.saves = (advice.before - advice.after) / 2;
    out.push_back(std::move(advice));
  }
}

void find_mixed_widths(const Context& context, Advices& out) {
  for (const Array& array : context.arrays()) {
    if (array.space != trace::Space::kGlobal) continue;
    std::vector<const Site*> narrow;
    std::set<unsigned> widths;
    std::uint64_t requests = 0, narrow_requests = 0;
    for (const Site* site : array.sites)
      if (site->is_load() || site->is_store()) widths.insert(site->bytes());
    if (widths.size() < 2 || *widths.rbegin() < 8) continue;
    const unsigned wide = *widths.rbegin();
    for (const Site* site : array.sites) {
      requests += site->counts->requests;
      const LaneStride stride = stride_of(*site);
      if (!site->is_load() || site->bytes() * 2u > wide || !stride.regular() || stride.bytes != site->bytes()) continue;
      narrow.push_back(site);
      narrow_requests += site->counts->requests;
    }
    if (narrow.empty() || 4 * narrow_requests < requests) continue;
    report::AdviceReport advice = advice_at(context, narrow);
    advice.text =
        fmt::format("this array is taken {} at a time elsewhere, here {} at a time ({:.0f} % of its requests)",
                    bytes_text(wide), bytes_text(narrow.front()->bytes()),
                    100 * static_cast<double>(narrow_requests) / static_cast<double>(requests));
    advice.change = fmt::format("take {} per lane here too: the same sectors in fewer requests", bytes_text(wide));
    advice.unit = "requests";
    advice.before = static_cast<double>(narrow_requests);
    advice.after = 0;
    for (const Site* site : narrow) {
      const std::uint64_t requests = (site->counts->requests * site->bytes() + wide - 1) / wide;
      advice.after += static_cast<double>(requests);
    }
    advice.grade = report::Grade::kModelled;
    advice.reason = "the same bytes by the wider access";
    advice.bound = "no byte less is moved";
    advice.saves = (advice.before - advice.after) / 2;
    out.push_back(std::move(advice));
  }
}

}  // namespace muscope::advice
