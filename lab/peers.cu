// Several GPUs: copies between all pairs, sweeps between the first two, lanes that read and write the other's memory,
// latency across, and collectives by NCCL where the system has it.
#include "chase.cuh"
#include "nccl.cuh"

namespace {

using lab::Lab;
using lab::Nccl;
using lab::Row;
using Word = std::uint32_t;
using Call = std::function<void()>;

__global__ void __launch_bounds__(512) lanes_copy(uint4* out, const uint4* in, std::size_t count) {
  lab::copy_by_blocks(out, in, count);
}

/// What GPU d gives to collectives: whole numbers, so that sums have one value in any order.
__host__ __device__ inline float given(int d, std::size_t i) {
  return static_cast<float>(lab::mixed(static_cast<Word>(i) + 7919u * static_cast<Word>(d)) & 1023u);
}
struct Given {
  int d;
  __device__ std::uint32_t operator()(std::size_t i) const { return __float_as_uint(given(d, i)); }
};

enum class Collective { kAllReduce, kReduce, kBroadcast, kAllGather, kReduceScatter, kSend, kRing };

/// Whether element i of GPU d's result is right. `part`: elements per GPU of what is gathered or scattered.
struct Right {
  const float* out;
  Collective collective;
  int d, gpus;
  std::size_t part;
  __device__ bool operator()(std::size_t i) const {
    switch (collective) {
      case Collective::kBroadcast:
        return out[i] == given(0, i);
      case Collective::kAllGather:
        return out[i] == given(static_cast<int>(i / part), i % part);
      case Collective::kSend:
      case Collective::kRing:
        return out[i] == given((d + gpus - 1) % gpus, i);
      default:
        break;
    }
    const std::size_t at = collective == Collective::kReduceScatter ? static_cast<std::size_t>(d) * part + i : i;
    float sum = 0;
    for (int e = 0; e < gpus; ++e) sum += given(e, at);
    return out[i] == sum;
  }
};

/// Makes a GPU the current one, and GPU 0 again at the end.
struct On {
  explicit On(int d) { LAB_CHECK(cudaSetDevice(d)); }
  ~On() { LAB_CHECK(cudaSetDevice(0)); }
  On(const On&) = delete;
  On& operator=(const On&) = delete;
};

struct Gpu {
  char *data = nullptr, *result = nullptr;
  cudaStream_t stream = nullptr;
  cudaEvent_t begin = nullptr, end = nullptr, done = nullptr;
  long long* spin = nullptr;
};

class Peers {
 public:
  Peers(Lab& lab, int count)
      : lab_(lab), count_(count), bytes_(lab.pick(std::size_t{256} << 20, std::size_t{64} << 20, 1 << 16)) {
    std::string reach;
    for (int d = 0; d < count; ++d) {
      const On on(d);
      for (int e = 0; e < count; ++e) {
        int can = 0;
        if (d != e) LAB_CHECK(cudaDeviceCanAccessPeer(&can, d, e));
        direct_.push_back(can != 0);
        if (can != 0) LAB_CHECK(cudaDeviceEnablePeerAccess(e, 0));
        reach += d == e ? '-' : can != 0 ? '1' : '0';
      }
      reach += d + 1 < count ? " " : "";
      Gpu g;
      g.data = lab.memory(bytes_, static_cast<Word>(d) * 1000);
      g.result = lab.memory(bytes_, 1);
      LAB_CHECK(cudaStreamCreateWithFlags(&g.stream, cudaStreamNonBlocking));
      LAB_CHECK(cudaEventCreate(&g.begin));
      LAB_CHECK(cudaEventCreate(&g.end));
      LAB_CHECK(cudaEventCreateWithFlags(&g.done, cudaEventDisableTiming));
      LAB_CHECK(cudaMalloc(&g.spin, 16));
      LAB_CHECK(cudaDeviceSynchronize());
      gpus_.push_back(g);
    }
    scratch_ = lab.memory(bytes_);
    lab.fact("GPUs", std::to_string(count));
    lab.fact("GPUs reach each other's memory", reach);
  }

