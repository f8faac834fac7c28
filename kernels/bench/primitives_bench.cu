// Reductions, segmented reductions, scans and histograms on a GPU, against CUB.
#include "../histogram.cuh"
#include "../reduce.cuh"
#include "../scan.cuh"
#include "../segmented_reduce.cuh"

#include "cub_peers.h"
#include "harness.cuh"

namespace mk = muscope::kernels;
using bench::Case;
using bench::Role;

namespace {

constexpr std::size_t kBuffer = (std::size_t{9} << 28) + 4096;

struct Memory {
  char *in, *out, *reference, *workspace, *temporary;
  std::size_t workspace_bytes, temporary_bytes;
};

std::string power(std::size_t n) {
  for (int k = 0; k < 40; ++k) {
    if (n == std::size_t{1} << k) return "2^" + std::to_string(k);
  }
  return std::to_string(n);
}

// ---- reductions ----------------------------------------------------------------------------------------------------

template <typename T>
__global__ void slow_sum(const T* in, std::size_t n, double* out) {
  double sum = 0;
  for (std::size_t i = blockIdx.x * static_cast<std::size_t>(blockDim.x) + threadIdx.x; i < n;
       i += static_cast<std::size_t>(gridDim.x) * blockDim.x) {
    sum += static_cast<double>(static_cast<float>(in[i]));
  }
  atomicAdd(out, sum);
}

/// A sum without a workspace, by one atomic per block: what determinism costs is the difference. Aligned, n % 8192 ==
/// 0.
__global__ void __launch_bounds__(512, 4) atomic_sum(float* out, const float4* in, std::size_t vectors) {
  __shared__ float shared[16];
  float sum = 0;
  for (std::size_t i = blockIdx.x * std::size_t{2048} + threadIdx.x; i < vectors; i += gridDim.x * std::size_t{2048}) {
    float4 v[4];
#pragma unroll
    for (int k = 0; k < 4; ++k) v[k] = __ldcs(in + i + k * 512);
#pragma unroll
    for (int k = 0; k < 4; ++k) sum += v[k].x + v[k].y + v[k].z + v[k].w;
  }
  sum = mk::detail::reduce_block<512>(sum, mk::Sum{}, shared);
  if (threadIdx.x == 0) atomicAdd(out, sum);
}

template <typename T, typename Out>
void sums(bench::Harness& harness, Memory m, const char* type, std::size_t n, std::size_t offset) {
  const std::string shape = std::string("sum of ") + power(n) + " " + type +
                            (offset != 0 ? ", begin +" + std::to_string(offset * sizeof(T)) : "");
  if (!harness.wanted("reduce " + shape)) return;
  const T* in = reinterpret_cast<const T*>(m.in) + offset;
  auto* const out = reinterpret_cast<Out*>(m.out);
  auto* const exact = reinterpret_cast<double*>(m.reference);
  CHECK(cudaMemset(exact, 0, 8));
  slow_sum<<<1056, 256>>>(in, n, exact);
  double want = 0;
  CHECK(cudaMemcpy(&want, exact, 8, cudaMemcpyDeviceToHost));
  const auto verified = [=] {
    Out got{};
    CHECK(cudaMemcpy(&got, out, sizeof got, cudaMemcpyDeviceToHost));
    if (std::is_integral_v<Out>) return static_cast<Out>(static_cast<long long>(want)) == got;
    return std::fabs(static_cast<double>(got) - want) <= 2e-5 * std::fabs(want);
  };
  Case c{"reduce", shape, n * sizeof(T), [=] { CHECK(cudaMemset(out, 0xff, 256)); }, {}};
  c.contenders.push_back({Role::kOurs, "reduce",
                          [=](cudaStream_t s) {
                            std::size_t bytes = m.workspace_bytes;
                            return mk::reduce(m.workspace, bytes, out, in, n, mk::Sum{}, Out{}, s);
                          },
                          verified});
  if (n == std::size_t{1} << 28 || n == std::size_t{1} << 22) {
    const auto variant = [&](const char* name, auto launch, std::size_t blocks) {
      c.contenders.push_back({Role::kOurs, name,
                              [=](cudaStream_t s) {
                                return launch(m.workspace, out, in, mk::detail::split_of(in, n), mk::Sum{}, Out{},
                                              blocks, false, s);
                              },
                              verified});
    };
    variant("4 vectors; 4 blocks", mk::detail::launch_reduce<false, 4, 4, T, Out, Out, mk::Sum>, 527);
    variant("4 vectors; 3 blocks", mk::detail::launch_reduce<false, 4, 3, T, Out, Out, mk::Sum>, 395);
    variant("8 vectors; 2 blocks", mk::detail::launch_reduce<false, 8, 2, T, Out, Out, mk::Sum>, 263);
    variant("2 vectors; 4 blocks", mk::detail::launch_reduce<false, 2, 4, T, Out, Out, mk::Sum>, 527);
  }
  c.contenders.push_back({Role::kPeer, "cub::DeviceReduce",
                          [=](cudaStream_t s) {
                            std::size_t bytes = m.temporary_bytes;
                            return bench::cub_sum(m.temporary, bytes, in, out, static_cast<int>(n), s);
                          },
                          verified});
  if constexpr (std::is_same_v<T, float>) {
    if (n % 8192 == 0 && offset == 0) {
      c.contenders.push_back({Role::kOurs, "one atomic per block",
                              [=](cudaStream_t s) {
                                const cudaError_t error = cudaMemsetAsync(out, 0, 4, s);
                                const auto blocks = static_cast<unsigned>(std::min<std::size_t>(528, n / 8192));
                                atomic_sum<<<blocks, 512, 0, s>>>(out, reinterpret_cast<const float4*>(in), n / 4);
                                return error;
                              },
                              verified});
    }
  }
  c.contenders.push_back({Role::kCeiling,
                          "read kernel",
                          [=](cudaStream_t s) {
                            bench::read_ceiling(m.in, n * sizeof(T), s);
                            return cudaGetLastError();
                          },
                          {}});
  harness.run(c);
}

// ---- segments ------------------------------------------------------------------------------------------------------

__global__ void slow_segments(const float* in, std::size_t segments, std::size_t length, float* out) {
  for (std::size_t s = blockIdx.x * static_cast<std::size_t>(blockDim.x) + threadIdx.x; s < segments;
       s += static_cast<std::size_t>(gridDim.x) * blockDim.x) {
    double sum = 0;
    for (std::size_t i = 0; i < length; ++i) sum += static_cast<double>(in[s * length + i]);
    out[s] = static_cast<float>(sum);
  }
}

__global__ void far_off(const float* a, const float* b, std::size_t n, unsigned* found) {
  for (std::size_t i = blockIdx.x * static_cast<std::size_t>(blockDim.x) + threadIdx.x; i < n;
       i += static_cast<std::size_t>(gridDim.x) * blockDim.x) {
    if (!(fabsf(a[i] - b[i]) <= 1e-5f * fabsf(b[i]) + 1e-30f)) atomicAdd(found, 1u);
  }
}

bool near(const float* a, const float* b, std::size_t n) {
  static unsigned* found = bench::device_memory<unsigned>(4);
  CHECK(cudaMemset(found, 0, 4));
  far_off<<<1056, 256>>>(a, b, n, found);
  unsigned host = 0;
  CHECK(cudaMemcpy(&host, found, 4, cudaMemcpyDeviceToHost));
  return host == 0;
}

/// Reads and writes in the proportion of segments of this length, as close as whole vectors come.
void mix_ceiling(const Memory& m, std::size_t length, std::size_t n, cudaStream_t s) {
  auto* const out = reinterpret_cast<uint4*>(m.out);
  const auto* const in = reinterpret_cast<const uint4*>(m.in);
  const auto run = [&](auto kernel, std::size_t reads) {
    const std::size_t writes = n / 4 / reads;
    kernel<<<static_cast<unsigned>((writes + 255) / 256), 256, 0, s>>>(out, in, writes);
  };
  if (length <= 2)
    run(bench::mix_kernel<2>, 2);
  else if (length <= 4)
    run(bench::mix_kernel<4>, 4);
  else if (length <= 8)
    run(bench::mix_kernel<8>, 8);
  else
    bench::read_ceiling(m.in, n * 4, s);
}

void segments(bench::Harness& harness, Memory m, std::size_t length, std::size_t offset) {
  const std::size_t count = (std::size_t{1} << 26) / length, n = count * length;
  const std::string shape =
      std::to_string(count) + " segments of " + std::to_string(length) + " floats" + (offset != 0 ? ", begin +4" : "");
  if (!harness.wanted("segmented reduce " + shape)) return;
  const float* in = reinterpret_cast<const float*>(m.in) + offset;
  auto* const out = reinterpret_cast<float*>(m.out);
  auto* const want = reinterpret_cast<float*>(m.reference);
  slow_segments<<<1056, 256>>>(in, count, length, want);
  const auto verified = [=] { return near(out, want, count); };
  Case c{"segmented reduce", shape, 4 * n + 4 * count, [=] { CHECK(cudaMemset(out, 0xff, count * 4)); }, {}};
  c.contenders.push_back({Role::kOurs, "reduce_segments",
                          [=](cudaStream_t s) { return mk::reduce_segments(out, in, count, length, mk::Sum{}, s); },
                          verified});
  c.contenders.push_back({Role::kPeer, "cub::DeviceSegmentedReduce",
                          [=](cudaStream_t s) {
                            std::size_t bytes = m.temporary_bytes;
                            return bench::cub_segments(m.temporary, bytes, in, out, static_cast<int>(count),
                                                       static_cast<int>(length), s);
                          },
                          verified});
  c.contenders.push_back({Role::kCeiling,
                          "same reads and writes",
                          [=](cudaStream_t s) {
                            mix_ceiling(m, length, n, s);
                            return cudaGetLastError();
                          },
                          {}});
  harness.run(c);
}

__global__ void fill_offsets(int* offsets, int segments, int average, int n) {
  // Lengths between 0 and twice the average: each offset is off by up to half an average length either way.
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i <= segments; i += gridDim.x * blockDim.x) {
    const int jitter = static_cast<int>(bench::mixed(static_cast<unsigned>(i)) % static_cast<unsigned>(average + 1));
    const long long at = static_cast<long long>(i) * average + (i == 0 || i == segments ? 0 : jitter - average / 2);
    offsets[i] = static_cast<int>(at < n ? at : n);
  }
}

