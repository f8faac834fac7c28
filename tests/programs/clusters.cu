// Clusters of thread blocks: their registers, barrier and shared memory, remote mbarriers and asynchronous stores,
// every way to launch them, and the errors of wrong launches. The expected lines (clusters_h200.txt) are of an H200.
// Argument: none, or the number of a case that ends in an error.
#include <cooperative_groups.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace cg = cooperative_groups;
using u32 = unsigned;
using u64 = unsigned long long;

static void say(const char* what, cudaError_t error) {
  std::printf("%s: %s\n", what, cudaGetErrorName(error));
  cudaGetLastError();
}

struct Buffer {
  u32* device = nullptr;
  std::vector<u32> host;
  explicit Buffer(std::size_t words) : host(words) {
    cudaMalloc(&device, words * 4);
    cudaMemset(device, 0, words * 4);
  }
  ~Buffer() { cudaFree(device); }
  void print(const char* what) {
    const cudaError_t error = cudaDeviceSynchronize();
    if (error != cudaSuccess) return say(what, error);
    cudaMemcpy(host.data(), device, host.size() * 4, cudaMemcpyDeviceToHost);
    std::printf("%s:", what);
    u32 hash = 2166136261u;
    for (std::size_t i = 0; i < host.size(); ++i) {
      if (i < 40) std::printf(" %u", host[i]);
      hash = (hash ^ host[i]) * 16777619u;
    }
    std::printf(" #%08x\n", hash);
  }
};

template <typename... Args, typename... Given>
cudaError_t launch(void (*kernel)(Args...), dim3 grid, dim3 block, dim3 cluster, std::size_t shared, Given... args) {
  cudaLaunchConfig_t config = {};
  config.gridDim = grid, config.blockDim = block, config.dynamicSmemBytes = shared;
  cudaLaunchAttribute attribute[1];
  attribute[0].id = cudaLaunchAttributeClusterDimension;
  attribute[0].val.clusterDim.x = cluster.x, attribute[0].val.clusterDim.y = cluster.y;
  attribute[0].val.clusterDim.z = cluster.z;
  config.attrs = attribute, config.numAttrs = 1;
  return cudaLaunchKernelEx(&config, kernel, Args(args)...);
}

#define REGISTER(name)                              \
  asm volatile("mov.u32 %0, %" name ";" : "=r"(v)); \
  mine[n++] = v;

/// 16 words a block.
__device__ void write_registers(u32* out) {
  if (threadIdx.x != 0) return;
  u32* mine = out + 16 * (blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z));
  u32 v, n = 0;
  REGISTER("cluster_ctaid.x")
  REGISTER("cluster_ctaid.y") REGISTER("cluster_ctaid.z") REGISTER("cluster_nctaid.x") REGISTER("cluster_nctaid.y")
      REGISTER("cluster_nctaid.z") REGISTER("cluster_ctarank") REGISTER("cluster_nctarank") REGISTER("clusterid.x")
          REGISTER("clusterid.y") REGISTER("clusterid.z") REGISTER("nclusterid.x") REGISTER("nclusterid.y")
              REGISTER("nclusterid.z") asm volatile(
                  "{.reg .pred p; mov.pred p, %%is_explicit_cluster; selp.u32 %0, 1, 0, p;}" : "=r"(v));
  mine[n++] = v;
  mine[n] = 1000 + blockIdx.x;
}
__global__ void registers(u32* out) { write_registers(out); }
__global__ void __cluster_dims__(2, 1, 2) fixed_registers(u32* out) { write_registers(out); }

/// Every block reads its neighbour's memory by cooperative groups.
__global__ void ring(u32* out) {
  __shared__ u32 tile[64];
  cg::cluster_group cluster = cg::this_cluster();
  const u32 rank = cluster.block_rank(), blocks = cluster.num_blocks();
  tile[threadIdx.x] = threadIdx.x + 100 * rank + 10000 * blockIdx.x;
  cluster.sync();
  const u32* next = cluster.map_shared_rank(tile, (rank + 1) % blocks);
  u32 sum = next[threadIdx.x ^ 1];
  for (u32 r = 0; r < blocks; ++r) sum += cluster.map_shared_rank(tile, r)[5];
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
  cluster.sync();
  cluster.map_shared_rank(tile, (rank + blocks - 1) % blocks)[threadIdx.x] = 7 * rank + threadIdx.x;
  cluster.barrier_arrive();
  cluster.barrier_wait();
  out[(gridDim.x + blockIdx.x) * blockDim.x + threadIdx.x] = tile[threadIdx.x];
  if (threadIdx.x == 0) {
    const dim3 dims = cluster.dim_blocks(), index = cluster.block_index();
    u32* more = out + 2 * gridDim.x * blockDim.x + 8 * blockIdx.x;
    more[0] = dims.x * 100 + dims.y * 10 + dims.z, more[1] = index.x * 100 + index.y * 10 + index.z;
    more[2] = cluster.num_threads(), more[3] = cluster.thread_rank();
    more[4] = cluster.query_shared_rank(next);
    more[5] = cluster.query_shared_rank(tile);
  }
}

