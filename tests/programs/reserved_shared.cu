// The part of shared memory that the system keeps for itself, and cooperative groups over several warps that work in
// it. Prints what an H200 prints.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include <cstdio>

namespace cg = cooperative_groups;

__global__ void places(unsigned* out) {
  extern __shared__ unsigned dynamic[];
  __shared__ unsigned fixed[16];
  fixed[threadIdx.x & 15] = dynamic[threadIdx.x] = threadIdx.x;
  unsigned v[8];
  asm volatile("mov.u32 %0, %%reserved_smem_offset_begin;" : "=r"(v[0]));
  asm volatile("mov.u32 %0, %%reserved_smem_offset_end;" : "=r"(v[1]));
  asm volatile("mov.u32 %0, %%reserved_smem_offset_cap;" : "=r"(v[2]));
  asm volatile("mov.u32 %0, %%reserved_smem_offset_0;" : "=r"(v[3]));
  asm volatile("mov.u32 %0, %%reserved_smem_offset_1;" : "=r"(v[4]));
  asm volatile("mov.u32 %0, %%total_smem_size;" : "=r"(v[5]));
#if __CUDA_ARCH__ >= 900
  asm volatile("mov.u32 %0, %%aggr_smem_size;" : "=r"(v[6]));
#else
  v[6] = 0;
#endif
  v[7] = static_cast<unsigned>(__cvta_generic_to_shared(fixed));
  for (int i = 0; i < 8; ++i) out[i] = v[i];
}

// 128 threads meet and add up in the reserved part.
__global__ void tiles(unsigned* out) {
  cg::thread_block block = cg::this_thread_block();
  auto tile = cg::tiled_partition<128>(block);
  const unsigned sum = cg::reduce(tile, threadIdx.x, cg::plus<unsigned>());
  tile.sync();
  const unsigned first = tile.shfl(threadIdx.x, 5);
  const bool any = tile.any(threadIdx.x == 200), all = tile.all(threadIdx.x < 128);
  if (tile.thread_rank() == 0) {
    unsigned* row = out + 4 * tile.meta_group_rank();
    row[0] = sum;
    row[1] = first;
    row[2] = any;
    row[3] = all;
  }
}

// Ordinary groups: a labelled partition, coalesced threads.
__global__ void others(unsigned* out) {
  cg::thread_block block = cg::this_thread_block();
  auto warp = cg::tiled_partition<32>(block);
  auto parts = cg::labeled_partition(warp, threadIdx.x % 3);
  out[threadIdx.x] = cg::reduce(parts, threadIdx.x, cg::plus<unsigned>());
  if (threadIdx.x % 5 == 0) {
    auto active = cg::coalesced_threads();
    out[threadIdx.x] += 1000 * active.size() + 100000 * active.thread_rank();
  }
}

int main() {
  unsigned* out;
  cudaMallocManaged(&out, 64 * sizeof(unsigned));
  places<<<1, 32, 256>>>(out);
  printf("places: %s", cudaGetErrorName(cudaDeviceSynchronize()));
  for (int i = 0; i < 8; ++i) printf(" %u", out[i]);
  tiles<<<1, 256>>>(out);
  printf("\ntiles: %s", cudaGetErrorName(cudaDeviceSynchronize()));
  for (int i = 0; i < 8; ++i) printf(" %u", out[i]);
  others<<<1, 32>>>(out);
  printf("\nothers: %s", cudaGetErrorName(cudaDeviceSynchronize()));
  for (int i = 0; i < 32; ++i) printf(" %u", out[i]);
  printf("\n");
}
