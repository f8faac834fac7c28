// Local memory: sectors of one access. The frames of a warp's lanes are interleaved by 4-byte words: word w of lane l
// lies at 128 * w + 4 * l, so a lane-uniform index costs 4 sectors a word and a divergent one up to 32.
//
// Source: CUDA C++ Programming Guide, "Local Memory"; 4-byte slots confirmed on an H200 (tests/counters/patterns.tsv).
// For 8 and 16 bytes a lane touches that many consecutive rows (as in Accel-Sim; not measured).
#pragma once

#include <algorithm>
#include <cstdint>

#include "model/distinct_table.h"
#include "model/lane_addresses.h"
#include "model/sectors.h"

namespace muscope::model {

/// `access` holds byte offsets in each lane's frame. `lines` are rows of 128 bytes.
inline SectorCounts count_local_sectors(const LaneAddresses& access) {
  constexpr unsigned kLanesPerSector = kSectorBytes / 4;
  SectorCounts counts;
  const std::uint32_t lanes = access.mask.count();
  if (lanes == 0) return counts;
  for (unsigned group = 0; group < kMaxWarpLanes; group += kGroupLanes) {
    DistinctTable<9> rows;  // groups of 32 lanes have windows of their own
    for (unsigned octet = group; octet < group + kGroupLanes; octet += kLanesPerSector)
      for (unsigned lane = octet; lane < octet + kLanesPerSector; ++lane) {
        if (!access.mask.test(lane)) continue;
        const std::uint64_t first = access.addresses[lane] >> 2;
        const std::uint64_t last = (access.addresses[lane] + access.bytes - 1) >> 2;
        for (std::uint64_t word = first; word <= last; ++word) {
          bool fresh = false;
          std::uint32_t& octets = rows.value(rows.find(word, fresh));
          const std::uint32_t bit = 1u << ((octet - group) / kLanesPerSector);
          counts.lines += fresh;
          counts.sectors += (octets & bit) == 0;
          octets |= bit;
        }
      }
  }
  counts.ideal = std::min(counts.sectors, packed_sectors(lanes, access.bytes));
  return counts;
}

inline SectorCounts count_local_sectors(const trace::WarpAccess& access) {
  if (access.shape == trace::Shape::kUniform && access.mask == kAllLanes) {
    const std::uint32_t rows =
        static_cast<std::uint32_t>(((access.base + access.bytes - 1) >> 2) - (access.base >> 2)) + 1;
    const std::uint32_t sectors = rows * (kLineBytes / kSectorBytes);
    return {sectors, rows, std::min(sectors, packed_sectors(kGroupLanes, access.bytes))};
  }
  std::array<std::uint64_t, kGroupLanes> storage;
  return count_local_sectors(lanes_of(access, storage));
}

}  // namespace muscope::model
