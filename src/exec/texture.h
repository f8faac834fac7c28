// A texture object as the engine samples it, and a surface as it accesses it. The runtime makes one per
// cudaTextureObject_t and cudaSurfaceObject_t; the handle that the program passes to a kernel is the key under which it
// is registered.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

namespace muscope::exec {

enum class AddressMode : std::uint8_t { kWrap, kClamp, kMirror, kBorder };
enum class ChannelKind : std::uint8_t { kSigned, kUnsigned, kFloat };

/// The texels of one level of detail.
struct TextureLevel {
  const std::uint8_t* texels = nullptr;  ///< host pointer of texel (0, 0, 0)
  std::uint64_t width = 0, height = 1,
                depth = 1;  ///< texels; height and depth are 1 where the texture has fewer dimensions; layers and faces
                            ///< of cubes are depth
  std::uint64_t pitch = 0;  ///< bytes between rows
  std::uint64_t slice = 0;  ///< bytes between depth slices or layers
};

/// The base is the first level.
struct Texture : TextureLevel {
  int dimensions = 1;
  bool layered = false;
  ChannelKind channel_kind = ChannelKind::kFloat;
  std::array<std::uint8_t, 4> channel_bits{32, 0, 0, 0};  ///< x, y, z, w; equal where not 0
  std::array<AddressMode, 3> address{AddressMode::kClamp, AddressMode::kClamp, AddressMode::kClamp};
  bool linear_filter = false;
  bool normalized_coordinates = false;
  bool normalized_float = false;  ///< cudaReadModeNormalizedFloat
  std::array<float, 4> border{};
  bool cube = false;                      ///< dimensions is 2; depth is 6 faces of each cube
  bool seamless = false;                  ///< of cubes: filters across the edges of faces
  bool linear_array = false;              ///< linear memory, which has no rows: one row of any length
  std::vector<TextureLevel> more_levels;  ///< from the second on
  bool linear_levels = false;             ///< filters between levels
  float level_bias = 0, level_min = 0, level_max = 0;
  bool anisotropic = false;  ///< gradients may take more than one sample

  std::size_t levels() const { return 1 + more_levels.size(); }
  const TextureLevel& level(std::size_t n) const { return n == 0 ? *this : more_levels[n - 1]; }
};

struct Surface {
  std::uint8_t* bytes = nullptr;                   ///< host pointer of element (0, 0, 0)
  std::uint64_t width = 0, height = 1, depth = 1;  ///< elements; layers and faces of cubes are depth
  std::uint64_t pitch = 0, slice = 0;              ///< bytes between rows; between slices or layers
  int dimensions = 1;
  bool layered = false;  ///< cubes too: their faces are layers
  ChannelKind channel_kind = ChannelKind::kFloat;
  std::array<std::uint8_t, 4> channel_bits{32, 0, 0, 0};
};

/// Registers a texture or surface under a new handle / drops it. Thread safe. Handles are never 0 and not used twice.
std::uint64_t register_texture(std::shared_ptr<const Texture> texture);
bool drop_texture(std::uint64_t handle);
std::shared_ptr<const Texture> find_texture(std::uint64_t handle);
std::uint64_t register_surface(std::shared_ptr<const Surface> surface);
bool drop_surface(std::uint64_t handle);
std::shared_ptr<const Surface> find_surface(std::uint64_t handle);

}  // namespace muscope::exec
