// Clusters: the shared memory of a cluster's other blocks (distributed shared memory) beside a block's own.
#include "chase.cuh"

namespace {

using lab::Lab;
using lab::Row;
using Word = std::uint32_t;

constexpr unsigned kWords = 8192;  // of shared memory per block: 32 KiB

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
#define LAB_CLUSTERS 1
#else
#define LAB_CLUSTERS 0  // kernels are empty there and are not launched
#endif

/// Where the shared memory of block `rank` begins for all blocks of the cluster. (As cooperative_groups does it, in
/// PTX, which compilers without that header's clusters take too.)
template <typename T>
__device__ T* of_block(T* mine, unsigned rank) {
  auto there = reinterpret_cast<unsigned long long>(mine);
#if LAB_CLUSTERS
  asm("mapa.u64 %0, %1, %2;" : "=l"(there) : "l"(there), "r"(rank));
#endif
  return reinterpret_cast<T*>(there);
}
__device__ inline unsigned rank_here() {
  unsigned rank = 0;
#if LAB_CLUSTERS
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
#endif
  return rank;
}
__device__ inline unsigned blocks_here() {
  unsigned count = 1;
#if LAB_CLUSTERS
  asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(count));
#endif
  return count;
}
__device__ inline void wait_for_cluster() {
#if LAB_CLUSTERS
  asm volatile("barrier.cluster.arrive.aligned;\n\tbarrier.cluster.wait.aligned;" ::: "memory");
#endif
}

// ---- kernels --------------------------------------------------------------------------------------------------------

/// One lane of block 0 follows a chain of 512 addresses in the memory of block `rank`. out[0]: cycles of `steps` loads
/// (a multiple of 16), out[1]: at which link it ended.
__global__ void __launch_bounds__(32) chase_block(unsigned rank, int steps, long long* out) {
  __shared__ __align__(128) unsigned long long links[512];
  auto* const here = of_block(links, rank_here());
  for (unsigned i = threadIdx.x; i < 512; i += 32)
    links[i] = reinterpret_cast<unsigned long long>(here + chase::next_line(i, 512));
  wait_for_cluster();
  if (rank_here() == 0 && threadIdx.x == 0) {
    const auto* const begin = of_block(links, rank);
    auto p = reinterpret_cast<unsigned long long>(begin);
    const long long start = clock64();
    for (int i = 0; i < steps; i += 16) {
#pragma unroll
      for (int k = 0; k < 16; ++k) p = *reinterpret_cast<const unsigned long long*>(p);
    }
    out[1] = reinterpret_cast<const unsigned long long*>(p) - begin;
    out[0] = clock64() - start + (p == 1);
  }
  wait_for_cluster();  // no block ends while another reads its memory
}

/// Atomic adds whose results, all zero, are the next one's offset.
__global__ void __launch_bounds__(32) chase_atomics(unsigned rank, int steps, long long* out) {
  __shared__ Word words[32];
  words[threadIdx.x] = 0;
  wait_for_cluster();
  if (rank_here() == 0 && threadIdx.x == 0) {
    Word* const there = of_block(words, rank);
    Word p = 0;
    const long long start = clock64();
    for (int i = 0; i < steps; i += 16) {
#pragma unroll
      for (int k = 0; k < 16; ++k) p = atomicAdd(there + p, 0u);
    }
    const long long cycles = clock64() - start + (p == 1);
    out[0] = cycles, out[1] = p;
  }
  wait_for_cluster();
}

__global__ void wait_often(int steps, bool cluster, long long* out) {
  const long long start = clock64();
  for (int i = 0; i < steps; ++i) {
    if (cluster)
      wait_for_cluster();
    else
      __syncthreads();
  }
  const long long cycles = clock64() - start;
  if (blockIdx.x == 0 && threadIdx.x == 0) out[0] = cycles, out[1] = 0;
}

/// Whose memory a block works in: that of the block after it, or of all others, one after the other.
enum class Whose { kOwn, kNext, kAll };

__device__ inline unsigned other(Whose whose, unsigned rank, unsigned count, int round) {
  if (whose == Whose::kOwn || count == 1) return rank;
  const unsigned step = whose == Whose::kNext ? 1 : 1 + static_cast<unsigned>(round) % (count - 1);
  return (rank + step) % count;
}

