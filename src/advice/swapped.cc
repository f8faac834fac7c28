// A102: threadIdx.x runs along rows of memory that threadIdx.y should run along: swapping the two makes warps dense.
#include <fmt/format.h>

#include <cmath>

#include "advice/advice.h"
#include "advice/redeal.h"
#include "advice/replay.h"
#include "advice/rules.h"
#include "report/number_format.h"

namespace muscope::advice {

void find_swapped(const Context& context, Advices& out) {
  const auto& block = context.launch().block;
  if (block[0] < 2 || block[1] < 2) return;
  const std::vector<BlockAccess> accesses = block_accesses(context);
  const std::vector<std::uint32_t> as_is = order_as_is(context), swapped = order_swapped(context);
  std::vector<const Site*> touched, to_blame;
  double before = 0, after = 0;
  for (const Site* site : context.sites_in(trace::Space::kGlobal)) {
    if (site->is_atomic()) continue;
    std::uint64_t now = 0, then = 0;
    for (const BlockAccess& access : accesses)
      if (access.site == site) {
        now += sectors_of(access, as_is);
        then += sectors_of(access, swapped);
      }
    if (now == 0) return;  // a site without record could become worse
    const auto sectors = static_cast<double>(site->counts->sectors);
    before += sectors;
    after += sectors * static_cast<double>(then) / static_cast<double>(now);
    touched.push_back(site);
    const Fit fit = fit_of(context, accesses, *site);
    const bool along_y = fit.y && *fit.y <= site->bytes() && *fit.y >= -std::int64_t{site->bytes()};
    if (then < now && along_y && site->efficiency() < kEfficient) to_blame.push_back(site);
  }
  if (to_blame.empty() || after > kEfficient * before) return;
  std::stable_sort(to_blame.begin(), to_blame.end(), [](const Site* a, const Site* b) {
    return a->counts->sectors - a->counts->ideal_sectors > b->counts->sectors - b->counts->ideal_sectors;
  });
  report::AdviceReport advice = advice_at(context, to_blame);
  const Fit fit = fit_of(context, accesses, *to_blame.front());
  const auto distance = [](const std::optional<std::int64_t>& d) {
    if (!d) return std::string("an irregular distance");
    return *d == 0 ? std::string("none") : bytes_text(static_cast<std::uint64_t>(*d < 0 ? -*d : *d));
  };
  advice.text = fmt::format(
      "the distance from thread to thread is {} in threadIdx.x and {} in threadIdx.y: warps, which "
      "run along x, touch {} sectors per request",
      distance(fit.x), distance(fit.y),
      report::average_text(to_blame.front()->counts->sectors, to_blame.front()->counts->requests));
  advice.change = "swap the roles of threadIdx.x and threadIdx.y (and of blockIdx and the grid with them)";
  advice.unit = "sectors";
  advice.before = before;
  advice.after = std::round(after);
  advice.grade = report::Grade::kModelled;
  advice.reason = fmt::format(
      "x and y swapped for the first execution of each of the kernel's {} global accesses in {}, "
      "which stand for all",
      touched.size(), report::of_blocks_text(context.samples().witnesses.size(), context.blocks()));
  advice.saves = advice.before - advice.after;
  for (const BlockAccess& access : accesses)
    if (access.site == to_blame.front() && !advice.picture) advice.picture = picture_of(access, as_is, swapped);
  out.push_back(std::move(advice));
}

}  // namespace muscope::advice
