// A texture object as the engine samples it. The runtime makes one per cudaTextureObject_t; the handle that the program
// passes to a kernel is the key under which it is registered.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

namespace muscope::exec {

enum class AddressMode : std::uint8_t { kWrap, kClamp, kMirror, kBorder };
enum class ChannelKind : std::uint8_t { kSigned, kUnsigned, kFloat };

struct Texture {
  const std::uint8_t* texels = nullptr;  ///< host pointer of texel (0, 0, 0)
  std::uint64_t width = 0, height = 1,
                depth = 1;  ///< texels; height and depth are 1 where the texture has fewer dimensions
  std::uint64_t pitch = 0;  ///< bytes between rows
  std::uint64_t slice = 0;  ///< bytes between depth slices or layers
  int dimensions = 1;
  bool layered = false;
  ChannelKind channel_kind = ChannelKind::kFloat;
  std::array<std::uint8_t, 4> channel_bits{32, 0, 0, 0};  ///< x, y, z, w; equal where not 0
  std::array<AddressMode, 3> address{AddressMode::kClamp, AddressMode::kClamp, AddressMode::kClamp};
  bool linear_filter = false;
  bool normalized_coordinates = false;
  bool normalized_float = false;  ///< cudaReadModeNormalizedFloat
  std::array<float, 4> border{};
};

/// Registers a texture under a new handle / drops it. Thread safe. Handles are never 0 and not used twice.
std::uint64_t register_texture(std::shared_ptr<const Texture> texture);
bool drop_texture(std::uint64_t handle);
std::shared_ptr<const Texture> find_texture(std::uint64_t handle);

}  // namespace muscope::exec