/// Atomics of all kinds from all blocks on block 0's memory.
__global__ void atomics(u32* out) {
  __shared__ u32 words[16];
  __shared__ u64 longs[8];
  __shared__ float floats[4];
  __shared__ double doubles[2];
  cg::cluster_group cluster = cg::this_cluster();
  const u32 rank = cluster.block_rank(), t = threadIdx.x + blockDim.x * rank;
  if (threadIdx.x < 16) words[threadIdx.x] = threadIdx.x == 3 ? 0xffffffffu : 0;
  if (threadIdx.x < 8) longs[threadIdx.x] = 0;
  if (threadIdx.x < 4) floats[threadIdx.x] = 0;
  if (threadIdx.x < 2) doubles[threadIdx.x] = 0;
  cluster.sync();
  u32* w = cluster.map_shared_rank(words, 0);
  u64* l = cluster.map_shared_rank(longs, 0);
  float* f = cluster.map_shared_rank(floats, 0);
  double* d = cluster.map_shared_rank(doubles, 0);
  atomicAdd(w + 0, 3), atomicMax(w + 1, 17 * t % 101), atomicOr(w + 2, 1u << (t & 31)),
      atomicAnd(w + 3, ~(1u << (t & 7)));
  atomicXor(w + 4, t * 77), atomicInc(w + 5, 10), atomicDec(w + 6, 12);
  atomicMin(reinterpret_cast<int*>(w) + 7, -static_cast<int>(t));
  atomicAdd(l + 0, 1ull << 33);
  for (u64 seen = l[2], was = ~seen; seen != was;) was = seen, seen = atomicCAS(l + 2, was, was + t);
  atomicAdd(f + (t & 1), 0.5f), atomicAdd(d, 0.25);
  const u64 old = atomicExch(l + 3 + (t & 1), t + 1);
  atomicAdd(w + 8, static_cast<u32>(old)), atomicAdd(w + 8, 0);
  u32 address, generic;
  asm volatile("{.reg .u64 a; cvta.to.shared.u64 a, %1; cvt.u32.u64 %0, a;}" : "=r"(address) : "l"(w + 9));
  asm volatile("atom.shared::cluster.add.u32 %0, [%1], 1;" : "=r"(generic) : "r"(address));
  asm volatile("red.shared::cluster.max.u32 [%0], %1;" ::"r"(address + 4), "r"(generic));
  asm volatile("st.shared::cluster.u32 [%0], 5;" ::"r"(address + 8));
  cluster.sync();
  if (rank == 0 && threadIdx.x < 16) out[threadIdx.x] = words[threadIdx.x];
  if (rank == 0 && threadIdx.x < 3)
    out[16 + 2 * threadIdx.x] = longs[threadIdx.x], out[17 + 2 * threadIdx.x] = longs[threadIdx.x] >> 32;
  if (rank == 0 && threadIdx.x < 2) out[24 + threadIdx.x] = static_cast<u32>(floats[threadIdx.x] * 2);
  if (rank == 0 && threadIdx.x == 0) {
    out[26] = static_cast<u32>(doubles[0] * 4);
    // What was there before each exchange, and what is there now: all but the two zeros.
    out[27] = words[8] + static_cast<u32>(longs[3] + longs[4]);
    out[8] = 0;
  }
}

#define SPACE(name, bit)                                                                             \
  asm volatile("{.reg .pred p; isspacep." name " p, %1; selp.u32 %0, 1, 0, p;}" : "=r"(v) : "l"(p)); \
  bits |= v << bit;

