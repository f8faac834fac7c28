// What the programs of the lab share: options, data, verification, timing in rounds, one line of JSON per result.
//
//   program [--list] [--only NAME,NAME] [--mode count|quick|full] [--samples N] [--out FILE]
//
// full and quick time every row by the rules of docs/lab.md. count, which is the default, runs each row once on small
// data and times nothing: for `muscope run` and Nsight Compute, which count what its kernels do. Without --out only the
// verdict is printed; "-" is stdout. Helper kernels are in lab::internal, so that who counts can leave them out.
// `muscope lab` (src/lab) turns the samples into tables; nothing is summed up here.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "measure.cuh"

namespace lab {

/// A copy of 16 bytes per lane, four loads in flight: blocks of 512 threads take 2,048 vectors each.
__device__ inline void copy_by_blocks(uint4* out, const uint4* in, std::size_t count) {
  const std::size_t base = blockIdx.x * std::size_t{2048} + threadIdx.x;
  uint4 v[4];
#pragma unroll
  for (int k = 0; k < 4; ++k)
    if (base + k * 512 < count) v[k] = in[base + k * 512];
#pragma unroll
  for (int k = 0; k < 4; ++k)
    if (base + k * 512 < count) out[base + k * 512] = v[k];
}

namespace internal {

/// The same body as that of a kernel which only reads; its sums are written.
template <typename Body>
__global__ void __launch_bounds__(1024) told(Body body, std::uint32_t* out) {
  out[blockIdx.x * std::size_t{blockDim.x} + threadIdx.x] = body();
}
/// `expected` says what the sum of a thread is: of its block, its place in it, and how many blocks there are.
template <typename Expected>
struct ToldRight {
  Expected expected;
  const std::uint32_t* out;
  unsigned blocks, threads;
  __device__ bool operator()(std::size_t i) const {
    return out[i] == expected(static_cast<unsigned>(i / threads), static_cast<unsigned>(i % threads), blocks);
  }
};

/// The SM clock while it works: cycles against nanoseconds.
static __global__ void spin(long long nanoseconds, long long* out) {
  unsigned long long begin, now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin));
  const long long clock = clock64();
  do asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  while (static_cast<long long>(now - begin) < nanoseconds);
  out[0] = clock64() - clock;
  out[1] = static_cast<long long>(now - begin);
}

static __global__ void empty() {}

/// The sentinel of every round.
static __global__ void __launch_bounds__(512) sentinel(uint4* out, const uint4* in, std::size_t count) {
  copy_by_blocks(out, in, count);
}

struct MixedWord {
  std::uint32_t offset;
  __device__ std::uint32_t operator()(std::size_t i) const { return mixed(static_cast<std::uint32_t>(i) + offset); }
};

}  // namespace internal

enum class Flush { kClean, kDirty, kWarm };

/// One line of a table. Times come from events around `call`, unless `own` measures in another way.
struct Row {
  std::string name;
  std::function<void(cudaStream_t)> call;
  double x = 0;          ///< place on the sweep
  double bytes = 0;      ///< useful bytes read and written per call; with work "op": operations
  const char* mix = "";  ///< whose ceiling it is held against: read, write, copy, triad; empty: none
  const char* why = "";  ///< one line: what explains this row
  int launches = 1;      ///< kernels per call
  Flush flush = Flush::kClean;
  std::function<void()> poison;    ///< of the output, before the verified call
  std::function<bool()> verified;  ///< empty: nothing to verify
  std::function<double()> own;     ///< a sample measured in its own way, in `unit`
  /// With `own`: what it measures, only put into the stream; then short rows are timed back to back too.
  std::function<void(cudaStream_t)> queued;
  const char* unit = "us";    ///< of the samples: us, ns, cycles, B/clk
  const char* work = "byte";  ///< what `bytes` counts: byte, op
  const char* x_unit = "";
  double bus = 0;           ///< of collectives: bytes per link and direction over `bytes`
  const char* series = "";  ///< rows of one series differ in x, bytes, alone: overhead and bandwidth are fitted to them
};

