// Several GPUs: copies between all pairs, sweeps between the first two, lanes that read and write the other's memory,
// latency across, reductions by NCCL (taken from the system when it is there; nothing is linked to it).
#include <dlfcn.h>

#include "chase.cuh"

namespace {

using lab::Lab;
using lab::Row;
using Word = std::uint32_t;
using Clock = std::chrono::steady_clock;

__global__ void __launch_bounds__(512) lanes_copy(uint4* out, const uint4* in, std::size_t count) {
  lab::copy_by_blocks(out, in, count);
}

struct Same {
  const Word *a, *b;
  __device__ bool operator()(std::size_t i) const { return a[i] == b[i]; }
};
struct AllEqual {
  const float* out;
  float value;
  __device__ bool operator()(std::size_t i) const { return out[i] == value; }
};
struct Constant {
  float value;
  __device__ std::uint32_t operator()(std::size_t) const { return __float_as_uint(value); }
};

/// The few functions of NCCL that are used, looked up by name. Numbers of types and operations are part of its
/// interface.
struct Nccl {
  using Comm = void*;
  int (*init_all)(Comm*, int, const int*) = nullptr;
  int (*all_reduce)(const void*, void*, std::size_t, int, int, Comm, cudaStream_t) = nullptr;
  int (*group_start)() = nullptr;
  int (*group_end)() = nullptr;
  int (*destroy)(Comm) = nullptr;
  static constexpr int kFloat = 7, kSum = 0;

  bool load() {
    void* const library = dlopen("libnccl.so.2", RTLD_NOW);
    if (library == nullptr) return false;
    const auto find = [library](auto& function, const char* name) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
      return function != nullptr;
    };
    return find(init_all, "ncclCommInitAll") && find(all_reduce, "ncclAllReduce") &&
           find(group_start, "ncclGroupStart") && find(group_end, "ncclGroupEnd") && find(destroy, "ncclCommDestroy");
  }
};