/// Which window addresses of this block and of another one are in.
__global__ void windows(u32* out) {
  __shared__ u32 word;
  cg::cluster_group cluster = cg::this_cluster();
  const u32 rank = cluster.block_rank(), other = (rank + 1) % cluster.num_blocks();
  word = rank;
  cluster.sync();
  u32 local = 0;
  const void* const places[] = {&word, cluster.map_shared_rank(&word, other), cluster.map_shared_rank(&word, rank), out,
                                &local};
  u32 n = 0, v;
  for (const void* p : places) {
    u32 bits = 0;
    SPACE("shared", 0)
    SPACE("shared::cta", 1) SPACE("shared::cluster", 2) SPACE("global", 3) SPACE("local", 4) out[8 * blockIdx.x + n++] =
        bits;
  }
  u32 own, theirs;
  asm volatile("{.reg .u64 a; cvta.to.shared.u64 a, %1; cvt.u32.u64 %0, a;}" : "=r"(own) : "l"(&word));
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(theirs) : "r"(own), "r"(other));
  out[8 * blockIdx.x + n++] = own >> 24;
  out[8 * blockIdx.x + n++] = theirs - own + (rank << 24);
  asm volatile("getctarank.shared::cluster.u32 %0, %1;" : "=r"(v) : "r"(theirs));
  out[8 * blockIdx.x + n++] = v;
  cluster.sync();
}

__device__ u32 shared_address(const void* p) { return static_cast<u32>(__cvta_generic_to_shared(p)); }
__device__ u32 mapped(u32 address, u32 rank) {
  u32 m;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(m) : "r"(address), "r"(rank));
  return m;
}
__device__ void wait_phase(u32 barrier, u32 parity) {
  asm volatile(
      "{.reg .pred p; again: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%0], %1; @!p bra again;}" ::
          "r"(barrier),
      "r"(parity)
      : "memory");
}

/// Blocks fill each other's memory and wait for it at mbarriers: arrivals, st.async, red.async, bulk copies, multicast.
__global__ void messages(u32* out, const u32* in) {
  __shared__ alignas(128) u32 tile[4][64];
  __shared__ alignas(8) u64 bars[5];
  cg::cluster_group cluster = cg::this_cluster();
  const u32 rank = cluster.block_rank(), blocks = cluster.num_blocks(), next = (rank + 1) % blocks, t = threadIdx.x;
  u32* const mine = out + 512 * blockIdx.x;
  for (u32 k = 0; k < 4; ++k) tile[k][t] = 0, tile[k][t + 32] = 0;
  if (t == 0) {
    for (u32 k = 0; k < 5; ++k)
      asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(bars + k)),
                   "r"(k == 0 ? 32 * blocks : 1));
    asm volatile("fence.mbarrier_init.release.cluster;");
  }
  cluster.sync();
  // Arrivals of all threads of the cluster at every block.
  for (u32 r = 0; r < blocks; ++r)
    asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(mapped(shared_address(bars), r))
                 : "memory");
  wait_phase(shared_address(bars), 0);
  mine[0] = 1;
  // Stores that count as bytes.
  if (t == 0)
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(bars + 1)), "r"(32 * 8));
  asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.u32 [%0], {%1, %2}, [%3];" ::"r"(
                   mapped(shared_address(tile[0] + 2 * t), next)),
               "r"(rank * 1000 + t), "r"(t * t), "r"(mapped(shared_address(bars + 1), next))
               : "memory");
  wait_phase(shared_address(bars + 1), 0);
  mine[64 + 2 * t] = tile[0][2 * t], mine[65 + 2 * t] = tile[0][2 * t + 1];
  // Reductions that count as bytes.
  if (t == 0)
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(bars + 2)),
                 "r"(32 * (4 + 4 + 4 + 8)));
  const u32 sums = mapped(shared_address(tile[1]), next), bar2 = mapped(shared_address(bars + 2), next);
  asm volatile(
      "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%0], %1, [%2];" ::"r"(sums),
      "r"(t), "r"(bar2)
      : "memory");
  asm volatile(
      "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.min.s32 [%0], %1, [%2];" ::"r"(sums + 4),
      "r"(5 - static_cast<int>(t)), "r"(bar2)
      : "memory");
  asm volatile(
      "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.xor.b32 [%0], %1, [%2];" ::"r"(sums + 8),
      "r"(t * 1234567), "r"(bar2)
      : "memory");
  asm volatile(
      "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u64 [%0], %1, [%2];" ::"r"(sums + 16),
      "l"(static_cast<u64>(t) << 31), "r"(bar2)
      : "memory");
  wait_phase(shared_address(bars + 2), 0);
  if (t < 8) mine[1 + t] = tile[1][t];
  // A bulk copy into the next block's memory, and one from global memory into that of several blocks.
  __syncthreads();
  if (t == 0) {
    asm volatile("fence.proxy.async;");
    for (u32 k = 3; k < 5; ++k)
      asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(bars + k)),
                   "r"(k == 3 ? 256 : 128 * blocks));
  }
  cluster.sync();
  if (t == 0) {
    asm volatile("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], 256, [%2];" ::"r"(
                     mapped(shared_address(tile[2]), next)),
                 "r"(shared_address(tile[0])), "r"(mapped(shared_address(bars + 3), next))
                 : "memory");
    const unsigned short all = static_cast<unsigned short>((1u << blocks) - 1);
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1], 128, [%2], "
        "%3;" ::"r"(shared_address(tile[3]) + (rank & 1) * 128),
        "l"(in + 32 * rank), "r"(shared_address(bars + 4)), "h"(all)
        : "memory");
  }
  wait_phase(shared_address(bars + 3), 0);
  wait_phase(shared_address(bars + 4), 0);
  for (u32 k = 0; k < 2; ++k) mine[128 + t + 32 * k] = tile[2][t + 32 * k];
  if (blocks == 2)
    for (u32 k = 0; k < 2; ++k) mine[192 + t + 32 * k] = tile[3][t + 32 * k];
  cluster.sync();
}

