// Cooperative groups.
// PTX: %envreg1
// PTX: atom.add.release.gpu.u32
// PTX: ld.acquire.gpu.u32
// PTX: barrier.sync
// PTX: redux.sync.add.s32
// PTX: cp.async.ca.shared.global
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

namespace cg = cooperative_groups;

__device__ int sum(const cg::thread_group& group, int* scratch, int value) {
  const int rank = group.thread_rank();
  for (int step = group.size() / 2; step > 0; step /= 2) {
    scratch[rank] = value;
    group.sync();
    if (rank < step) value += scratch[rank + step];
    group.sync();
  }
  return value;
}

__global__ void groups(int* i, float* f) {
  __shared__ int scratch[256];
  __shared__ __align__(16) float tile_data[256];
  cg::thread_block block = cg::this_thread_block();
  cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
  auto eight = cg::tiled_partition<8>(warp);
  i[0] = cg::reduce(warp, i[1], cg::plus<int>()) + eight.shfl_down(i[2], 2) + warp.any(i[3]) + eight.ballot(i[4]);
  f[0] = cg::reduce(eight, f[1], cg::plus<float>()) + warp.shfl(f[2], 1);
  i[1] = cg::inclusive_scan(warp, i[2]) + cg::exclusive_scan(eight, i[3]);
  if (i[5] > 3) {
    cg::coalesced_group active = cg::coalesced_threads();
    i[6] = active.shfl(i[7], 0) + active.size() + active.thread_rank();
    i[7] = cg::labeled_partition(active, i[8] & 3).size() + cg::binary_partition(active, i[9] & 1).size();
  }
  i[8] = sum(block, scratch, 1) + sum(cg::tiled_partition(block, 4), scratch, 2);
  cg::memcpy_async(block, tile_data, f, sizeof tile_data);
  cg::wait(block);
  f[3] = tile_data[block.thread_rank()];
  cg::grid_group grid = cg::this_grid();
  grid.sync();
  i[grid.thread_rank()] = grid.size() + grid.num_blocks() + block.group_index().x;
}

int main() {
  int* i = nullptr;
  float* f = nullptr;
  void* arguments[] = {&i, &f};
  cudaLaunchCooperativeKernel(groups, dim3(2), dim3(64), arguments, 0, cudaStream_t(0));
  return cudaLaunchCooperativeKernel((void*)groups, 2, 64, arguments);
}
