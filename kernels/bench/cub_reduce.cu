// CUB's reductions as peers.
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_segmented_reduce.cuh>

#include "cub_peers.h"

namespace bench {

int cub_version() { return CUB_VERSION; }

/// Adds in the type of the result, whatever the elements are.
template <typename Out>
struct Plus {
  __device__ Out operator()(Out a, Out b) const { return a + b; }
};

template <typename T, typename Out>
cudaError_t cub_sum(void* temporary, std::size_t& bytes, const T* in, Out* out, int n, cudaStream_t stream) {
  return cub::DeviceReduce::Reduce(temporary, bytes, in, out, n, Plus<Out>{}, Out{}, stream);
}
template cudaError_t cub_sum(void*, std::size_t&, const float*, float*, int, cudaStream_t);
template cudaError_t cub_sum(void*, std::size_t&, const double*, double*, int, cudaStream_t);
template cudaError_t cub_sum(void*, std::size_t&, const int*, int*, int, cudaStream_t);
template cudaError_t cub_sum(void*, std::size_t&, const __half*, float*, int, cudaStream_t);

template <typename T>
cudaError_t cub_max(void* temporary, std::size_t& bytes, const T* in, T* out, int n, cudaStream_t stream) {
  return cub::DeviceReduce::Max(temporary, bytes, in, out, n, stream);
}
template cudaError_t cub_max(void*, std::size_t&, const float*, float*, int, cudaStream_t);

struct Times {
  int length;
  __host__ __device__ int operator()(int i) const { return i * length; }
};

cudaError_t cub_segments(void* temporary, std::size_t& bytes, const float* in, float* out, int segments, int length,
                         cudaStream_t stream) {
  const auto begin = thrust::make_transform_iterator(thrust::make_counting_iterator(0), Times{length});
  return cub::DeviceSegmentedReduce::Sum(temporary, bytes, in, out, segments, begin, begin + 1, stream);
}

cudaError_t cub_ragged(void* temporary, std::size_t& bytes, const float* in, float* out, int segments,
                       const int* offsets, cudaStream_t stream) {
  return cub::DeviceSegmentedReduce::Sum(temporary, bytes, in, out, segments, offsets, offsets + 1, stream);
}

}  // namespace bench
