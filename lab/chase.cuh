// Latencies by pointer chase: every load's address is the word that the load before gave, so that one lane of one warp
// waits for each. Chains visit all lines of a range once, in an order with no pattern (a linear congruence of full
// period).
#pragma once

#include <cmath>
#include <type_traits>

#include "lab.cuh"

namespace chase {

constexpr std::size_t kLine = 128;

/// The line after line i in a round over `lines` (a power of two, or three times one): Hull and Dobell's conditions for
/// a full period hold for these factors.
__host__ __device__ inline std::uint64_t next_line(std::uint64_t i, std::uint64_t lines) {
  return (i * 1664533u + 1013904223u) % lines;
}

struct Link {
  std::uint64_t base, lines;
  std::uint32_t unit;  ///< bytes between elements of the chain
  bool offsets;        ///< words of 4 bytes hold offsets; else 8 bytes hold addresses
  __device__ std::uint32_t operator()(std::size_t word) const {
    const std::uint64_t at = word * 4, i = at / unit, inside = at % unit;
    const std::uint64_t to = (offsets ? 0 : base) + next_line(i, lines) * unit;
    if (offsets) return inside == 0 ? static_cast<std::uint32_t>(to) : 0u;
    return inside == 0 ? static_cast<std::uint32_t>(to) : inside == 4 ? static_cast<std::uint32_t>(to >> 32) : 0u;
  }
};

enum class Through { kL1, kL2, kVolatile };

template <Through kThrough>
__device__ inline std::uint64_t follow(std::uint64_t p) {
  const auto* at = reinterpret_cast<const unsigned long long*>(p);
  if (kThrough == Through::kL1) return __ldca(at);
  if (kThrough == Through::kL2) return __ldcg(at);
  return *const_cast<const volatile unsigned long long*>(at);
}

/// out[0]: cycles of `steps` dependent loads (a multiple of 16) after `warm` others; out[1]: where the chase ended.
template <Through kThrough>
__global__ void global_memory(std::uint64_t begin, int warm, int steps, long long* out) {
  std::uint64_t p = begin;
  for (int i = 0; i < warm; ++i) p = follow<kThrough>(p);
  if (p == 1) return;
  const long long start = clock64();
  for (int i = 0; i < steps; i += 16) {
#pragma unroll
    for (int k = 0; k < 16; ++k) p = follow<kThrough>(p);
  }
  out[1] = static_cast<long long>(p);
  out[0] = clock64() - start + (p == 1);
}

/// All of constant memory: who measures fills it.
__constant__ unsigned constant_chain[16384];

/// A chain of byte offsets in constant memory.
__global__ void constant_memory(int warm, int steps, long long* out) {
  unsigned p = 0;
  const char* const base = reinterpret_cast<const char*>(constant_chain);
  for (int i = 0; i < warm; ++i) p = *reinterpret_cast<const unsigned*>(base + p);
  if (p == 1) return;
  const long long start = clock64();
  for (int i = 0; i < steps; i += 16) {
#pragma unroll
    for (int k = 0; k < 16; ++k) p = *reinterpret_cast<const unsigned*>(base + p);
  }
  out[1] = p;
  out[0] = clock64() - start + (p == 1);
}

__global__ void shared_memory(int steps, long long* out) {
  __shared__ __align__(128) char bytes[4096];
  for (unsigned i = threadIdx.x; i < 1024; i += 32)
    reinterpret_cast<unsigned*>(bytes)[i] = static_cast<unsigned>(next_line(i, 1024) * 4);
  __syncwarp();
  unsigned p = 0;
  const long long start = clock64();
  for (int i = 0; i < steps; i += 16) {
#pragma unroll
    for (int k = 0; k < 16; ++k) p = *reinterpret_cast<const unsigned*>(bytes + p);
  }
  if (threadIdx.x == 0) out[1] = p;
  const long long cycles = clock64() - start + (p == 1);
  if (threadIdx.x == 0) out[0] = cycles;
}

/// What waits for nothing but registers: dependent multiply-adds, integer adds, shuffles.
enum class Operation { kFloat, kInteger, kShuffle, kDouble };
template <Operation kOperation>
__global__ void registers(int steps, unsigned seed, long long* out) {
  float f = 0.25f * static_cast<float>(seed);
  double d = 0.25 * seed;
  unsigned u = seed + threadIdx.x;  // of all lanes alike, a shuffle would be dropped
  const long long start = clock64();
  for (int i = 0; i < steps; i += 16) {
#pragma unroll
    for (int k = 0; k < 16; ++k) {
      if (kOperation == Operation::kFloat) f = fmaf(f, -f, 1.2f);
      if (kOperation == Operation::kDouble) d = fma(d, -d, 1.2);
      if (kOperation == Operation::kInteger) u = u * u + seed;
      if (kOperation == Operation::kShuffle)  // volatile: between the two readings of the clock
        asm volatile("shfl.sync.idx.b32 %0, %0, %0, 31, -1;" : "+r"(u));
    }
  }
  const bool never = f == 12345.0f || u == 0x12345u || d == 12345.0;
  const long long cycles = clock64() - start + never;
  if (threadIdx.x != 0) return;
  out[0] = cycles;
  out[1] = kOperation == Operation::kFloat    ? static_cast<long long>(__float_as_uint(f))
           : kOperation == Operation::kDouble ? __double_as_longlong(d)
                                              : static_cast<long long>(u);
}
/// What lane 0 ends with.
template <Operation kOperation>
long long registers_end(int steps, unsigned seed) {
  float f = 0.25f * static_cast<float>(seed);
  double d = 0.25 * seed;
  unsigned u = seed, lanes[32];
  for (unsigned lane = 0; lane < 32; ++lane) lanes[lane] = seed + lane;
  for (int i = 0; i < steps; ++i) {
    f = std::fma(f, -f, 1.2f);
    d = std::fma(d, -d, 1.2);
    u = u * u + seed;
    unsigned shuffled[32];
    for (unsigned lane = 0; lane < 32; ++lane) shuffled[lane] = lanes[lanes[lane] % 32];
    std::memcpy(lanes, shuffled, sizeof lanes);
  }
  unsigned bits = 0;
  std::memcpy(&bits, &f, 4);
  long long both = 0;
  std::memcpy(&both, &d, 8);
  return kOperation == Operation::kFloat     ? static_cast<long long>(bits)
         : kOperation == Operation::kDouble  ? both
         : kOperation == Operation::kInteger ? static_cast<long long>(u)
                                             : static_cast<long long>(lanes[0]);
}

__global__ void texture_memory(cudaTextureObject_t texture, int warm, int steps, long long* out) {
  int p = 0;
  for (int i = 0; i < warm; ++i) p = static_cast<int>(tex1Dfetch<unsigned>(texture, p));
  if (p == -1) return;
  const long long start = clock64();
  for (int i = 0; i < steps; i += 16) {
#pragma unroll
    for (int k = 0; k < 16; ++k) p = static_cast<int>(tex1Dfetch<unsigned>(texture, p));
  }
  out[1] = p;
  out[0] = clock64() - start + (p == -1);
}

/// Atomic adds of zero whose result is the next address's offset (always zero).
template <bool kShared>
__global__ void atomics(unsigned* words, int steps, long long* out) {
  __shared__ unsigned shared[32];
  shared[threadIdx.x % 32] = 0;
  __syncwarp();
  unsigned* const base = kShared ? shared : words;
  unsigned p = 0;
  const long long start = clock64();
  for (int i = 0; i < steps; i += 16) {
#pragma unroll
    for (int k = 0; k < 16; ++k) p = atomicAdd(base + p, 0u);
  }
  const long long cycles = clock64() - start + (p == 1);
  if (threadIdx.x == 0) out[0] = cycles, out[1] = p;
}

struct Zero {
  __device__ std::uint32_t operator()(std::size_t) const { return 0; }
};

inline long long* results() {
  static long long* out = nullptr;
  if (out == nullptr) LAB_CHECK(cudaMalloc(&out, 16));
  return out;
}

/// Where the last chase ended.
inline long long& ended_at() {
  static long long place = -1;
  return place;
}

/// Runs the kernel that `launch` starts and gives cycles per step.
inline double cycles_per_step(const std::function<void(long long*)>& launch, int steps) {
  LAB_CHECK(cudaMemset(results(), 0xff, 16));
  launch(results());
  LAB_CHECK(cudaGetLastError());
  long long both[2];
  LAB_CHECK(cudaMemcpy(both, results(), 16, cudaMemcpyDeviceToHost));
  ended_at() = both[1];
  return static_cast<double>(both[0]) / steps;
}

/// The element on which `steps` steps from element 0 of a round over `count` end.
inline long long place_after(int steps, std::uint64_t count) {
  std::uint64_t place = 0;
  for (int i = 0; i < steps; ++i) place = next_line(place, count);
  return static_cast<long long>(place);
}

/// A row whose chase must end at `end`.
inline lab::Row latency_row(const std::string& name, std::size_t size, const char* why, int steps,
                            std::function<void(long long*)> launch, long long end) {
  lab::Row row;
  row.name = name;
  row.x = static_cast<double>(size);
  row.x_unit = size == 0 ? "" : "B";
  row.unit = "cycles";
  row.why = why;
  row.own = [=] { return cycles_per_step(launch, steps); };
  row.verified = [=] { return ended_at() == end; };
  return row;
}

/// Sizes of a sweep: 1, 1.5, 2, 3, 4, ... times a power of two.
inline std::vector<std::size_t> sizes(std::size_t from, std::size_t to) {
  std::vector<std::size_t> all;
  for (std::size_t size = from; size <= to; size *= 2) {
    all.push_back(size);
    if (size + size / 2 <= to) all.push_back(size + size / 2);
  }
  return all;
}

inline const char* level_of(std::size_t size, bool through_l1, std::size_t l2) {
  if (through_l1 && size <= 192u << 10) return "in the L1 cache";
  if (size <= l2 / 2) return "in the L2 cache";
  if (size <= 4 * l2) return "partly in the L2 cache";
  return "DRAM";
}

inline void global_rows(lab::Lab& lab, const char* experiment, bool through_l1) {
  if (!lab.wanted(experiment)) return;
  const std::size_t largest = lab.pick(std::size_t{1} << 30, std::size_t{1} << 28, 1 << 14);
  char* const data = lab.memory(largest);
  std::vector<lab::Row> rows;
  const int steps = static_cast<int>(lab.pick(4096, 2048, 32));
  const std::size_t l2 = static_cast<std::size_t>(lab.device().l2CacheSize);
  const auto base = reinterpret_cast<std::uint64_t>(data);
  for (const std::size_t size : sizes(lab.counting() ? largest : std::size_t{2048}, largest)) {
    const std::size_t lines = size / kLine;
    const int warm = static_cast<int>(lab.counting() ? 0 : size <= 2 * l2 ? lines : 0);
    const auto launch = [=](long long* out) {
      if (through_l1)
        global_memory<Through::kL1><<<1, 1>>>(base, warm, steps, out);
      else
        global_memory<Through::kL2><<<1, 1>>>(base, warm, steps, out);
    };
    rows.push_back(latency_row(std::string(through_l1 ? "through L1, " : "past L1, ") + lab::size_text(size), size,
                               level_of(size, through_l1, l2), steps, launch,
                               static_cast<long long>(base) + place_after(warm + steps, lines) * long{kLine}));
  }
  // Each row needs its own chain in the buffer: build before the chase, in every sample.
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::size_t size = static_cast<std::size_t>(rows[i].x);
    const auto measure = rows[i].own;
    rows[i].own = [=, &lab] {
      lab.fill(data, size, Link{base, size / kLine, kLine, false});
      return measure();
    };
  }
  lab.run(experiment, rows);
  LAB_CHECK(cudaFree(data));
}