  void copies() {
    if (lab_.wanted("peer-pairs")) {
      std::vector<Row> rows;
      for (int from = 0; from < count_; ++from)
        for (int to = 0; to < count_; ++to)
          if (from != to)
            rows.push_back(
                engine_row("GPU " + std::to_string(from) + " to " + std::to_string(to), "", from, to, bytes_));
      lab_.run("peer-pairs", rows);
    }
    if (lab_.wanted("peer-sizes")) {
      std::vector<Row> rows = {floor_row(false)};
      for (std::size_t size = 4096; size <= bytes_; size *= 4) {
        rows.push_back(engine_row("copy engine, " + lab::size_text(size), "copy engine, GPU 0 to 1", 0, 1, size));
        if (!direct(0, 1)) continue;
        for (const bool read : {true, false}) rows.push_back(lanes_row(read, size));
      }
      lab_.run("peer-sizes", rows);
    }
    if (lab_.wanted("peer-both-ways")) {
      std::vector<Row> rows = {at_once("copy engines, GPU 0 to 1 and 1 to 0 at once", 2, false, false)};
      if (direct(0, 1) && direct(1, 0)) {
        rows.push_back(at_once("lanes of both GPUs read the other's memory at once", 2, true, true));
        rows.push_back(at_once("lanes of both GPUs write the other's memory at once", 2, true, false));
      }
      if (count_ > 2) rows.push_back(at_once("copy engines, each GPU to the next at once", count_, false, false));
      lab_.run("peer-both-ways", rows);
    }
  }

  void lanes() {
    const bool reach = direct(0, 1);
    for (const char* name : {"peer-lanes", "peer-latency"})
      if (!reach && lab_.wanted(name)) lab_.skipped(name, "GPU 0 cannot reach the memory of GPU 1");
    if (!reach) return;
    if (lab_.wanted("peer-lanes")) lab_.run("peer-lanes", {lanes_row(true, bytes_), lanes_row(false, bytes_)});
    if (lab_.wanted("peer-latency")) {
      const std::size_t size = 1 << 20;
      const int steps = 512;
      const auto base = reinterpret_cast<std::uint64_t>(gpus_[1].result);
      auto* const words = reinterpret_cast<unsigned*>(gpus_[1].data);
      {
        const On on(1);
        lab_.fill(gpus_[1].result, size, chase::Link{base, size / chase::kLine, chase::kLine, false});
        lab_.fill(words, 4096, chase::Zero{});
        LAB_CHECK(cudaDeviceSynchronize());
      }
      lab_.run(
          "peer-latency",
          {chase::latency_row(
               "the other's memory, 1 MiB", size, "every load crosses the links", steps,
               [=](long long* out) { chase::global_memory<chase::Through::kVolatile><<<1, 1>>>(base, 0, steps, out); },
               static_cast<long long>(base) + chase::place_after(steps, size / chase::kLine) * long{chase::kLine}),
           chase::latency_row(
               "atomic adds in the other's memory, one lane", 0, "done in the other GPU's L2 cache", steps,
               [=](long long* out) { chase::atomics<false><<<1, 1>>>(words, steps, out); }, 0)});
    }
  }