__global__ void slow_ragged(const float* in, int segments, const int* offsets, float* out) {
  for (int s = blockIdx.x * blockDim.x + threadIdx.x; s < segments; s += gridDim.x * blockDim.x) {
    double sum = 0;
    for (int i = offsets[s]; i < offsets[s + 1]; ++i) sum += static_cast<double>(in[i]);
    out[s] = static_cast<float>(sum);
  }
}

void ragged(bench::Harness& harness, Memory m, int average) {
  const int n = 1 << 26, segments_of = n / average;
  const std::string shape =
      std::to_string(segments_of) + " ragged segments of 0 to " + std::to_string(2 * average) + " floats";
  if (!harness.wanted("segmented reduce " + shape)) return;
  const auto* const in = reinterpret_cast<const float*>(m.in);
  auto* const out = reinterpret_cast<float*>(m.out);
  auto* const want = reinterpret_cast<float*>(m.reference);
  auto* const offsets = reinterpret_cast<int*>(m.reference + (std::size_t{1} << 30));
  fill_offsets<<<1056, 256>>>(offsets, segments_of, average, n);
  slow_ragged<<<1056, 256>>>(in, segments_of, offsets, want);
  const auto count = static_cast<std::size_t>(segments_of);
  const auto verified = [=] { return near(out, want, count); };
  const std::size_t bytes = 4 * static_cast<std::size_t>(n) + 8 * count;
  Case c{"segmented reduce", shape, bytes, [=] { CHECK(cudaMemset(out, 0xff, count * 4)); }, {}};
  c.contenders.push_back({Role::kOurs, "reduce_ragged",
                          [=](cudaStream_t s) {
                            std::size_t room = m.workspace_bytes / 2;
                            return mk::reduce_ragged(m.workspace + m.workspace_bytes / 2, room, out, in, count, offsets,
                                                     mk::Sum{}, s);
                          },
                          verified});
  c.contenders.push_back({Role::kPeer, "cub::DeviceSegmentedReduce",
                          [=](cudaStream_t s) {
                            std::size_t room = m.temporary_bytes;
                            return bench::cub_ragged(m.temporary, room, in, out, segments_of, offsets, s);
                          },
                          verified});
  c.contenders.push_back({Role::kCeiling,
                          "same reads and writes",
                          [=](cudaStream_t s) {
                            mix_ceiling(m, static_cast<std::size_t>(average), bytes / 4 - count, s);
                            return cudaGetLastError();
                          },
                          {}});
  harness.run(c);
}

