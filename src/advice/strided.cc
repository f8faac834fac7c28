// A101: neighbouring lanes of a global access are a constant distance apart that is more than its width: records
// (an array of structures) or every n-th element.
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

constexpr std::size_t kUnrolled = 4;          ///< accesses of one line that may be steps of one loop
constexpr std::int64_t kLargestRecord = 512;  ///< bytes; what is further apart is not taken for a structure

/// Sites that step through one array by the same distance.
struct Group {
  std::uint64_t distance = 0;
  const Array* array = nullptr;
  std::vector<const Site*> sites;
};

bool is_candidate(const Site& site) {
  return site.counts->space == trace::Space::kGlobal && site.samples != nullptr && !site.is_atomic() &&
         site.bytes() > 0 && site.efficiency() < kEfficient && site.counts->sectors > site.counts->ideal_sectors;
}

std::vector<Group> groups_of(const Context& context) {
  std::map<std::pair<const Array*, std::uint64_t>, Group> groups;
  for (const Site& site : context.sites()) {
    if (!is_candidate(site)) continue;
    const LaneStride stride = stride_of(site);
    const std::int64_t distance = stride.bytes < 0 ? -stride.bytes : stride.bytes;
    if (!stride.regular() || distance <= site.bytes()) continue;
    Group& group = groups[{context.array_of(site), static_cast<std::uint64_t>(distance)}];
    group.distance = static_cast<std::uint64_t>(distance);
    group.array = context.array_of(site);
    group.sites.push_back(&site);
  }
  std::vector<Group> all;
  for (auto& [key, group] : groups) all.push_back(std::move(group));
  return all;
}

/// Whether a thread comes back for the bytes between its lane and the next: a loop over a chunk of its own.
bool walks_through(const Group& group) {
  for (const Site* site : group.sites) {
    const std::vector<views::AccessPattern>& patterns = site->samples->patterns;
    for (std::size_t i = 1; i < patterns.size(); ++i) {
      const views::AccessPattern &a = patterns[i - 1], &b = patterns[i];
      if (a.block != b.block || a.warp != b.warp || a.mask != b.mask) continue;
      const std::uint64_t step = a.base < b.base ? b.base - a.base : a.base - b.base;
      if (step != 0 && step < group.distance) return true;
    }
  }
  return false;
}

/// Bytes of a record that the sites of the group touch.
std::uint64_t bytes_used(const Context& context, const Group& group, bool walks) {
  std::set<std::uint64_t> used;
  const std::uint64_t start = group.array == nullptr ? 0 : group.array->low;
  const auto use = [&](std::uint64_t address, std::uint64_t bytes) {
    for (std::uint64_t b = 0; b < bytes && used.size() < group.distance; ++b)
      used.insert((address - start + b) % group.distance);
  };
  for (const Site* site : group.sites) {
    use(site->samples->low, site->bytes());
    for (const views::AccessPattern& pattern : site->samples->patterns) use(pattern.base, site->bytes());
  }
  // Patterns are told apart by their place in a line of 128 B only: what a walk used of a longer record, its footprint
  // tells.
  if (const std::optional<Footprint> footprint = walks ? footprint_of(context, group.sites) : std::nullopt)
    return std::max<std::uint64_t>(
        used.size(),
        std::min(group.distance,
                 footprint->bytes / std::max<std::uint64_t>(1, footprint->blocks * context.threads_per_block())));
  return used.size();
}

/// A chunk for each thread: neighbouring lanes should take neighbouring elements at every step.
std::string walk_text(const Group& group) {
  const bool stores = std::all_of(group.sites.begin(), group.sites.end(), [](const Site* s) { return s->is_store(); });
  return fmt::format(
      "each thread walks through a chunk of its own: interleave the chunks, so that element k of thread t is {}[k * "
      "threads + t] and neighbouring lanes take neighbouring elements at every step; or keep the chunks and {} them "
      "through shared memory by neighbouring lanes (a transpose by tiles)",
      stores ? "out" : "in", stores ? "store" : "load");
}

