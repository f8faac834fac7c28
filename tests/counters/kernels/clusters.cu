// Shared memory of other blocks in a cluster, cluster barriers, and copies by tensor maps: what hardware counts for them.
#include <cooperative_groups.h>
#include <cuda.h>
#include <cuda_runtime.h>
namespace cg = cooperative_groups;
using u32 = unsigned;

/// `kind`: 0 the own block by its mapped address, 1 the next one, 2 by lane of both; stride in words.
__global__ void __cluster_dims__(2) remote_load(u32* out, int kind, int stride) {
  __shared__ u32 tile[1024];
  for (int i = threadIdx.x; i < 1024; i += blockDim.x) tile[i] = i;
  cg::cluster_group cluster = cg::this_cluster();
  cluster.sync();
  const u32 rank = cluster.block_rank(), which = kind == 2 ? threadIdx.x & 1 : (rank + kind) & 1;
  const volatile u32* p = cluster.map_shared_rank(tile, which);
  u32 sum = 0;
  for (int i = 0; i < 4; ++i) sum += p[(threadIdx.x * stride + i * 7) & 1023];
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
  cluster.sync();
}

__global__ void __cluster_dims__(2) remote_load_wide(uint4* out, int kind) {
  __shared__ uint4 tile[256];
  for (int i = threadIdx.x; i < 256; i += blockDim.x) tile[i] = make_uint4(i, 1, 2, 3);
  cg::cluster_group cluster = cg::this_cluster();
  cluster.sync();
  out[blockIdx.x * blockDim.x + threadIdx.x] = cluster.map_shared_rank(tile, (cluster.block_rank() + kind) & 1)[threadIdx.x];
  cluster.sync();
}

__global__ void __cluster_dims__(2) remote_store(u32* out, int kind, int stride) {
  __shared__ u32 tile[1024];
  cg::cluster_group cluster = cg::this_cluster();
  volatile u32* p = cluster.map_shared_rank(tile, (cluster.block_rank() + kind) & 1);
  cluster.sync();
  for (int i = 0; i < 4; ++i) p[(threadIdx.x * stride + i * 7) & 1023] = i;
  cluster.sync();
  out[blockIdx.x * blockDim.x + threadIdx.x] = tile[threadIdx.x];
}

__global__ void __cluster_dims__(2) remote_atomic(u32* out, int kind, int stride) {
  __shared__ u32 tile[1024];
  for (int i = threadIdx.x; i < 1024; i += blockDim.x) tile[i] = i;
  cg::cluster_group cluster = cg::this_cluster();
  cluster.sync();
  u32* p = cluster.map_shared_rank(tile, (cluster.block_rank() + kind) & 1);
  const u32 old = atomicMax(p + (threadIdx.x * stride & 1023), threadIdx.x);
  atomicXor(p + ((threadIdx.x + 64) & 1023), 5);
  cluster.sync();
  out[blockIdx.x * blockDim.x + threadIdx.x] = tile[threadIdx.x] + old;
}

__device__ u32 shared_address(const void* p) { return static_cast<u32>(__cvta_generic_to_shared(p)); }

__global__ void tensor_load(const __grid_constant__ CUtensorMap map, u32* out, u32 bytes) {
  __shared__ alignas(1024) u32 tile[1024];
  __shared__ alignas(8) unsigned long long bar;
  const u32 b = shared_address(&bar);
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(b));
    asm volatile("fence.proxy.async;");
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(b), "r"(bytes));
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(shared_address(tile)), "l"(&map), "r"(blockIdx.x * 16), "r"(0), "r"(b) : "memory");
  }
  __syncthreads();
  asm volatile("{.reg .pred p; again: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], 0; @!p bra again;}" ::"r"(b) : "memory");
  out[blockIdx.x * blockDim.x + threadIdx.x] = tile[threadIdx.x];
}

__global__ void tensor_store(const __grid_constant__ CUtensorMap map) {
  __shared__ alignas(1024) u32 tile[1024];
  tile[threadIdx.x] = threadIdx.x;
  asm volatile("fence.proxy.async;");
  __syncthreads();
  if (threadIdx.x == 0) {
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%1, {%2, %3}], [%0];" ::"r"(shared_address(tile)), "l"(&map), "r"(blockIdx.x * 16), "r"(0) : "memory");
    asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" ::: "memory");
  }
}

int main() {
  u32* out = nullptr;
  if (cudaMalloc(&out, 1 << 20) != cudaSuccess) return 1;
  for (int kind = 0; kind < 3; ++kind) remote_load<<<8, 64>>>(out, kind, 1);
  remote_load<<<8, 64>>>(out, 1, 2);
  remote_load<<<8, 64>>>(out, 1, 32);
  remote_load<<<8, 64>>>(out, 1, 0);
  for (int kind = 0; kind < 2; ++kind) remote_load_wide<<<8, 64>>>(reinterpret_cast<uint4*>(out), kind);
  for (int kind = 0; kind < 2; ++kind) remote_store<<<8, 64>>>(out, kind, 1);
  remote_store<<<8, 64>>>(out, 1, 32);
  for (int kind = 0; kind < 2; ++kind) remote_atomic<<<8, 64>>>(out, kind, 1);
  remote_atomic<<<8, 64>>>(out, 1, 0);
  void* entry = nullptr;
  cudaDriverEntryPointQueryResult found;
  if (cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &entry, 12000, cudaEnableDefault, &found) != cudaSuccess || entry == nullptr) return 1;
  CUtensorMap map;
  const cuuint64_t dims[2] = {64, 64}, strides[1] = {256};
  const cuuint32_t box[2] = {16, 8}, steps[2] = {1, 1};
  if (reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(entry)(&map, CU_TENSOR_MAP_DATA_TYPE_UINT32, 2, out + 65536, dims, strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) != CUDA_SUCCESS) return 1;
  tensor_load<<<4, 64>>>(map, out, 512);
  tensor_store<<<4, 64>>>(map);
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
