// Asynchronous copies: cp.async of every width, through L1 and past it, with strides, offsets, zeros, partial warps and
// banks in conflict, pipelines of several stages, barriers in shared memory, bulk copies. Each result is compared with
// what the host computes. Which copies ptxas makes of these is the point: the counters of LDGSTS were captured for them.
#include <cooperative_groups.h>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda_pipeline_primitives.h>

#include "check.h"

#pragma nv_diag_suppress static_var_with_dynamic_init

namespace {

constexpr int kThreads = 128, kBlocks = 8, kAll = kThreads * kBlocks;

__device__ unsigned shared_address(const void* p) { return static_cast<unsigned>(__cvta_generic_to_shared(p)); }

template <int kBytes>
__device__ void copy_ca(void* to, const void* from) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(shared_address(to)), "l"(from), "n"(kBytes) : "memory");
}
__device__ void copy_cg(void* to, const void* from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(to)), "l"(from) : "memory");
}
__device__ void wait_all() { asm volatile("cp.async.wait_all;" ::: "memory"); }

/// Thread t copies T from in[t] to a tile and reads another thread's.
template <typename T>
__device__ void store_reversed(const T* tile, T* out) {
  __syncthreads();
  out[blockIdx.x * kThreads + threadIdx.x] = tile[kThreads - 1 - threadIdx.x];
}

template <typename T>
__global__ void copyThroughL1(const T* in, T* out) {
  __shared__ T tile[kThreads];
  copy_ca<sizeof(T)>(&tile[threadIdx.x], &in[blockIdx.x * kThreads + threadIdx.x]);
  wait_all();
  store_reversed(tile, out);
}

__global__ void copyPastL1(const int4* in, int4* out) {
  __shared__ int4 tile[kThreads];
  copy_cg(&tile[threadIdx.x], &in[blockIdx.x * kThreads + threadIdx.x]);
  wait_all();
  store_reversed(tile, out);
}

/// Global addresses `stride` elements apart, from element `offset` on.
template <typename T, bool kPast>
__global__ void copyStrided(const T* in, T* out, int stride, int offset) {
  __shared__ T tile[kThreads];
  const T* from = &in[(blockIdx.x * kThreads + threadIdx.x) * stride + offset];
  if constexpr (kPast)
    copy_cg(&tile[threadIdx.x], from);
  else
    copy_ca<sizeof(T)>(&tile[threadIdx.x], from);
  wait_all();
  store_reversed(tile, out);
}

/// Source bytes 0, 4, 8, 12 or 16 by thread; the rest is zeros.
template <bool kPast>
__global__ void copyPartOfLane(const int4* in, int4* out) {
  __shared__ int4 tile[kThreads];
  const unsigned bytes = threadIdx.x % 5 * 4;
  const int4* from = &in[blockIdx.x * kThreads + threadIdx.x];
  if constexpr (kPast)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address(&tile[threadIdx.x])), "l"(from),
                 "r"(bytes)
                 : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address(&tile[threadIdx.x])), "l"(from),
                 "r"(bytes)
                 : "memory");
  wait_all();
  store_reversed(tile, out);
}

/// Rows that end before the tile: threads past the end read nothing and get zeros.
__global__ void copyZerosAtEdge(const float* in, float* out, int count) {
  __shared__ float tile[kThreads];
  const int i = blockIdx.x * kThreads + threadIdx.x;
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(shared_address(&tile[threadIdx.x])), "l"(&in[i]),
               "r"(i < count ? 4 : 0)
               : "memory");
  wait_all();
  store_reversed(tile, out);
}

/// Every third thread copies; whole warps do not.
template <typename T>
__global__ void copyPartOfWarp(const T* in, T* out) {
  __shared__ T tile[kThreads];
  tile[threadIdx.x] = T{};
  __syncthreads();
  if (threadIdx.x % 3 == 0 && threadIdx.x < 70)
    copy_ca<sizeof(T)>(&tile[threadIdx.x], &in[blockIdx.x * kThreads + threadIdx.x]);
  wait_all();
  store_reversed(tile, out);
}

