#include "advice/replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "model/banks.h"
#include "model/constant.h"
#include "model/sectors.h"
#include "report/number_format.h"

namespace muscope::advice {

Lanes addresses_of(const views::AccessPattern& pattern) {
  Lanes lanes{};
  for (unsigned lane = 0; lane < kGroupLanes; ++lane)
    if ((pattern.mask >> lane) & 1) lanes[lane] = pattern.address(lane);
  return lanes;
}

std::uint32_t cost_of(const Site& site, trace::Space space, const Lanes& addresses, GroupMask mask,
                      std::uint32_t bytes) {
  const model::LaneAddresses access{addresses, WarpMask::of(mask), bytes};
  switch (space) {
    case trace::Space::kGlobal:
      return (site.is_atomic() ? model::count_atomic_sectors(access) : model::count_sectors(access)).sectors;
    case trace::Space::kShared:
      return model::count_banks(access, site.is_atomic() ? model::SharedOp::kAtomic
                                        : site.is_load() ? model::SharedOp::kLoad
                                                         : model::SharedOp::kStore)
          .wavefronts;
    case trace::Space::kConst:
      return model::count_constant(access).requests;
    default:
      return 1;
  }
}

std::optional<Replayed> replay(const Site& site, const Change& change, std::optional<trace::Space> space,
                               std::uint32_t bytes) {
  if (site.samples == nullptr || site.samples->patterns.empty()) return {};
  if (bytes == 0) bytes = site.bytes();
  const trace::Space where = space.value_or(site.counts->space);
  std::uint64_t sum = 0, recorded = 0;
  bool exact = site.samples->complete;
  for (const views::AccessPattern& pattern : site.samples->patterns) {
    Lanes addresses = addresses_of(pattern);
    if (!change(pattern, addresses)) return {};
    sum += pattern.count * cost_of(site, where, addresses, pattern.mask, bytes);
    recorded += pattern.count;
  }
  if (recorded == 0) return {};
  if (recorded != site.samples->requests) {
    exact = false;
    sum = static_cast<std::uint64_t>(std::round(static_cast<double>(sum) / static_cast<double>(recorded) *
                                                static_cast<double>(site.samples->requests)));
  }
  return Replayed{sum, exact};
}

std::optional<report::AdvicePicture> picture_of(const Site& site, const Change& change,
                                                std::optional<trace::Space> space, std::uint32_t bytes) {
  if (site.samples == nullptr || site.samples->patterns.empty()) return {};
  const auto most = std::max_element(site.samples->patterns.begin(), site.samples->patterns.end(),
                                     [](const auto& a, const auto& b) { return a.count < b.count; });
  report::AdvicePicture picture;
  picture.space = site.counts->space;
  picture.after_space = space.value_or(picture.space);
  picture.kind = site.counts->kind;
  picture.lane_bytes = site.bytes();
  picture.after_lane_bytes = bytes == 0 ? site.bytes() : bytes;
  picture.mask = most->mask;
  picture.before = picture.after = addresses_of(*most);
  if (!change(*most, picture.after)) return {};
  return picture;
}

namespace {

LaneStride most_of(const std::map<std::int64_t, std::uint64_t>& seen, std::uint64_t all) {
  LaneStride best;
  std::uint64_t most = 0;
  for (const auto& [distance, count] : seen)
    if (count > most) {
      most = count;
      best.bytes = distance;
    }
  best.share = all == 0 ? 0 : static_cast<double>(most) / static_cast<double>(all);
  return best;
}

}  // namespace

LaneStride stride_of(const Site& site) {
  if (site.samples == nullptr) return {};
  std::map<std::int64_t, std::uint64_t> seen;
  std::uint64_t all = 0;
  for (const views::AccessPattern& pattern : site.samples->patterns)
    for (unsigned lane = 1; lane < kGroupLanes; ++lane) {
      if (((pattern.mask >> (lane - 1)) & 3) != 3) continue;
      seen[static_cast<std::int64_t>(pattern.address(lane) - pattern.address(lane - 1))] += pattern.count;
      all += pattern.count;
    }
  return most_of(seen, all);
}

LaneStride sparse_stride_of(const Site& site) {
  if (site.samples == nullptr) return {};
  std::map<std::int64_t, std::uint64_t> seen;
  std::uint64_t all = 0;
  for (const views::AccessPattern& pattern : site.samples->patterns) {
    if ((pattern.mask & (pattern.mask >> 1)) != 0) return {};
    int last = -1;
    for (int lane = 0; lane < static_cast<int>(kGroupLanes); ++lane) {
      if (((pattern.mask >> lane) & 1) == 0) continue;
      if (last >= 0) {
        const auto distance = static_cast<std::int64_t>(pattern.address(static_cast<unsigned>(lane)) -
                                                        pattern.address(static_cast<unsigned>(last)));
        all += pattern.count;
        if (distance % (lane - last) == 0) seen[distance / (lane - last)] += pattern.count;
      }
      last = lane;
    }
  }
  return most_of(seen, all);
}

void grade_replay(const Context& context, report::AdviceReport& advice, bool exact, std::string how) {
  advice.grade = exact ? context.launch().stream_grade : report::Grade::kModelled;
  advice.reason = exact ? fmt::format("{} replayed, all of this launch's requests", how)
                        : fmt::format("{} replayed for a part of this launch's requests, which stands for all", how);
}

std::optional<Footprint> footprint_of(const Context& context, const std::vector<const Site*>& sites) {
  Footprint sum;
  for (const views::WitnessBlock& block : context.samples().witnesses) {
    if (!block.complete) return {};
    bool any = false;
    for (const views::SiteFootprint& f : block.footprints)
      for (const Site* site : sites)
        if (site->counts->site == f.site) {
          sum.touches += f.touches;
          sum.sectors += f.first_sectors;
          sum.bytes += f.first_bytes;
          sum.again_by_warp += f.again_by_warp;
          sum.stored += f.stored;
          any = true;
          break;
        }
    sum.blocks += any;
  }
  if (sum.touches == 0) return {};
  return sum;
}

}  // namespace muscope::advice