// ---- scans ---------------------------------------------------------------------------------------------------------

__global__ void far_from_double(const float* a, const double* b, std::size_t n, unsigned* found) {
  for (std::size_t i = blockIdx.x * static_cast<std::size_t>(blockDim.x) + threadIdx.x; i < n;
       i += static_cast<std::size_t>(gridDim.x) * blockDim.x) {
    if (!(fabs(static_cast<double>(a[i]) - b[i]) <= 2e-5 * fabs(b[i]) + 1e-5)) atomicAdd(found, 1u);
  }
}

template <typename T>
void scans(bench::Harness& harness, Memory m, const char* type, std::size_t n, std::size_t offset, bool tuning) {
  const std::string shape = std::string("exclusive sum of ") + power(n) + " " + type +
                            (offset != 0 ? ", begin +" + std::to_string(offset * sizeof(T)) : "");
  if (!harness.wanted("scan " + shape)) return;
  const T* in = reinterpret_cast<const T*>(m.in) + offset;
  T* const out = reinterpret_cast<T*>(m.out) + offset;
  std::size_t bytes = m.temporary_bytes;
  if constexpr (std::is_same_v<T, float>) {
    CHECK(bench::cub_exclusive_double(m.temporary, bytes, in, reinterpret_cast<double*>(m.reference),
                                      static_cast<int>(n), nullptr));
  } else {
    CHECK(
        bench::cub_exclusive(m.temporary, bytes, in, reinterpret_cast<T*>(m.reference), static_cast<int>(n), nullptr));
  }
  const auto verified = [=] {
    if constexpr (std::is_same_v<T, float>) {
      static unsigned* found = bench::device_memory<unsigned>(4);
      CHECK(cudaMemset(found, 0, 4));
      far_from_double<<<1056, 256>>>(out, reinterpret_cast<const double*>(m.reference), n, found);
      unsigned host = 0;
      CHECK(cudaMemcpy(&host, found, 4, cudaMemcpyDeviceToHost));
      return host == 0;
    } else {
      return bench::differences(out, m.reference, n * sizeof(T)) == 0;
    }
  };
  Case c{"scan", shape, 2 * n * sizeof(T), [=] { CHECK(cudaMemset(m.out, 0xff, (n + offset) * sizeof(T))); }, {}};
  c.contenders.push_back({Role::kOurs, "exclusive_scan",
                          [=](cudaStream_t s) {
                            std::size_t room = m.workspace_bytes;
                            return mk::exclusive_scan(m.workspace, room, out, in, n, mk::Sum{}, T{}, s);
                          },
                          verified});
  if (tuning) {
    const auto variant = [&](const char* name, auto launch) {
      c.contenders.push_back({Role::kOurs, std::string("tile ") + name,
                              [=](cudaStream_t s) { return launch(m.workspace, out, in, n, mk::Sum{}, T{}, s); },
                              verified});
    };
    if (n >= std::size_t{1} << 24) {
      variant("512x8", mk::detail::launch_scan<512, 8, 1, true, T, mk::Sum>);
      variant("512x10", mk::detail::launch_scan<512, 10, 1, true, T, mk::Sum>);
      variant("512x12", mk::detail::launch_scan<512, 12, 1, true, T, mk::Sum>);
    }
  }
  c.contenders.push_back({Role::kPeer, "cub::DeviceScan",
                          [=](cudaStream_t s) {
                            std::size_t room = m.temporary_bytes;
                            return bench::cub_exclusive(m.temporary, room, in, out, static_cast<int>(n), s);
                          },
                          verified});
  bench::add_copy_ceilings(c, m.out, m.in, n * sizeof(T));
  harness.run(c);
}

