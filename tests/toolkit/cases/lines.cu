// Instructions that come from an intrinsic belong to the line that called it: every .loc names this file.
// PTX: lines.cu
// NO PTX: .file	2
// NO PTX: .target sm_90, debug
// PTX: shfl.sync.bfly
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_fp16.h>

__global__ void many(float* f, int* i, __half* h) {
  const unsigned t = threadIdx.x;
  f[t] = sinf(f[t]) + __ldg(f + 3) + powf(f[1], 2.5f);
  f[t] += __shfl_xor_sync(~0u, f[t], 1);
  i[t] = atomicAdd(i, 1) + __popc(i[t]) + max(i[1], i[2]);
  h[t] = h[t] * __float2half(f[t]);
  auto tile = cooperative_groups::tiled_partition<32>(cooperative_groups::this_thread_block());
  f[t] = cooperative_groups::reduce(tile, f[t], cooperative_groups::plus<float>());
}
