// LaneAddresses: the scattered form of one warp access that every rule of this folder takes, and how to get it from a
// trace record.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <span>

#include "base/lane_mask.h"
#include "trace/access.h"

namespace muscope::model {

/// One executed memory instruction of one warp of up to kMaxWarpLanes lanes.
struct LaneAddresses {
  std::span<const std::uint64_t> addresses;  ///< byte address per lane, at least as many as the highest active lane + 1
  WarpMask mask;                             ///< active lanes
  std::uint32_t bytes = 4;                   ///< bytes per lane: 1 to 32
};

/// True when an access of `bytes` at `base + stride * lane` cannot straddle a unit of its own size: the natural
/// alignment that PTX demands (ISA, "Addresses as Operands").
constexpr bool is_aligned(std::uint64_t base, std::int64_t stride, std::uint32_t bytes) {
  return std::has_single_bit(bytes) && ((base | static_cast<std::uint64_t>(stride)) & (bytes - 1)) == 0;
}

/// The addresses of a trace record; `storage` is used unless the record is scattered.
inline LaneAddresses lanes_of(const trace::WarpAccess& access, std::array<std::uint64_t, kGroupLanes>& storage) {
  if (access.shape == trace::Shape::kScattered)
    return {{access.addresses, kGroupLanes}, WarpMask::of(access.mask), access.bytes};
  for (unsigned lane = 0; lane < kGroupLanes; ++lane) storage[lane] = access.address(lane);
  return {storage, WarpMask::of(access.mask), access.bytes};
}

/// Calls `f(lane)` for every active lane, lowest first.
template <typename F>
constexpr void for_each_lane(const WarpMask& mask, F&& f) {
  for (unsigned half = 0; half < mask.words.size(); ++half)
    for (std::uint64_t left = mask.words[half]; left != 0; left &= left - 1)
      f(half * 64 + static_cast<unsigned>(std::countr_zero(left)));
}

}  // namespace muscope::model
