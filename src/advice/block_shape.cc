// A107: a block that is thin in x cuts its warps into several short rows: each touches a line of its own, so that L2
// sees more requests though no byte is wasted.
#include <fmt/format.h>

#include "advice/advice.h"
#include "advice/redeal.h"
#include "advice/replay.h"
#include "advice/rules.h"
#include "model/sectors.h"
#include "report/number_format.h"

namespace muscope::advice {

void find_thin_blocks(const Context& context, Advices& out) {
  const auto [nx, ny, nz] = context.launch().block;
  if (nx >= kGroupLanes || std::uint64_t{nx} * ny * nz < kGroupLanes || ny * nz < 2) return;
  const std::vector<BlockAccess> accesses = block_accesses(context);
  const std::vector<std::uint32_t> as_is = order_as_is(context);
  std::optional<report::AdvicePicture> picture;
  std::vector<const Site*> sites;
  std::uint64_t before = 0, after = 0, sectors = 0, sectors_after = 0, requests = 0;
  for (const Site* site : context.sites_in(trace::Space::kGlobal)) {
    if (site->is_atomic()) return;
    const Fit fit = fit_of(context, accesses, *site);
    // One row of 32 neighbours in x, from where the threads of a row begin. Rows of the block go on in the next block.
    if (!fit.x || (*fit.x != 0 && *fit.x != site->bytes())) return;
    Lanes lanes{};
    std::uint64_t start = 0;
    for (const BlockAccess& access : accesses)
      if (access.site == site && access.addresses[0]) {
        start = *access.addresses[0];
        if (!picture && *fit.x != 0) {
          picture = picture_of(access, as_is, as_is);
          if (picture) picture->after.fill(0);
        }
        break;
      }
    for (unsigned lane = 0; lane < kGroupLanes; ++lane) lanes[lane] = start + static_cast<std::uint64_t>(*fit.x) * lane;
    const model::SectorCounts row = model::count_sectors({lanes, WarpMask::of(kAllLanes), site->bytes()});
    if (picture && picture->after[0] == 0) picture->after = lanes;
    before += site->counts->lines;
    sectors += site->counts->sectors;
    after += row.lines * site->counts->requests;
    sectors_after += row.sectors * site->counts->requests;
    requests += site->counts->requests;
    sites.push_back(site);
  }
  if (sites.empty() || 5 * after > 4 * before || sectors_after > sectors + sectors / 50) return;
  report::AdviceReport advice = advice_at(context, sites);
  advice.text =
      fmt::format("blocks are {} threads wide, so a warp covers {} short rows: {} lines of 128 B per request{}", nx,
                  (kGroupLanes + nx - 1) / nx, report::average_text(before, requests),
                  sectors_after < sectors ? "" : ", though no byte is wasted");
  advice.change = fmt::format("make the block 32 threads wide in x and {} in y: the same threads, whole rows per warp",
                              std::max<std::uint64_t>(1, std::uint64_t{nx} * ny * nz / kGroupLanes));
  const bool wastes = sectors_after < sectors;
  advice.unit = wastes ? "sectors" : "lines";
  advice.before = static_cast<double>(wastes ? sectors : before);
  advice.after = static_cast<double>(wastes ? sectors_after : after);
  advice.grade = report::Grade::kModelled;
  advice.reason = "rows of 32 threads with the distances of this launch";
  advice.bound = wastes ? "" : "the sectors stay: fewer and fuller L2 requests";
  advice.saves =
      static_cast<double>(before - after) / 4 + static_cast<double>(sectors - std::min(sectors, sectors_after)) / 2;
  if (picture && picture->mask == kAllLanes && picture->after[0] != 0) advice.picture = picture;
  out.push_back(std::move(advice));
}

}  // namespace muscope::advice