/// Words are mixed(place + rank * kWords). Each thread's result is the sum of what it read.
template <typename Vector>
__global__ void __launch_bounds__(1024) read_others(Whose whose, int repeats, Word* out) {
  constexpr unsigned kCount = kWords * 4 / sizeof(Vector);
  __shared__ Vector data[kCount];
  const unsigned rank = rank_here(), count = blocks_here();
  for (unsigned i = threadIdx.x; i < kWords; i += 1024)
    reinterpret_cast<Word*>(data)[i] = lab::mixed(i + rank * kWords);
  wait_for_cluster();
  unsigned i = threadIdx.x;
  Word sum = 0;
  for (int r = 0; r < repeats; ++r) {
    const Vector* const there = of_block(data, other(whose, rank, count, r));
#pragma unroll
    for (int k = 0; k < 8; ++k) {
      const Vector v = there[(i + k * (kCount / 8)) % kCount];
#pragma unroll
      for (unsigned w = 0; w < sizeof(Vector) / 4; ++w) sum += reinterpret_cast<const Word*>(&v)[w];
    }
    i += 32;
  }
  wait_for_cluster();
  out[blockIdx.x * 1024 + threadIdx.x] = sum;
}
struct ReadSums {
  const Word* out;
  Whose whose;
  unsigned bytes, cluster;
  int repeats;
  __device__ bool operator()(std::size_t at) const {
    const unsigned rank = static_cast<unsigned>(at / 1024) % cluster, count = kWords * 4 / bytes;
    unsigned i = static_cast<unsigned>(at) % 1024;
    Word sum = 0;
    for (int r = 0; r < repeats; ++r, i += 32) {
      const unsigned there = other(whose, rank, cluster, r) * kWords;
      for (unsigned k = 0; k < 8; ++k)
        for (unsigned w = 0; w < bytes / 4; ++w)
          sum += lab::mixed((i + k * (count / 8)) % count * (bytes / 4) + w + there);
    }
    return out[at] == sum;
  }
};

/// Writes to each place its number, again and again, and then counts where it stands in the own memory.
template <typename Vector>
__global__ void __launch_bounds__(1024) write_others(Whose whose, int repeats, Word* out) {
  constexpr unsigned kCount = kWords * 4 / sizeof(Vector), kPer = sizeof(Vector) / 4;
  __shared__ Vector data[kCount];
  const unsigned rank = rank_here(), count = blocks_here();
  for (unsigned i = threadIdx.x; i < kWords; i += 1024) reinterpret_cast<Word*>(data)[i] = lab::kNever;
  wait_for_cluster();
  unsigned i = threadIdx.x;
  for (int r = 0; r < repeats; ++r) {
    Vector* const there = of_block(data, other(whose, rank, count, r));
#pragma unroll
    for (int k = 0; k < 8; ++k) {
      const unsigned place = (i + k * (kCount / 8)) % kCount;
      Vector v;
#pragma unroll
      for (unsigned w = 0; w < kPer; ++w) reinterpret_cast<Word*>(&v)[w] = place * kPer + w;
      there[place] = v;
    }
    i += 32;
  }
  wait_for_cluster();
  Word right = 0;
  for (unsigned k = threadIdx.x; k < kWords; k += 1024) right += reinterpret_cast<const Word*>(data)[k] == k;
  out[blockIdx.x * 1024 + threadIdx.x] = right;
}
struct AllWritten {
  const Word* out;
  __device__ bool operator()(std::size_t at) const { return out[at] == kWords / 1024; }
};

/// Each lane adds one to a word of its own, `repeats` times 8.
__global__ void __launch_bounds__(1024) add_to_others(Whose whose, int repeats, Word* out) {
  __shared__ Word data[kWords];
  const unsigned rank = rank_here(), count = blocks_here();
  for (unsigned i = threadIdx.x; i < kWords; i += 1024) data[i] = 0;
  wait_for_cluster();
  for (int r = 0; r < repeats; ++r) {
    Word* const there = of_block(data, other(whose, rank, count, r));
#pragma unroll
    for (unsigned k = 0; k < 8; ++k) atomicAdd(there + threadIdx.x + k * 1024, 1u);
  }
  wait_for_cluster();
  Word sum = 0;
  for (unsigned k = 0; k < 8; ++k) sum += data[threadIdx.x + k * 1024];
  out[blockIdx.x * 1024 + threadIdx.x] = sum;
}
struct AllAdded {
  const Word* out;
  int repeats;
  __device__ bool operator()(std::size_t at) const { return out[at] == 8u * static_cast<unsigned>(repeats); }
};

// ---- host -----------------------------------------------------------------------------------------------------------

/// A launch of `clusters` clusters of `size` blocks.
struct Launch {
  cudaLaunchConfig_t config{};
  cudaLaunchAttribute attribute{};
  Launch(unsigned clusters, unsigned size, unsigned threads, cudaStream_t stream) {
    config.gridDim = dim3(clusters * size);
    config.blockDim = dim3(threads);
    config.stream = stream;
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = size;
    attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
    config.attrs = &attribute;
    config.numAttrs = 1;
  }
};