inline void latencies(lab::Lab& lab) {
  const int steps = static_cast<int>(lab.pick(4096, 1024, 32));
  if (lab.wanted("latency-registers")) {
    std::vector<lab::Row> rows;
    const auto add = [&](const char* name, auto operation, const char* why) {
      constexpr Operation kOperation = decltype(operation)::value;
      rows.push_back(latency_row(
          name, 0, why, steps, [=](long long* out) { registers<kOperation><<<1, 32>>>(steps, 3, out); },
          registers_end<kOperation>(steps, 3)));
    };
    const char* const why = "the result of one instruction is the operand of the next";
    add("fused multiply-add, float", std::integral_constant<Operation, Operation::kFloat>{}, why);
    add("fused multiply-add, double", std::integral_constant<Operation, Operation::kDouble>{}, why);
    add("multiply-add, int", std::integral_constant<Operation, Operation::kInteger>{}, why);
    add("shuffle", std::integral_constant<Operation, Operation::kShuffle>{}, "through the shared memory's crossbar");
    lab.run("latency-registers", rows);
  }
  if (lab.wanted("latency-shared"))
    lab.run("latency-shared",
            {latency_row(
                "dependent loads of 4 B", 4096, "shared memory", steps,
                [=](long long* out) { shared_memory<<<1, 32>>>(steps, out); }, place_after(steps, 1024) * 4)});
  if (lab.wanted("latency-constant")) {
    std::vector<lab::Row> rows;
    for (const std::size_t size : sizes(lab.counting() ? 65536 : 512, 65536)) {
      rows.push_back(latency_row(
          "constant memory, " + lab::size_text(size), size,
          size <= 2048    ? "first constant cache"
          : size <= 49152 ? "second constant cache"
                          : "more than the constant caches hold",
          steps, [=](long long* out) { constant_memory<<<1, 1>>>(static_cast<int>(size / 64), steps, out); },
          place_after(static_cast<int>(size / 64) + steps, size / 64) * 64));
      const auto measure = rows.back().own;
      rows.back().own = [=] {
        std::vector<unsigned> chain(16384);
        for (std::size_t i = 0; i < size / 64; ++i) chain[i * 16] = static_cast<unsigned>(next_line(i, size / 64) * 64);
        LAB_CHECK(cudaMemcpyToSymbol(constant_chain, chain.data(), 65536));
        return measure();
      };
    }
    lab.run("latency-constant", rows);
  }
  global_rows(lab, "latency-l1", true);
  global_rows(lab, "latency-l2-dram", false);
  if (lab.wanted("latency-texture")) {
    std::vector<lab::Row> rows;
    for (const std::size_t size :
         {std::size_t{16} << 10, lab.pick(std::size_t{4} << 20, std::size_t{4} << 20, 32 << 10)}) {
      char* const data = lab.memory(size);
      // A chain of indices: `unit` of 1 element in words of 4 bytes would follow lines of 128 bytes as 32 elements
      // each.
      std::vector<unsigned> chain(size / 4);
      const std::size_t lines = size / kLine;
      for (std::size_t i = 0; i < lines; ++i) chain[i * 32] = static_cast<unsigned>(next_line(i, lines) * 32);
      LAB_CHECK(cudaMemcpy(data, chain.data(), size, cudaMemcpyHostToDevice));
      cudaResourceDesc resource{};
      resource.resType = cudaResourceTypeLinear;
      resource.res.linear.devPtr = data;
      resource.res.linear.desc = cudaCreateChannelDesc<unsigned>();
      resource.res.linear.sizeInBytes = size;
      cudaTextureDesc description{};
      cudaTextureObject_t texture = 0;
      LAB_CHECK(cudaCreateTextureObject(&texture, &resource, &description, nullptr));
      const int warm = lab.counting() ? 0 : static_cast<int>(lines);
      rows.push_back(latency_row(
          "texel fetches, " + lab::size_text(size), size,
          size < (64u << 10) ? "in the L1 cache, through the texture unit"
                             : "in the L2 cache, through the texture unit",
          steps, [=](long long* out) { texture_memory<<<1, 1>>>(texture, warm, steps, out); },
          place_after(warm + steps, lines) * 32));
    }
    lab.run("latency-texture", rows);
  }
  if (lab.wanted("latency-atomics")) {
    auto* const words = lab.memory<unsigned>(4096);
    lab.fill(words, 4096, Zero{});
    lab.run("latency-atomics", {latency_row(
                                    "shared memory, one lane", 0, "shared memory has an atomic unit of its own", steps,
                                    [=](long long* out) { atomics<true><<<1, 1>>>(words, steps, out); }, 0),
                                latency_row(
                                    "global memory, one lane", 0, "atomics are done in the L2 cache", steps,
                                    [=](long long* out) { atomics<false><<<1, 1>>>(words, steps, out); }, 0)});
  }
  if (lab.wanted("latency-host")) {
    const std::size_t size = lab.pick(1 << 20, 1 << 20, 1 << 12);
    char* host = nullptr;
    LAB_CHECK(cudaHostAlloc(&host, size, cudaHostAllocMapped));
    void* device = nullptr;
    LAB_CHECK(cudaHostGetDevicePointer(&device, host, 0));
    const auto base = reinterpret_cast<std::uint64_t>(device);
    for (std::size_t i = 0; i < size / kLine; ++i)
      *reinterpret_cast<std::uint64_t*>(host + i * kLine) = base + next_line(i, size / kLine) * kLine;
    const int few = static_cast<int>(lab.pick(256, 128, 16));
    lab.run("latency-host",
            {latency_row(
                "zero-copy, " + lab::size_text(size), size, "every load crosses the bus to the host", few,
                [=](long long* out) { global_memory<Through::kVolatile><<<1, 1>>>(base, 0, few, out); },
                static_cast<long long>(base) + place_after(few, size / kLine) * long{kLine})});
    LAB_CHECK(cudaFreeHost(host));
  }
}

}  // namespace chase