/// Destinations `stride` elements apart: banks in conflict.
template <typename T, bool kPast>
__global__ void copyIntoBanks(const T* in, T* out, int stride) {
  extern __shared__ __align__(16) unsigned char bytes[];
  T* tile = reinterpret_cast<T*>(bytes);
  const T* from = &in[blockIdx.x * kThreads + threadIdx.x];
  if constexpr (kPast)
    copy_cg(&tile[threadIdx.x * stride], from);
  else
    copy_ca<sizeof(T)>(&tile[threadIdx.x * stride], from);
  wait_all();
  __syncthreads();
  out[blockIdx.x * kThreads + threadIdx.x] = tile[(kThreads - 1 - threadIdx.x) * stride];
}

/// All lanes of a warp copy one element; the tile is transposed in 8 x 16 pieces on the way.
__global__ void copyBroadcastAndTranspose(const float* in, float* out) {
  __shared__ float same[kThreads], turned[kThreads];
  const int t = threadIdx.x;
  copy_ca<4>(&same[t], &in[blockIdx.x * kThreads + t / 32 * 32]);
  copy_ca<4>(&turned[t % 16 * 8 + t / 16], &in[blockIdx.x * kThreads + t]);
  wait_all();
  __syncthreads();
  out[blockIdx.x * kThreads + t] = same[(t + 32) % kThreads] + 2 * turned[t];
}

/// Groups of copies, three in flight.
__global__ void copyInGroups(const float* in, float* out, int tiles) {
  __shared__ float stage[4][kThreads];
  const int t = threadIdx.x;
  const float* from = in + blockIdx.x * tiles * kThreads + t;
  for (int s = 0; s < 3; ++s) {
    if (s < tiles) copy_ca<4>(&stage[s][t], from + s * kThreads);
    asm volatile("cp.async.commit_group;" ::: "memory");
  }
  float sum = 0;
  for (int k = 0; k < tiles; ++k) {
    asm volatile("cp.async.wait_group 2;" ::: "memory");
    __syncthreads();
    if (k + 3 < tiles) copy_ca<4>(&stage[(k + 3) % 4][t], from + (k + 3) * kThreads);
    asm volatile("cp.async.commit_group;" ::: "memory");
    sum += stage[k % 4][t ^ 1] * (k + 1);
  }
  out[blockIdx.x * kThreads + t] = sum;
}

__global__ void pipelinePrimitives(const float4* in, float* out) {
  __shared__ float4 tile[2][kThreads];
  const int t = threadIdx.x, i = blockIdx.x * kThreads + t;
  __pipeline_memcpy_async(&tile[0][t], &in[i], sizeof(float4));
  __pipeline_commit();
  __pipeline_memcpy_async(&tile[1][t], &in[i], sizeof(float4), 4);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  const float4 a = tile[0][t ^ 3], b = tile[1][t ^ 5];
  out[i] = a.x + a.w + b.x + b.y + b.w;
}

/// cuda::pipeline of one block, two stages.
__global__ void pipelineOfBlock(const float* in, float* out, int tiles) {
  constexpr int kStages = 2;
  __shared__ float tile[kStages][kThreads];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, kStages> state;
  const auto block = cooperative_groups::this_thread_block();
  auto pipeline = cuda::make_pipeline(block, &state);
  const float* from = in + blockIdx.x * tiles * kThreads;
  const auto fetch = [&](int k) {
    pipeline.producer_acquire();
    cuda::memcpy_async(block, tile[k % kStages], from + k * kThreads, cuda::aligned_size_t<16>(sizeof tile[0]), pipeline);
    pipeline.producer_commit();
  };
  for (int k = 0; k < kStages - 1; ++k) fetch(k);
  float sum = 0;
  for (int k = 0; k < tiles; ++k) {
    if (k + kStages - 1 < tiles) fetch(k + kStages - 1);
    pipeline.consumer_wait();
    sum += tile[k % kStages][kThreads - 1 - threadIdx.x] * (k + 1);
    pipeline.consumer_release();
  }
  out[blockIdx.x * kThreads + threadIdx.x] = sum;
}

