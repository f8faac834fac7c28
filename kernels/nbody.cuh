// The gravitation of n bodies on each other, all pairs.
//
//   accelerations(out, bodies, n, softening, stream)     out[i] = sum over j of m_j (r_j - r_i) / (|r_j - r_i|^2 +
//   s^2)^(3/2)
//
// Bound by instructions, not by memory. A block brings a tile of bodies to shared memory, of which every lane reads the
// same one (a broadcast). Per interaction remain 12 floating-point instructions, one reciprocal square root and the
// load. Several targets per thread would share the load; on an H200 that is slower (docs/kernels.md).
#pragma once

#include "common.cuh"

namespace muscope::kernels {

namespace detail {

inline constexpr int kNbodyThreads = 256;

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

/// The acceleration that a body at `other` (mass in w) gives to a target, added up.
__device__ inline void attract(float3& sum, float4 target, float4 other, float softening2) {
  const float dx = other.x - target.x, dy = other.y - target.y, dz = other.z - target.z;
  const float distance2 = fmaf(dz, dz, fmaf(dy, dy, fmaf(dx, dx, softening2)));
  const float inverse = reciprocal_root(distance2);
  const float scale = (other.w * inverse) * (inverse * inverse);
  sum.x = fmaf(dx, scale, sum.x);
  sum.y = fmaf(dy, scale, sum.y);
  sum.z = fmaf(dz, scale, sum.z);
}

/// kTargets bodies per thread, kNbodyThreads apart.
template <int kTargets, int kUnroll = 8>
__global__ void __launch_bounds__(kNbodyThreads)
    nbody_kernel(float4* out, const float4* bodies, unsigned n, float softening2) {
  __shared__ float4 tile[kNbodyThreads];
  const unsigned first = blockIdx.x * (kNbodyThreads * kTargets) + threadIdx.x;
  float4 target[kTargets];
  float3 sum[kTargets];
#pragma unroll
  for (int k = 0; k < kTargets; ++k) {
    const unsigned i = first + k * kNbodyThreads;
    target[k] = i < n ? bodies[i] : make_float4(0, 0, 0, 0);
    sum[k] = make_float3(0, 0, 0);
  }
  for (unsigned base = 0; base < n; base += kNbodyThreads) {
    __syncthreads();
    // Behind the end stand bodies without mass.
    tile[threadIdx.x] = base + threadIdx.x < n ? bodies[base + threadIdx.x] : make_float4(0, 0, 0, 0);
    __syncthreads();
#pragma unroll kUnroll
    for (int j = 0; j < kNbodyThreads; ++j) {
      const float4 other = tile[j];
#pragma unroll
      for (int k = 0; k < kTargets; ++k) attract(sum[k], target[k], other, softening2);
    }
  }
#pragma unroll
  for (int k = 0; k < kTargets; ++k) {
    const unsigned i = first + k * kNbodyThreads;
    if (i < n) out[i] = make_float4(sum[k].x, sum[k].y, sum[k].z, 0.0f);
  }
}

template <int kTargets, int kUnroll = 8>
inline cudaError_t launch_nbody(float4* out, const float4* bodies, unsigned n, float softening2, cudaStream_t stream) {
  const unsigned blocks = parts(n, static_cast<unsigned>(kNbodyThreads * kTargets));
  nbody_kernel<kTargets, kUnroll><<<blocks, kNbodyThreads, 0, stream>>>(out, bodies, n, softening2);
  return cudaGetLastError();
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
  return detail::launch_nbody<1>(out, bodies, static_cast<unsigned>(n), softening2, stream);
}

}  // namespace muscope::kernels