/// Blocks whose threads leave early.
__global__ void leavers(u32* out) {
  if (threadIdx.x >= 32 * (1 + blockIdx.x % 2)) return;
  asm volatile("barrier.cluster.arrive.relaxed.aligned;");
  atomicAdd(out + blockIdx.x, 1);
  asm volatile("barrier.cluster.wait.acquire.aligned;");
  asm volatile("barrier.cluster.arrive.release.aligned;");
  asm volatile("barrier.cluster.wait.aligned;");
  if (threadIdx.x == 0) out[8 + blockIdx.x] = atomicAdd(out + (blockIdx.x ^ 1), 0);
}

extern __shared__ u32 dynamic[];
__global__ void histogram(u32* bins, const u32* in, int n, int bins_per_block) {
  cg::cluster_group cluster = cg::this_cluster();
  for (int i = threadIdx.x; i < bins_per_block; i += blockDim.x) dynamic[i] = 0;
  cluster.sync();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const int bin = in[i] % (bins_per_block * cluster.num_blocks());
    atomicAdd(cluster.map_shared_rank(dynamic, bin / bins_per_block) + bin % bins_per_block, 1);
  }
  cluster.sync();
  for (int i = threadIdx.x; i < bins_per_block; i += blockDim.x)
    atomicAdd(bins + cluster.block_rank() * bins_per_block + i, dynamic[i]);
}

/// Ends in an error: memory of block `rank` of the cluster, at `offset`.
__global__ void touch(u32* out, u32 rank, u32 offset, int generic) {
  __shared__ u32 word[4];
  word[threadIdx.x & 3] = 1;
  const u32 address = mapped(shared_address(word), rank) + offset;
  u32 v = 0;
  cg::this_cluster().sync();
  if (generic == 0) asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(v) : "r"(address));
  if (generic == 1) asm volatile("st.shared::cluster.u32 [%0], %0;" ::"r"(address) : "memory");
  if (generic == 2) asm volatile("ld.shared::cta.u32 %0, [%1];" : "=r"(v) : "r"(address));
  if (generic == 3)
    asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(address) : "memory");
  if (generic == 4) asm volatile("atom.shared::cluster.add.u32 %0, [%1], 1;" : "=r"(v) : "r"(address) : "memory");
  cg::this_cluster().sync();
  out[blockIdx.x] = v;
}

static int wrong(int number) {
  Buffer out(4);
  const u32 ranks[] = {2, 2, 1, 2, 0, 0, 1, 2}, offsets[] = {0, 0, 0, 0, 0x100000, 2, 0x3f000, 0};
  const int kinds[] = {0, 1, 2, 3, 0, 0, 4, 4};
  if (number < 0 || number >= 8) return 2;
  launch(touch, 2, 32, 2, 0, out.device, ranks[number], offsets[number], kinds[number]);
  std::printf("touch %d: %s\n", number, cudaGetErrorName(cudaDeviceSynchronize()));
  return 0;
}

