// Texture: requests of one fetch. The texture pipe takes quads of four consecutive lanes; a fetch makes one request for
// each quad with an active lane.
//
// Source: metric library ("# of texture requests (quads) sent to TEXIN"); on an H200 two kernels of full warps show 8
// per instruction. Sectors of CUDA arrays depend on an undocumented layout and are not counted.
#pragma once

#include <bit>
#include <cstdint>

#include "base/lane_mask.h"

namespace muscope::model {

inline constexpr unsigned kLanesPerQuad = 4;

/// l1tex__t_requests_pipe_tex_mem_texture
constexpr std::uint32_t count_quads(GroupMask mask) {
  mask |= mask >> 1;
  mask |= mask >> 2;
  return static_cast<std::uint32_t>(std::popcount(mask & 0x11111111u));
}

constexpr std::uint32_t count_quads(const WarpMask& mask) {
  std::uint32_t quads = 0;
  for (const std::uint64_t word : mask.words)
    quads += count_quads(static_cast<GroupMask>(word)) + count_quads(static_cast<GroupMask>(word >> 32));
  return quads;
}

}  // namespace muscope::model
