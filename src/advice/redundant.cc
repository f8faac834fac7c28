// A106: a block loads the same sectors of global memory again and again: keep them in registers or shared memory.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "advice/advice.h"
#include "advice/replay.h"
#include "advice/rules.h"
#include "report/number_format.h"

namespace muscope::advice {
namespace {

constexpr double kFewestTimes = 3;  ///< touches of a sector by a block from which staging it is worth a word
constexpr double kRead = 0.9;       ///< share of touches of data that the block did not write itself

}  // namespace

void find_redundant_loads(const Context& context, Advices& out) {
  if (context.samples().witnesses.empty()) return;
  for (const Array& array : context.arrays()) {
    if (array.space != trace::Space::kGlobal) continue;
    std::vector<const Site*> loads;
    std::uint64_t before = 0;
    for (const Site* site : array.sites)
      if (site->is_load()) {
        loads.push_back(site);
        before += site->counts->sectors;
      }
    if (loads.empty()) continue;
    const std::optional<Footprint> footprint = footprint_of(context, loads);
    if (!footprint || footprint->sectors == 0) continue;
    const double times = static_cast<double>(footprint->touches) / static_cast<double>(footprint->sectors);
    if (times < kFewestTimes ||
        static_cast<double>(footprint->stored) > (1 - kRead) * static_cast<double>(footprint->touches))
      continue;
    // Lanes that take few bytes of a sector at a time come again for the rest: that is A101's and A104's to say.
    double efficiency = 0;
    for (const Site* site : loads) efficiency += site->efficiency() * static_cast<double>(site->counts->sectors);
    if (efficiency / static_cast<double>(before) < kEfficient / 2 &&
        footprint->used() > 2 * efficiency / static_cast<double>(before))
      continue;
    std::stable_sort(loads.begin(), loads.end(),
                     [](const Site* a, const Site* b) { return a->counts->sectors > b->counts->sectors; });
    report::AdviceReport advice = advice_at(context, loads);
    const bool own = footprint->again_by_warp > (footprint->touches - footprint->sectors) * 9 / 10;
    const std::uint64_t tile = footprint->sectors / footprint->blocks * 32;
    advice.text = fmt::format("a block loads each sector of this array {} times, {}", report::grouped(times, 1),
                              own ? "mostly by the same warp" : "by several of its warps");
    advice.change =
        own ? fmt::format(
                  "keep what a thread or warp loads again in registers (shuffles pass it between lanes), or in "
                  "shared memory: {} per block",
                  report::format_bytes(tile))
            : fmt::format("load it to shared memory once per block ({}), in tiles where that is too much",
                          report::format_bytes(tile));
    advice.unit = "sectors";
    advice.before = static_cast<double>(before);
    advice.after = std::round(advice.before / times);
    advice.grade = report::Grade::kModelled;
    advice.reason = fmt::format("each sector once per block, counted in {}{}",
                                report::of_blocks_text(footprint->blocks, context.blocks()),
                                footprint->blocks < context.blocks() ? ", which stand for all" : "");
    advice.bound =
        "L1 serves the repetitions as long as the block's data stays there: the gain is in L1 look-ups and in "
        "latency, in DRAM traffic only where L1 and L2 are too small";
    advice.saves = (advice.before - advice.after) / 4;
    out.push_back(std::move(advice));
  }
}

}  // namespace muscope::advice
