// Replay: recorded accesses under another layout, counted by the rules of model/.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "advice/context.h"
#include "model/lane_addresses.h"

namespace muscope::advice {

using Lanes = std::array<std::uint64_t, kGroupLanes>;

Lanes addresses_of(const views::AccessPattern& pattern);

/// A sum over the requests of a site. `exact`: all its patterns were recorded; else those that were stand for all.
struct Replayed {
  std::uint64_t sum = 0;
  bool exact = true;
  Replayed& operator+=(const Replayed& other) {
    sum += other.sum;
    exact = exact && other.exact;
    return *this;
  }
};

/// What one request costs: sectors of a global access, wavefronts of a shared one, requests of a constant one.
std::uint32_t cost_of(const Site& site, trace::Space space, const Lanes& addresses, GroupMask mask,
                      std::uint32_t bytes);

/// Changes the addresses of a request; false: it cannot be changed so (and the replay is none).
using Change = std::function<bool(const views::AccessPattern& pattern, Lanes& addresses)>;

/// The cost of all requests of a site after the change, in `space` with `bytes` per lane (as it is where 0). Nothing
/// when nothing was recorded.
std::optional<Replayed> replay(const Site& site, const Change& change, std::optional<trace::Space> space = {},
                               std::uint32_t bytes = 0);

/// The most frequent request of a site before and after the change; nothing where none was recorded or it cannot be
/// changed so.
std::optional<report::AdvicePicture> picture_of(const Site& site, const Change& change,
                                                std::optional<trace::Space> space = {}, std::uint32_t bytes = 0);

/// The distance between neighbouring lanes that most requests have, weighted by requests: for scattered lanes that of
/// most pairs of neighbours. `share`: of all pairs.
struct LaneStride {
  std::int64_t bytes = 0;
  double share = 0;
  bool regular() const { return share >= 0.6; }
};
LaneStride stride_of(const Site& site);
/// The same for requests in which no two neighbouring lanes are active: bytes per lane, from each active lane to the
/// next. A share of 0 where such requests are not all there is.
LaneStride sparse_stride_of(const Site& site);

/// Grade and words for a figure found by replaying.
void grade_replay(const Context& context, report::AdviceReport& advice, bool exact, std::string how);

/// How much of what the witness blocks' sectors hold these sites use: distinct bytes of distinct sectors, 0 to 1;
/// nothing where it was not recorded in full.
struct Footprint {
  std::uint64_t touches = 0, sectors = 0, bytes = 0, again_by_warp = 0, stored = 0;
  std::uint64_t blocks = 0;
  double used() const { return sectors == 0 ? 0 : static_cast<double>(bytes) / (32.0 * static_cast<double>(sectors)); }
};
std::optional<Footprint> footprint_of(const Context& context, const std::vector<const Site*>& sites);

}  // namespace muscope::advice
