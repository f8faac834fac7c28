// A103: lanes side by side whose warp begins inside a sector, so that each request touches one sector more.
#include <fmt/format.h>

#include <map>

#include "advice/advice.h"
#include "advice/replay.h"
#include "advice/rules.h"
#include "model/sectors.h"
#include "report/number_format.h"

namespace muscope::advice {

void find_misaligned(const Context& context, Advices& out) {
  for (const Site& site : context.sites()) {
    if (site.counts->space != trace::Space::kGlobal || site.samples == nullptr || site.is_atomic()) continue;
    if (site.counts->sectors <= site.counts->ideal_sectors) continue;
    const LaneStride stride = stride_of(site);
    if (!stride.regular() || (stride.bytes != site.bytes() && stride.bytes != -std::int64_t{site.bytes()})) continue;
    std::uint64_t inside = 0, counted = 0;
    std::map<std::uint64_t, std::uint64_t> offsets;
    const std::optional<Replayed> after = replay(site, [&](const views::AccessPattern& pattern, Lanes& lanes) {
      std::uint64_t low = ~std::uint64_t{0};
      for (unsigned lane = 0; lane < kGroupLanes; ++lane)
        if ((pattern.mask >> lane) & 1) low = std::min(low, lanes[lane]);
      const std::uint64_t offset = low % model::kSectorBytes;
      counted += pattern.count;
      inside += offset != 0 ? pattern.count : 0;
      offsets[offset] += pattern.count;
      if (!pattern.scattered())
        for (std::uint64_t& address : lanes) address -= offset;
      return true;
    });
    if (!after || 2 * inside < counted) continue;
    const std::uint64_t before = site.counts->sectors;
    if (static_cast<double>(after->sum) > (1 - kWorthChanging) * static_cast<double>(before)) continue;
    report::AdviceReport advice = advice_at(context, {&site});
    std::uint64_t usual = 0, most = 0;
    for (const auto& [offset, count] : offsets)
      if (offset != 0 && count > most) most = count, usual = offset;
    advice.text =
        fmt::format("warps begin {} into a sector{}: {} sectors per {} where {} would do", bytes_text(usual),
                    offsets.size() > 2 ? " and elsewhere" : "", report::average_text(before, site.counts->requests),
                    verb_of(site), report::average_text(after->sum, site.counts->requests));
    advice.change = fmt::format(
        "let each warp begin at a multiple of 32 B: pad rows to a multiple of {} elements "
        "(cudaMallocPitch), or shift the index and skip the first lanes",
        32 / std::max<unsigned>(1, site.bytes()));
    advice.unit = "sectors";
    advice.before = static_cast<double>(before);
    advice.after = static_cast<double>(after->sum);
    grade_replay(context, advice, after->exact, "warps that begin with a sector");
    advice.picture = picture_of(site, [](const views::AccessPattern& pattern, Lanes& lanes) {
      if (pattern.scattered()) return false;
      const std::uint64_t offset = *std::min_element(lanes.begin(), lanes.end(), [](auto a, auto b) {
        return a - 1 < b - 1;
      }) % model::kSectorBytes;
      for (unsigned lane = 0; lane < kGroupLanes; ++lane)
        if ((pattern.mask >> lane) & 1) lanes[lane] -= offset;
      return true;
    });
    advice.saves = (advice.before - advice.after) / 4;
    const double share = 100 * (advice.before - advice.after) / advice.before;
    advice.bound = fmt::format(
        "at most {:.0f} % of this instruction's L1 look-ups: the sector more is that of the next "
        "warp, so L2 and DRAM move hardly more bytes",
        share);
    if (const auto footprint = footprint_of(context, {&site}); footprint && footprint->used() < 0.9)
      advice.bound = fmt::format("at most {:.0f} % of this instruction's sectors", share);
    out.push_back(std::move(advice));
  }
}

}  // namespace muscope::advice