__global__ void plain(u32* out) { atomicAdd(out, 1); }
__global__ void __cluster_dims__(2) pairs(u32* out) { atomicAdd(out, 1); }
__global__ void __cluster_dims__(16) sixteen(u32* out) { atomicAdd(out, 1); }

static void launches() {
  Buffer out(1);
  const auto attempt = [&](const char* what, cudaError_t error) {
    const cudaError_t after = cudaDeviceSynchronize();
    std::printf("%s: %s, %s\n", what, cudaGetErrorName(error), cudaGetErrorName(after));
    cudaGetLastError();
  };
  attempt("2 of 4", launch(plain, 4, 32, 2, 0, out.device));
  attempt("3 of 6", launch(plain, 6, 32, 3, 0, out.device));
  attempt("2 of 3", launch(plain, 3, 32, 2, 0, out.device));
  attempt("2x2 of 4x3", launch(plain, dim3(4, 3), 32, dim3(2, 2), 0, out.device));
  attempt("8 of 8", launch(plain, 8, 32, 8, 0, out.device));
  attempt("9 of 9", launch(plain, 9, 32, 9, 0, out.device));
  attempt("16 of 16", launch(plain, 16, 32, 16, 0, out.device));
  attempt("4x4 of 4x4", launch(plain, dim3(4, 4), 32, dim3(4, 4), 0, out.device));
  attempt("0 of 4", launch(plain, 4, 32, 0, 0, out.device));
  attempt("1x0x1 of 4", launch(plain, 4, 32, dim3(1, 0, 1), 0, out.device));
  attempt("1 of 4", launch(plain, 4, 32, 1, 0, out.device));
  attempt("32 of 32", launch(plain, 32, 32, 32, 0, out.device));
  attempt("pairs of 4", (pairs<<<4, 32>>>(out.device), cudaGetLastError()));
  attempt("pairs of 3", (pairs<<<3, 32>>>(out.device), cudaGetLastError()));
  attempt("pairs as 2", launch(pairs, 4, 32, 2, 0, out.device));
  attempt("pairs as 4", launch(pairs, 4, 32, 4, 0, out.device));
  attempt("pairs as 1", launch(pairs, 4, 32, 1, 0, out.device));
  attempt("sixteen", (sixteen<<<16, 32>>>(out.device), cudaGetLastError()));
  say("allow plain", cudaFuncSetAttribute(plain, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
  say("allow sixteen", cudaFuncSetAttribute(sixteen, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
  attempt("16 of 16 allowed", launch(plain, 16, 32, 16, 0, out.device));
  attempt("9 of 9 allowed", launch(plain, 9, 32, 9, 0, out.device));
  attempt("17 of 17 allowed", launch(plain, 17, 32, 17, 0, out.device));
  attempt("32 of 32 allowed", launch(plain, 32, 32, 32, 0, out.device));
  attempt("sixteen allowed", (sixteen<<<16, 32>>>(out.device), cudaGetLastError()));
  attempt("sixteen of 8", (sixteen<<<8, 32>>>(out.device), cudaGetLastError()));
  say("shared memory", cudaFuncSetAttribute(plain, cudaFuncAttributeMaxDynamicSharedMemorySize, 200000));
  attempt("16 with 200000 bytes", launch(plain, 16, 32, 16, 200000, out.device));
  attempt("8 with 1024 threads", launch(plain, 8, 1024, 8, 0, out.device));
  void* args[] = {&out.device};
  attempt("cooperative pairs", cudaLaunchCooperativeKernel(pairs, 4, 32, args, 0, nullptr));
  out.print("blocks");
  cudaFuncAttributes a = {};
  cudaFuncGetAttributes(&a, pairs);
  std::printf("pairs: %d %d %d %d %d %d\n", a.clusterDimMustBeSet, a.requiredClusterWidth, a.requiredClusterHeight,
              a.requiredClusterDepth, a.nonPortableClusterSizeAllowed, a.clusterSchedulingPolicyPreference);
  cudaFuncGetAttributes(&a, plain);
  std::printf("plain: %d %d %d %d %d %d\n", a.clusterDimMustBeSet, a.requiredClusterWidth, a.requiredClusterHeight,
              a.requiredClusterDepth, a.nonPortableClusterSizeAllowed, a.clusterSchedulingPolicyPreference);
}

static void occupancy() {
  const auto ask = [](const char* what, auto* kernel, int grid, int block, int cluster, std::size_t shared) {
    cudaLaunchConfig_t config = {};
    config.gridDim = grid, config.blockDim = block, config.dynamicSmemBytes = shared;
    cudaLaunchAttribute attribute[1];
    attribute[0].id = cudaLaunchAttributeClusterDimension;
    attribute[0].val.clusterDim.x = cluster, attribute[0].val.clusterDim.y = 1, attribute[0].val.clusterDim.z = 1;
    config.attrs = attribute, config.numAttrs = cluster > 0 ? 1 : 0;
    int clusters = -1, size = -1;
    const cudaError_t first = cudaOccupancyMaxActiveClusters(&clusters, kernel, &config);
    const cudaError_t second = cudaOccupancyMaxPotentialClusterSize(&size, kernel, &config);
    std::printf("%s: %s %d, %s %d\n", what, cudaGetErrorName(first), clusters, cudaGetErrorName(second), size);
    cudaGetLastError();
  };
  ask("plain 1", plain, 16, 128, 1, 0);
  ask("plain 2", plain, 16, 128, 2, 0);
  ask("plain 3 of 16", plain, 16, 128, 3, 0);
  ask("plain none", plain, 16, 128, 0, 0);
  ask("plain 2, 1024", plain, 16, 1024, 2, 0);
  ask("plain 8, 1024", plain, 16, 1024, 8, 0);
  ask("plain 16, 1024", plain, 16, 1024, 16, 0);
  ask("plain 4, 200000", plain, 16, 128, 4, 200000);
  ask("plain 16, 200000", plain, 16, 128, 16, 200000);
  ask("plain 2, 100000", plain, 16, 128, 2, 100000);
  ask("pairs none", pairs, 16, 128, 0, 0);
  ask("pairs 2", pairs, 16, 128, 2, 0);
  ask("pairs 4", pairs, 16, 128, 4, 0);
  ask("ring 16", ring, 16, 64, 16, 0);
}

int main(int argc, char** argv) {
  if (argc > 1) return wrong(std::atoi(argv[1]));
  {
    Buffer out(16 * 8);
    registers<<<dim3(2, 2, 2), 32>>>(out.device);
    out.print("registers without");
    say("launch", launch(registers, dim3(4, 2), 32, dim3(2, 2), 0, out.device));
    out.print("registers 2x2 of 4x2");
    say("launch", launch(registers, dim3(2, 2, 2), 32, 1, 0, out.device));
    out.print("registers 1 of 2x2x2");
    fixed_registers<<<dim3(2, 1, 4), 32>>>(out.device);
    out.print("registers of __cluster_dims__");
  }
  for (int blocks = 1; blocks <= 8; blocks *= 2) {
    Buffer out(2 * 8 * 64 + 64);
    launch(ring, 8, 64, blocks, 0, out.device);
    out.print("ring");
  }
  {
    Buffer out(2 * 8 * 64 + 64);
    ring<<<8, 64>>>(out.device);
    out.print("ring without");
  }
  for (int blocks = 1; blocks <= 8; blocks *= 2) {
    Buffer out(32);
    launch(atomics, blocks, 96, blocks, 0, out.device);
    out.print("atomics");
  }
  {
    Buffer out(32);
    launch(windows, 2, 1, 2, 0, out.device);
    out.print("windows");
    windows<<<2, 1>>>(out.device);
    out.print("windows without");
  }
  for (int blocks = 2; blocks <= 4; blocks *= 2) {
    Buffer in(512), out(4 * 512);
    for (u32 i = 0; i < 512; ++i) in.host[i] = 5000 + i;
    cudaMemcpy(in.device, in.host.data(), 2048, cudaMemcpyHostToDevice);
    launch(messages, 4, 32, blocks, 0, out.device, in.device);
    out.print("messages");
  }
  {
    Buffer out(16);
    launch(leavers, 4, 96, 2, 0, out.device);
    out.print("leavers");
  }
  {
    Buffer in(10000), bins(1000);
    for (u32 i = 0; i < 10000; ++i) in.host[i] = i * i + 7 * i;
    cudaMemcpy(in.device, in.host.data(), 40000, cudaMemcpyHostToDevice);
    launch(histogram, 16, 128, 4, 250 * 4, bins.device, in.device, 10000, 250);
    bins.print("histogram");
  }
  launches();
  occupancy();
  return 0;
}