class Lab {
 public:
  Lab(int argc, char** argv, const char* program) : program_(program) {
    for (int i = 1; i < argc; ++i) {
      const std::string word = argv[i];
      const bool more = i + 1 < argc;
      if (word == "--list") {
        list_ = true;
      } else if (word == "--only" && more) {
        only_ = std::string(",") + argv[++i] + ",";
      } else if (word == "--mode" && more) {
        mode_ = argv[++i];
      } else if (word == "--samples" && more) {
        samples_ = std::atoi(argv[++i]);
      } else if (word == "--out" && more) {
        const char* const name = argv[++i];
        out_ = std::strcmp(name, "-") == 0 ? stdout : std::fopen(name, "w");
        if (out_ == nullptr) std::fprintf(stderr, "%s: cannot write %s\n", argv[0], name), std::exit(2);
      } else {
        std::fprintf(stderr, "usage: %s [--list] [--only NAMES] [--mode count|quick|full] [--samples N] [--out FILE]\n",
                     argv[0]);
        std::exit(2);
      }
    }
    if (samples_ < 0 || (mode_ != "full" && mode_ != "quick" && mode_ != "count")) {
      std::fprintf(stderr, "%s: unknown mode\n", argv[0]);
      std::exit(2);
    }
    if (samples_ == 0) samples_ = mode_ == "quick" ? 11 : 31;
    if (list_) return;
    LAB_CHECK(cudaGetDeviceProperties(&device_, 0));
    flush_bytes_ = counting() ? 4096 : std::size_t{256} << 20;
    sentinel_bytes_ = counting() ? 4096 : std::size_t{64} << 20;
    flush_ = memory(flush_bytes_);
    sentinel_ = memory(2 * sentinel_bytes_);
    LAB_CHECK(cudaMalloc(&never_, 64));
    LAB_CHECK(cudaMemset(never_, 0, 64));
    say("{\"type\":\"begin\",\"format\":\"muscope.lab.raw/1\",\"program\":\"%s\",\"mode\":\"%s\",\"samples\":%d}\n",
        program_.c_str(), mode_.c_str(), samples_);
    environment();
  }

  bool counting() const { return mode_ == "count"; }
  bool quick() const { return mode_ != "full"; }
  std::size_t pick(std::size_t full, std::size_t quick, std::size_t count) const {
    return mode_ == "full" ? full : mode_ == "quick" ? quick : count;
  }
  int multiprocessors() const { return device_.multiProcessorCount; }
  const cudaDeviceProp& device() const { return device_; }
  /// For stores that never happen.
  unsigned* never() const { return never_; }
  bool listing() const { return list_; }

  /// Whether to run that experiment now.
  bool wanted(const char* experiment) {
    if (list_) {
      std::printf("%s\n", experiment);
      return false;
    }
    return only_.empty() || only_.find(std::string(",") + experiment + ",") != std::string::npos;
  }

  /// Device memory with mixed(word + offset) in it; lives as long as the program.
  template <typename T = char>
  T* memory(std::size_t bytes, std::uint32_t offset = 0) {
    void* p = nullptr;
    LAB_CHECK(cudaMalloc(&p, std::max<std::size_t>(bytes, 16)));
    fill(p, bytes, internal::MixedWord{offset});
    return static_cast<T*>(p);
  }
  template <typename Value>
  void fill(void* p, std::size_t bytes, Value value) {
    internal::fill<<<blocks(), 256>>>(static_cast<std::uint32_t*>(p), bytes / 4, value);
    LAB_CHECK(cudaGetLastError());
  }
  /// Whether right(i) holds for all i < count; `right` is a structure with a device function operator().
  template <typename Right>
  bool check(std::size_t count, Right right) {
    if (wrong_ == nullptr) LAB_CHECK(cudaMalloc(&wrong_, 8));
    LAB_CHECK(cudaMemset(wrong_, 0, 8));
    internal::check<<<blocks(), 256>>>(count, right, wrong_);
    unsigned long long wrong = 0;
    LAB_CHECK(cudaMemcpy(&wrong, wrong_, 8, cudaMemcpyDeviceToHost));
    return wrong == 0;
  }

  /// Whether a kernel that only reads sums up what it must: its body in a kernel that tells the sums.
  template <typename Body, typename Expected>
  bool sums_up(unsigned blocks, unsigned threads, Body body, Expected expected) {
    std::uint32_t* sums = nullptr;
    const std::size_t count = std::size_t{blocks} * threads;
    LAB_CHECK(cudaMalloc(&sums, 4 * count));
    LAB_CHECK(cudaMemset(sums, 0xff, 4 * count));
    internal::told<<<blocks, threads>>>(body, sums);
    const bool right = check(count, internal::ToldRight<Expected>{expected, sums, blocks, threads});
    LAB_CHECK(cudaFree(sums));
    return right;
  }

