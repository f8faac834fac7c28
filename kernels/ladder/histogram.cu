// A histogram of bytes, rung by rung, on bytes that differ and on bytes that are all the same.
#include "../histogram.cuh"

#include "ladder.cuh"

namespace {

namespace mk = muscope::kernels;
using Word = std::uint32_t;

__global__ void __launch_bounds__(256) global_atomics(unsigned* counts, const unsigned char* in) {
  atomicAdd(counts + in[blockIdx.x * 256 + threadIdx.x], 1u);
}

/// Bytes per thread: each block takes a piece of 256 * kBytes.
template <int kBytes>
__global__ void __launch_bounds__(256) block_counts(unsigned* counts, const unsigned char* in) {
  __shared__ unsigned table[256];
  table[threadIdx.x] = 0;
  __syncthreads();
#pragma unroll 8
  for (int k = 0; k < kBytes; ++k)
    atomicAdd(table + in[(blockIdx.x * std::size_t{kBytes} + k) * 256 + threadIdx.x], 1u);
  __syncthreads();
  if (table[threadIdx.x] != 0) atomicAdd(counts + threadIdx.x, table[threadIdx.x]);
}
template <int kVectors>
__global__ void __launch_bounds__(256) vector_counts(unsigned* counts, const uint4* in) {
  __shared__ unsigned table[256];
  table[threadIdx.x] = 0;
  __syncthreads();
  for (int k = 0; k < kVectors; ++k) {
    const uint4 v = in[(blockIdx.x * std::size_t{kVectors} + k) * 256 + threadIdx.x];
    const unsigned words[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
    for (int w = 0; w < 4; ++w)
#pragma unroll
      for (int b = 0; b < 32; b += 8) atomicAdd(table + (words[w] >> b & 255), 1u);
  }
  __syncthreads();
  if (table[threadIdx.x] != 0) atomicAdd(counts + threadIdx.x, table[threadIdx.x]);
}
/// A counter per lane and bin: lane l adds in bank l only.
template <int kVectors>
__global__ void __launch_bounds__(256) lane_counts(unsigned* counts, const uint4* in) {
  __shared__ unsigned table[8192];
  for (unsigned i = threadIdx.x; i < 8192; i += 256) table[i] = 0;
  __syncthreads();
  unsigned* const mine = table + threadIdx.x % 32;
  for (int k = 0; k < kVectors; ++k) {
    const uint4 v = in[(blockIdx.x * std::size_t{kVectors} + k) * 256 + threadIdx.x];
    const unsigned words[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
    for (int w = 0; w < 4; ++w)
#pragma unroll
      for (int b = 0; b < 32; b += 8) atomicAdd(mine + (words[w] >> b & 255) * 32, 1u);
  }
  __syncthreads();
  unsigned sum = 0;
  for (unsigned k = 0; k < 32; ++k) sum += table[threadIdx.x * 32 + ((k + threadIdx.x) & 31)];
  if (sum != 0) atomicAdd(counts + threadIdx.x, sum);
}

struct Same {
  __device__ Word operator()(std::size_t) const { return 0x3f3f3f3fu; }
};

}  // namespace

int main(int argc, char** argv) {
  lab::Lab lab(argc, argv, "ladder-histogram");
  if (!lab.wanted("ladder-histogram")) return lab.finish();
  const std::size_t n = lab.pick(std::size_t{1} << 28, 1 << 26, 1 << 18);
  constexpr int kVectors = 16;
  unsigned* const counts = lab.memory<unsigned>(1024);
  char* const spare = lab.memory(n);
  ladder::Ladder ladder(lab, "ladder-histogram");
  bool first = true;
  for (const bool same : {false, true}) {
    auto* const in = lab.memory<unsigned char>(n);
    if (same) lab.fill(in, n, Same{});
    if (first)
      lab.run("ceilings", ceilings::rows(lab, spare, reinterpret_cast<char*>(in), reinterpret_cast<char*>(in), n,
                                         lab::Flush::kClean));
    first = false;
    std::vector<unsigned> want(256);
    if (same) want[0x3f] = static_cast<unsigned>(n);
    for (std::size_t i = 0; i < n / 4 && !same; ++i) {
      const Word w = lab::mixed(static_cast<Word>(i));
      ++want[w & 255], ++want[w >> 8 & 255], ++want[w >> 16 & 255], ++want[w >> 24];
    }
    ladder.begin(same ? "all bytes equal" : "uniform bytes", static_cast<double>(n), "read");
    const auto* const vectors = reinterpret_cast<const uint4*>(in);
    const auto add = [&](const char* name, const char* why, std::function<void(cudaStream_t)> kernel) {
      ladder.rung(
          name, why, 1, [=](cudaStream_t s) { cudaMemsetAsync(counts, 0, 1024, s), kernel(s); },
          ladder::poisoned(counts, 1024),
          [=] {
            std::vector<unsigned> got(256);
            LAB_CHECK(cudaMemcpy(got.data(), counts, 1024, cudaMemcpyDeviceToHost));
            return got == want;
          });
    };
    const unsigned pieces = static_cast<unsigned>(n / 16 / 256 / kVectors);
    add("global atomics", "an atomic in the L2 for every byte",
        [=](cudaStream_t s) { global_atomics<<<static_cast<unsigned>(n / 256), 256, 0, s>>>(counts, in); });
    add("counters in shared memory", "one table per block; lanes that share a counter or a bank take turns",
        [=](cudaStream_t s) { block_counts<64><<<static_cast<unsigned>(n / 256 / 64), 256, 0, s>>>(counts, in); });
    add("16 bytes per lane", "a sixteenth of the loads",
        [=](cudaStream_t s) { vector_counts<kVectors><<<pieces, 256, 0, s>>>(counts, vectors); });
    add("a counter per lane and bin", "a lane stays in its bank: one pass whatever the bytes are",
        [=](cudaStream_t s) { lane_counts<kVectors><<<pieces, 256, 0, s>>>(counts, vectors); });
    ladder.rung(
        "histogram_bytes()", "as few tables as fit at once, two vectors in flight", 1,
        [=](cudaStream_t s) { mk::histogram_bytes(counts, in, n, s); }, ladder::poisoned(counts, 1024),
        [=] {
          std::vector<unsigned> got(256);
          LAB_CHECK(cudaMemcpy(got.data(), counts, 1024, cudaMemcpyDeviceToHost));
          return got == want;
        });
  }
  ladder.run();
  return lab.finish();
}
