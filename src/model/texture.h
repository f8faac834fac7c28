// Texture: requests of texture fetches and of surface accesses, and the sectors of surfaces.
//
//   The texture pipe takes the lanes of a warp in groups of neighbours; each group with an active lane is a request.
//   Groups have four lanes, but eight in accesses of surfaces by one or two coordinates without layers, of any width,
//   and in fetches of texels of one 32-bit component from linear memory (tex1Dfetch).
//   A surface is stored in tiles of 16 bytes by two rows, one sector each. A request touches as many sectors as there
//   are distinct ones among its active lanes; lanes of a reduction that meet in one element are served one by one.
//
// Source: 262 launches of one instruction on an H200, exact in all of them (tests/counters/kernels/textures_h200.csv:
// surfaces of 1 to 16 bytes per element, texels of 4 and 16 bytes); the quads of textures also in the metric library
// ("# of texture requests (quads) sent to TEXIN"). The sectors of textures depend on which texels filtering reads,
// which is not known, and are not counted.
#pragma once

#include <cstdint>

#include "base/lane_mask.h"
#include "trace/access.h"

namespace muscope::model {

inline constexpr unsigned kLanesPerQuad = 4;
inline constexpr unsigned kLanesPerWideRequest = 8;

/// Where a lane of a surface access touches nothing: outside of the surface.
inline constexpr std::uint64_t kNoSurfaceElement = ~std::uint64_t{0};

/// Lanes that one request of a fetch takes. `from_linear_memory`: by an integer from linear memory, not from an array.
/// Measured with components of 32 bits, one and four of them.
constexpr unsigned lanes_per_fetch_request(bool from_linear_memory, unsigned components, unsigned bits_of_each) {
  return from_linear_memory && components == 1 && bits_of_each == 32 ? kLanesPerWideRequest : kLanesPerQuad;
}

/// Lanes that one request of a surface access takes. Measured for elements of 1, 2, 4, 8 and 16 bytes, x in bytes.
constexpr unsigned lanes_per_surface_request(unsigned dimensions, bool layered) {
  return dimensions <= 2 && !layered ? kLanesPerWideRequest : kLanesPerQuad;
}

/// l1tex__t_requests_pipe_tex_mem_texture, ..._mem_surface_op_*: groups of `lanes` neighbours with an active one.
/// `lanes` is 4 or 8.
constexpr std::uint32_t count_texture_requests(GroupMask mask, unsigned lanes) {
  std::uint32_t requests = 0;
  for (unsigned first = 0; first < kGroupLanes; first += lanes) requests += (mask >> first & ((1u << lanes) - 1)) != 0;
  return requests;
}

/// Where the byte `x` of row `y` of slice or layer `z` lies in a surface of tiles: the quotient by 32 tells sectors
/// apart. `row_bytes` and `rows` are those of the surface.
constexpr std::uint64_t surface_offset(std::uint64_t x, std::uint64_t y, std::uint64_t z, std::uint64_t row_bytes,
                                       std::uint64_t rows) {
  const std::uint64_t tiles_per_row = (row_bytes + 15) / 16, rows_of_tiles = (rows + 1) / 2;
  const std::uint64_t tile = (z * rows_of_tiles + y / 2) * tiles_per_row + x / 16;
  return tile * 32 + y % 2 * 16 + x % 16;
}

struct SurfaceCounts {
  std::uint32_t requests = 0;  ///< l1tex__t_requests_pipe_tex_mem_surface_op_*
  std::uint32_t sectors = 0;   ///< l1tex__t_sectors_pipe_tex_mem_surface_op_*
  std::uint32_t ideal = 0;     ///< min(sectors, what the bytes of the active lanes fill), per request
  bool operator==(const SurfaceCounts&) const = default;
};

/// Of an access whose addresses are those of surface_offset.
SurfaceCounts count_surface(const trace::WarpAccess& access);

}  // namespace muscope::model