  void collectives() {
    struct Kind {
      const char *experiment, *series, *why;
      Collective collective;
      double bus;  ///< bytes per link and direction over bytes of the buffer, as NCCL's own tests count
    };
    const double n = count_;
    const Kind kinds[] = {
        {"nccl-all-reduce", "sum for all GPUs", "each GPU sends and receives 2 (n - 1) / n of the buffer",
         Collective::kAllReduce, 2 * (n - 1) / n},
        {"nccl-reduce", "sum for GPU 0", "a pipeline through all GPUs", Collective::kReduce, 1},
        {"nccl-reduce-scatter", "each GPU gets its part of the sum", "(n - 1) / n of the buffer crosses each link",
         Collective::kReduceScatter, (n - 1) / n},
        {"nccl-all-gather", "each GPU gets all parts", "(n - 1) / n of the buffer crosses each link",
         Collective::kAllGather, (n - 1) / n},
        {"nccl-broadcast", "GPU 0 to all", "a pipeline through all GPUs", Collective::kBroadcast, 1},
        {"nccl-send-receive", "GPU 0 to 1", "kernels of NCCL copy, not copy engines", Collective::kSend, 1},
        {"nccl-send-receive", "each GPU to the next", "both directions of the links", Collective::kRing, 1},
    };
    std::vector<const Kind*> wanted;
    for (const Kind& kind : kinds)
      if (wanted.empty() ? lab_.wanted(kind.experiment)
                         : std::strcmp(wanted.back()->experiment, kind.experiment) == 0 || lab_.wanted(kind.experiment))
        wanted.push_back(&kind);
    if (wanted.empty()) return;
    std::vector<Nccl::Comm> comms(static_cast<std::size_t>(count_));
    const char* reason = nullptr;
    if (lab_.counting())
      reason = "who counts runs kernels one by one, and those of NCCL wait for each other";
    else if (!nccl_.load())
      reason = "no library libnccl.so.2 of NCCL was found; NCCL_HOME may say where it lies";
    else if (nccl_.init_all(comms.data(), count_, nullptr) != 0)
      reason = "ncclCommInitAll failed; NCCL_DEBUG=INFO shows why";
    LAB_CHECK(cudaSetDevice(0));
    if (reason != nullptr) {
      for (std::size_t i = 0; i < wanted.size(); ++i)
        if (i == 0 || std::strcmp(wanted[i]->experiment, wanted[i - 1]->experiment) != 0)
          lab_.skipped(wanted[i]->experiment, reason);
      return;
    }
    int version = 0;
    if (nccl_.get_version(&version) == 0) lab_.fact("NCCL", std::to_string(version));
    const char* const nvls = std::getenv("NCCL_NVLS_ENABLE");
    lab_.fact("NCCL_NVLS_ENABLE", nvls == nullptr ? "not set" : nvls);
    for (int d = 0; d < count_; ++d) {
      const On on(d);
      lab_.fill(gpus_[static_cast<std::size_t>(d)].data, bytes_, Given{d});
      LAB_CHECK(cudaDeviceSynchronize());
    }
    std::vector<Row> rows;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      const Kind& kind = *wanted[i];
      if (rows.empty()) rows.push_back(floor_row(true));
      for (std::size_t size = 1024; size <= bytes_; size *= 4) {
        Row row = collective_row(kind.collective, size, comms);
        row.name = std::string(kind.series) + ", " + lab::size_text(size);
        row.series = kind.series, row.why = kind.why, row.bus = kind.bus;
        rows.push_back(row);
      }
      if (i + 1 < wanted.size() && std::strcmp(wanted[i + 1]->experiment, kind.experiment) == 0) continue;
      lab_.run(kind.experiment, rows);
      rows.clear();
    }
    for (Nccl::Comm comm : comms) nccl_.destroy(comm);
  }

 private:
  bool direct(int from, int to) const { return direct_[static_cast<std::size_t>(from * count_ + to)]; }
  Gpu& gpu(int d) { return gpus_[static_cast<std::size_t>(d)]; }

  /// Microseconds of what `call` puts into the streams of the first `gpus` GPUs, by events of GPU 0: all begin when a
  /// kernel on GPU 0, behind which the host puts everything in order, ends; the end is when GPU 0 knows of all ends.
  double together_us(int gpus, const Call& call) {
    Gpu& first = gpu(0);
    lab::internal::spin<<<1, 1, 0, first.stream>>>(gpus > 1 ? 150000 : 40000, first.spin);
    LAB_CHECK(cudaEventRecord(first.begin, first.stream));
    for (int d = 1; d < gpus; ++d) LAB_CHECK(cudaStreamWaitEvent(gpu(d).stream, first.begin, 0));
    call();
    for (int d = 1; d < gpus; ++d) {
      {
        const On on(d);
        LAB_CHECK(cudaEventRecord(gpu(d).done, gpu(d).stream));
      }
      LAB_CHECK(cudaStreamWaitEvent(first.stream, gpu(d).done, 0));
    }
    return us_between(first);
  }
  /// The same of one GPU's stream.
  double alone_us(int d, const Call& call) {
    const On on(d);
    Gpu& g = gpu(d);
    lab::internal::spin<<<1, 1, 0, g.stream>>>(40000, g.spin);
    LAB_CHECK(cudaEventRecord(g.begin, g.stream));
    call();
    return us_between(g);
  }
  static double us_between(const Gpu& g) {
    LAB_CHECK(cudaEventRecord(g.end, g.stream));
    LAB_CHECK(cudaEventSynchronize(g.end));
    float ms = 0;
    LAB_CHECK(cudaEventElapsedTime(&ms, g.begin, g.end));
    return 1e3 * static_cast<double>(ms);
  }

