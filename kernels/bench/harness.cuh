// Measuring by the rules of docs/kernels.md: contenders of one case take turns in one process, the L2 cache is filled
// by reading other memory before every call (or written, to see what dirty lines cost), medians come with
// distribution-free confidence intervals, and every contender's output is poisoned and verified before it is timed.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "../../lab/plain.cuh"

#define CHECK(call) LAB_CHECK(call)

namespace bench {

// ---- data ----------------------------------------------------------------------------------------------------------

using lab::mixed;

enum class Fill { kWords, kUnit, kSmall };  // random words; floats in [0, 1); integers below 16

struct FillWord {
  Fill fill;
  std::uint32_t seed;
  __device__ std::uint32_t operator()(std::size_t i) const {
    const std::uint32_t h = mixed(static_cast<std::uint32_t>(i) + seed);
    return fill == Fill::kWords  ? h
           : fill == Fill::kUnit ? __float_as_uint(static_cast<float>(h >> 8) * 5.9604644775390625e-8f)
                                 : h & 15u;
  }
};
struct SameByte {
  const unsigned char *a, *b;
  __device__ bool operator()(std::size_t i) const { return a[i] == b[i]; }
};

/// Bytes that differ.
inline unsigned long long differences(const void* a, const void* b, std::size_t bytes) {
  static unsigned long long* counter = nullptr;
  if (counter == nullptr) CHECK(cudaMalloc(&counter, sizeof *counter));
  CHECK(cudaMemset(counter, 0, sizeof *counter));
  lab::internal::check<<<2112, 256>>>(
      bytes, SameByte{static_cast<const unsigned char*>(a), static_cast<const unsigned char*>(b)}, counter);
  unsigned long long host = 0;
  CHECK(cudaMemcpy(&host, counter, sizeof host, cudaMemcpyDeviceToHost));
  return host;
}

/// Device memory that lasts as long as the program.
template <typename T = char>
T* device_memory(std::size_t bytes) {
  void* p = nullptr;
  CHECK(cudaMalloc(&p, bytes));
  return static_cast<T*>(p);
}

inline void fill(void* p, std::size_t bytes, Fill kind = Fill::kWords, std::uint32_t seed = 0) {
  lab::internal::fill<<<2112, 256>>>(static_cast<std::uint32_t*>(p), bytes / 4, FillWord{kind, seed});
  CHECK(cudaGetLastError());
}

// ---- ceilings ------------------------------------------------------------------------------------------------------

/// Reads and writes in another proportion: each thread reads `kReads` vectors and writes one.
template <int kReads>
__global__ void __launch_bounds__(256) mix_kernel(uint4* out, const uint4* in, std::size_t writes) {
  const std::size_t i = blockIdx.x * static_cast<std::size_t>(256) + threadIdx.x;
  if (i >= writes) return;
  const std::size_t base = blockIdx.x * static_cast<std::size_t>(256) * kReads + threadIdx.x;
  uint4 sum = make_uint4(0, 0, 0, 0);
#pragma unroll
  for (int k = 0; k < kReads; ++k) {
    const uint4 v = __ldcs(in + base + k * 256);
    sum.x ^= v.x, sum.y ^= v.y, sum.z ^= v.z, sum.w ^= v.w;
  }
  __stcs(out + i, sum);
}

template <int kVectors = 4, bool kOnce = true>
void copy_ceiling(void* out, const void* in, std::size_t bytes, cudaStream_t stream) {
  const std::size_t count = bytes / 16;
  if (count == 0) return;
  constexpr std::size_t kStep = 512 * kVectors;
  ceilings::copy_all<kVectors, kOnce><<<static_cast<unsigned>((count + kStep - 1) / kStep), 512, 0, stream>>>(
      static_cast<uint4*>(out), static_cast<const uint4*>(in), count);
}

inline void read_ceiling(const void* in, std::size_t bytes, cudaStream_t stream) {
  static unsigned* never = nullptr;
  if (never == nullptr) {
    CHECK(cudaMalloc(&never, 8));
    CHECK(cudaMemset(never, 0, 8));
  }
  const std::size_t count = bytes / 16;
  const std::size_t blocks = std::min<std::size_t>(528, (count + 2047) / 2048);
  if (blocks != 0)
    ceilings::read_all<true>
        <<<static_cast<unsigned>(blocks), 512, 0, stream>>>({static_cast<const uint4*>(in), count}, never);
}

// ---- one case ------------------------------------------------------------------------------------------------------

enum class Role { kOurs, kPeer, kCeiling };

struct Contender {
  Role role;
  std::string name;
  std::function<cudaError_t(cudaStream_t)> call;
  /// After a call on poisoned output: whether all of it is right. Empty where there is nothing to verify (ceilings).
  std::function<bool()> verified;
};

struct Case {
  std::string primitive;
  std::string shape;
  std::size_t bytes;             // useful bytes read and written; operations for what is bound by arithmetic
  std::function<void()> poison;  // of the output, before a verified call
  std::vector<Contender> contenders;
};

struct Options {
  int samples = 31;
  bool dirty = false;  // the flush writes instead of reading
  bool quick = false;
  std::string only;
  std::FILE* table = stdout;
  std::FILE* raw = nullptr;
};

/// The copies that a kernel of this size is held against: the fastest of them is its ceiling.
inline void add_copy_ceilings(Case& c, void* out, const void* in, std::size_t bytes) {
  const auto add = [&](const char* name, auto call) {
    c.contenders.push_back({Role::kCeiling,
                            name,
                            [=](cudaStream_t s) {
                              call(s);
                              return cudaGetLastError();
                            },
                            {}});
  };
  add("copy kernel", [=](cudaStream_t s) { copy_ceiling<4, true>(out, in, bytes, s); });
  add("copy kernel; plain", [=](cudaStream_t s) { copy_ceiling<4, false>(out, in, bytes, s); });
  add("copy kernel; 1 vector", [=](cudaStream_t s) { copy_ceiling<1, false>(out, in, bytes, s); });
  add("cudaMemcpyAsync", [=](cudaStream_t s) { cudaMemcpyAsync(out, in, bytes, cudaMemcpyDeviceToDevice, s); });
}

class Harness {
 public:
  Harness(int argc, char** argv) {
    for (int i = 1; i < argc; ++i) {
      const std::string word = argv[i];
      if (word == "--dirty")
        options_.dirty = true;
      else if (word == "--quick")
        options_.quick = true, options_.samples = 9;
      else if (word == "--samples" && i + 1 < argc)
        options_.samples = std::atoi(argv[++i]);
      else if (word == "--only" && i + 1 < argc)
        options_.only = argv[++i];
      else if (word == "--csv" && i + 1 < argc)
        options_.table = open(argv[++i]);
      else if (word == "--raw" && i + 1 < argc)
        options_.raw = open(argv[++i]);
      else {
        std::fprintf(stderr, "usage: %s [--only TEXT] [--quick] [--dirty] [--samples N] [--csv FILE] [--raw FILE]\n",
                     argv[0]);
        std::exit(2);
      }
    }
    CHECK(cudaMalloc(&flush_, kFlushBytes));
    fill(flush_, kFlushBytes);
    never_ = device_memory<unsigned>(8);
    CHECK(cudaMemset(never_, 0, 8));
    sentinel_ = device_memory<char>(2 * kSentinelBytes);
    fill(sentinel_, 2 * kSentinelBytes);
    std::fprintf(options_.table,
                 "primitive,shape,contender,role,flush,samples,bytes,median_us,low_us,high_us,min_us,gbps,"
                 "speed_vs_peer,low,high,of_ceiling,verified,sentinel_us\n");
  }
  ~Harness() {
    if (failures_ != 0) std::fprintf(stderr, "%d contenders gave wrong results\n", failures_);
  }