// ---- histograms ----------------------------------------------------------------------------------------------------

enum class Spread { kUniform, kConstant, kHalfConstant, kSorted, kZipf };
const char* const kSpreads[] = {"uniform", "constant", "half constant", "sorted", "Zipf"};

__global__ void fill_bytes(unsigned char* bytes, std::size_t n, Spread spread) {
  for (std::size_t i = blockIdx.x * static_cast<std::size_t>(blockDim.x) + threadIdx.x; i < n;
       i += static_cast<std::size_t>(gridDim.x) * blockDim.x) {
    const unsigned h = bench::mixed(static_cast<unsigned>(i));
    unsigned b = h & 255u;
    if (spread == Spread::kConstant) b = 63;
    if (spread == Spread::kHalfConstant && (h >> 8 & 1u)) b = 63;
    if (spread == Spread::kSorted) b = static_cast<unsigned>(i * 256 / n);
    if (spread == Spread::kZipf)
      b = static_cast<unsigned>(exp2f(static_cast<float>(h >> 8) * (8.0f / 16777216.0f))) - 1;
    bytes[i] = static_cast<unsigned char>(b);
  }
}

__global__ void slow_histogram(const unsigned char* in, std::size_t n, unsigned* counts) {
  __shared__ unsigned table[256];
  table[threadIdx.x] = 0;
  __syncthreads();
  for (std::size_t i = blockIdx.x * std::size_t{256} + threadIdx.x; i < n; i += gridDim.x * std::size_t{256}) {
    atomicAdd(table + in[i], 1u);
  }
  __syncthreads();
  atomicAdd(counts + threadIdx.x, table[threadIdx.x]);
}

