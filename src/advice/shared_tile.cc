// A104: what a block asks for is dense, but its warps take it across: move it by neighbouring lanes through a shared
// tile, as a transpose does.
#include <fmt/format.h>

#include <cmath>

#include "advice/advice.h"
#include "advice/redeal.h"
#include "advice/replay.h"
#include "advice/rules.h"
#include "model/occupancy.h"
#include "report/number_format.h"

namespace muscope::advice {

void find_shared_tile(const Context& context, Advices& out) {
  const std::vector<BlockAccess> accesses = block_accesses(context);
  const std::vector<std::uint32_t> as_is = order_as_is(context);
  for (const Site* site : context.sites_in(trace::Space::kGlobal)) {
    if (site->is_atomic() || site->efficiency() >= kEfficient || site->bytes() == 0) continue;
    std::uint64_t now = 0, then = 0, elements = 0, blocks = 0;
    for (const BlockAccess& access : accesses)
      if (access.site == site) {
        const std::vector<std::uint32_t> order = order_by_address(access);
        now += sectors_of(access, as_is);
        then += sectors_of(access, order);
        // Distinct addresses: what many elements share fills nothing.
        for (std::size_t i = 0; i < order.size(); ++i)
          elements += i == 0 || access.addresses[order[i]] != access.addresses[order[i - 1]];
        ++blocks;
      }
    if (now == 0 || blocks == 0) continue;
    // Dense: dealt by address, the block's own lanes fill their sectors.
    const double filled = static_cast<double>(elements * site->bytes()) / (32.0 * static_cast<double>(then));
    if (filled < kEfficient || static_cast<double>(then) > kEfficient * static_cast<double>(now)) continue;
    const std::uint64_t tile = elements / blocks * site->bytes();
    report::AdviceReport advice = advice_at(context, {site});
    advice.text =
        fmt::format("a block's {} is dense ({}), but each warp takes it across: {} sectors per request", verb_of(*site),
                    report::format_bytes(tile), report::average_text(site->counts->sectors, site->counts->requests));
    advice.change = fmt::format(
        "go through a shared tile: {} the block's part by neighbouring lanes, and turn it in shared memory "
        "(a tile of {} per block, padded or swizzled: A201)",
        site->is_store() ? "store" : "load", report::format_bytes(tile));
    advice.unit = "sectors";
    advice.before = static_cast<double>(site->counts->sectors);
    advice.after = std::round(advice.before * static_cast<double>(then) / static_cast<double>(now));
    advice.grade = report::Grade::kModelled;
    advice.reason = fmt::format("the addresses of the first execution in {}, dealt to lanes in order, stand for all",
                                report::of_blocks_text(blocks, context.blocks()));
    advice.saves = advice.before - advice.after;
    for (const BlockAccess& access : accesses)
      if (access.site == site && !advice.picture) advice.picture = picture_of(access, as_is, order_by_address(access));
    advice.bound = "the tile costs a shared store, a barrier and a shared load for each element";
    if (const auto footprint = footprint_of(context, {site}); footprint && footprint->used() >= 0.95) {
      advice.bound += "; the sectors a block touches are used whole, so the gain is in L1 and L2 look-ups, not in DRAM";
      advice.saves /= 2;
    }
    out.push_back(std::move(advice));
  }
}

}  // namespace muscope::advice
