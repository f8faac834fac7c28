// Launches and transfers: what a call costs, copies between host and device by copy engines, by multiprocessors and by
// pages, in sizes from 1 KiB; copies inside the device by memcpy, by lanes and by bulk copies.
#include "ceilings.cuh"

namespace {

using lab::Lab;
using lab::Row;
using Word = std::uint32_t;
using Clock = std::chrono::steady_clock;

__global__ void empty_kernel() {}

/// Copies between any two places that lanes can reach: 16 bytes each, four in flight.
__global__ void __launch_bounds__(512) lanes_copy(uint4* out, const uint4* in, std::size_t count) {
  for (std::size_t base = blockIdx.x * std::size_t{2048} + threadIdx.x; base < count;
       base += gridDim.x * std::size_t{2048}) {
    uint4 v[4];
#pragma unroll
    for (int k = 0; k < 4; ++k)
      if (base + k * 512 < count) v[k] = in[base + k * 512];
#pragma unroll
    for (int k = 0; k < 4; ++k)
      if (base + k * 512 < count) out[base + k * 512] = v[k];
  }
}

constexpr unsigned kPiece = 16384;  // bytes per bulk copy
constexpr int kStages = 3;

/// Bulk copies into shared memory and out of it, without registers; one lane orders them.
__global__ void __launch_bounds__(32) bulk_copy(char* out, const char* in, std::size_t pieces) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  extern __shared__ __align__(128) char stages[];
  __shared__ __align__(8) unsigned long long arrived[kStages];
  if (threadIdx.x != 0) return;
  const auto shared = [](const void* p) { return static_cast<unsigned>(__cvta_generic_to_shared(p)); };
  for (int s = 0; s < kStages; ++s) asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared(&arrived[s])));
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  const auto load = [&](std::size_t piece, int s) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared(&arrived[s])), "r"(kPiece)
                 : "memory");
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                     shared(stages + s * kPiece)),
                 "l"(in + piece * kPiece), "r"(kPiece), "r"(shared(&arrived[s]))
                 : "memory");
  };
  std::size_t ahead = blockIdx.x;
  for (int s = 0; s < kStages - 1 && ahead < pieces; ++s, ahead += gridDim.x) load(ahead, s);
  int n = 0;
  for (std::size_t piece = blockIdx.x; piece < pieces; piece += gridDim.x, ++n) {
    const int s = n % kStages;
    asm volatile(
        "{\n .reg .pred p;\nagain:\n mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n @!p bra again;\n}" ::"r"(
            shared(&arrived[s])),
        "r"(n / kStages & 1)
        : "memory");
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(out + piece * kPiece),
                 "r"(shared(stages + s * kPiece)), "r"(kPiece)
                 : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    if (ahead < pieces) {
      asm volatile("cp.async.bulk.wait_group.read 1;" ::: "memory");  // the stage that the next load fills was written
      load(ahead, (n + kStages - 1) % kStages);
      ahead += gridDim.x;
    }
  }
  asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
#else
  (void)out, (void)in, (void)pieces;
#endif
}

double host_us(const std::function<void()>& call) {
  const auto begin = Clock::now();
  call();
  return std::chrono::duration<double, std::micro>(Clock::now() - begin).count();
}

void launches(Lab& lab) {
  if (!lab.wanted("launch")) return;
  const int many = lab.counting() ? 1 : 200;
  std::vector<Row> rows;
  const auto add = [&](const char* name, const char* why, int kernels, std::function<double()> own) {
    Row row;
    row.name = name;
    row.why = why;
    row.launches = kernels;
    row.own = std::move(own);
    rows.push_back(row);
  };
  add("events around nothing", "the floor of every time here that is taken by events", 0,
      [&lab] { return lab.timed(lab::Flush::kClean, [](cudaStream_t) {}); });
  add("events around an empty kernel", "the floor of a kernel's time", 1,
      [&lab] { return lab.timed(lab::Flush::kClean, [](cudaStream_t s) { empty_kernel<<<1, 32, 0, s>>>(); }); });
  add("launch and wait, seen by the host", "call, launch, completion, return", 1, [] {
    return host_us([] {
      empty_kernel<<<1, 32>>>();
      LAB_CHECK(cudaDeviceSynchronize());
    });
  });
  add("one of many launches in a stream", "the host's cost per launch, or the device's, whichever is longer", many,
      [many] {
        return host_us([many] {
                 for (int i = 0; i < many; ++i) empty_kernel<<<1, 32>>>();
                 LAB_CHECK(cudaDeviceSynchronize());
               }) /
               many;
      });
  cudaGraphExec_t graph = nullptr;
  {
    cudaStream_t stream = nullptr;
    cudaGraph_t recorded = nullptr;
    LAB_CHECK(cudaStreamCreate(&stream));
    LAB_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    for (int i = 0; i < many; ++i) empty_kernel<<<1, 32, 0, stream>>>();
    LAB_CHECK(cudaStreamEndCapture(stream, &recorded));
    LAB_CHECK(cudaGraphInstantiate(&graph, recorded, 0));
    LAB_CHECK(cudaGraphDestroy(recorded));
    LAB_CHECK(cudaStreamDestroy(stream));
  }
  add("one of many kernels of a graph", "launched by the device, one after the other", many, [=] {
    return host_us([=] {
             LAB_CHECK(cudaGraphLaunch(graph, nullptr));
             LAB_CHECK(cudaDeviceSynchronize());
           }) /
           many;
  });
  lab.run("launch", rows);
  LAB_CHECK(cudaGraphExecDestroy(graph));
}

