// What the lab's programs and the benchmarks of kernels/bench share: checked calls, data, the flush of the L2 cache and
// time by events.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>

#define LAB_CHECK(call)                                                                               \
  do {                                                                                                \
    const cudaError_t error_ = (call);                                                                \
    if (error_ != cudaSuccess) {                                                                      \
      std::fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(error_)); \
      std::exit(1);                                                                                   \
    }                                                                                                 \
  } while (0)

namespace lab {

/// Word i of all test data: random, never zeros (which run faster on some memories and hide unwritten outputs).
__host__ __device__ inline std::uint32_t mixed(std::uint32_t i) {
  std::uint32_t h = i * 2654435761u;
  h ^= h >> 15;
  h *= 2246822519u;
  h ^= h >> 13;
  return h;
}

/// An impossible value, for stores that keep loads alive and never happen.
constexpr std::uint32_t kNever = 0x5bd1e995u;

/// Keeps what a kernel that only reads has summed up alive.
__device__ inline void keep(std::uint32_t sum, unsigned* never) {
  if (sum == kNever && never[1] == kNever) *never = sum;
}
__device__ inline std::uint32_t sum_of(uint4 v) { return v.x + v.y + v.z + v.w; }

namespace internal {

/// Word i of `count` becomes value(i).
template <typename Value>
__global__ void fill(std::uint32_t* words, std::size_t count, Value value) {
  for (std::size_t i = blockIdx.x * static_cast<std::size_t>(blockDim.x) + threadIdx.x; i < count;
       i += static_cast<std::size_t>(gridDim.x) * blockDim.x)
    words[i] = value(i);
}

/// Adds to *wrong for how many i < count right(i) does not hold.
template <typename Right>
__global__ void check(std::size_t count, Right right, unsigned long long* wrong) {
  unsigned long long found = 0;
  for (std::size_t i = blockIdx.x * static_cast<std::size_t>(blockDim.x) + threadIdx.x; i < count;
       i += static_cast<std::size_t>(gridDim.x) * blockDim.x)
    found += right(i) ? 0 : 1;
  if (found != 0) atomicAdd(wrong, found);
}

/// Fills the L2 cache with other lines, clean ones: plain loads (lines marked to leave first push out only each other).
static __global__ void __launch_bounds__(512) flush(const uint4* in, std::size_t count, unsigned* never) {
  unsigned sum = 0;
  for (std::size_t i = blockIdx.x * std::size_t{512} + threadIdx.x; i < count; i += gridDim.x * std::size_t{512}) {
    const uint4 v = in[i];
    sum |= v.x & v.y & v.z & v.w;
  }
  if (sum == kNever && never[1] == kNever) *never = sum;
}

}  // namespace internal

/// Reads `bytes` of `other`, all of them other lines than those which the next kernel uses; takes about 60 us for 256
/// MiB.
inline void flush(const void* other, std::size_t bytes, unsigned* never) {
  internal::flush<<<264, 512>>>(static_cast<const uint4*>(other), bytes / 16, never);
}

/// Two events; made when they are first needed.
class Events {
 public:
  /// Microseconds on the device from the begin to the end of what `between` puts into the stream.
  template <typename Between>
  double us(const Between& between, cudaStream_t stream = nullptr) {
    if (begin_ == nullptr) {
      LAB_CHECK(cudaEventCreate(&begin_));
      LAB_CHECK(cudaEventCreate(&end_));
    }
    LAB_CHECK(cudaEventRecord(begin_, stream));
    between();
    LAB_CHECK(cudaEventRecord(end_, stream));
    LAB_CHECK(cudaEventSynchronize(end_));
    float ms = 0;
    LAB_CHECK(cudaEventElapsedTime(&ms, begin_, end_));
    return 1e3 * static_cast<double>(ms);
  }

 private:
  cudaEvent_t begin_ = nullptr, end_ = nullptr;
};

}  // namespace lab