/// cuda::pipeline of a thread.
__global__ void pipelineOfThread(const int2* in, int2* out) {
  __shared__ int2 tile[2][kThreads];
  auto pipeline = cuda::make_pipeline();
  const int i = blockIdx.x * kThreads + threadIdx.x;
  for (int k = 0; k < 2; ++k) {
    pipeline.producer_acquire();
    cuda::memcpy_async(&tile[k][threadIdx.x], &in[i + k * kAll], sizeof(int2), pipeline);
    pipeline.producer_commit();
  }
  int2 sum{};
  for (int k = 0; k < 2; ++k) {
    pipeline.consumer_wait();
    sum.x += tile[k][threadIdx.x].x * (k + 1);
    sum.y -= tile[k][threadIdx.x].y * (k + 1);
    pipeline.consumer_release();
  }
  out[i] = sum;
}

/// cuda::barrier and memcpy_async of single elements.
__global__ void barrierAndElements(const int* in, int* out) {
  using Barrier = cuda::barrier<cuda::thread_scope_block>;
  __shared__ int tile[kThreads];
  __shared__ Barrier ready;
  if (threadIdx.x == 0) init(&ready, kThreads);
  __syncthreads();
  int sum = 0;
  for (int k = 0; k < 3; ++k) {
    const int i = (blockIdx.x * 3 + k) * kThreads;
    cuda::memcpy_async(&tile[threadIdx.x], &in[i + threadIdx.x], sizeof(int), ready);
    ready.arrive_and_wait();
    sum += tile[(threadIdx.x + 37) % kThreads] * (k + 1);
    ready.arrive_and_wait();
  }
  out[blockIdx.x * kThreads + threadIdx.x] = sum;
}

/// Warps that produce and a warp that consumes, by two barriers per slot.
__global__ void barriersOfRoles(const int* in, int* out, int tiles) {
  using Barrier = cuda::barrier<cuda::thread_scope_block>;
  constexpr int kSlots = 2, kProducers = 96;
  __shared__ int slot[kSlots][kProducers];
  __shared__ Barrier full[kSlots], empty[kSlots];
  const int t = threadIdx.x;
  if (t < kSlots) {
    init(&full[t], kThreads);
    init(&empty[t], kThreads);
  }
  __syncthreads();
  int sum = 0;
  if (t < kProducers) {
    for (int k = 0; k < tiles; ++k) {
      empty[k % kSlots].arrive_and_wait();
      copy_ca<4>(&slot[k % kSlots][t], &in[(blockIdx.x * tiles + k) * kProducers + t]);
      wait_all();
      (void)full[k % kSlots].arrive();
    }
  } else {
    for (int s = 0; s < kSlots; ++s) (void)empty[s].arrive();
    for (int k = 0; k < tiles; ++k) {
      full[k % kSlots].arrive_and_wait();
      for (int p = t - kProducers; p < kProducers; p += 32) sum += slot[k % kSlots][p] * (k + 1);
      if (k + kSlots < tiles) (void)empty[k % kSlots].arrive();
    }
    out[blockIdx.x * 32 + t - kProducers] = sum;
  }
}

/// A bulk copy in, one out. Thread 0 of the block issues them.
__global__ void bulkCopies(const int* in, int* out) {
  __shared__ alignas(128) int tile[kThreads];
  __shared__ alignas(8) unsigned long long barrier;
  const unsigned at = shared_address(&barrier);
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(at) : "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(at), "n"(sizeof tile) : "memory");
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
            shared_address(tile)),
        "l"(in + blockIdx.x * kThreads), "n"(sizeof tile), "r"(at)
        : "memory");
  }
  asm volatile(
      "{\n.reg .pred done;\n"
      "again: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], 0;\n"
      "@!done bra again;\n}" ::"r"(at)
      : "memory");
  const int mine = tile[kThreads - 1 - threadIdx.x];
  __syncthreads();
  tile[threadIdx.x] = mine * 2;
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (threadIdx.x == 0) {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(out + blockIdx.x * kThreads),
                 "r"(shared_address(tile)), "n"(sizeof tile)
                 : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
  }
}

