// Plain kernels that read, write or both, as fast as they can: what others are held against.
#pragma once

#include "measure.cuh"

namespace ceilings {

/// Reads everything; four loads of 16 bytes in flight per thread.
template <bool kOnce>
struct ReadAll {
  const uint4* in;
  std::size_t count;
  __device__ std::uint32_t operator()() const {
    std::uint32_t sum = 0;
    for (std::size_t base = blockIdx.x * std::size_t{2048} + threadIdx.x; base < count;
         base += gridDim.x * std::size_t{2048}) {
      uint4 v[4];
#pragma unroll
      for (int k = 0; k < 4; ++k)
        v[k] = base + k * 512 < count ? (kOnce ? __ldcs(in + base + k * 512) : in[base + k * 512])
                                      : make_uint4(0, 0, 0, 0);
#pragma unroll
      for (int k = 0; k < 4; ++k) sum += lab::sum_of(v[k]);
    }
    return sum;
  }
};
template <bool kOnce>
__global__ void __launch_bounds__(512) read_all(ReadAll<kOnce> body, unsigned* never) {
  lab::keep(body(), never);
}

template <bool kOnce>
__global__ void __launch_bounds__(512) write_all(uint4* out, std::size_t count, unsigned value) {
  const std::size_t base = blockIdx.x * std::size_t{2048} + threadIdx.x;
  const uint4 v = make_uint4(value, value + 1, value + 2, value + 3);
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    if (base + k * 512 >= count) continue;
    if (kOnce)
      __stcs(out + base + k * 512, v);
    else
      out[base + k * 512] = v;
  }
}

template <int kVectors, bool kOnce>
__global__ void __launch_bounds__(512) copy_all(uint4* out, const uint4* in, std::size_t count) {
  const std::size_t base = blockIdx.x * std::size_t{512 * kVectors} + threadIdx.x;
  uint4 v[kVectors];
#pragma unroll
  for (int k = 0; k < kVectors; ++k)
    if (base + k * 512 < count) v[k] = kOnce ? __ldcs(in + base + k * 512) : in[base + k * 512];
#pragma unroll
  for (int k = 0; k < kVectors; ++k) {
    if (base + k * 512 >= count) continue;
    if (kOnce)
      __stcs(out + base + k * 512, v[k]);
    else
      out[base + k * 512] = v[k];
  }
}

template <int kVectors>
__global__ void __launch_bounds__(512) triad_all(uint4* out, const uint4* a, const uint4* b, std::size_t count) {
  const std::size_t base = blockIdx.x * std::size_t{512 * kVectors} + threadIdx.x;
  uint4 v[kVectors], w[kVectors];
#pragma unroll
  for (int k = 0; k < kVectors; ++k)
    if (base + k * 512 < count) v[k] = a[base + k * 512], w[k] = b[base + k * 512];
#pragma unroll
  for (int k = 0; k < kVectors; ++k)
    if (base + k * 512 < count)
      out[base + k * 512] =
          make_uint4(v[k].x + 3 * w[k].x, v[k].y + 3 * w[k].y, v[k].z + 3 * w[k].z, v[k].w + 3 * w[k].w);
}

}  // namespace ceilings
