// Local memory: sectors of one access. The frames of a warp's lanes are interleaved by 4-byte words: word w of lane l
// lies at 128 * w + 4 * l, so a lane-uniform index costs 4 sectors a word and a divergent one up to 32.
//
// Source: CUDA C++ Programming Guide, "Local Memory"; 4-byte slots confirmed on an H200 (tests/counters/patterns.tsv).
// For 8 and 16 bytes a lane touches that many consecutive rows (as in Accel-Sim; not measured).
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

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

/// Lanes whose word is `word`. In steps that vector units do for several lanes at once.
inline GroupMask lanes_with_word(const std::uint32_t* words, std::uint32_t word) {
  alignas(64) std::uint8_t equal[kGroupLanes];
  for (unsigned lane = 0; lane < kGroupLanes; ++lane) equal[lane] = words[lane] == word ? 1 : 0;
  GroupMask lanes = 0;
  for (unsigned group = 0; group < kGroupLanes; group += 8) {
    std::uint64_t eight;
    std::memcpy(&eight, equal + group, 8);
    // Gathers the low bit of each byte, first byte lowest.
    lanes |= static_cast<GroupMask>((eight * 0x0102040810204080ull) >> 56) << group;
  }
  return lanes;
}

/// The same for naturally aligned accesses, whose rows are the same or wholly others: one row of lanes after the other.
/// A frame has less than 2^34 bytes (CUDA C++ Programming Guide, "Compute Capabilities": 512 KiB).
inline SectorCounts count_aligned_local_sectors(const std::uint64_t* addresses, GroupMask mask, unsigned bytes) {
  const std::uint32_t rows = std::max(1u, bytes / 4);
  alignas(64) std::uint32_t words[kGroupLanes];
  for (unsigned lane = 0; lane < kGroupLanes; ++lane) words[lane] = static_cast<std::uint32_t>(addresses[lane] >> 2);
  SectorCounts counts;
  for (GroupMask left = mask; left != 0;) {
    const GroupMask same = lanes_with_word(words, words[std::countr_zero(left)]) & left;
    const auto octets = static_cast<std::uint32_t>(((same & 0xff) != 0) + ((same & 0xff00) != 0) +
                                                   ((same & 0xff0000) != 0) + ((same & 0xff000000) != 0));
    counts.sectors += octets * rows;
    counts.lines += rows;
    left &= ~same;
  }
  counts.ideal = std::min(counts.sectors, packed_sectors(static_cast<std::uint32_t>(std::popcount(mask)), bytes));
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
  const LaneAddresses lanes = lanes_of(access, storage);
  std::uint64_t bits = 0;
  for (GroupMask m = access.mask; m != 0; m &= m - 1) bits |= lanes.addresses[std::size_t(std::countr_zero(m))];
  if (std::has_single_bit(unsigned{access.bytes}) && (bits & (access.bytes - 1u)) == 0)
    return count_aligned_local_sectors(lanes.addresses.data(), access.mask, access.bytes);
  return count_local_sectors(lanes);
}

}  // namespace muscope::model