  /// SM clock in MHz now, by a spinning kernel.
  double clock_mhz() {
    if (counting()) return 0;
    if (spin_ == nullptr) LAB_CHECK(cudaMalloc(&spin_, 16));
    internal::spin<<<1, 1>>>(20000, spin_);
    long long both[2];
    LAB_CHECK(cudaMemcpy(both, spin_, 16, cudaMemcpyDeviceToHost));
    return both[1] > 0 ? 1e3 * static_cast<double>(both[0]) / static_cast<double>(both[1]) : 0;
  }

  void run(const char* experiment, const std::vector<Row>& rows) {
    const std::size_t n = rows.size();
    std::vector<const char*> verdicts(n, "-");
    for (std::size_t i = 0; i < n; ++i) {
      if (rows[i].own && !rows[i].call && !rows[i].verified) {
        if (counting()) rows[i].own();
        continue;
      }
      verdicts[i] = verdict_of(rows[i], [&] { rows[i].call ? rows[i].call(nullptr) : void(rows[i].own()); });
      if (*verdicts[i] == 'N') blame(experiment, rows[i], "");
    }
    std::vector<std::vector<double>> samples(n);
    std::vector<double> sentinels;
    const double clock_before = clock_mhz();
    const int warm = counting() ? 0 : 3, rounds = counting() ? 0 : samples_ + warm;
    for (int round = 0; round < rounds; ++round) {
      for (std::size_t k = 0; k < n; ++k) {
        const Row& row = rows[(k + static_cast<std::size_t>(round)) % n];
        const double sample = row.own ? row.own() : timed(row.flush, row.call);
        if (round >= warm) samples[static_cast<std::size_t>(&row - rows.data())].push_back(sample);
      }
      const double t = timed(Flush::kClean, [&](cudaStream_t s) {
        internal::sentinel<<<static_cast<unsigned>((sentinel_bytes_ / 16 + 2047) / 2048), 512, 0, s>>>(
            reinterpret_cast<uint4*>(sentinel_ + sentinel_bytes_), reinterpret_cast<const uint4*>(sentinel_),
            sentinel_bytes_ / 16);
      });
      if (round >= warm) sentinels.push_back(t);
    }
    LAB_CHECK(cudaDeviceSynchronize());
    const double clock_after = clock_mhz();
    for (std::size_t i = 0; i < n; ++i) {
      const BackToBack again = back_to_back(experiment, rows[i], samples[i], verdicts[i]);
      print(experiment, rows[i], verdicts[i], samples[i], sentinels, clock_before, clock_after, again);
    }
    if (out_ != nullptr) std::fflush(out_);
  }

  /// A row whose samples are at hand.
  void report(const char* experiment, const Row& row, const std::vector<double>& samples) {
    print(experiment, row, "-", samples, {}, clock_mhz(), 0, {});
  }
  /// Why an experiment has no rows here.
  void skipped(const char* experiment, const char* reason) {
    say("{\"type\":\"skipped\",\"experiment\":\"%s\",\"reason\":\"%s\"}\n", experiment, reason);
  }

  /// One more line about where this ran.
  void fact(const char* key, const std::string& value) {
    say("{\"type\":\"environment\",\"key\":\"%s\",\"value\":\"%s\"}\n", key, value.c_str());
  }

  int finish() {
    if (list_) return 0;
    say("{\"type\":\"end\",\"wrong\":%d}\n", wrong_rows_);
    if (out_ != nullptr) std::fflush(out_);
    if (out_ == nullptr)
      std::printf(wrong_rows_ == 0 ? "PASS %d rows, %d verified\n" : "FAIL %d rows, %d verified\n", rows_, verified_);
    if (wrong_rows_ != 0) std::fprintf(stderr, "%s: %d rows gave wrong results\n", program_.c_str(), wrong_rows_);
    return wrong_rows_ == 0 ? 0 : 1;
  }

  /// Microseconds between events around the call, which waits in the queue while the flush runs (about 60 us), so that
  /// no overhead of the host is in it. What an empty call reads is not subtracted.
  double timed(Flush flush, const std::function<void(cudaStream_t)>& call) {
    if (flush == Flush::kDirty) LAB_CHECK(cudaMemsetAsync(flush_, ++flushes_ & 255, flush_bytes_));
    if (flush == Flush::kClean) lab::flush(flush_, flush_bytes_, never_);
    if (flush == Flush::kWarm) {
      call(nullptr);
      internal::spin<<<1, 1>>>(20000, warm_spin());
    }
    return events_.us([&] { call(nullptr); });
  }

