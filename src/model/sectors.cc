#include "model/sectors.h"

#include <algorithm>

#include "model/distinct_table.h"

namespace muscope::model {
namespace {

/// Lines keyed by address / 128 with a bit per touched sector: counts both at once.
template <unsigned kLogSlots>
SectorCounts hash_sectors(const LaneAddresses& access) {
  DistinctTable<kLogSlots> lines;
  SectorCounts counts;
  for_each_lane(access.mask, [&](unsigned lane) {
    const std::uint64_t first = access.addresses[lane] >> 5;
    const std::uint64_t last = (access.addresses[lane] + access.bytes - 1) >> 5;
    for (std::uint64_t sector = first;; ++sector) {
      bool fresh = false;
      std::uint32_t& touched = lines.value(lines.find(sector >> 2, fresh));
      const std::uint32_t bit = 1u << (sector & 3);
      counts.lines += fresh;
      counts.sectors += (touched & bit) == 0;
      touched |= bit;
      if (sector == last) break;
    }
  });
  return counts;
}

/// Counts on the assumption that addresses do not descend; false when they do.
bool ascending_sectors(const LaneAddresses& access, SectorCounts& counts) {
  std::uint64_t end_sector = 0, end_line = 0, previous = 0;  // ends are exclusive
  std::uint32_t sectors = 0, lines = 0;
  bool ascending = true;
  for_each_lane(access.mask, [&](unsigned lane) {
    const std::uint64_t address = access.addresses[lane];
    const std::uint64_t last = address + access.bytes - 1;
    ascending = ascending && address >= previous && last >= address;
    previous = address;
    sectors += static_cast<std::uint32_t>((last >> 5) + 1 - std::max(address >> 5, end_sector));
    end_sector = (last >> 5) + 1;
    lines += static_cast<std::uint32_t>((last >> 7) + 1 - std::max(address >> 7, end_line));
    end_line = (last >> 7) + 1;
  });
  counts.sectors = sectors;
  counts.lines = lines;
  return ascending;
}

/// The fast form for a full group with lanes that stay inside one sector each.
bool ascending_full_group(const std::uint64_t* addresses, SectorCounts& counts) {
  std::uint32_t sectors = 1, lines = 1, descents = 0;
  for (unsigned lane = 1; lane < kGroupLanes; ++lane) {
    const std::uint64_t a = addresses[lane - 1], b = addresses[lane];
    descents += b < a;
    sectors += (a ^ b) >= kSectorBytes;  // a higher bit differs: another sector
    lines += (a ^ b) >= kLineBytes;
  }
  counts.sectors = sectors;
  counts.lines = lines;
  return descents == 0;
}

bool all_aligned(const LaneAddresses& access) {
  if (!std::has_single_bit(access.bytes)) return false;
  std::uint64_t low = 0;
  for_each_lane(access.mask, [&](unsigned lane) { low |= access.addresses[lane]; });
  return (low & (access.bytes - 1)) == 0;
}

template <unsigned kLogSlots>
std::uint32_t hash_atomic_sectors(const LaneAddresses& access) {
  DistinctTable<kLogSlots> addresses, sectors;
  std::uint32_t sum = 0;
  for_each_lane(access.mask, [&](unsigned lane) {
    bool fresh = false;
    const std::uint32_t sharing = ++addresses.value(addresses.find(access.addresses[lane], fresh));
    std::uint32_t& most = sectors.value(sectors.find(access.addresses[lane] >> 5, fresh));
    if (sharing > most) {
      sum += sharing - most;
      most = sharing;
    }
  });
  return sum;
}

}  // namespace

SectorCounts count_sectors(const LaneAddresses& access) {
  const std::uint32_t lanes = access.mask.count();
  if (lanes == 0) return {};
  SectorCounts counts;
  const bool one_group = access.mask.words[1] == 0 && (access.mask.words[0] >> kGroupLanes) == 0;
  bool done = false;
  if (access.mask.words[0] == kAllLanes && one_group && all_aligned(access)) {
    done = ascending_full_group(access.addresses.data(), counts);
  } else {
    done = ascending_sectors(access, counts);
  }
  if (!done)
    counts = one_group && access.bytes <= 32 && all_aligned(access) ? hash_sectors<6>(access) : hash_sectors<9>(access);
  counts.ideal = std::min(counts.sectors, packed_sectors(lanes, access.bytes));
  return counts;
}

SectorCounts count_sectors_affine(std::uint64_t base, std::int64_t stride, GroupMask mask, std::uint32_t bytes) {
  if (mask == 0) return {};
  const std::uint32_t lanes = static_cast<std::uint32_t>(std::popcount(mask));
  const unsigned first = static_cast<unsigned>(std::countr_zero(mask));
  const unsigned last = 31u - static_cast<unsigned>(std::countl_zero(mask));
  const bool neighbours = last - first + 1 == lanes || stride == 0;
  const std::uint64_t width = static_cast<std::uint64_t>(stride < 0 ? -stride : stride);
  SectorCounts counts;
  if (neighbours && is_aligned(base, stride, bytes)) {
    // Steps no longer than a unit leave no unit out between the ends; longer steps give every lane a unit of its own.
    const std::uint64_t a = base + static_cast<std::uint64_t>(stride * static_cast<std::int64_t>(first));
    const std::uint64_t b = base + static_cast<std::uint64_t>(stride * static_cast<std::int64_t>(last));
    const std::uint64_t low = stride < 0 ? b : a, high = stride < 0 ? a : b;
    counts.sectors = width <= kSectorBytes ? static_cast<std::uint32_t>((high >> 5) - (low >> 5)) + 1 : lanes;
    counts.lines = width <= kLineBytes ? static_cast<std::uint32_t>((high >> 7) - (low >> 7)) + 1 : lanes;
    counts.ideal = std::min(counts.sectors, packed_sectors(lanes, bytes));
    return counts;
  }
  std::array<std::uint64_t, kGroupLanes> addresses;
  for (unsigned lane = 0; lane < kGroupLanes; ++lane)
    addresses[lane] = base + static_cast<std::uint64_t>(stride * static_cast<std::int64_t>(lane));
  return count_sectors(LaneAddresses{addresses, WarpMask::of(mask), bytes});
}

SectorCounts count_sectors(const trace::WarpAccess& access) {
  if (access.shape == trace::Shape::kScattered)
    return count_sectors(LaneAddresses{{access.addresses, kGroupLanes}, WarpMask::of(access.mask), access.bytes});
  return count_sectors_affine(access.base, access.shape == trace::Shape::kAffine ? access.stride : 0, access.mask,
                              access.bytes);
}

SectorCounts count_atomic_sectors(const LaneAddresses& access) {
  SectorCounts counts = count_sectors(access);
  const bool one_group = access.mask.words[1] == 0 && (access.mask.words[0] >> kGroupLanes) == 0;
  counts.sectors = one_group ? hash_atomic_sectors<6>(access) : hash_atomic_sectors<9>(access);
  return counts;
}

SectorCounts count_atomic_sectors(const trace::WarpAccess& access) {
  SectorCounts counts = count_sectors(access);
  if (access.shape == trace::Shape::kUniform || (access.shape == trace::Shape::kAffine && access.stride == 0)) {
    counts.sectors = static_cast<std::uint32_t>(std::popcount(access.mask));  // one address, served lane by lane
  } else if (access.shape == trace::Shape::kScattered) {
    counts.sectors =
        hash_atomic_sectors<6>(LaneAddresses{{access.addresses, kGroupLanes}, WarpMask::of(access.mask), access.bytes});
  }  // affine: addresses differ, each sector is served once
  return counts;
}

}  // namespace muscope::model