  void poison(int d, std::size_t size) {
    const On on(d);
    LAB_CHECK(cudaMemset(gpu(d).result, 0xff, size));
    LAB_CHECK(cudaDeviceSynchronize());
  }
  /// Whether `count` elements of GPU d's result, brought to GPU 0, are right.
  template <typename Make>
  bool check(int d, std::size_t count, Make make) {
    LAB_CHECK(cudaMemset(scratch_, 0xff, 4 * count));
    LAB_CHECK(cudaMemcpyPeer(scratch_, 0, gpu(d).result, d, 4 * count));
    LAB_CHECK(cudaDeviceSynchronize());
    return lab_.check(count, make(scratch_));
  }
  /// Whether GPU `to` holds what GPU `from` does.
  bool same(int from, int to, std::size_t size) {
    std::vector<Word> got(size / 4), want(size / 4);
    LAB_CHECK(cudaMemcpy(got.data(), gpu(to).result, size, cudaMemcpyDeviceToHost));
    LAB_CHECK(cudaMemcpy(want.data(), gpu(from).data, size, cudaMemcpyDeviceToHost));
    return got == want;
  }

  Row sized(const std::string& name, const char* series, std::size_t size, const char* why) const {
    Row row;
    row.name = name;
    row.series = series;
    row.x = static_cast<double>(size);
    row.x_unit = "B";
    row.bytes = static_cast<double>(size);
    row.why = why;
    row.launches = 0;
    return row;
  }
  Row floor_row(bool all) {
    Row row = sized(all ? "nothing, all GPUs" : "nothing", "", 0, "the floor of these times");
    row.x_unit = "";
    row.own = [=] { return all ? together_us(count_, [] {}) : alone_us(0, [] {}); };
    return row;
  }
  Row engine_row(const std::string& name, const char* series, int from, int to, std::size_t size) {
    Row row = sized(name, series, size,
                    direct(from, to) ? "directly from memory to memory"
                                     : "through host memory: these GPUs cannot reach each other");
    const Call call = [=] {
      LAB_CHECK(cudaMemcpyPeerAsync(gpu(to).result, to, gpu(from).data, from, size, gpu(from).stream));
    };
    row.own = [=] { return alone_us(from, call); };
    row.poison = [=] { poison(to, size); };
    row.verified = [=] { return same(from, to, size); };
    return row;
  }
  /// Lanes of GPU 0 read GPU 1's memory or write to it.
  Row lanes_row(bool read, std::size_t size) {
    const char* const series = read ? "lanes read the other's memory" : "lanes write the other's memory";
    Row row = sized(std::string(series) + ", " + lab::size_text(size), series, size,
                    read ? "requests and answers cross the links" : "stores need no answer");
    row.launches = 1;
    const int from = read ? 1 : 0, to = read ? 0 : 1;
    row.call = [=](cudaStream_t s) { copy_by_lanes(from, to, size, s); };
    row.poison = [=] { poison(to, size); };
    row.verified = [=] { return same(from, to, size); };
    return row;
  }
  void copy_by_lanes(int from, int to, std::size_t size, cudaStream_t s) {
    const std::size_t count = size / 16;
    lanes_copy<<<lab::blocks_for(count, 2048), 512, 0, s>>>(reinterpret_cast<uint4*>(gpu(to).result),
                                                            reinterpret_cast<const uint4*>(gpu(from).data), count);
  }
  /// Each of the first `gpus` GPUs gives to the next one, all at once.
  Row at_once(const std::string& name, int gpus, bool by_lanes, bool read) {
    Row row = sized(name, "", bytes_, gpus == 2 ? "both directions of the links" : "a ring");
    row.bytes *= gpus;
    row.launches = by_lanes ? gpus : 0;
    const Call call = [=] {
      for (int d = 0; d < gpus; ++d) {
        const On on(d);
        const int other = (d + 1) % gpus, from = read ? other : d, to = read ? d : other;
        if (by_lanes)
          copy_by_lanes(from, to, bytes_, gpu(d).stream);
        else
          LAB_CHECK(cudaMemcpyPeerAsync(gpu(to).result, to, gpu(from).data, from, bytes_, gpu(d).stream));
      }
      LAB_CHECK(cudaGetLastError());
    };
    row.own = [=] { return together_us(gpus, call); };
    row.poison = [=] {
      for (int d = 0; d < gpus; ++d) poison(d, bytes_);
    };
    row.verified = [=] {
      bool right = true;
      for (int d = 0; d < gpus; ++d) {
        const int other = (d + 1) % gpus;
        right = right && (read ? same(other, d, bytes_) : same(d, other, bytes_));
      }
      return right;
    };
    return row;
  }