 private:
  unsigned blocks() const { return counting() ? 32 : 2112; }
  long long* warm_spin() {
    if (spin_ == nullptr) LAB_CHECK(cudaMalloc(&spin_, 16));
    return spin_;
  }

  const char* verdict_of(const Row& row, const std::function<void()>& call) {
    if (row.poison) row.poison();
    call();
    LAB_CHECK(cudaGetLastError());
    LAB_CHECK(cudaDeviceSynchronize());
    if (!row.verified) return "-";
    ++verified_;
    return row.verified() ? "yes" : "NO";
  }
  void blame(const char* experiment, const Row& row, const char* how) {
    ++wrong_rows_;
    std::fprintf(stderr, "%s: wrong%s: %s: %s\n", program_.c_str(), how, experiment, row.name.c_str());
  }

  /// Microseconds per call when many stand one behind the other.
  struct BackToBack {
    std::vector<double> graph, stream;
  };
  static constexpr int kMany = 33;
  static constexpr double kShort = 15;

  /// `calls` calls as a graph; null when the call puts nothing into the stream.
  static cudaGraphExec_t graph_of(const std::function<void(cudaStream_t)>& call, int calls) {
    cudaStream_t stream = nullptr;
    cudaGraph_t recorded = nullptr;
    cudaGraphExec_t graph = nullptr;
    std::size_t nodes = 0;
    LAB_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    LAB_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    for (int i = 0; i < calls; ++i) call(stream);
    if (cudaStreamEndCapture(stream, &recorded) == cudaSuccess &&
        cudaGraphGetNodes(recorded, nullptr, &nodes) == cudaSuccess && nodes >= static_cast<std::size_t>(calls) &&
        cudaGraphInstantiate(&graph, recorded, 0) != cudaSuccess)
      graph = nullptr;
    (void)cudaGetLastError();
    if (recorded != nullptr) LAB_CHECK(cudaGraphDestroy(recorded));
    LAB_CHECK(cudaStreamDestroy(stream));
    return graph;
  }

  /// A launch weighs as much as a short call: what one more of them costs, in a graph and in a stream, where the data
  /// that it used before is still in the L2 cache. (Time of many less time of one) / (many - 1). For rows below kShort.
  BackToBack back_to_back(const char* experiment, const Row& row, std::vector<double> samples, const char*& verdict) {
    BackToBack result;
    const std::function<void(cudaStream_t)>& call = row.own ? row.queued : row.call;
    if (samples.empty() || !call || std::strcmp(row.unit, "us") != 0) return result;
    std::nth_element(samples.begin(), samples.begin() + static_cast<long>(samples.size() / 2), samples.end());
    if (samples[samples.size() / 2] > kShort) return result;
    cudaGraphExec_t graphs[2] = {graph_of(call, 1), graph_of(call, kMany)};
    if (graphs[0] != nullptr && graphs[1] != nullptr) {
      if (*verdict == 'y' && *verdict_of(row, [&] { LAB_CHECK(cudaGraphLaunch(graphs[0], nullptr)); }) == 'N')
        verdict = "NO", blame(experiment, row, " in a graph");
      const auto by_graph = [&](int g) {
        internal::spin<<<1, 1>>>(30000, warm_spin());
        return events_.us([&] { LAB_CHECK(cudaGraphLaunch(graphs[g], nullptr)); });
      };
      const auto by_stream = [&](int calls) {
        return events_.us([&] {
          for (int i = 0; i < calls; ++i) call(nullptr);
        });
      };
      for (int round = -3; round < samples_; ++round) {
        const double graph = (by_graph(1) - by_graph(0)) / (kMany - 1);
        const double stream = (by_stream(kMany) - by_stream(1)) / (kMany - 1);
        if (round >= 0) result.graph.push_back(graph), result.stream.push_back(stream);
      }
    }
    for (const cudaGraphExec_t g : graphs)
      if (g != nullptr) LAB_CHECK(cudaGraphExecDestroy(g));
    return result;
  }

