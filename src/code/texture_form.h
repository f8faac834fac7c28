// What an instruction does with a texture or a surface, beyond its operands: Op::matrix of k_tex, k_txq, k_suld, k_sust
// and k_sured, whether they come from PTX or from machine code.
//
//   k_tex            a: handle; list: four results (some do not exist), then coordinates (the layer first), then the
//                    level or the gradients (all of x, then all of y). type2: s32 when coordinates are texels
//   k_txq            a: handle; list: one result; b: the level, if any
//   k_suld           a: handle; list: `vector` results of `type`, then coordinates (the layer first)
//   k_sust, k_sured  list: `vector` values, then coordinates
#pragma once

#include <cstdint>

namespace muscope::code {

struct TextureForm {
  /// kLod: the level is an operand. kFetch: that of PTX without one, or 0.
  enum class Kind : std::uint8_t { kFetch, kLevel, kGradient, kGather, kSize };
  /// Of surfaces, numbered as machine code does: where the coordinates are outside, nothing happens and zeros are read;
  /// the nearest element is meant; it is a fault.
  enum class Outside : std::uint8_t { kZero, kNearest, kFault };

  Kind kind = Kind::kFetch;
  std::uint8_t dimensions = 1;  ///< 1 to 3; 4: a cube
  bool layered = false;
  bool divided = false;        ///< cube: the direction was divided by its largest component, as machine code does first
  std::uint8_t component = 0;  ///< kGather: 0 to 3; kSize: 0 width, 1 height, 2 depth
  Outside outside = Outside::kZero;
  bool formatted = false;      ///< surfaces: x counts elements, which are converted
  std::uint8_t operation = 0;  ///< k_sured: as MemoryForm::atomic
  bool is_signed = false;      ///< k_sured

  unsigned coordinates() const { return (dimensions == 4 ? 3u : dimensions) + (layered ? 1u : 0u); }
  std::int64_t pack() const {
    return static_cast<std::int64_t>(kind) | dimensions << 4 | layered << 8 | divided << 9 | component << 10 |
           static_cast<std::int64_t>(outside) << 12 | formatted << 14 | operation << 16 | is_signed << 20;
  }
  static TextureForm unpack(std::int64_t v) {
    TextureForm f;
    f.kind = static_cast<Kind>(v & 15);
    f.dimensions = static_cast<std::uint8_t>((v >> 4) & 15);
    f.layered = (v >> 8) & 1;
    f.divided = (v >> 9) & 1;
    f.component = static_cast<std::uint8_t>((v >> 10) & 3);
    f.outside = static_cast<Outside>((v >> 12) & 3);
    f.formatted = (v >> 14) & 1;
    f.operation = static_cast<std::uint8_t>((v >> 16) & 15);
    f.is_signed = (v >> 20) & 1;
    return f;
  }
};

}  // namespace muscope::code
