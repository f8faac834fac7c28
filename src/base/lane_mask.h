// Sets of lanes. An execution group has 32 lanes; a hardware warp has 32 or, on some MUSA GPUs, 128.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

namespace muscope {

inline constexpr unsigned kGroupLanes = 32;  ///< lanes that the engine runs together
inline constexpr unsigned kMaxWarpLanes = 128;

/// The active lanes of one execution group: bit l is lane l.
using GroupMask = std::uint32_t;
inline constexpr GroupMask kAllLanes = 0xffffffffu;

/// The active lanes of one hardware warp of up to 128 lanes.
struct WarpMask {
  std::array<std::uint64_t, 2> words{};

  static constexpr WarpMask of(GroupMask mask) { return WarpMask{{mask, 0}}; }
  constexpr bool test(unsigned lane) const { return (words[lane >> 6] >> (lane & 63)) & 1; }
  constexpr void set(unsigned lane) { words[lane >> 6] |= std::uint64_t{1} << (lane & 63); }
  constexpr unsigned count() const { return static_cast<unsigned>(std::popcount(words[0]) + std::popcount(words[1])); }
  constexpr bool none() const { return (words[0] | words[1]) == 0; }
};

}  // namespace muscope
