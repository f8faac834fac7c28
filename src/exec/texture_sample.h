// What a texture returns for coordinates: address modes, formats, point and linear filters, cubes, levels of detail.
#pragma once

#include "exec/texture.h"

namespace muscope::exec {

/// Results of a fetch, as numbers and as the bits that registers get.
struct Texel {
  std::array<float, 4> f{};
  std::array<std::uint32_t, 4> u{};
};

/// A point of a texture: three coordinates (of a cube: the direction, its largest component 1), an array's layer.
struct TexturePoint {
  float at[3] = {};
  std::uint64_t layer = 0;
};

/// Level of detail that stands for "none given": the first one that the texture's clamps allow.
inline constexpr float kNoLevel = -32;

Texel sample_texture(const Texture& texture, const TexturePoint& point, float level);
/// Coordinates count texels. tex1Dfetch reads zeros outside of linear memory.
Texel fetch_texel(const Texture& texture, const std::int32_t at[3], std::uint64_t layer, std::size_t level);
/// One component of the four texels that a linear filter would weigh: (0, 1), (1, 1), (1, 0), (0, 0).
Texel gather_texels(const Texture& texture, const TexturePoint& point, unsigned component);

}  // namespace muscope::exec