  bool wanted(const std::string& what) const {
    return options_.only.empty() || what.find(options_.only) != std::string::npos;
  }
  bool quick() const { return options_.quick; }
  int failures() const { return failures_; }

  void run(Case c) {
    std::replace(c.shape.begin(), c.shape.end(), ',', ';');  // fields of a table
    for (Contender& k : c.contenders) std::replace(k.name.begin(), k.name.end(), ',', ';');
    if (!wanted(c.primitive + " " + c.shape)) return;
    const std::size_t n = c.contenders.size();
    std::vector<int> verdicts(n, -1);
    for (std::size_t i = 0; i < n; ++i) {
      if (c.poison) c.poison();
      const cudaError_t error = c.contenders[i].call(nullptr);
      const cudaError_t after = cudaDeviceSynchronize();
      if (error != cudaSuccess || after != cudaSuccess) {
        std::fprintf(stderr, "%s %s %s: %s\n", c.primitive.c_str(), c.shape.c_str(), c.contenders[i].name.c_str(),
                     cudaGetErrorString(error != cudaSuccess ? error : after));
        std::exit(1);
      }
      if (c.contenders[i].verified) {
        verdicts[i] = c.contenders[i].verified() ? 1 : 0;
        if (verdicts[i] == 0) {
          std::fprintf(stderr, "WRONG: %s %s %s\n", c.primitive.c_str(), c.shape.c_str(), c.contenders[i].name.c_str());
          ++failures_;
        }
      }
    }
    std::vector<std::vector<float>> times(n + 1);
    const int warm = 3;
    for (int round = 0; round < options_.samples + warm; ++round) {
      for (std::size_t k = 0; k <= n; ++k) {
        const std::size_t i = k == n ? n : (k + static_cast<std::size_t>(round)) % n;
        const float t = i == n ? timed([&](cudaStream_t s) {
          copy_ceiling<>(sentinel_ + kSentinelBytes, sentinel_, kSentinelBytes, s);
          return cudaSuccess;
        })
                               : timed(c.contenders[i].call);
        if (round >= warm) times[i].push_back(t);
      }
    }
    CHECK(cudaGetLastError());
    report(c, verdicts, times);
  }

