// Histograms of bytes, and of numbers in ranges of equal width.
//
//   histogram_bytes(counts, in, n, stream)                                   256 counters
//   histogram_range(counts, bins, in, n, lower, upper, stream)               float or int, values outside are left out
//
// Every block counts in shared memory, where each bin has up to 32 counters, one per lane: a lane only ever touches one
// bank, so an atomic add of a warp takes one pass whatever the data are: uniform, skewed or constant input runs equally
// fast. At the end a block adds up the lanes' counters and adds the sums to global memory.
#pragma once

#include "common.cuh"
#include "operators.cuh"
#include "reduce.cuh"

namespace muscope::kernels {

namespace detail {

inline constexpr int kHistogramWords = 8192;  // counters of a block in shared memory: 32 KiB

/// A byte is its own bin.
struct ByteBins {
  static constexpr int kCopiesLog2 = 5;
  using Sample = unsigned char;
  __device__ bool bin_of(unsigned char sample, unsigned* bin) const {
    *bin = sample;
    return true;
  }
  __device__ unsigned copies_log2() const { return kCopiesLog2; }
};

/// bin = floor((x - lower) * bins / (upper - lower)), in float.
struct FloatBins {
  using Sample = float;
  float lower, upper, scale;
  unsigned last;
  unsigned log2;
  __device__ bool bin_of(float x, unsigned* bin) const {
    const unsigned b = static_cast<unsigned>((x - lower) * scale);
    *bin = b < last ? b : last;  // rounding may reach the number of bins just below `upper`
    return x >= lower && x < upper;
  }
  __device__ unsigned copies_log2() const { return log2; }
};

/// The same, exact: estimated in double, then corrected in integers.
struct IntBins {
  using Sample = int;
  int lower, upper;
  unsigned range, bins;
  double scale;
  unsigned log2;
  __device__ bool bin_of(int x, unsigned* bin) const {
    const unsigned d = static_cast<unsigned>(x) - static_cast<unsigned>(lower);
    unsigned b = static_cast<unsigned>(d * scale);
    const unsigned long long want = static_cast<unsigned long long>(d) * bins;
    if (static_cast<unsigned long long>(b) * range > want) --b;
    if (static_cast<unsigned long long>(b + 1) * range <= want) ++b;
    *bin = b;
    return x >= lower && x < upper;
  }
  __device__ unsigned copies_log2() const { return log2; }
};

template <typename Bins>
__device__ inline void count_one(unsigned* table, const Bins& bins, typename Bins::Sample sample, unsigned copy) {
  unsigned bin;
  if (bins.bin_of(sample, &bin)) atomicAdd(table + (bin << bins.copies_log2()) + copy, 1u);
}

template <int kThreads, int kVectors, typename Count, typename Bins>
__global__ void __launch_bounds__(kThreads, 2048 / kThreads)
    histogram_kernel(Count* counts, unsigned bin_count, const typename Bins::Sample* in, Split split, Bins bins) {
  using Sample = typename Bins::Sample;
  constexpr int kElements = 16 / sizeof(Sample);
  __shared__ unsigned table[kHistogramWords];
  const unsigned copies = 1u << bins.copies_log2();
  for (unsigned i = threadIdx.x; i < bin_count * copies; i += kThreads) table[i] = 0;
  __syncthreads();
  const unsigned copy = threadIdx.x & (copies - 1);
  const uint4* const p = reinterpret_cast<const uint4*>(in + split.head);
  const std::size_t stride = static_cast<std::size_t>(gridDim.x) * kThreads;
  std::size_t i = blockIdx.x * static_cast<std::size_t>(kThreads) + threadIdx.x;
  Vector<Sample> v[kVectors];
  for (; i + (kVectors - 1) * stride < split.vectors; i += kVectors * stride) {
#pragma unroll
    for (int k = 0; k < kVectors; ++k) v[k].whole = load_once(p + i + k * stride);
#pragma unroll
    for (int k = 0; k < kVectors; ++k) {
#pragma unroll
      for (int e = 0; e < kElements; ++e) count_one(table, bins, v[k].elements[e], copy);
    }
  }
  for (; i < split.vectors; i += stride) {
    v[0].whole = load_once(p + i);
#pragma unroll
    for (int e = 0; e < kElements; ++e) count_one(table, bins, v[0].elements[e], copy);
  }
  if (blockIdx.x == gridDim.x - 1) {  // what does not fill a vector, on both sides
    if (threadIdx.x < split.head) count_one(table, bins, in[threadIdx.x], copy);
    if (threadIdx.x < split.tail)
      count_one(table, bins, in[split.head + split.vectors * kElements + threadIdx.x], copy);
  }
  __syncthreads();
  // Four neighbouring threads per bin where there are copies enough; rotated, so that lanes meet different banks.
  const unsigned each = copies >= 4 ? copies / 4 : copies;
  const unsigned together = copies / each;
  for (unsigned work = threadIdx.x; work < parts(bin_count * together, 32u) * 32; work += kThreads) {
    const unsigned bin = work / together, quarter = work % together;
    unsigned sum = 0;
    if (bin < bin_count) {
      for (unsigned k = 0; k < each; ++k) sum += table[bin * copies + quarter * each + ((k + bin) & (each - 1))];
    }
    if (together == 4) sum = reduce_lanes<4>(sum, Sum{});
    if (bin < bin_count && quarter == 0 && sum != 0) atomicAdd(counts + bin, static_cast<Count>(sum));
  }
}

/// More bins than shared memory is worth: counted in global memory.
template <typename Count, typename Bins>
__global__ void __launch_bounds__(256)
    global_histogram_kernel(Count* counts, const typename Bins::Sample* in, std::size_t n, Bins bins) {
  for (std::size_t i = blockIdx.x * std::size_t{256} + threadIdx.x; i < n; i += std::size_t{256} * gridDim.x) {
    unsigned bin;
    if (bins.bin_of(in[i], &bin)) atomicAdd(counts + bin, Count{1});
  }
}

template <int kThreads, int kVectors, typename Count, typename Bins>
inline cudaError_t launch_histogram(Count* counts, unsigned bin_count, const typename Bins::Sample* in, std::size_t n,
                                    const Bins& bins, cudaStream_t stream) {
  cudaError_t error = cudaMemsetAsync(counts, 0, bin_count * sizeof(Count), stream);
  if (error != cudaSuccess || n == 0) return error;
  int sms = 0;
  error = multiprocessors(&sms);
  if (error != cudaSuccess) return error;
  if (bin_count > kHistogramWords) {
    std::size_t blocks = parts<std::size_t>(n, 256);
    if (blocks > static_cast<std::size_t>(sms) * 8) blocks = static_cast<std::size_t>(sms) * 8;
    return launch(global_histogram_kernel<Count, Bins>, static_cast<unsigned>(blocks), 256, 0, stream, counts, in, n,
                  bins);
  }
  const Split split = split_of(in, n);
  std::size_t blocks = split.vectors / kThreads + 1;
  const std::size_t most = static_cast<std::size_t>(sms) * (2048 / kThreads);
  if (blocks > most) blocks = most;
  return launch(histogram_kernel<kThreads, kVectors, Count, Bins>, static_cast<unsigned>(blocks), kThreads, 0, stream,
                counts, bin_count, in, split, bins);
}

inline unsigned copies_log2_for(unsigned bins) {
  unsigned log2 = 5;
  while (log2 > 0 && (bins << log2) > kHistogramWords) --log2;
  return log2;
}

}  // namespace detail

/// counts[b] = how many of in[0 .. n) are b, for the 256 values of a byte. Count: unsigned or unsigned long long (which
/// n >= 2^32 needs). Counters are overwritten. `in` may begin anywhere. Takes a memset and one launch; no workspace.
/// Errors: cudaErrorInvalidValue for null; what the two return. Asynchronous in `stream`.
template <typename Count>
cudaError_t histogram_bytes(Count* counts, const unsigned char* in, std::size_t n, cudaStream_t stream = nullptr) {
  static_assert(sizeof(Count) == 4 || sizeof(Count) == 8, "unsigned or unsigned long long");
  if (counts == nullptr || (in == nullptr && n != 0)) return cudaErrorInvalidValue;
  return detail::launch_histogram<1024, 2>(counts, 256u, in, n, detail::ByteBins{}, stream);
}

/// counts[b] = how many values x with lower <= x < upper have floor((x - lower) * (bins / (upper - lower))) == b. All
/// of it is computed in float: a value within a rounding of a bin's edge may fall into the neighbour, and what rounds
/// up to `bins` counts in the last bin. NaN and values outside count nowhere. Up to 8192 bins are counted in shared
/// memory, more in global memory. Errors: as histogram_bytes(), and cudaErrorInvalidValue for no bins, an empty or
/// infinite range, and ranges whose bins / (upper - lower) is no normal number of float.
template <typename Count>
cudaError_t histogram_range(Count* counts, unsigned bins, const float* in, std::size_t n, float lower, float upper,
                            cudaStream_t stream = nullptr) {
  if (counts == nullptr || (in == nullptr && n != 0) || bins == 0 || !(lower < upper)) return cudaErrorInvalidValue;
  const float scale = static_cast<float>(bins) / (upper - lower);
  if (!(scale >= FLT_MIN && scale <= FLT_MAX)) return cudaErrorInvalidValue;
  const detail::FloatBins how{lower, upper, scale, bins - 1, detail::copies_log2_for(bins)};
  return detail::launch_histogram<1024, 2>(counts, bins, in, n, how, stream);
}

/// The same for integers, exact for every range: bin = floor((x - lower) * bins / (upper - lower)).
template <typename Count>
cudaError_t histogram_range(Count* counts, unsigned bins, const int* in, std::size_t n, int lower, int upper,
                            cudaStream_t stream = nullptr) {
  if (counts == nullptr || (in == nullptr && n != 0) || bins == 0 || lower >= upper) return cudaErrorInvalidValue;
  const unsigned range = static_cast<unsigned>(upper) - static_cast<unsigned>(lower);
  const detail::IntBins how{
      lower, upper, range, bins, static_cast<double>(bins) / range, detail::copies_log2_for(bins)};
  return detail::launch_histogram<1024, 2>(counts, bins, in, n, how, stream);
}

}  // namespace muscope::kernels