template <int kThreads, int kVectors>
void histogram_variant(Case& c, const char* name, unsigned* counts, const unsigned char* in, std::size_t n,
                       const std::function<bool()>& verified) {
  c.contenders.push_back({Role::kOurs, name,
                          [=](cudaStream_t s) {
                            return mk::detail::launch_histogram<kThreads, kVectors>(counts, 256u, in, n,
                                                                                    mk::detail::ByteBins{}, s);
                          },
                          verified});
}

void histograms(bench::Harness& harness, Memory m, std::size_t n, Spread spread, bool tuning) {
  const std::string shape = power(n) + " bytes, " + kSpreads[static_cast<int>(spread)];
  if (!harness.wanted("histogram " + shape)) return;
  auto* const in = reinterpret_cast<unsigned char*>(m.in);
  auto* const counts = reinterpret_cast<unsigned*>(m.out);
  auto* const want = reinterpret_cast<unsigned*>(m.reference);
  fill_bytes<<<2112, 256>>>(in, n, spread);
  CHECK(cudaMemset(want, 0, 1024));
  slow_histogram<<<1056, 256>>>(in, n, want);
  const auto verified = [=] { return bench::differences(counts, want, 1024) == 0; };
  Case c{"histogram", shape, n, [=] { CHECK(cudaMemset(counts, 0xff, 1024)); }, {}};
  c.contenders.push_back({Role::kOurs, "histogram_bytes",
                          [=](cudaStream_t s) { return mk::histogram_bytes(counts, in, n, s); }, verified});
  if (tuning) {
    histogram_variant<1024, 1>(c, "1024 threads; 1 vector", counts, in, n, verified);
    histogram_variant<1024, 3>(c, "1024 threads; 3 vectors", counts, in, n, verified);
    histogram_variant<1024, 4>(c, "1024 threads; 4 vectors", counts, in, n, verified);
    histogram_variant<512, 2>(c, "512 threads; 2 vectors", counts, in, n, verified);
    histogram_variant<512, 4>(c, "512 threads; 4 vectors", counts, in, n, verified);
  }
  c.contenders.push_back({Role::kPeer, "cub::DeviceHistogram",
                          [=](cudaStream_t s) {
                            std::size_t bytes = m.temporary_bytes;
                            return bench::cub_histogram(m.temporary, bytes, in, counts, 256, 0, 256,
                                                        static_cast<int>(n), s);
                          },
                          verified});
  c.contenders.push_back({Role::kCeiling,
                          "read kernel",
                          [=](cudaStream_t s) {
                            bench::read_ceiling(m.in, n, s);
                            return cudaGetLastError();
                          },
                          {}});
  harness.run(c);
}