template <typename... Parameters>
void start(void (*kernel)(Parameters...), unsigned clusters, unsigned size, unsigned threads, cudaStream_t stream,
           Parameters... parameters) {
  Launch launch(clusters, size, threads, stream);
  LAB_CHECK(cudaLaunchKernelEx(&launch.config, kernel, parameters...));
}

/// As many clusters of `size` blocks as run at once; 0: this GPU has none of that size.
template <typename... Parameters>
unsigned clusters_at_once(void (*kernel)(Parameters...), unsigned size, unsigned threads) {
  if (size > 8 && cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1) != cudaSuccess) {
    (void)cudaGetLastError();
    return 0;
  }
  Launch launch(1, size, threads, nullptr);
  int clusters = 0;
  if (cudaOccupancyMaxActiveClusters(&clusters, kernel, &launch.config) != cudaSuccess) {
    (void)cudaGetLastError();
    return 0;
  }
  return static_cast<unsigned>(clusters);
}

std::string of(unsigned size) { return ", cluster of " + std::to_string(size); }

constexpr unsigned kSizes[] = {1, 2, 4, 8, 16};

/// Cycles per step in the memory of each other block of the cluster (of the own one, in a cluster of one).
std::vector<double> of_each_rank(void (*kernel)(unsigned, int, long long*), unsigned size, int steps) {
  std::vector<double> all;
  for (unsigned rank = size == 1 ? 0 : 1; rank < size; ++rank)
    all.push_back(
        chase::cycles_per_step([=](long long* out) { start(kernel, 1, size, 32, nullptr, rank, steps, out); }, steps));
  return all;
}

void latencies(Lab& lab) {
  const int steps = static_cast<int>(lab.pick(2048, 1024, 32));
  const auto row_of = [](const std::string& name, unsigned size, const char* why, std::function<double()> own) {
    Row row;
    row.name = name;
    row.x = size;
    row.x_unit = "blocks";
    row.unit = "cycles";
    row.why = why;
    row.launches = size == 1 ? 1 : static_cast<int>(size) - 1;
    row.own = std::move(own);
    return row;
  };
  const auto mean = [](const std::vector<double>& all) {
    double sum = 0;
    for (const double v : all) sum += v;
    return sum / static_cast<double>(all.size());
  };
  if (lab.wanted("latency-cluster")) {
    std::vector<Row> rows = {chase::latency_row(
        "own shared memory", 0, "an address of shared memory", steps,
        [=](long long* out) { chase::shared_memory<<<1, 32>>>(steps, out); }, chase::place_after(steps, 1024) * 4)};
    const long long last = chase::place_after(steps, 512);
    for (const unsigned size : kSizes) {
      if (clusters_at_once(chase_block, size, 32) == 0) continue;
      Row row = row_of(size == 1 ? "own shared memory by a cluster's address" : "other blocks" + of(size), size,
                       size == 1 ? "the same memory: what the longer way of addressing costs"
                                 : "the mean of all others; requests cross the network between multiprocessors",
                       [=] { return mean(of_each_rank(chase_block, size, steps)); });
      row.verified = [=] { return chase::ended_at() == last; };
      rows.push_back(row);
    }
    for (const unsigned size : {8u, 16u}) {
      if (clusters_at_once(chase_block, size, 32) == 0) continue;
      for (const bool far : {false, true}) {
        Row row =
            row_of((far ? "the farthest block" : "the nearest block") + of(size), size,
                   "blocks of a cluster share a group of multiprocessors, not all of which are equally near", [=] {
                     const std::vector<double> all = of_each_rank(chase_block, size, steps);
                     return far ? *std::max_element(all.begin(), all.end()) : *std::min_element(all.begin(), all.end());
                   });
        row.verified = [=] { return chase::ended_at() == last; };
        rows.push_back(row);
      }
    }
    for (const unsigned size : {1u, 2u, 8u}) {
      if (clusters_at_once(chase_atomics, size, 32) == 0) continue;
      Row row = row_of((size == 1 ? "atomic adds, own memory" : "atomic adds, other blocks") + of(size), size,
                       "added up where the word lies", [=] { return mean(of_each_rank(chase_atomics, size, steps)); });
      row.verified = [] { return chase::ended_at() == 0; };
      rows.push_back(row);
    }
    lab.run("latency-cluster", rows);
  }
  if (lab.wanted("latency-barrier")) {
    std::vector<Row> rows;
    const int waits = static_cast<int>(lab.pick(256, 128, 2));
    for (const unsigned threads : {32u, 256u, 1024u}) {
      for (const unsigned size : {0u, 1u, 2u, 4u, 8u, 16u}) {
        if (size != 0 && clusters_at_once(wait_often, size, threads) == 0) continue;
        const std::string name = size == 0 ? "__syncthreads()" : "cluster.sync()" + of(size);
        Row row = row_of(
            name + ", " + std::to_string(threads) + " threads", size,
            size == 0 ? "warps of one block wait for each other" : "blocks of a cluster wait for each other", [=] {
              return chase::cycles_per_step(
                  [=](long long* out) {
                    start(wait_often, 1, std::max(size, 1u), threads, nullptr, waits, size != 0, out);
                  },
                  waits);
            });
        row.launches = 1;
        rows.push_back(row);
      }
    }
    lab.run("latency-barrier", rows);
  }
}

