// A201: bank conflicts in shared memory, and the padding or swizzle that removes them for writers and readers at once,
// found by trying layouts on the recorded addresses.
#include <fmt/format.h>

#include <algorithm>

#include "advice/advice.h"
#include "advice/bank_layout.h"
#include "advice/rules.h"
#include "model/occupancy.h"
#include "report/number_format.h"

namespace muscope::advice {
namespace {

model::LaunchShape shape_of(const Context& context, std::uint64_t more_shared) {
  model::LaunchShape shape;
  shape.threads_per_block = static_cast<int>(context.threads_per_block());
  shape.registers_per_thread = static_cast<int>(context.count("launch__registers_per_thread"));
  shape.static_shared = context.launch().static_shared;
  shape.dynamic_shared = std::int64_t{context.launch().dynamic_shared} + static_cast<std::int64_t>(more_shared);
  return shape;
}

/// Shared memory that a block may take more: within what the GPU gives a block.
std::uint64_t room_of(const Context& context) {
  const auto& most = context.gpu().shared_per_block_optin.known ? context.gpu().shared_per_block_optin
                                                                : context.gpu().shared_per_block;
  const auto used = std::int64_t{context.launch().static_shared} + context.launch().dynamic_shared;
  if (!most.known || most.as_int() <= used) return 0;
  return static_cast<std::uint64_t>(most.as_int() - used);
}

/// Blocks per SM; 0 where the GPU is not known well enough.
int blocks_with(const Context& context, std::uint64_t more_shared) {
  const model::Occupancy occupancy = model::occupancy(context.gpu(), shape_of(context, more_shared));
  return occupancy.rests_on_defaults ? 0 : occupancy.blocks_per_sm;
}

std::vector<const Site*> by_conflicts(const Array& array) {
  std::vector<const Site*> sites = array.sites;
  const auto conflicts = [](const Site* s) { return s->counts->wavefronts - s->counts->ideal_wavefronts; };
  std::stable_sort(sites.begin(), sites.end(),
                   [&](const Site* a, const Site* b) { return conflicts(a) > conflicts(b); });
  return sites;
}

/// One row of elements that a loop steps through in several distances, also such as are parts of `pitch`, as a
/// reduction does, by a block in one dimension: nothing to declare rows of.
bool is_plain_array(const Context& context, const BankReplay& replay, std::uint64_t pitch) {
  if (context.launch().block[1] > 1 || context.launch().block[2] > 1) return false;
  std::size_t seen = 0;
  bool parts = false;
  for (const BankReplay::Pitch& p : replay.pitches()) {
    seen += p.seen;
    parts |= p.seen && p.bytes < pitch && pitch % p.bytes == 0;
  }
  return parts && seen >= 3;
}

std::string tried_text(const LayoutSearch& search) {
  if (!search.by_habit || !search.pad || search.by_habit->wavefronts == search.pad->wavefronts) return {};
  return fmt::format("; one element more in each row would still take {}",
                     report::grouped(search.by_habit->wavefronts));
}

}  // namespace

void find_bank_conflicts(const Context& context, Advices& out) {
  for (const Array& array : context.arrays()) {
    if (array.space != trace::Space::kShared) continue;
    const BankReplay replay(array);
    const std::uint64_t before = replay.wavefronts(), ideal = replay.ideal();
    if (before <= ideal || static_cast<double>(before - ideal) < kWorthChanging * static_cast<double>(before)) continue;
    if (2 * replay.data_conflicts() > before - ideal) continue;  // A501 speaks of atomics
    const std::vector<const Site*> sites = by_conflicts(array);
    const report::SiteReport& worst = *sites.front()->counts;
    report::AdviceReport advice = advice_at(context, sites);
    advice.text = fmt::format("{} wavefronts per {} where {} would do: lanes want different words of one bank",
                              report::average_text(worst.wavefronts, worst.requests), verb_of(*sites.front()),
                              report::average_text(worst.ideal_wavefronts, worst.requests));
    if (sites.size() > 1)
      advice.text += fmt::format("; counted over the {} instructions that use the array", sites.size());
    advice.unit = "wavefronts";
    advice.before = static_cast<double>(before);
    const LayoutSearch search = search_layouts(replay, room_of(context));
    const auto good = [&](const std::optional<LayoutCost>& cost) {
      return cost && static_cast<double>(cost->wavefronts) <= (1 - kWorthChanging) * static_cast<double>(before);
    };
    const bool pad = good(search.pad), swizzle = good(search.swizzle);
    if (!pad && !swizzle) {
      advice.change =
          "none of the paddings and XOR swizzles of rows that were tried removes these conflicts: let neighbouring "
          "lanes take neighbouring words, or give each lane a bank of its own";
      advice.after = advice.before;
      advice.reason = "no layout of those tried is better over the recorded addresses";
      advice.grade = report::Grade::kModelled;
      out.push_back(std::move(advice));
      continue;
    }
    const int now = blocks_with(context, 0);
    const int padded = pad ? blocks_with(context, search.pad->layout.extra(replay.bytes())) : 0;
    const bool pad_is_dear = pad && padded < now;
    const bool take_swizzle =
        !pad || (swizzle && (search.swizzle->wavefronts < search.pad->wavefronts ||
                             (pad_is_dear && search.swizzle->wavefronts == search.pad->wavefronts)));
    LayoutCost best = take_swizzle ? *search.swizzle : *search.pad;
    best.layout.element = take_swizzle ? 0 : replay.element();  // a swizzle moves whole units
    best.layout.tile = !is_plain_array(context, replay, best.layout.pitch);
    advice.change = best.layout.text();
    if (!take_swizzle) {
      advice.change += fmt::format(" ({} more per block", report::format_bytes(best.layout.extra(replay.bytes())));
      advice.change += pad_is_dear ? fmt::format(", which lowers the blocks per SM from {} to {})", now, padded) : ")";
    }
    advice.change += tried_text(search);
    if (!take_swizzle && swizzle && search.swizzle->wavefronts == best.wavefronts)
      advice.change += fmt::format("; or, without more memory, {}", search.swizzle->layout.text());
    advice.after = static_cast<double>(best.wavefronts);
    grade_replay(context, advice, best.exact, "the new layout for all writers and readers of the array");
    if (replay.element() < replay.unit() && advice.grade == report::Grade::kCounted) {
      advice.grade = report::Grade::kModelled;
      advice.reason += fmt::format(
          "; accesses of {} and of {}: where the compiler merged neighbours into a wide one, other indices may undo it",
          bytes_text(replay.element()), bytes_text(replay.unit()));
    }
    advice.picture = picture_of(*sites.front(), replay.moved(best.layout, *sites.front()));
    advice.saves = advice.before - advice.after;
    if (best.wavefronts > ideal)
      advice.bound = fmt::format("{} wavefronts more than the least remain", report::grouped(best.wavefronts - ideal));
    out.push_back(std::move(advice));
  }
}

}  // namespace muscope::advice