template <typename T>
__global__ void slow_range(const T* in, std::size_t n, T lower, T upper, unsigned bins, unsigned* counts) {
  for (std::size_t i = blockIdx.x * std::size_t{256} + threadIdx.x; i < n; i += gridDim.x * std::size_t{256}) {
    if (!(in[i] >= lower && in[i] < upper)) continue;
    unsigned b;
    if constexpr (std::is_same_v<T, float>) {
      b = static_cast<unsigned>((in[i] - lower) * (static_cast<float>(bins) / (upper - lower)));
      if (b >= bins) b = bins - 1;
    } else {
      b = static_cast<unsigned>((static_cast<long long>(in[i]) - lower) * bins /
                                (static_cast<long long>(upper) - lower));
    }
    atomicAdd(counts + b, 1u);
  }
}

template <typename T>
void ranges(bench::Harness& harness, Memory m, const char* type, std::size_t n, unsigned bins, T lower, T upper) {
  const std::string shape = power(n) + " " + type + "s, " + std::to_string(bins) + " bins";
  if (!harness.wanted("histogram " + shape)) return;
  const T* const in = reinterpret_cast<const T*>(m.in);
  auto* const counts = reinterpret_cast<unsigned*>(m.out);
  auto* const want = reinterpret_cast<unsigned*>(m.reference);
  CHECK(cudaMemset(want, 0, bins * 4));
  slow_range<<<1056, 256>>>(in, n, lower, upper, bins, want);
  const auto verified = [=] { return bench::differences(counts, want, bins * 4) == 0; };
  Case c{"histogram", shape, n * 4, [=] { CHECK(cudaMemset(counts, 0xff, bins * 4)); }, {}};
  c.contenders.push_back({Role::kOurs, "histogram_range",
                          [=](cudaStream_t s) { return mk::histogram_range(counts, bins, in, n, lower, upper, s); },
                          verified});
  if (bins <= 8192)  // CUB refuses more
    c.contenders.push_back({Role::kPeer,
                            "cub::DeviceHistogram",
                            [=](cudaStream_t s) {
                              std::size_t bytes = m.temporary_bytes;
                              return bench::cub_histogram(m.temporary, bytes, in, counts, static_cast<int>(bins), lower,
                                                          upper, static_cast<int>(n), s);
                            },
                            {}});  // CUB rounds elsewhere at the bins' edges
  c.contenders.push_back({Role::kCeiling,
                          "read kernel",
                          [=](cudaStream_t s) {
                            bench::read_ceiling(m.in, n * 4, s);
                            return cudaGetLastError();
                          },
                          {}});
  harness.run(c);
}

}  // namespace

