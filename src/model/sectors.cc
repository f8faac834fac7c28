#include "model/sectors.h"

#include <algorithm>

#include "model/atomic_passes.h"
#include "model/distinct_table.h"

namespace muscope::model {
namespace {

/// The addresses of the active lanes side by side.
struct Dense {
  const std::uint64_t* addresses = nullptr;
  unsigned count = 0;
  std::array<std::uint64_t, kMaxWarpLanes> storage;

  explicit Dense(const LaneAddresses& access) {
    if (access.mask.words[0] == kAllLanes && access.mask.words[1] == 0) {
      addresses = access.addresses.data();
      count = kGroupLanes;
      return;
    }
    for_each_lane(access.mask, [&](unsigned lane) { storage[count++] = access.addresses[lane]; });
    addresses = storage.data();
  }
  Dense(const Dense&) = delete;
  Dense& operator=(const Dense&) = delete;
};

/// Lines keyed by address / 128 with a bit per touched sector: counts both at once.
template <unsigned kLogSlots>
SectorCounts hash_sectors(const Dense& lanes, std::uint32_t bytes) {
  DistinctTable<kLogSlots> lines;
  SectorCounts counts;
  for (unsigned i = 0; i < lanes.count; ++i) {
    const std::uint64_t first = lanes.addresses[i] >> 5;
    const std::uint64_t last = (lanes.addresses[i] + bytes - 1) >> 5;
    for (std::uint64_t sector = first;; ++sector) {
      bool fresh = false;
      std::uint32_t& touched = lines.value(lines.find(sector >> 2, fresh));
      const std::uint32_t bit = 1u << (sector & 3);
      counts.lines += fresh;
      counts.sectors += (touched & bit) == 0;
      touched |= bit;
      if (sector == last) break;
    }
  }
  return counts;
}

/// One bit per sector of a 32 KiB window that holds all lanes; false when there is none.
bool window_sectors(const Dense& lanes, SectorCounts& counts) {
  constexpr std::uint64_t kWindow = 1024;  // sectors
  std::uint64_t low = lanes.addresses[0], high = low;
  for (unsigned i = 1; i < lanes.count; ++i) {
    low = std::min(low, lanes.addresses[i]);
    high = std::max(high, lanes.addresses[i]);
  }
  const std::uint64_t origin = low >> 7 << 2;  // first sector of the lowest line
  if ((high >> 5) - origin >= kWindow) return false;
  const std::size_t used = ((high >> 5) - origin) / 64 + 1;
  std::array<std::uint64_t, kWindow / 64> touched;
  std::fill_n(touched.begin(), used, 0);
  for (unsigned i = 0; i < lanes.count; ++i) {
    const std::uint64_t sector = (lanes.addresses[i] >> 5) - origin;
    touched[sector >> 6] |= std::uint64_t{1} << (sector & 63);
  }
  counts.sectors = counts.lines = 0;
  for (std::size_t w = 0; w < used; ++w) {
    std::uint64_t lines = touched[w] | touched[w] >> 1;
    lines = (lines | lines >> 2) & 0x1111111111111111u;
    counts.sectors += static_cast<std::uint32_t>(std::popcount(touched[w]));
    counts.lines += static_cast<std::uint32_t>(std::popcount(lines));
  }
  return true;
}

/// Lanes that each stay inside one sector.
SectorCounts aligned_sectors(const Dense& lanes) {
  SectorCounts counts{1, 1, 0};
  std::uint32_t descents = 0;
  for (unsigned i = 1; i < lanes.count; ++i) {
    const std::uint64_t a = lanes.addresses[i - 1], b = lanes.addresses[i];
    descents += b < a;
    counts.sectors += (a ^ b) >= kSectorBytes;  // a higher bit differs: another sector
    counts.lines += (a ^ b) >= kLineBytes;
  }
  if (descents == 0 || window_sectors(lanes, counts)) return counts;
  return lanes.count <= kGroupLanes ? hash_sectors<6>(lanes, 1) : hash_sectors<9>(lanes, 1);
}

bool all_aligned(const Dense& lanes, std::uint32_t bytes) {
  if (!std::has_single_bit(bytes) || bytes > kSectorBytes) return false;
  std::uint64_t low = 0;
  for (unsigned i = 0; i < lanes.count; ++i) low |= lanes.addresses[i];
  return (low & (bytes - 1)) == 0;
}

}  // namespace

SectorCounts count_sectors(const LaneAddresses& access) {
  if (access.mask.none()) return {};
  const Dense lanes(access);
  SectorCounts counts =
      all_aligned(lanes, access.bytes) ? aligned_sectors(lanes) : hash_sectors<9>(lanes, access.bytes);
  counts.ideal = std::min(counts.sectors, packed_sectors(lanes.count, access.bytes));
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
  counts.sectors = count_atomic_passes(access).sectors;
  return counts;
}

SectorCounts count_atomic_sectors(const trace::WarpAccess& access) {
  SectorCounts counts = count_sectors(access);
  if (access.shape == trace::Shape::kUniform || (access.shape == trace::Shape::kAffine && access.stride == 0)) {
    counts.sectors = static_cast<std::uint32_t>(std::popcount(access.mask));  // one address, served lane by lane
  } else if (access.shape == trace::Shape::kScattered || !is_served_in_lines(access)) {
    std::array<std::uint64_t, kGroupLanes> storage;
    counts.sectors = count_atomic_passes(lanes_of(access, storage)).sectors;
  }
  return counts;
}

std::uint32_t count_distinct_addresses(const trace::WarpAccess& access) {
  if (access.mask == 0) return 0;
  if (access.shape == trace::Shape::kUniform || (access.shape == trace::Shape::kAffine && access.stride == 0)) return 1;
  const auto lanes = static_cast<std::uint32_t>(std::popcount(access.mask));
  if (access.shape == trace::Shape::kAffine) return lanes;
  // Ascending lanes repeat only their neighbours.
  std::uint32_t distinct = 0;
  std::uint64_t last = 0;
  bool ascending = true;
  for (GroupMask left = access.mask; left != 0 && ascending; left &= left - 1) {
    const std::uint64_t address = access.addresses[std::countr_zero(left)];
    ascending = distinct == 0 || address >= last;
    distinct += distinct == 0 || address != last;
    last = address;
  }
  if (ascending) return distinct;
  DistinctTable<6> table;
  distinct = 0;
  for (GroupMask left = access.mask; left != 0; left &= left - 1) {
    bool fresh = false;
    table.find(access.addresses[std::countr_zero(left)], fresh);
    distinct += fresh;
  }
  return distinct;
}

}  // namespace muscope::model
