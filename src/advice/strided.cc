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

/// Bytes of a record that the sites of the group touch.
std::uint64_t bytes_used(const Group& group) {
  std::set<std::uint64_t> used;
  const std::uint64_t start = group.array == nullptr ? 0 : group.array->low;
  for (const Site* site : group.sites)
    for (const views::AccessPattern& pattern : site->samples->patterns)
      for (std::uint64_t b = 0; b < site->bytes() && used.size() < group.distance; ++b)
        used.insert((pattern.base - start + b) % group.distance);
  return used.size();
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
    const std::uint64_t used = bytes_used(group);
    advice.text = fmt::format("neighbouring lanes are {} apart and take {} of it: {} sectors per request",
                              bytes_text(group.distance), bytes_text(used), report::average_text(before, requests));
    if (group.sites.size() > 1)
      advice.text += fmt::format(", by {} instructions{}{}", group.sites.size(),
                                 lines_text(group.sites).find("lines") == 0 ? " of " : "",
                                 lines_text(group.sites).find("lines") == 0 ? lines_text(group.sites) : std::string());
    advice.change = change_text(group, used);
    advice.unit = "sectors";
    advice.before = static_cast<double>(before);
    advice.after = static_cast<double>(after.sum);
    grade_replay(context, advice, after.exact, "each field in an array of its own");
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
