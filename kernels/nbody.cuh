// The gravitation of n bodies on each other, all pairs.
//
//   accelerations(out, bodies, n, softening, stream)     out[i] = sum over j of m_j (r_j - r_i) / (|r_j - r_i|^2 +
//   s^2)^(3/2)
//
// Bound by instructions, not by memory. The warps of a block have the same targets, several per lane, and each takes
// other bodies: so few targets make a block that the blocks of all sizes spread evenly over the GPU. A warp brings 32
// bodies at a time to shared memory, of which every lane then reads the same one (a broadcast); the next 32 are on
// their way by then. Per interaction remain 12 floating-point instructions, one reciprocal square root and a part of
// the load. Their operands, not their number, are what limits: the register file gives two of 32 lanes per cycle, one
// of an even and one of an odd register. Sums are added in an order that depends on n alone: results are reproducible.
#pragma once

#include "common.cuh"

namespace muscope::kernels {

namespace detail {

/// 1 / sqrt(x) for x that is no denormal number: one instruction where the compiler would guard against them.
__device__ inline float reciprocal_root(float x) {
#if defined(__CUDA_ARCH__)
  float y;
  asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
#else
  return rsqrtf(x);
#endif
}

/// A body as it lies in shared memory. Vectors are loaded to registers whose numbers begin at a multiple of 4: in this
/// order a body's x and that of a target, which a difference reads together, are one in an even and one in an odd
/// register, and so are y and z.
__device__ inline float4 arranged(float4 body) { return make_float4(body.w, body.x, body.y, body.z); }

/// The acceleration that an arranged body (mass in x) gives to a target, added up.
__device__ inline void attract(float3& sum, float3 target, float4 other, float softening2) {
  const float dx = other.y - target.x, dy = other.z - target.y, dz = other.w - target.z;
  const float distance2 = fmaf(dz, dz, fmaf(dy, dy, fmaf(dx, dx, softening2)));
  const float inverse = reciprocal_root(distance2);
  const float scale = (other.x * inverse) * (inverse * inverse);
  sum.x = fmaf(dx, scale, sum.x);
  sum.y = fmaf(dy, scale, sum.y);
  sum.z = fmaf(dz, scale, sum.z);
}

/// Blocks of kWarps warps, in groups of kSlices that have the same 32 * kTargets targets. kBlocks: of so many per
/// multiprocessor.
template <int kTargets, int kUnroll, int kBlocks, int kWarps = 8, int kSlices = 8>
__global__ void __launch_bounds__(kWarps* kLanes, kBlocks)
    nbody_kernel(float4* out, const float4* bodies, unsigned n, float softening2) {
  static_assert(kWarps % kSlices == 0, "whole groups");
  __shared__ float4 tiles[kWarps][kLanes];
  const unsigned lane = threadIdx.x % kLanes, warp = threadIdx.x / kLanes;
  const unsigned slice = warp % kSlices, group = warp / kSlices;
  const unsigned first = (blockIdx.x * (kWarps / kSlices) + group) * (kLanes * kTargets) + lane;
  float4* const tile = tiles[warp];
  float3 target[kTargets], sum[kTargets];
#pragma unroll
  for (int k = 0; k < kTargets; ++k) {
    const unsigned i = first + k * kLanes;
    const float4 own = i < n ? bodies[i] : make_float4(0, 0, 0, 0);
    target[k] = make_float3(own.x, own.y, own.z);
    sum[k] = make_float3(0, 0, 0);
  }
  float4 next;
  const auto load = [&](unsigned base) {
    const unsigned i = base + lane;
    next = i < n ? bodies[i] : make_float4(0, 0, 0, 0);  // behind the end stand bodies without mass
  };
  load(slice * kLanes);
  for (unsigned base = slice * kLanes; base < n; base += kSlices * kLanes) {
    __syncwarp();
    tile[lane] = arranged(next);
    __syncwarp();
    load(base + kSlices * kLanes);
#pragma unroll kUnroll
    for (int j = 0; j < kLanes; ++j) {
      const float4 other = tile[j];
#pragma unroll
      for (int k = 0; k < kTargets; ++k) attract(sum[k], target[k], other, softening2);
    }
  }
#pragma unroll
  for (int k = 0; k < kTargets; ++k) {
    const unsigned i = first + k * kLanes;
    __syncthreads();
    tile[lane] = make_float4(sum[k].x, sum[k].y, sum[k].z, 0);
    __syncthreads();
    if (slice == 0 && i < n) {
      float4 all = make_float4(0, 0, 0, 0);
#pragma unroll
      for (int q = 0; q < kSlices; ++q) {
        const float4 part = tiles[group * kSlices + q][lane];
        all.x += part.x, all.y += part.y, all.z += part.z;
      }
      out[i] = all;
    }
  }
}

template <int kTargets, int kUnroll, int kBlocks, int kWarps = 8, int kSlices = 8>
inline cudaError_t launch_nbody(float4* out, const float4* bodies, unsigned n, float softening2, cudaStream_t stream) {
  const unsigned blocks = parts(n, static_cast<unsigned>(kWarps / kSlices * kLanes * kTargets));
  return launch(nbody_kernel<kTargets, kUnroll, kBlocks, kWarps, kSlices>, blocks, kWarps * kLanes, 0, stream, out,
                bodies, n, softening2);
}

}  // namespace detail

/// Accelerations (x, y, z; w is zero) of n bodies (x, y, z and mass) in units where the constant of gravitation is 1.
/// softening > 0 keeps close pairs and a body on itself finite; softening^2 and squared distances must stay between
/// 1e-37 and 1e37. n below 2^31. Relative error of a term: about 3e-7 (the GPU's approximate reciprocal square root).
/// Errors: cudaErrorInvalidValue for null with a size or softening^2 below 1e-37; what the launch returns.
/// Asynchronous.
inline cudaError_t accelerations(float4* out, const float4* bodies, std::size_t n, float softening,
                                 cudaStream_t stream = nullptr) {
  if (n == 0) return cudaSuccess;
  const float softening2 = softening * softening;
  if (out == nullptr || bodies == nullptr || n > 0x7fffffff || !(softening2 >= 1e-37f)) return cudaErrorInvalidValue;
  return detail::launch_nbody<4, 4, 2>(out, bodies, static_cast<unsigned>(n), softening2, stream);
}

}  // namespace muscope::kernels
