// Exchanges between lanes, warp-aggregated atomics, shared atomics of types without an instruction, sorting in a block.
#include "check.h"

__global__ void compact(int n, const int* in, int* out, int* count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const bool keep = i < n && in[i] % 3 == 0;
  const unsigned votes = __ballot_sync(~0u, keep);
  const int lane = threadIdx.x % 32;
  int base = 0;
  if (lane == 0 && votes) base = atomicAdd(count, __popc(votes));
  base = __shfl_sync(~0u, base, 0);
  if (keep) out[base + __popc(votes & ((1u << lane) - 1))] = in[i];
}

__global__ void aggregate_by_value(int n, const int* in, int* bins) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const unsigned same = __match_any_sync(__activemask(), in[i] % 10);
  if (static_cast<int>(threadIdx.x % 32) == __ffs(same) - 1) atomicAdd(&bins[in[i] % 10], __popc(same));
}

template <typename T>
__global__ void shared_histogram(int n, const int* in, T* bins) {
  __shared__ T mine[64];
  if (threadIdx.x < 64) mine[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomicAdd(&mine[in[i] % 64], static_cast<T>(1));
  __syncthreads();
  if (threadIdx.x < 64) atomicAdd(&bins[threadIdx.x], mine[threadIdx.x]);
}

__global__ void shared_maximum(int n, const int* in, int* out) {
  __shared__ int best, least, any;
  if (threadIdx.x == 0) best = -1, least = 1 << 30, any = 0;
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    atomicMax(&best, in[i]);
    atomicMin(&least, in[i]);
    atomicOr(&any, in[i]);
  }
  __syncthreads();
  if (threadIdx.x == 0) out[0] = best, out[1] = least, out[2] = any;
}

__global__ void lock_free_list(int n, int* heads, int* next) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  next[i] = atomicExch(&heads[i % 16], i + 1);
}

__global__ void bitonic(int* data) {
  __shared__ int s[512];
  const unsigned t = threadIdx.x;
  s[t] = data[blockIdx.x * 512 + t];
  s[t + 256] = data[blockIdx.x * 512 + t + 256];
  for (unsigned k = 2; k <= 512; k *= 2)
    for (unsigned j = k / 2; j > 0; j /= 2) {
      __syncthreads();
      for (unsigned i = t; i < 512; i += 256) {
        const unsigned other = i ^ j;
        if (other > i && ((i & k) == 0) == (s[i] > s[other])) {
          const int v = s[i];
          s[i] = s[other];
          s[other] = v;
        }
      }
    }
  __syncthreads();
  data[blockIdx.x * 512 + t] = s[t];
  data[blockIdx.x * 512 + t + 256] = s[t + 256];
}

__global__ void warp_scan(int n, const int* in, int* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  __shared__ int sums[32];
  int v = i < n ? in[i] : 0;
  for (int d = 1; d < 32; d *= 2) {
    const int u = __shfl_up_sync(~0u, v, d);
    if (lane >= d) v += u;
  }
  if (lane == 31) sums[warp] = v;
  __syncthreads();
  if (warp == 0) {
    int u = lane < blockDim.x / 32 ? sums[lane] : 0;
    for (int d = 1; d < 32; d *= 2) {
      const int w = __shfl_up_sync(~0u, u, d);
      if (lane >= d) u += w;
    }
    sums[lane] = u;
  }
  __syncthreads();
  if (i < n) out[i] = v + (warp ? sums[warp - 1] : 0);
}

__global__ void reduce_in_warps(const int* in, unsigned* out) {
  const unsigned v = static_cast<unsigned>(in[blockIdx.x * blockDim.x + threadIdx.x]);
  const unsigned sum = __reduce_add_sync(~0u, v), most = __reduce_max_sync(~0u, v), all = __reduce_and_sync(~0u, v);
  if (threadIdx.x % 32 == 0) out[(blockIdx.x * blockDim.x + threadIdx.x) / 32] = sum ^ most ^ all;
}

int main() {
  const int n = 10000;
  std::uint32_t state = 5;
  Buffer<int> in(n), out(n), one(1), bins(10), three(3), heads(16), scan(n);
  for (int& v : in.host) v = static_cast<int>(next_number(state) % 100000);
  in.up();
  compact<<<(n + 255) / 256, 256>>>(n, in.device, out.device, one.device);
  check("compact", one, [&](std::size_t) {
    int c = 0;
    for (int v : in.host) c += v % 3 == 0;
    return c;
  });
  aggregate_by_value<<<(n + 127) / 128, 128>>>(n, in.device, bins.device);
  check("aggregate_by_value", bins, [&](std::size_t b) {
    int c = 0;
    for (int v : in.host) c += v % 10 == static_cast<int>(b);
    return c;
  });
  const auto in_bin = [&](std::size_t b) {
    int c = 0;
    for (int v : in.host) c += v % 64 == static_cast<int>(b);
    return c;
  };
  Buffer<float> fbins(64);
  shared_histogram<<<4, 256>>>(n, in.device, fbins.device);
  check("float histogram", fbins, in_bin);
  Buffer<double> dbins(64);
  shared_histogram<<<4, 256>>>(n, in.device, dbins.device);
  check("double histogram", dbins, in_bin);
  Buffer<unsigned long long> lbins(64);
  shared_histogram<<<4, 256>>>(n, in.device, lbins.device);
  check("long histogram", lbins, in_bin);
  Buffer<int> ibins(64);
  shared_histogram<<<4, 256>>>(n, in.device, ibins.device);
  check("int histogram", ibins, in_bin);
  shared_maximum<<<1, 512>>>(n, in.device, three.device);
  lock_free_list<<<(n + 255) / 256, 256>>>(n, heads.device, out.device);
  Buffer<int> sorted(2048);
  for (int i = 0; i < 2048; ++i) sorted.host[i] = in.host[i];
  sorted.up();
  bitonic<<<4, 256>>>(sorted.device);
  sorted.down();
  for (int i = 1; i < 2048; ++i)
    if (i % 512 && sorted.host[i - 1] > sorted.host[i]) std::printf("bitonic: wrong at %d\n", i), ++failures, i = 2048;
  warp_scan<<<(n + 511) / 512, 512>>>(n, in.device, scan.device);
  check("warp_scan", scan, [&](std::size_t i) {
    int sum = 0;
    for (std::size_t k = i / 512 * 512; k <= i; ++k) sum += in.host[k];
    return sum;
  });
  Buffer<unsigned> reduced(2048 / 32);
  reduce_in_warps<<<4, 512>>>(in.device, reduced.device);
  check("reduce_in_warps", reduced, [&](std::size_t w) {
    unsigned sum = 0, most = 0, all = ~0u;
    for (std::size_t k = w * 32; k < w * 32 + 32; ++k) {
      const unsigned v = static_cast<unsigned>(in.host[k]);
      sum += v, most = v > most ? v : most, all &= v;
    }
    return sum ^ most ^ all;
  });
  return finish();
}