struct MixedRight {
  const Word* words;
  __device__ bool operator()(std::size_t i) const { return words[i] == lab::mixed(static_cast<Word>(i)); }
};

class Transfers {
 public:
  explicit Transfers(Lab& lab) : lab_(lab), largest_(lab.pick(std::size_t{256} << 20, std::size_t{64} << 20, 1 << 16)) {
    if (lab.listing()) return;
    device_ = lab.memory(largest_);
    copy_ = lab.memory(largest_, 5);
  }

  void ceiling() {
    lab_.run("ceilings",
             ceilings::rows(lab_, copy_, device_, device_ + largest_ / 2, largest_ / 2, lab::Flush::kClean));
  }

  void engines() {
    for (const bool up : {true, false}) {
      for (int kind = 0; kind < 3; ++kind) {
        static const char* const kNames[2][3] = {
            {"copy-to-host-pageable", "copy-to-host-pinned", "copy-to-host-write-combined"},
            {"copy-to-device-pageable", "copy-to-device-pinned", "copy-to-device-write-combined"}};
        static const char* const kSeries[2][3] = {
            {"pageable to host", "pinned to host", "write-combined to host"},
            {"pageable to device", "pinned to device", "write-combined to device"}};
        static const char* const kWhy[3] = {"the driver copies through a pinned buffer of its own",
                                            "the copy engine reads and writes host memory itself",
                                            "pinned, and not cached by the host's processor"};
        if (!lab_.wanted(kNames[up][kind])) continue;
        char* const host = host_memory(kind);
        std::vector<Row> rows;
        for (std::size_t size = lab_.counting() ? largest_ : 1024; size <= largest_; size *= 4) {
          Row row = sized(kSeries[up][kind], size, kWhy[kind], 0);
          const auto queued = [=](cudaStream_t s) {
            LAB_CHECK(cudaMemcpyAsync(up ? device_ : host, up ? host : device_, size,
                                      up ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost, s));
          };
          row.own = [=] {
            return host_us([=] {
              queued(nullptr);
              LAB_CHECK(cudaDeviceSynchronize());
            });
          };
          if (kind != 0) row.queued = queued;  // of other memory, the host itself takes part in the copy
          verify(row, up, host, size);
          rows.push_back(row);
        }
        lab_.run(kNames[up][kind], rows);
        if (kind == 0)
          std::free(host);
        else
          LAB_CHECK(cudaFreeHost(host));
        lab_.fill(device_, largest_, lab::internal::MixedWord{0});
      }
    }
    if (lab_.wanted("copy-both-ways")) {
      char* const first = host_memory(1);
      char* const second = host_memory(1);
      static cudaStream_t streams[2];
      for (cudaStream_t& s : streams) LAB_CHECK(cudaStreamCreate(&s));
      Row row = sized("pinned, both ways at once", largest_, "two copy engines, one per direction", 0);
      row.bytes *= 2;
      row.own = [=] {
        return host_us([=] {
          LAB_CHECK(cudaMemcpyAsync(device_, first, largest_, cudaMemcpyHostToDevice, streams[0]));
          LAB_CHECK(cudaMemcpyAsync(second, copy_, largest_, cudaMemcpyDeviceToHost, streams[1]));
          LAB_CHECK(cudaDeviceSynchronize());
        });
      };
      row.poison = [=] {
        LAB_CHECK(cudaMemset(device_, 0xff, largest_));
        std::memset(second, 0xff, largest_);
      };
      row.verified = [=] {
        for (std::size_t i = 0; i < largest_ / 4; ++i)
          if (reinterpret_cast<const Word*>(second)[i] != lab::mixed(static_cast<Word>(i) + 5)) return false;
        return lab_.check(largest_ / 4, MixedRight{reinterpret_cast<const Word*>(device_)});
      };
      lab_.fill(copy_, largest_, lab::internal::MixedWord{5});
      lab_.run("copy-both-ways", {row});
      for (char* p : {first, second}) LAB_CHECK(cudaFreeHost(p));
      for (cudaStream_t& s : streams) LAB_CHECK(cudaStreamDestroy(s));
      lab_.fill(device_, largest_, lab::internal::MixedWord{0});
    }
  }