 private:
  static constexpr std::size_t kFlushBytes = std::size_t{256} << 20;
  static constexpr std::size_t kSentinelBytes = std::size_t{64} << 20;

  static std::FILE* open(const char* path) {
    std::FILE* file = std::fopen(path, "w");
    if (file == nullptr) {
      std::fprintf(stderr, "cannot write %s\n", path);
      std::exit(2);
    }
    return file;
  }

  /// Microseconds between events around a call. The flush runs for about 60 us before it, so that both events and the
  /// call wait in the queue by then, and no launch overhead of the host is measured.
  float timed(const std::function<cudaError_t(cudaStream_t)>& call) {
    if (options_.dirty) {
      CHECK(cudaMemsetAsync(flush_, ++flushes_ & 255, kFlushBytes));
    } else {
      lab::flush(flush_, kFlushBytes, never_);
    }
    return static_cast<float>(events_.us([&] { CHECK(call(nullptr)); }));
  }

  struct Median {
    float value, low, high, min;
  };
  /// Median and its 95 % interval by order statistics (normal approximation of the binomial).
  static Median median(std::vector<float> v) {
    std::sort(v.begin(), v.end());
    const double n = static_cast<double>(v.size());
    const double half = 0.98 * std::sqrt(n);
    const auto at = [&](double i) { return v[static_cast<std::size_t>(std::min(std::max(i, 0.0), n - 1))]; };
    return {v[v.size() / 2], at(std::floor(n / 2 - half)), at(std::ceil(n / 2 + half)), v.front()};
  }
  static std::vector<float> ratios(const std::vector<float>& a, const std::vector<float>& b) {
    std::vector<float> r(a.size());
    for (std::size_t i = 0; i < a.size(); ++i) r[i] = a[i] / b[i];
    return r;
  }

  void report(const Case& c, const std::vector<int>& verdicts, const std::vector<std::vector<float>>& times) {
    const std::size_t n = c.contenders.size();
    std::size_t peer = n, ceiling = n;
    for (std::size_t i = 0; i < n; ++i) {
      std::size_t& best = c.contenders[i].role == Role::kPeer ? peer : ceiling;
      if (c.contenders[i].role == Role::kOurs) continue;
      if (best == n || median(times[i]).value < median(times[best]).value) best = i;
    }
    const float sentinel = median(times[n]).value;
    for (std::size_t i = 0; i < n; ++i) {
      const Contender& k = c.contenders[i];
      const Median m = median(times[i]);
      const char* role = k.role == Role::kOurs ? "ours" : k.role == Role::kPeer ? "peer" : "ceiling";
      std::fprintf(options_.table, "%s,%s,%s,%s,%s,%zu,%zu,%.2f,%.2f,%.2f,%.2f,%.1f,", c.primitive.c_str(),
                   c.shape.c_str(), k.name.c_str(), role, options_.dirty ? "dirty" : "clean", times[i].size(), c.bytes,
                   static_cast<double>(m.value), static_cast<double>(m.low), static_cast<double>(m.high),
                   static_cast<double>(m.min), static_cast<double>(c.bytes) / static_cast<double>(m.value) / 1e3);
      if (peer != n && i != peer) {
        const Median r = median(ratios(times[peer], times[i]));
        std::fprintf(options_.table, "%.3f,%.3f,%.3f,", static_cast<double>(r.value), static_cast<double>(r.low),
                     static_cast<double>(r.high));
      } else {
        std::fprintf(options_.table, ",,,");
      }
      if (ceiling != n) {
        std::fprintf(options_.table, "%.3f", static_cast<double>(median(ratios(times[ceiling], times[i])).value));
      }
      std::fprintf(options_.table, ",%s,%.2f\n",
                   verdicts[i] < 0    ? ""
                   : verdicts[i] == 1 ? "yes"
                                      : "NO",
                   static_cast<double>(sentinel));
      if (options_.raw != nullptr) {
        std::fprintf(options_.raw, "%s,%s,%s", c.primitive.c_str(), c.shape.c_str(), k.name.c_str());
        for (const float t : times[i]) std::fprintf(options_.raw, ",%.2f", static_cast<double>(t));
        std::fprintf(options_.raw, "\n");
      }
    }
    std::fflush(options_.table);
  }

  Options options_;
  char* flush_ = nullptr;
  char* sentinel_ = nullptr;
  unsigned* never_ = nullptr;
  int flushes_ = 0;
  int failures_ = 0;
  lab::Events events_;
};

}  // namespace bench