class Peers {
 public:
  Peers(Lab& lab, int count)
      : lab_(lab), count_(count), bytes_(lab.pick(std::size_t{256} << 20, std::size_t{64} << 20, 1 << 16)) {
    for (int d = 0; d < count; ++d) {
      LAB_CHECK(cudaSetDevice(d));
      for (int e = 0; e < count; ++e) {
        int can = 0;
        if (d != e) LAB_CHECK(cudaDeviceCanAccessPeer(&can, d, e));
        direct_.push_back(can != 0);
        if (can != 0) LAB_CHECK(cudaDeviceEnablePeerAccess(e, 0));
      }
      buffers_.push_back(lab.memory(bytes_, static_cast<Word>(d) * 1000));
      results_.push_back(lab.memory(bytes_, 1));
      cudaStream_t stream = nullptr;
      LAB_CHECK(cudaStreamCreate(&stream));
      streams_.push_back(stream);
      LAB_CHECK(cudaDeviceSynchronize());
    }
    LAB_CHECK(cudaSetDevice(0));
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
      std::vector<Row> rows;
      for (std::size_t size = 4096; size <= bytes_; size *= 4)
        rows.push_back(engine_row("copy engine, " + lab::size_text(size), "copy engine, GPU 0 to 1", 0, 1, size));
      lab_.run("peer-sizes", rows);
    }
    if (lab_.wanted("peer-both-ways")) {
      Row row = base_row("GPU 0 to 1 and 1 to 0 at once", 2.0 * bytes_, "both directions of the links");
      row.own = [this] {
        return host_us([this] {
          LAB_CHECK(cudaMemcpyPeerAsync(results_[1], 1, buffers_[0], 0, bytes_, streams_[0]));
          LAB_CHECK(cudaMemcpyPeerAsync(results_[0], 0, buffers_[1], 1, bytes_, streams_[1]));
          synchronize();
        });
      };
      lab_.run("peer-both-ways", {row});
    }
  }

  void lanes() {
    if (!direct_[1]) {
      for (const char* name : {"peer-lanes", "peer-latency"})
        if (lab_.wanted(name)) lab_.skipped(name, "GPU 0 cannot reach the memory of GPU 1");
      return;
    }
    if (lab_.wanted("peer-lanes")) {
      std::vector<Row> rows;
      for (const bool read : {true, false}) {
        Row row = base_row(read ? "lanes read the other's memory" : "lanes write the other's memory",
                           static_cast<double>(bytes_),
                           read ? "requests and answers cross the links" : "stores need no answer");
        row.launches = 1;
        char* const in = read ? buffers_[1] : buffers_[0];
        char* const out = read ? results_[0] : results_[1];
        const std::size_t count = bytes_ / 16;
        row.call = [=](cudaStream_t s) {
          lanes_copy<<<lab::blocks_for(count, 2048), 512, 0, s>>>(reinterpret_cast<uint4*>(out),
                                                                  reinterpret_cast<const uint4*>(in), count);
        };
        row.poison = [=] { LAB_CHECK(cudaMemset(out, 0xff, bytes_)); };
        row.verified = [=] {
          return lab_.check(bytes_ / 4, Same{reinterpret_cast<Word*>(in), reinterpret_cast<Word*>(out)});
        };
        rows.push_back(row);
      }
      lab_.run("peer-lanes", rows);
    }
    if (lab_.wanted("peer-latency")) {
      const std::size_t size = 1 << 20;
      const auto base = reinterpret_cast<std::uint64_t>(results_[1]);
      lab_.fill(results_[1], size, chase::Link{base, size / chase::kLine, chase::kLine, false});
      lab_.run("peer-latency", {chase::latency_row("the other's memory, 1 MiB", size, "every load crosses the links",
                                                   512, [=](long long* out) {
                                                     chase::global_memory<chase::Through::kVolatile>
                                                         <<<1, 1>>>(base, 0, 512, out);
                                                   })});
    }
  }

  void reductions() {
    if (!lab_.wanted("nccl-all-reduce")) return;
    Nccl nccl;
    if (!nccl.load()) return lab_.skipped("nccl-all-reduce", "libnccl.so.2 was not found");
    std::vector<Nccl::Comm> comms(static_cast<std::size_t>(count_));
    if (nccl.init_all(comms.data(), count_, nullptr) != 0)
      return lab_.skipped("nccl-all-reduce", "ncclCommInitAll failed");
    float sum = 0;
    for (int d = 0; d < count_; ++d) {
      LAB_CHECK(cudaSetDevice(d));
      lab_.fill(buffers_[static_cast<std::size_t>(d)], bytes_, Constant{static_cast<float>(d + 1)});
      LAB_CHECK(cudaDeviceSynchronize());
      sum += static_cast<float>(d + 1);
    }
    LAB_CHECK(cudaSetDevice(0));
    std::vector<Row> rows;
    for (std::size_t size = 1024; size <= bytes_; size *= 4) {
      // Bytes as NCCL's tests count them for the bus: 2 (n - 1) / n of the buffer per GPU.
      Row row =
          base_row("sum over " + std::to_string(count_) + " GPUs, " + lab::size_text(size),
                   2.0 * (count_ - 1) / count_ * static_cast<double>(size), "bus bytes: 2 (n - 1) / n of the buffer");
      row.series = "all-reduce";
      row.x = static_cast<double>(size);
      row.x_unit = "B";
      const auto call = [=] {
        nccl.group_start();
        for (std::size_t d = 0; d < static_cast<std::size_t>(count_); ++d)
          nccl.all_reduce(buffers_[d], results_[d], size / 4, Nccl::kFloat, Nccl::kSum, comms[d], streams_[d]);
        nccl.group_end();
        synchronize();
      };
      row.call = [=](cudaStream_t) { call(); };
      row.own = [=] { return host_us(call); };
      row.poison = [=] { LAB_CHECK(cudaMemset(results_[0], 0xff, size)); };
      row.verified = [=] { return lab_.check(size / 4, AllEqual{reinterpret_cast<const float*>(results_[0]), sum}); };
      rows.push_back(row);
    }
    lab_.run("nccl-all-reduce", rows);
    for (Nccl::Comm comm : comms) nccl.destroy(comm);
  }

 private:
  static double host_us(const std::function<void()>& call) {
    const auto begin = Clock::now();
    call();
    return std::chrono::duration<double, std::micro>(Clock::now() - begin).count();
  }
  void synchronize() {
    for (const cudaStream_t s : streams_) LAB_CHECK(cudaStreamSynchronize(s));
  }
  Row base_row(const std::string& name, double bytes, const char* why) const {
    Row row;
    row.name = name;
    row.bytes = bytes;
    row.why = why;
    row.launches = 0;
    return row;
  }
  Row engine_row(const std::string& name, const char* series, int from, int to, std::size_t size) {
    const bool direct = direct_[static_cast<std::size_t>(from * count_ + to)];
    Row row =
        base_row(name, static_cast<double>(size),
                 direct ? "directly from memory to memory" : "through host memory: these GPUs cannot reach each other");
    row.series = series;
    row.x = static_cast<double>(size);
    row.x_unit = "B";
    const std::size_t f = static_cast<std::size_t>(from), t = static_cast<std::size_t>(to);
    const auto call = [=] {
      LAB_CHECK(cudaMemcpyPeerAsync(results_[t], to, buffers_[f], from, size, streams_[f]));
      LAB_CHECK(cudaStreamSynchronize(streams_[f]));
    };
    row.call = [=](cudaStream_t) { call(); };
    row.own = [=] { return host_us(call); };
    row.poison = [=] {
      LAB_CHECK(cudaSetDevice(to));
      LAB_CHECK(cudaMemset(results_[t], 0xff, size));
      LAB_CHECK(cudaDeviceSynchronize());
      LAB_CHECK(cudaSetDevice(0));
    };
    row.verified = [=] {
      std::vector<Word> got(size / 4), want(size / 4);
      LAB_CHECK(cudaMemcpy(got.data(), results_[t], size, cudaMemcpyDeviceToHost));
      LAB_CHECK(cudaMemcpy(want.data(), buffers_[f], size, cudaMemcpyDeviceToHost));
      return got == want;
    };
    return row;
  }

  Lab& lab_;
  int count_;
  std::size_t bytes_;
  std::vector<char*> buffers_, results_;
  std::vector<cudaStream_t> streams_;
  std::vector<bool> direct_;
};

}  // namespace

int main(int argc, char** argv) {
  Lab lab(argc, argv, "peers");
  static const char* const kAll[] = {"peer-pairs", "peer-sizes",   "peer-both-ways",
                                     "peer-lanes", "peer-latency", "nccl-all-reduce"};
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
  peers.reductions();
  return lab.finish();
}