  void zero_copy() {
    for (const bool up : {true, false}) {
      const char* const experiment = up ? "zero-copy-read" : "zero-copy-write";
      if (!lab_.wanted(experiment)) continue;
      char* const host = host_memory(1);
      void* mapped = nullptr;
      LAB_CHECK(cudaHostGetDevicePointer(&mapped, host, 0));
      std::vector<Row> rows;
      for (std::size_t size = lab_.counting() ? largest_ : 4096; size <= largest_; size *= 4) {
        Row row = sized(
            up ? "lanes read host memory" : "lanes write host memory", size,
            up ? "read requests of lanes cross the bus: as many as can be in flight" : "stores need no answer", 1);
        row.call = [=](cudaStream_t s) {
          const std::size_t count = size / 16;
          lanes_copy<<<blocks(count), 512, 0, s>>>(reinterpret_cast<uint4*>(up ? device_ : mapped),
                                                   reinterpret_cast<const uint4*>(up ? mapped : device_), count);
        };
        verify(row, up, host, size);
        rows.push_back(row);
      }
      lab_.run(experiment, rows);
      LAB_CHECK(cudaFreeHost(host));
      lab_.fill(device_, largest_, lab::internal::MixedWord{0});
    }
  }

  void managed() {
    if (!lab_.wanted("managed")) return;
    int concurrent = 0;
    LAB_CHECK(cudaDeviceGetAttribute(&concurrent, cudaDevAttrConcurrentManagedAccess, 0));
    if (concurrent == 0 && !lab_.counting())
      return lab_.skipped("managed", "this system migrates whole allocations only");
    const std::size_t size = lab_.pick(std::size_t{64} << 20, std::size_t{32} << 20, 1 << 16), count = size / 16;
    static Word* data = nullptr;
    LAB_CHECK(cudaMallocManaged(&data, size));
    const auto touch = [=] {
      for (std::size_t i = 0; i < size / 4; ++i) data[i] = lab::mixed(static_cast<Word>(i));
    };
    const auto read = [=] {
      lanes_copy<<<blocks(count), 512>>>(reinterpret_cast<uint4*>(device_), reinterpret_cast<const uint4*>(data),
                                         count);
      LAB_CHECK(cudaDeviceSynchronize());
    };
#if CUDART_VERSION >= 13000
    const auto prefetch = [=](bool up) {
      cudaMemLocation place{};
      place.type = up ? cudaMemLocationTypeDevice : cudaMemLocationTypeHost;
      LAB_CHECK(cudaMemPrefetchAsync(data, size, place, 0, nullptr));
      LAB_CHECK(cudaDeviceSynchronize());
    };
#else
    const auto prefetch = [=](bool up) {
      LAB_CHECK(cudaMemPrefetchAsync(data, size, up ? 0 : cudaCpuDeviceId, nullptr));
      LAB_CHECK(cudaDeviceSynchronize());
    };
#endif
    std::vector<Row> rows;
    const auto add = [&](const char* name, const char* why, int kernels, std::function<double()> own) {
      Row row = sized("", size, why, kernels);
      row.name = name + (", " + lab::size_text(size));
      row.own = std::move(own);
      // The pages hold their words wherever they are, and a kernel that read them copied them.
      row.poison = [=] {
        std::memset(data, 0xff, size);
        LAB_CHECK(cudaMemset(device_, 0xff, size));
      };
      row.verified = [=] {
        for (std::size_t i = 0; i < size / 4; ++i)
          if (data[i] != lab::mixed(static_cast<Word>(i))) return false;
        return kernels == 0 || lab_.check(size / 4, MixedRight{reinterpret_cast<const Word*>(device_)});
      };
      rows.push_back(row);
    };
    add("a kernel reads what the host wrote", "page faults of the device move pages", 1,
        [=] { return touch(), host_us(read); });
    add("prefetch to the device", "pages move in large pieces, without faults", 0,
        [=] { return touch(), host_us([=] { prefetch(true); }); });
    add("a kernel reads after the prefetch", "pages are where they are read", 1,
        [=] { return touch(), prefetch(true), host_us(read); });
    add("prefetch to the host", "pages move back in large pieces", 0,
        [=] { return touch(), prefetch(true), host_us([=] { prefetch(false); }); });
    add("the host writes what the device holds", "page faults of the host's processor move pages back", 0,
        [=] { return prefetch(true), host_us(touch); });
    lab_.run("managed", rows);
    LAB_CHECK(cudaFree(data));
    lab_.fill(device_, largest_, lab::internal::MixedWord{0});
  }