class Bandwidths {
 public:
  explicit Bandwidths(Lab& lab) : lab_(lab), repeats_(static_cast<int>(lab.pick(256, 128, 2))) {
    blocks_most_ = 64 * static_cast<unsigned>(lab.multiprocessors());
    out_ = lab.memory<Word>(std::size_t{4096} * blocks_most_);
  }

  template <typename Vector>
  void reads(const char* name, Whose whose, unsigned size, const char* why) {
    add<Vector>(read_others<Vector>, name, whose, size, why,
                ReadSums{out_, whose, static_cast<unsigned>(sizeof(Vector)), size, repeats_});
  }
  template <typename Vector>
  void writes(const char* name, Whose whose, unsigned size, const char* why) {
    // All places of all others are written when each has had its turn.
    if (whose == Whose::kAll && repeats_ < static_cast<int>(size) - 1) return;
    add<Vector>(write_others<Vector>, name, whose, size, why, AllWritten{out_});
  }
  void adds(const char* name, Whose whose, unsigned size, const char* why) {
    add<Word>(add_to_others, name, whose, size, why, AllAdded{out_, repeats_});
    if (!rows_.empty() && rows_.back().name.rfind(name, 0) == 0) rows_.back().work = "op", rows_.back().bytes /= 4;
  }
  void run(const char* experiment) { lab_.run(experiment, rows_); }

 private:
  template <typename Vector, typename Right>
  void add(void (*kernel)(Whose, int, Word*), const char* name, Whose whose, unsigned size, const char* why,
           Right right) {
    const unsigned most = clusters_at_once(kernel, size, 1024);
    if (most == 0) return;
    const unsigned clusters = lab_.counting() ? 1 : std::min(most, blocks_most_ / size);
    const std::size_t count = std::size_t{1024} * clusters * size;
    Row row;
    // The number of blocks ends the name: multiprocessors that no cluster of this size fits into do nothing.
    row.name = name + of(size) + ", " + std::to_string(clusters * size) + " blocks";
    row.x = size;
    row.x_unit = "blocks";
    row.bytes = static_cast<double>(count) * 8 * repeats_ * sizeof(Vector);
    row.why = why;
    row.flush = lab::Flush::kWarm;
    const int repeats = repeats_;
    Word* const out = out_;
    Lab* const lab = &lab_;
    row.call = [=](cudaStream_t s) { start(kernel, clusters, size, 1024, s, whose, repeats, out); };
    row.poison = [=] { LAB_CHECK(cudaMemset(out, 0xff, 4 * count)); };
    row.verified = [=] { return lab->check(count, right); };
    rows_.push_back(row);
  }

  Lab& lab_;
  int repeats_;
  unsigned blocks_most_ = 0;
  Word* out_ = nullptr;
  std::vector<Row> rows_;
};

void bandwidths(Lab& lab) {
  if (!lab.wanted("bandwidth-cluster")) return;
  Bandwidths all(lab);
  const char* const own = "a block's own memory, by a cluster's address";
  const char* const next = "each block works in the memory of the block after it";
  const char* const turns = "each block works in the memory of all others, one after the other";
  for (const unsigned size : kSizes) {
    const Whose whose = size == 1 ? Whose::kOwn : Whose::kNext;
    const char* const why = size == 1 ? own : next;
    all.reads<Word>("loads of 4 B", whose, size, why);
    all.reads<uint4>("loads of 16 B", whose, size, why);
    all.writes<uint4>("stores of 16 B", whose, size, why);
    all.adds("atomic adds", whose, size, why);
  }
  for (const unsigned size : {4u, 8u, 16u}) {
    all.reads<uint4>("loads of 16 B, all others", Whose::kAll, size, turns);
    all.writes<uint4>("stores of 16 B, all others", Whose::kAll, size, turns);
  }
  all.run("bandwidth-cluster");
}

}  // namespace

int main(int argc, char** argv) {
  Lab lab(argc, argv, "clusters");
  static const char* const kAll[] = {"latency-cluster", "latency-barrier", "bandwidth-cluster"};
  if (!lab.listing() && lab.device().major < 9) {
    for (const char* name : kAll)
      if (lab.wanted(name)) lab.skipped(name, "needs compute capability 9.0: blocks of older GPUs form no clusters");
    return lab.finish();
  }
  latencies(lab);
  bandwidths(lab);
  return lab.finish();
}
