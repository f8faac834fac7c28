// CUB's scans and histograms as peers.
#include <thrust/iterator/transform_iterator.h>
#include <cub/device/device_histogram.cuh>
#include <cub/device/device_scan.cuh>

#include "cub_peers.h"

namespace bench {

template <typename T>
cudaError_t cub_exclusive(void* temporary, std::size_t& bytes, const T* in, T* out, int n, cudaStream_t stream) {
  return cub::DeviceScan::ExclusiveSum(temporary, bytes, in, out, n, stream);
}
template <typename T>
cudaError_t cub_inclusive(void* temporary, std::size_t& bytes, const T* in, T* out, int n, cudaStream_t stream) {
  return cub::DeviceScan::InclusiveSum(temporary, bytes, in, out, n, stream);
}
template cudaError_t cub_exclusive(void*, std::size_t&, const float*, float*, int, cudaStream_t);
template cudaError_t cub_exclusive(void*, std::size_t&, const int*, int*, int, cudaStream_t);
template cudaError_t cub_exclusive(void*, std::size_t&, const double*, double*, int, cudaStream_t);
template cudaError_t cub_inclusive(void*, std::size_t&, const float*, float*, int, cudaStream_t);

struct ToDouble {
  __host__ __device__ double operator()(float x) const { return x; }
};

cudaError_t cub_exclusive_double(void* temporary, std::size_t& bytes, const float* in, double* out, int n,
                                 cudaStream_t stream) {
  return cub::DeviceScan::ExclusiveSum(temporary, bytes, thrust::make_transform_iterator(in, ToDouble{}), out, n,
                                       stream);
}

template <typename T, typename Level>
cudaError_t cub_histogram(void* temporary, std::size_t& bytes, const T* in, unsigned* counts, int bins, Level lower,
                          Level upper, int n, cudaStream_t stream) {
  return cub::DeviceHistogram::HistogramEven(temporary, bytes, in, counts, bins + 1, lower, upper, n, stream);
}
template cudaError_t cub_histogram(void*, std::size_t&, const unsigned char*, unsigned*, int, int, int, int,
                                   cudaStream_t);
template cudaError_t cub_histogram(void*, std::size_t&, const float*, unsigned*, int, float, float, int, cudaStream_t);
template cudaError_t cub_histogram(void*, std::size_t&, const int*, unsigned*, int, int, int, int, cudaStream_t);

}  // namespace bench