  void inside() {
    if (!lab_.wanted("copy-in-device")) return;
    std::vector<Row> rows;
    const bool bulk = lab_.device().major >= 9;
    constexpr int kShared = kStages * static_cast<int>(kPiece);
    if (bulk) LAB_CHECK(cudaFuncSetAttribute(bulk_copy, cudaFuncAttributeMaxDynamicSharedMemorySize, kShared));
    for (std::size_t size = lab_.counting() ? largest_ : kPiece; size <= largest_; size *= 4) {
      for (int how = 0; how < (bulk ? 3 : 2); ++how) {
        static const char* const kSeries[] = {"cudaMemcpyAsync inside the device", "lanes copy inside the device",
                                              "bulk copies inside the device"};
        static const char* const kWhy[] = {"the driver's own choice of engine or kernel",
                                           "16 bytes per lane, four in flight",
                                           "the copy unit of each multiprocessor, no registers"};
        Row row = sized(kSeries[how], size, kWhy[how], how == 0 ? 0 : 1);
        row.bytes *= 2;
        row.mix = "copy";
        row.call = [=](cudaStream_t s) {
          if (how == 0) cudaMemcpyAsync(copy_, device_, size, cudaMemcpyDeviceToDevice, s);
          if (how == 1)
            lanes_copy<<<lab::blocks_for(size / 16, 2048), 512, 0, s>>>(
                reinterpret_cast<uint4*>(copy_), reinterpret_cast<const uint4*>(device_), size / 16);
          if (how == 2) {
            const std::size_t pieces = size / kPiece;
            bulk_copy<<<static_cast<unsigned>(
                            std::min<std::size_t>(pieces, 4 * static_cast<unsigned>(lab_.multiprocessors()))),
                        32, kShared, s>>>(copy_, device_, pieces);
          }
        };
        Lab* const lab = &lab_;
        row.poison = [=] { LAB_CHECK(cudaMemset(copy_, 0xff, size)); };
        row.verified = [=] {
          return lab->check(size / 4,
                            ceilings::SameWords{reinterpret_cast<Word*>(copy_), reinterpret_cast<Word*>(device_)});
        };
        rows.push_back(row);
      }
    }
    lab_.run("copy-in-device", rows);
  }

 private:
  unsigned blocks(std::size_t count) const {
    return std::min(lab::blocks_for(count, 2048), 4 * static_cast<unsigned>(lab_.multiprocessors()));
  }
  Row sized(const char* series, std::size_t size, const char* why, int launches) const {
    Row row;
    row.name = std::string(series) + ", " + lab::size_text(size);
    row.series = series;
    row.x = static_cast<double>(size);
    row.x_unit = "B";
    row.bytes = static_cast<double>(size);
    row.why = why;
    row.launches = launches;
    return row;
  }
  /// pageable, pinned and mapped, write-combined; with data in it.
  char* host_memory(int kind) const {
    char* p = nullptr;
    if (kind == 0)
      p = static_cast<char*>(std::aligned_alloc(4096, largest_));
    else
      LAB_CHECK(cudaHostAlloc(&p, largest_, kind == 1 ? cudaHostAllocMapped : cudaHostAllocWriteCombined));
    for (std::size_t i = 0; i < largest_ / 4; ++i) reinterpret_cast<Word*>(p)[i] = lab::mixed(static_cast<Word>(i));
    return p;
  }
  /// Both sides hold mixed words; the target is poisoned, then copied to by this row's own way.
  void verify(Row& row, bool up, char* host, std::size_t size) {
    Lab* const lab = &lab_;
    char* const device = device_;
    if (!row.call) {
      const auto own = row.own;
      row.call = [own](cudaStream_t) { own(); };
    }
    row.poison = [=] {
      if (up)
        LAB_CHECK(cudaMemset(device, 0xff, size));
      else
        std::memset(host, 0xff, size);
    };
    row.verified = [=] {
      if (up) return lab->check(size / 4, MixedRight{reinterpret_cast<const Word*>(device)});
      for (std::size_t i = 0; i < size / 4; ++i)
        if (reinterpret_cast<const Word*>(host)[i] != lab::mixed(static_cast<Word>(i))) return false;
      return true;
    };
  }

  Lab& lab_;
  std::size_t largest_;
  char *device_ = nullptr, *copy_ = nullptr;
};

}  // namespace

int main(int argc, char** argv) {
  Lab lab(argc, argv, "transfers");
  launches(lab);
  Transfers transfers(lab);
  if (!lab.listing()) transfers.ceiling();
  transfers.engines();
  transfers.zero_copy();
  transfers.managed();
  transfers.inside();
  return lab.finish();
}