int main(int argc, char** argv) {
  bench::Harness harness(argc, argv);
  std::fprintf(stderr, "CUB %d\n", bench::cub_version());
  Memory m{};
  m.in = bench::device_memory(kBuffer);
  m.out = bench::device_memory(kBuffer);
  m.reference = bench::device_memory(kBuffer);
  m.workspace_bytes = m.temporary_bytes = std::size_t{64} << 20;
  m.workspace = bench::device_memory(m.workspace_bytes);
  m.temporary = bench::device_memory(m.temporary_bytes);
  CHECK(mk::prepare_workspace(m.workspace, m.workspace_bytes));
  bench::fill(m.in, kBuffer, bench::Fill::kUnit);
  for (int k = 10; k <= 28; k += k < 16 ? 3 : 2) sums<float, float>(harness, m, "float", std::size_t{1} << k, 0);
  for (const std::size_t n : {(std::size_t{1} << 20) - 1, (std::size_t{1} << 28) - 1})
    sums<float, float>(harness, m, "float", n, 1);
  for (std::size_t length = 2; length <= 4096; length *= 2) segments(harness, m, length, 0);
  for (const std::size_t length : {3u, 5u, 7u, 20u, 25u, 33u, 48u, 100u, 333u, 511u, 1000u, 1025u})
    segments(harness, m, length, 1);
  for (const int average : {2, 8, 32, 128, 1024, 100000}) ragged(harness, m, average);
  for (int k = 10; k <= 28; k += k < 16 ? 3 : 2) scans<float>(harness, m, "float", std::size_t{1} << k, 0, k >= 16);
  scans<float>(harness, m, "float", (std::size_t{1} << 28) - 1, 1, false);
  for (const unsigned bins : {10u, 256u, 1000u, 8192u, 100000u})
    ranges<float>(harness, m, "float", std::size_t{1} << 28, bins, 0.0f, 1.0f);
  bench::fill(m.in, kBuffer, bench::Fill::kSmall);
  for (const int k : {16, 20, 22, 28}) sums<int, int>(harness, m, "int", std::size_t{1} << k, 0);
  for (const int k : {16, 20, 28}) scans<int>(harness, m, "int", std::size_t{1} << k, 0, false);
  ranges<int>(harness, m, "int", std::size_t{1} << 28, 10, 0, 16);
  bench::fill(m.in, kBuffer, bench::Fill::kWords);
  ranges<int>(harness, m, "int", std::size_t{1} << 28, 256, -1000000000, 1000000000);
  for (const int k : {12, 16, 20, 24, 28}) {
    for (int spread = 0; spread < 5; ++spread)
      histograms(harness, m, std::size_t{1} << k, static_cast<Spread>(spread), k == 28 && spread < 2);
  }
  // Halves between 1 and 2, and doubles likewise, so that sums stay finite.
  std::vector<std::uint16_t> halves(std::size_t{1} << 22);
  for (std::size_t i = 0; i < halves.size(); ++i)
    halves[i] = static_cast<std::uint16_t>(0x3c00 | (bench::mixed(static_cast<std::uint32_t>(i)) & 0x3ff));
  for (std::size_t i = 0; i < (std::size_t{1} << 29); i += halves.size() * 2)
    CHECK(cudaMemcpy(m.in + i, halves.data(), halves.size() * 2, cudaMemcpyHostToDevice));
  for (const int k : {16, 20, 22, 28}) sums<__half, float>(harness, m, "half", std::size_t{1} << k, 0);
  std::vector<double> doubles(std::size_t{1} << 20);
  for (std::size_t i = 0; i < doubles.size(); ++i)
    doubles[i] = 1.0 + bench::mixed(static_cast<std::uint32_t>(i)) * 0x1p-32;
  for (std::size_t i = 0; i < (std::size_t{1} << 30); i += doubles.size() * 8)
    CHECK(cudaMemcpy(m.in + i, doubles.data(), doubles.size() * 8, cudaMemcpyHostToDevice));
  for (const int k : {16, 20, 22, 27}) sums<double, double>(harness, m, "double", std::size_t{1} << k, 0);
  return harness.failures() == 0 ? 0 : 1;
}