/// Ints of a buffer of any element type.
template <typename T, typename F>
void check_ints(const char* name, Buffer<T>& got, F expected) {
  got.down();
  const int* ints = reinterpret_cast<const int*>(got.host.data());
  for (std::size_t i = 0; i < got.host.size() * sizeof(T) / 4; ++i)
    if (ints[i] != expected(static_cast<int>(i))) {
      std::printf("%s: wrong at %zu: %d instead of %d\n", name, i, ints[i], expected(static_cast<int>(i)));
      ++failures;
      return;
    }
}

template <typename T>
void fill_ints(Buffer<T>& buffer) {
  int* ints = reinterpret_cast<int*>(buffer.host.data());
  for (std::size_t i = 0; i < buffer.host.size() * sizeof(T) / 4; ++i) ints[i] = static_cast<int>(i * 7 + 3);
  buffer.up();
}

int source_int(int index) { return index * 7 + 3; }
int reversed(int element) { return element / kThreads * kThreads + kThreads - 1 - element % kThreads; }

template <typename T>
void run_width(const char* name) {
  constexpr int kInts = sizeof(T) / 4;
  Buffer<T> in(kAll * 9 + 64), out(kAll);
  fill_ints(in);
  const auto from = [](int i, int stride, int offset) {
    return source_int((reversed(i / kInts) * stride + offset) * kInts + i % kInts);
  };
  copyThroughL1<T><<<kBlocks, kThreads>>>(in.device, out.device);
  check_ints(name, out, [&](int i) { return from(i, 1, 0); });
  for (const int stride : {2, 3, 9}) {
    out.clear();
    copyStrided<T, false><<<kBlocks, kThreads>>>(in.device, out.device, stride, 0);
    check_ints(name, out, [&](int i) { return from(i, stride, 0); });
  }
  for (const int offset : {1, 3, 8}) {
    out.clear();
    copyStrided<T, false><<<kBlocks, kThreads>>>(in.device, out.device, 1, offset);
    check_ints(name, out, [&](int i) { return from(i, 1, offset); });
  }
  out.clear();
  copyPartOfWarp<T><<<kBlocks, kThreads>>>(in.device, out.device);
  check_ints(name, out, [&](int i) {
    const int t = reversed(i / kInts) % kThreads;
    return t % 3 == 0 && t < 70 ? from(i, 1, 0) : 0;
  });
  for (const int stride : {2, 4, 5}) {
    out.clear();
    copyIntoBanks<T, false><<<kBlocks, kThreads, kThreads * 5 * sizeof(T)>>>(in.device, out.device, stride);
    check_ints(name, out, [&](int i) { return from(i, 1, 0); });
  }
  if constexpr (sizeof(T) == 16) {
    out.clear();
    copyPastL1<<<kBlocks, kThreads>>>(in.device, out.device);
    check_ints(name, out, [&](int i) { return from(i, 1, 0); });
    for (const int stride : {1, 3}) {
      out.clear();
      copyStrided<T, true><<<kBlocks, kThreads>>>(in.device, out.device, stride, 1);
      check_ints(name, out, [&](int i) { return from(i, stride, 1); });
    }
    for (const int stride : {2, 5}) {
      out.clear();
      copyIntoBanks<T, true><<<kBlocks, kThreads, kThreads * 5 * sizeof(T)>>>(in.device, out.device, stride);
      check_ints(name, out, [&](int i) { return from(i, 1, 0); });
    }
    const auto part = [&](int i) {
      return i % 4 < reversed(i / 4) % kThreads % 5 ? from(i, 1, 0) : 0;
    };
    out.clear();
    copyPartOfLane<false><<<kBlocks, kThreads>>>(in.device, out.device);
    check_ints(name, out, part);
    out.clear();
    copyPartOfLane<true><<<kBlocks, kThreads>>>(in.device, out.device);
    check_ints(name, out, part);
  }
}

