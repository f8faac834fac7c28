// A203: barriers that keep no accesses of different warps apart, in the recorded blocks.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <set>

#include "advice/advice.h"
#include "advice/context.h"
#include "advice/rules.h"
#include "report/number_format.h"
#include "report/user_place.h"

namespace muscope::advice {
namespace {

/// A tile's second barrier keeps one turn's reads from the next one's writes: fewer turns show too little.
constexpr std::uint64_t kTurns = 3;

/// All copies of the barriers of one source line: loops are unrolled, functions inlined, and a line goes as a whole.
struct Group {
  const report::BarrierPosition* position = nullptr;
  bool repeats = false;
  std::uint64_t executed = 0;  ///< in all witness blocks
  std::uint64_t most = 0;      ///< in one of them
};
using Key = std::pair<std::string, int>;

Key key_of(const report::BarrierPosition& position) {
  if (position.at.line == 0) return {"", -1 - static_cast<int>(position.op)};  // alone
  const report::SourcePosition& at = *report::user_place(position.at, position.inlined_at).at;
  return {at.file, at.line};
}

/// Scattered lanes of ever new shapes: where the next input's lanes go, nobody knows.
bool may_follow_data(const Site& site, std::uint64_t blocks) {
  if (site.samples == nullptr || !site.samples->complete) return true;
  std::uint64_t shapes = 0, requests = 0;
  for (const views::AccessPattern& pattern : site.samples->patterns) {
    if (!pattern.scattered()) continue;
    ++shapes;
    requests += pattern.count;
  }
  // Addresses made of indices alone repeat from block to block.
  return shapes > 1 && (blocks == 1 || 2 * requests < shapes * blocks);
}

/// Whether all that passes between the threads of a block is followed.
bool is_followed(const Context& context) {
  for (const Site& site : context.sites()) {
    const trace::Space space = site.counts->space;
    if (site.counts->requests == 0) continue;
    if (space == trace::Space::kSurface) return false;
    if (space == trace::Space::kShared && may_follow_data(site, context.blocks())) return false;
    if (space == trace::Space::kGlobal && may_follow_data(site, context.blocks())) {
      const Array* array = context.array_of(site);
      if (array == nullptr || (array->read() && array->written())) return false;
    }
  }
  const auto& blocks = context.samples().witnesses;
  return !blocks.empty() && std::all_of(blocks.begin(), blocks.end(), [](const views::WitnessBlock& block) {
    return block.complete && block.barriers.known;
  });
}

struct Barriers {
  std::map<Key, Group> groups;
  std::set<std::set<Key>> one_of;
};

Barriers gather(const Context& context) {
  Barriers all;
  std::map<std::uint32_t, Key> keys;
  for (const report::BarrierPosition& position : context.launch().barriers) {
    const Key key = keys[position.op] = key_of(position);
    Group& group = all.groups[key];
    if (group.position == nullptr) group.position = &position;
  }
  for (const views::WitnessBlock& block : context.samples().witnesses) {
    std::map<Key, std::uint64_t> here;
    for (const views::BarrierUse& use : block.barriers.barriers) {
      const Key& key = keys[use.op];
      here[key] += use.executed;
      all.groups[key].repeats |= use.repeats;
    }
    for (const auto& [key, executed] : here) {
      all.groups[key].executed += executed;
      all.groups[key].most = std::max(all.groups[key].most, executed);
    }
    for (const std::uint64_t set : block.barriers.one_of) {
      std::set<Key> lines;
      for (std::uint64_t left = set; left != 0; left &= left - 1) {
        const auto i = static_cast<std::size_t>(std::countr_zero(left));
        if (i < block.barriers.barriers.size()) lines.insert(keys[block.barriers.barriers[i].op]);
      }
      all.one_of.insert(lines);
    }
  }
  return all;
}

/// Lines that may go together, those that are executed most first.
std::vector<Key> needless(const Barriers& all) {
  std::vector<Key> order;
  for (const auto& [key, group] : all.groups)
    if (group.position != nullptr && (!group.repeats || group.most >= kTurns)) order.push_back(key);
  std::stable_sort(order.begin(), order.end(),
                   [&](const Key& a, const Key& b) { return all.groups.at(a).executed > all.groups.at(b).executed; });
  std::set<Key> gone;
  std::vector<Key> found;
  for (const Key& key : order) {
    gone.insert(key);
    const bool missed = std::any_of(all.one_of.begin(), all.one_of.end(), [&](const std::set<Key>& lines) {
      return std::all_of(lines.begin(), lines.end(), [&](const Key& line) { return gone.contains(line); });
    });
    if (missed)
      gone.erase(key);
    else
      found.push_back(key);
  }
  return found;
}

}  // namespace

void find_needless_barriers(const Context& context, Advices& out) {
  if (context.warps_per_block() < 2 || context.launch().barriers.empty() || !is_followed(context)) return;
  const Barriers all = gather(context);
  const auto blocks = static_cast<double>(context.samples().witnesses.size());
  double before = 0;
  for (const auto& [key, group] : all.groups) before += static_cast<double>(group.executed) / blocks;
  for (const Key& key : needless(all)) {
    const Group& group = all.groups.at(key);
    const double executed = static_cast<double>(group.executed) / blocks;
    report::AdviceReport advice;
    const report::UserPlace place = report::user_place(group.position->at, group.position->inlined_at);
    advice.at = *place.at;
    advice.inlined_at.assign(group.position->inlined_at.begin() + static_cast<std::ptrdiff_t>(place.depth),
                             group.position->inlined_at.end());
    advice.text = fmt::format(
        "no data passes between warps over this barrier in the recorded blocks: what one warp writes before it, no "
        "other touches after it, nor the other way round, unless another barrier stands between ({} in {})",
        report::counted_noun(group.executed, "execution", "executions"),
        report::of_blocks_text(context.samples().witnesses.size(), context.blocks()));
    advice.change =
        "take it out; where lanes of one warp pass data to each other over it, put __syncwarp() in its place. Only if "
        "that holds for every input: blocks that were not recorded, or other sizes, may need it";
    advice.bound = "a barrier costs a wait for the slowest warp, which may have to be waited for later: measure";
    advice.unit = "barriers per block";
    advice.before = before;
    advice.after = before - executed;
    advice.grade = report::Grade::kEstimated;
    advice.reason = "all words of shared memory and sectors of global memory that the recorded blocks touched";
    advice.saves = executed * static_cast<double>(context.blocks());
    out.push_back(std::move(advice));
  }
}

}  // namespace muscope::advice