  void must(int code, const char* what) const {
    if (code == 0) return;
    std::fprintf(stderr, "peers: %s: %s\n", what, nccl_.error_text(code));
    std::exit(1);
  }
  Row collective_row(Collective collective, std::size_t size, const std::vector<Nccl::Comm>& comms) {
    const std::size_t part = size / 4 / static_cast<std::size_t>(count_),
                      count = part * static_cast<std::size_t>(count_);
    Row row = sized("", "", 4 * count, "");
    const Call call = [=] {
      must(nccl_.group_start(), "ncclGroupStart");
      for (int d = 0; d < count_; ++d) {
        const Gpu& g = gpu(d);
        const Nccl::Comm comm = comms[static_cast<std::size_t>(d)];
        const int next = (d + 1) % count_, before = (d + count_ - 1) % count_;
        constexpr int kFloat = Nccl::kFloat, kSum = Nccl::kSum;
        int code = 0;
        if (collective == Collective::kAllReduce)
          code = nccl_.all_reduce(g.data, g.result, count, kFloat, kSum, comm, g.stream);
        if (collective == Collective::kReduce)
          code = nccl_.reduce(g.data, g.result, count, kFloat, kSum, 0, comm, g.stream);
        if (collective == Collective::kBroadcast)
          code = nccl_.broadcast(g.data, g.result, count, kFloat, 0, comm, g.stream);
        if (collective == Collective::kAllGather)
          code = nccl_.all_gather(g.data, g.result, part, kFloat, comm, g.stream);
        if (collective == Collective::kReduceScatter)
          code = nccl_.reduce_scatter(g.data, g.result, part, kFloat, kSum, comm, g.stream);
        if (collective == Collective::kRing || (collective == Collective::kSend && d == 0))
          code = nccl_.send(g.data, count, kFloat, next, comm, g.stream);
        if (code == 0 && (collective == Collective::kRing || (collective == Collective::kSend && d == 1)))
          code = nccl_.receive(g.result, count, kFloat, before, comm, g.stream);
        must(code, "a collective of NCCL");
      }
      must(nccl_.group_end(), "ncclGroupEnd");
      LAB_CHECK(cudaSetDevice(0));
    };
    row.own = [=] { return together_us(count_, call); };
    row.poison = [=] {
      for (int d = 0; d < count_; ++d) poison(d, 4 * count);
    };
    row.verified = [=] {
      bool right = true;
      for (int d = 0; d < count_; ++d) {
        if (collective == Collective::kReduce && d != 0) continue;
        if (collective == Collective::kSend && d != 1) continue;
        right = right && check(d, collective == Collective::kReduceScatter ? part : count, [=](char* out) {
                  return Right{reinterpret_cast<const float*>(out), collective, d, count_, part};
                });
      }
      return right;
    };
    return row;
  }

  Lab& lab_;
  int count_;
  std::size_t bytes_;
  std::vector<Gpu> gpus_;
  std::vector<bool> direct_;  ///< from * count + to
  char* scratch_ = nullptr;   ///< on GPU 0
  Nccl nccl_;
};

}  // namespace

int main(int argc, char** argv) {
  Lab lab(argc, argv, "peers");
  static const char* const kAll[] = {"peer-pairs",      "peer-sizes",      "peer-both-ways",   "peer-lanes",
                                     "peer-latency",    "nccl-all-reduce", "nccl-reduce",      "nccl-reduce-scatter",
                                     "nccl-all-gather", "nccl-broadcast",  "nccl-send-receive"};
  int count = 0;
  if (!lab.listing()) LAB_CHECK(cudaGetDeviceCount(&count));
  if (count < 2) {
    for (const char* name : kAll)
      if (lab.wanted(name)) lab.skipped(name, "needs two GPUs or more");
    return lab.finish();
  }
  Peers peers(lab, count);
  peers.copies();
  peers.lanes();
  peers.collectives();
  return lab.finish();
}