void run_floats() {
  constexpr int kTiles = 6;
  Buffer<float> in(kAll * kTiles), out(kAll);
  for (std::size_t i = 0; i < in.host.size(); ++i) in.host[i] = static_cast<float>(i % 1009);
  in.up();
  const auto at = [&](int i) { return in.host[static_cast<std::size_t>(i)]; };
  copyZerosAtEdge<<<kBlocks, kThreads>>>(in.device, out.device, kAll - 300);
  check("zeros at the edge", out, [&](std::size_t i) {
    const int from = reversed(static_cast<int>(i));
    return from < kAll - 300 ? at(from) : 0.f;
  });
  copyBroadcastAndTranspose<<<kBlocks, kThreads>>>(in.device, out.device);
  check("broadcast", out, [&](std::size_t index) {
    const int i = static_cast<int>(index), block = i / kThreads * kThreads, t = i % kThreads;
    return at(block + (t + 32) % kThreads / 32 * 32) + 2 * at(block + t % 8 * 16 + t / 8);
  });
  const auto sum = [&](std::size_t index, auto other) {
    const int i = static_cast<int>(index), block = i / kThreads * kTiles * kThreads;
    float total = 0;
    for (int k = 0; k < kTiles; ++k) total += at(block + k * kThreads + other(i % kThreads)) * static_cast<float>(k + 1);
    return total;
  };
  copyInGroups<<<kBlocks, kThreads>>>(in.device, out.device, kTiles);
  check("groups", out, [&](std::size_t i) { return sum(i, [](int t) { return t ^ 1; }); });
  pipelineOfBlock<<<kBlocks, kThreads>>>(in.device, out.device, kTiles);
  check("pipeline of a block", out, [&](std::size_t i) { return sum(i, [](int t) { return kThreads - 1 - t; }); });
  pipelinePrimitives<<<kBlocks, kThreads>>>(reinterpret_cast<const float4*>(in.device), out.device);
  check("pipeline primitives", out, [&](std::size_t index) {
    const int i = static_cast<int>(index);
    return at((i ^ 3) * 4) + at((i ^ 3) * 4 + 3) + at((i ^ 5) * 4) + at((i ^ 5) * 4 + 1);
  });
}

void run_barriers() {
  constexpr int kTiles = 5;
  Buffer<int> in(kAll * kTiles), out(kAll), few(kBlocks * 32);
  fill_ints(in);
  barrierAndElements<<<kBlocks, kThreads>>>(in.device, out.device);
  check_ints("barrier and elements", out, [](int i) {
    int sum = 0;
    for (int k = 0; k < 3; ++k)
      sum += source_int((i / kThreads * 3 + k) * kThreads + (i % kThreads + 37) % kThreads) * (k + 1);
    return sum;
  });
  barriersOfRoles<<<kBlocks, kThreads>>>(in.device, few.device, kTiles);
  check_ints("barriers of roles", few, [](int i) {
    int sum = 0;
    for (int k = 0; k < kTiles; ++k)
      for (int p = i % 32; p < 96; p += 32) sum += source_int((i / 32 * kTiles + k) * 96 + p) * (k + 1);
    return sum;
  });
  bulkCopies<<<kBlocks, kThreads>>>(in.device, out.device);
  check_ints("bulk copies", out, [](int i) { return 2 * source_int(reversed(i)); });
  Buffer<int2> pairs(kAll * 2), sums(kAll);
  fill_ints(pairs);
  pipelineOfThread<<<kBlocks, kThreads>>>(pairs.device, sums.device);
  check_ints("pipeline of a thread", sums, [](int i) {
    const int sum = source_int(i) + 2 * source_int(i + 2 * kAll);
    return i % 2 ? -sum : sum;
  });
}

}  // namespace

int main() {
  run_width<int>("4 bytes");
  run_width<int2>("8 bytes");
  run_width<int4>("16 bytes");
  run_floats();
  run_barriers();
  return finish();
}