/// The address of a field when each field has an array of its own: elements side by side, the arrays aligned.
Change packing(const Group& group, const Site& site) {
  const std::uint64_t start = group.array == nullptr ? 0 : group.array->low;
  return [start, distance = group.distance, bytes = site.bytes()](const views::AccessPattern& pattern, Lanes& lanes) {
    for (unsigned lane = 0; lane < kGroupLanes; ++lane)
      if ((pattern.mask >> lane) & 1) lanes[lane] = (lanes[lane] - start) / distance * bytes;
    return true;
  };
}

std::string change_text(const Group& group, std::uint64_t used) {
  const auto width = static_cast<std::uint64_t>(group.sites.front()->bytes());
  if (group.distance > static_cast<std::uint64_t>(kLargestRecord))
    return fmt::format(
        "let neighbouring lanes take neighbouring elements: index by the lane what is now indexed by the "
        "distance of {}, or store the elements of one warp side by side",
        bytes_text(group.distance));
  const bool one = used == width;
  std::string text = fmt::format(
      "{}let lane i take element i, {} instead of {} from lane to lane{}",
      one ? "" : "store each field in an array of its own (structure of arrays): ", bytes_text(width),
      bytes_text(group.distance),
      one ? ": index without the stride, or store the field in an array of its own (structure of arrays)" : "");
  if (used == group.distance && (group.distance == 8 || group.distance == 16) && group.sites.size() > 1)
    text += fmt::format("; or align the record to {} and take it whole, by one access of {} per lane",
                        bytes_text(group.distance), bytes_text(group.distance));
  else if (width < 4 && group.distance <= 32)
    text += "; or let each lane take whole 32-bit words and unpack them in registers or shared memory";
  else if (used == group.distance)
    text += "; or load the records of the block to shared memory by neighbouring lanes first";
  if (group.sites.size() >= kUnrolled && lines_text(group.sites).starts_with("line "))
    text +=
        "; if a loop of each thread was unrolled here, interleave instead: element k of thread t at k * threads + t";
  return text;
}

}  // namespace

void find_strided(const Context& context, Advices& out) {
  for (const Group& group : groups_of(context)) {
    std::uint64_t before = 0, requests = 0;
    Replayed after;
    bool known = true;
    for (const Site* site : group.sites) {
      before += site->counts->sectors;
      requests += site->counts->requests;
      if (const std::optional<Replayed> one = replay(*site, packing(group, *site)))
        after += *one;
      else
        known = false;
    }
    if (!known || static_cast<double>(after.sum) > (1 - kWorthChanging) * static_cast<double>(before)) continue;
    report::AdviceReport advice = advice_at(context, group.sites);
    const bool walks = walks_through(group);
    const std::uint64_t used = bytes_used(context, group, walks);
    advice.text = fmt::format("neighbouring lanes are {} apart and take {} of it: {} sectors per request",
                              bytes_text(group.distance), bytes_text(used), report::average_text(before, requests));
    if (group.sites.size() > 1)
      advice.text += fmt::format(", by {} instructions{}{}", group.sites.size(),
                                 lines_text(group.sites).find("lines") == 0 ? " of " : "",
                                 lines_text(group.sites).find("lines") == 0 ? lines_text(group.sites) : std::string());
    advice.change = walks ? walk_text(group) : change_text(group, used);
    advice.unit = "sectors";
    advice.before = static_cast<double>(before);
    advice.after = static_cast<double>(after.sum);
    grade_replay(context, advice, after.exact, walks ? "interleaved chunks" : "each field in an array of its own");
    advice.picture = picture_of(*group.sites.front(), packing(group, *group.sites.front()));
    const std::optional<Footprint> footprint = footprint_of(context, group.sites);
    advice.saves = advice.before - advice.after;
    if (footprint && footprint->used() >= 0.95) {
      advice.bound = fmt::format(
          "the waste is in L1 look-ups only: the sectors that a block touches are used by {:.0f} %, so "
          "L2 and DRAM move no more than they must while they stay in L1",
          100 * footprint->used());
      advice.saves /= 4;
    } else if (footprint) {
      advice.bound = fmt::format(
          "a block uses {:.0f} % of the bytes of the sectors it touches; the rest is moved from L2 "
          "and DRAM in vain",
          100 * footprint->used());
    }
    out.push_back(std::move(advice));
  }
}

}  // namespace muscope::advice
