// CUDA arrays (cudaMallocArray): texels row by row in device memory. The hardware's own order of texels is not
// documented and cannot be seen by programs.
#pragma once

#include <cstdint>

#include "runtime/cuda_abi.h"

namespace muscope::runtime {

class Runtime;

struct Array {
  cudaChannelFormatDesc format{};
  cudaExtent extent{};  ///< as asked for: height and depth 0 where the array has fewer dimensions
  unsigned flags = 0;
  std::uint64_t address = 0;  ///< device address of texel (0, 0, 0)
  std::uint64_t texel_bytes = 0;
  std::uint64_t pitch = 0;  ///< bytes from row to row; rows follow each other, slices too
  bool is_level = false;    ///< of a mipmapped array, which owns the memory

  std::uint64_t rows() const { return extent.height == 0 ? 1 : extent.height; }
  std::uint64_t slices() const { return extent.depth == 0 ? 1 : extent.depth; }
  std::uint64_t row_bytes() const { return extent.width * texel_bytes; }
  std::uint64_t slice_bytes() const { return pitch * rows(); }
  std::uint64_t bytes() const { return slice_bytes() * slices(); }
};

/// Bytes of a texel; 0 when the hardware has no such format (components of 8, 16 or 32 bits, equal, 1, 2 or 4 of them).
std::uint64_t texel_bytes(const cudaChannelFormatDesc& format);

}  // namespace muscope::runtime
