// Tensor maps: what cuTensorMapEncodeTiled() writes into the 128 opaque bytes of a CUtensorMap, and copies by tensor
// map read out of them. The layout is muscope's own; programs do not look inside.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

#include "ptx/types.h"

namespace muscope::exec {

struct TensorMap {
  enum class Swizzle : std::uint8_t { kNone, k32, k64, k128 };
  std::uint8_t type = 0;  ///< CUtensorMapDataType
  std::uint8_t rank = 1;
  Swizzle swizzle = Swizzle::kNone;
  bool nan_fill = false;     ///< floats out of bounds are NaN, else zero
  bool interleaved = false;  ///< cannot be executed
  std::uint64_t address = 0;
  std::array<std::uint64_t, 5> dims{};
  std::array<std::uint64_t, 4> strides{};  ///< bytes, of dimensions 1 to 4
  std::array<std::uint16_t, 5> box{};
  std::array<std::uint8_t, 5> steps{};

  static constexpr std::size_t kBytes = 128;
  using Bytes = std::array<std::uint8_t, kBytes>;
  Bytes encode() const;
  /// Nothing when the bytes are not of encode().
  static std::optional<TensorMap> decode(const Bytes& bytes);

  unsigned element_bytes() const;
  /// The type of its elements in reductions; kNone for numbers that are no type.
  ptx::Type element() const;
  /// Bytes of a row of the box in shared memory, without what swizzling adds to it.
  std::uint32_t row_bytes() const { return box[0] * element_bytes(); }
  /// Distance of rows in shared memory: rows of swizzled tiles take the whole span (H200).
  std::uint32_t row_pitch() const;
  /// Elements of the box in dimension d: steps leave some out. The first dimension has no steps (H200).
  std::uint32_t extent(unsigned d) const { return d == 0 ? box[0] : (box[d] + steps[d] - 1u) / steps[d]; }
};

/// Where byte `offset` of shared memory goes under a swizzle: bits of the 16-byte unit change by bits of the 128-byte
/// line (CUDA driver API, "CUtensorMapSwizzle"; hashes of an H200).
std::uint64_t swizzled(TensorMap::Swizzle swizzle, std::uint64_t offset);

}  // namespace muscope::exec