  template <typename... Args>
  void say(const char* format, const Args&... args) {
    if (out_ == nullptr) return;
    if constexpr (sizeof...(Args) == 0)
      std::fputs(format, out_);
    else
      std::fprintf(out_, format, args...);
  }
  void environment() {
    int driver = 0, runtime = 0, clock = 0, memory_clock = 0;
    LAB_CHECK(cudaDriverGetVersion(&driver));
    LAB_CHECK(cudaRuntimeGetVersion(&runtime));
    cudaDeviceGetAttribute(&clock, cudaDevAttrClockRate, 0);
    cudaDeviceGetAttribute(&memory_clock, cudaDevAttrMemoryClockRate, 0);
    fact("gpu", device_.name);
    fact("compute capability", std::to_string(device_.major) + "." + std::to_string(device_.minor));
    fact("multiprocessors", std::to_string(device_.multiProcessorCount));
    fact("L2 bytes", std::to_string(device_.l2CacheSize));
    fact("memory bytes", std::to_string(device_.totalGlobalMem));
    fact("memory bus bits", std::to_string(device_.memoryBusWidth));
    fact("memory clock kHz", std::to_string(memory_clock));
    fact("SM clock kHz", std::to_string(clock));
    fact("ECC", device_.ECCEnabled ? "on" : "off");
    fact("CUDA driver", std::to_string(driver));
    fact("CUDA runtime", std::to_string(runtime));
    if (counting()) return;
    std::vector<double> floors;
    for (int i = -100; i < 31; ++i) {  // the first ones while clocks rise
      const double us = timed(Flush::kClean, [](cudaStream_t s) { internal::empty<<<1, 32, 0, s>>>(); });
      if (i >= 0) floors.push_back(us);
    }
    std::sort(floors.begin(), floors.end());
    char text[32];
    std::snprintf(text, sizeof text, "%.2f", floors[floors.size() / 2]);
    fact("launch floor us", text);
  }

  void print(const char* experiment, const Row& row, const char* verdict, const std::vector<double>& samples,
             const std::vector<double>& sentinels, double clock_before, double clock_after, const BackToBack& again) {
    static const char* const kFlushes[] = {"clean", "dirty", "warm"};
    ++rows_;
    say("{\"type\":\"row\",\"experiment\":\"%s\",\"name\":\"%s\",\"x\":%.17g,\"x_unit\":\"%s\",\"work\":\"%s\","
        "\"amount\":%.17g,"
        "\"mix\":\"%s\",\"series\":\"%s\",\"flush\":\"%s\",\"unit\":\"%s\",\"launches\":%d,\"verified\":\"%s\",\"why\":"
        "\"%s\",\"clock_mhz\":[%.0f,%.0f]",
        experiment, row.name.c_str(), row.x, row.x_unit, row.work, row.bytes, row.mix, row.series,
        row.own ? "own" : kFlushes[static_cast<int>(row.flush)], row.unit, row.launches, verdict, row.why, clock_before,
        clock_after);
    const auto list = [&](const char* key, const std::vector<double>& values) {
      say(",\"%s\":[", key);
      for (std::size_t i = 0; i < values.size(); ++i) say("%s%.6g", i == 0 ? "" : ",", values[i]);
      say("]");
    };
    list("samples", samples);
    list("sentinel_us", sentinels);
    if (row.bus > 0) say(",\"bus\":%.17g", row.bus);
    if (!again.graph.empty()) list("graph_us", again.graph), list("stream_us", again.stream);
    say("}\n");
  }

  std::string program_, only_, mode_ = "count";
  bool list_ = false;
  int samples_ = 0, rows_ = 0, verified_ = 0, wrong_rows_ = 0, flushes_ = 0;
  std::FILE* out_ = nullptr;  ///< null: only the verdict
  cudaDeviceProp device_{};
  std::size_t flush_bytes_ = 0, sentinel_bytes_ = 0;
  char *flush_ = nullptr, *sentinel_ = nullptr;
  unsigned* never_ = nullptr;
  unsigned long long* wrong_ = nullptr;
  long long* spin_ = nullptr;
  Events events_;
};

/// Blocks of `threads` for `count` threads.
inline unsigned blocks_for(std::size_t count, unsigned threads) {
  return static_cast<unsigned>((count + threads - 1) / threads);
}

/// "64 KiB", "3 MiB"
inline std::string size_text(std::size_t bytes) {
  if (bytes >= (std::size_t{1} << 30) && bytes % (std::size_t{1} << 30) == 0)
    return std::to_string(bytes >> 30) + " GiB";
  if (bytes >= (1u << 20) && bytes % (1u << 20) == 0) return std::to_string(bytes >> 20) + " MiB";
  if (bytes >= 1024 && bytes % 1024 == 0) return std::to_string(bytes >> 10) + " KiB";
  return std::to_string(bytes) + " B";
}

}  // namespace lab
