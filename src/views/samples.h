// What advice needs beyond sums: how the lanes of each memory instruction address memory, what a few blocks touch, how
// often atomics meet. Recorded for the first launches of a kernel; bounded, and the same for any number of threads.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/lane_mask.h"
#include "trace/access.h"
#include "views/records.h"

namespace muscope::views {

/// Requests of one site whose lanes address memory in the same way: the same lanes, at the same distances from each
/// other. Global memory: also at the same place in a 128-byte line; other spaces: at the same addresses.
struct AccessPattern {
  GroupMask mask = 0;
  std::int64_t stride = 0;  ///< bytes from lane to lane; 0 where all lanes have one address. Not of scattered lanes
  std::uint64_t count = 0;  ///< requests
  std::uint64_t base = 0;   ///< address of lane 0 (scattered: of the first active lane) of the example
  std::uint64_t low = 0, high = 0;  ///< lowest and highest `base` of all
  std::uint64_t block = 0;          ///< of the example: the first by block, warp and time
  std::uint32_t warp = 0;
  std::uint64_t issue = 0;               ///< instructions its warp had executed before
  std::vector<std::uint64_t> addresses;  ///< scattered lanes: kGroupLanes addresses of the example, inactive ones 0

  bool scattered() const { return !addresses.empty(); }
  std::uint64_t address(unsigned lane) const {
    return scattered() ? addresses[lane] : base + static_cast<std::uint64_t>(stride * static_cast<std::int64_t>(lane));
  }
  bool operator==(const AccessPattern&) const = default;
};

/// How often the lanes of an atomic instruction share an address.
struct AtomicMeetings {
  std::uint64_t requests = 0;
  std::uint64_t lanes = 0;
  std::uint64_t addresses = 0;  ///< distinct ones of each request, summed
  /// Requests by the most lanes on one address: 1, 2, 3-4, 5-8, 9-16, 17-32.
  std::array<std::uint64_t, 6> by_most{};
  std::uint64_t hot_lanes = 0;    ///< lanes of the whole launch on addresses of the fullest of 64 classes
  std::uint64_t hot_address = 0;  ///< the lowest of them
  bool hot_is_one = false;        ///< that class has only this address
  bool operator==(const AtomicMeetings&) const = default;
};

/// One site in one space.
struct SiteSamples {
  std::uint32_t site = 0;
  trace::Space space = trace::Space::kGlobal;
  std::uint64_t requests = 0;       ///< executions with an active lane
  std::uint64_t low = 0, high = 0;  ///< lowest byte touched, highest byte touched plus 1
  /// In order of first occurrence. Where there are more than kMostPatterns, those with the lowest hashes: a uniform
  /// choice, each with its exact count.
  std::vector<AccessPattern> patterns;
  bool complete = true;     ///< all patterns are here
  AtomicMeetings meetings;  ///< of atomics
  bool operator==(const SiteSamples&) const = default;
};
inline constexpr std::size_t kMostPatterns = 64;

/// The first execution of a global access by one warp of a witness block.
struct WitnessRequest {
  std::uint32_t site = 0;
  std::uint32_t warp = 0;
  AccessPattern access;  ///< count is 1
  bool operator==(const WitnessRequest&) const = default;
};

/// What one site touched of global memory in one witness block.
struct SiteFootprint {
  std::uint32_t site = 0;
  std::uint64_t touches = 0;        ///< sectors per request, summed
  std::uint64_t first_sectors = 0;  ///< of those, sectors that no site of the same direction had touched before
  std::uint64_t first_bytes = 0;    ///< bytes likewise
  std::uint64_t again_by_warp = 0;  ///< touches of a sector whose last touch in this direction was by the same warp
  std::uint64_t stored = 0;         ///< loads: touches of sectors that the block had written before
  bool operator==(const SiteFootprint&) const = default;
};

/// What one witness block did with its shared memory, by words of 4 bytes.
struct SharedUse {
  std::uint64_t words = 0;        ///< distinct ones touched
  std::uint64_t written = 0;      ///< writes
  std::uint64_t own_reads = 0;    ///< of words last written by the same thread
  std::uint64_t warp_reads = 0;   ///< by another thread of the warp
  std::uint64_t block_reads = 0;  ///< by another warp
  std::uint64_t blind_reads = 0;  ///< of words that nobody had written
  bool operator==(const SharedUse&) const = default;
};

/// A __syncthreads() of a kernel, as one witness block passed it.
struct BarrierUse {
  std::uint32_t op = 0;  ///< which, of the kernel's instructions
  std::uint32_t frame = kNoFrame;
  bool repeats = false;  ///< it stands in a loop, or in a function that is called
  std::uint64_t executed = 0;
  bool operator==(const BarrierUse&) const = default;
};
inline constexpr std::size_t kMostBarriers = 64;

/// Which barriers of a witness block keep accesses of different warps to the same bytes apart, one of them a write.
struct BarrierNeeds {
  /// All that orders the warps of this block are plain __syncthreads(), and no two warps touched a word of shared
  /// memory between the same two of them that one wrote. False: the rest is empty.
  bool known = true;
  std::vector<BarrierUse> barriers;  ///< by op; at most kMostBarriers
  /// Sets of barriers, a bit for each of `barriers`: between two accesses stood these, and one of them must stay. No
  /// set holds another; ascending.
  std::vector<std::uint64_t> one_of;
  bool operator==(const BarrierNeeds&) const = default;
};

struct WitnessBlock {
  std::uint64_t block = 0;
  bool complete = true;                  ///< false: it touched more than is recorded, and what is here is its beginning
  std::vector<WitnessRequest> requests;  ///< by site and warp
  std::vector<SiteFootprint> footprints;  ///< by site
  SharedUse shared;
  BarrierNeeds barriers;
  bool operator==(const WitnessBlock&) const = default;
};

struct LaunchSamples {
  std::vector<SiteSamples> sites;       ///< by site and space
  std::vector<WitnessBlock> witnesses;  ///< by block: the first, its neighbours in x and y, the middle, the last
  bool operator==(const LaunchSamples&) const = default;
};

}  // namespace muscope::views
