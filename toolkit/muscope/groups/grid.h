// grid_group: every block of a cooperative launch. The barrier is the one that nvcc's code runs: the launch provides two
// words at the address in %envreg1:%envreg2; blocks add to the second, block 0 so much that bit 31 flips when all came.
#ifndef MUSCOPE_GROUPS_GRID_H
#define MUSCOPE_GROUPS_GRID_H

#include "block.h"

namespace cooperative_groups {

class grid_group {
 public:
  MUSCOPE_GROUP grid_group() {
    unsigned high, low;
    asm("mov.u32 %0, %%envreg2;" : "=r"(low));
    asm("mov.u32 %0, %%envreg1;" : "=r"(high));
    workspace_ = (unsigned long long)high << 32 | low;
  }
  MUSCOPE_GROUP bool is_valid() const { return workspace_ != 0; }
  MUSCOPE_GROUP void sync() const {
    if (!is_valid()) __trap();
    __barrier_sync(0);
    if (threadIdx.x + threadIdx.y + threadIdx.z == 0) {
      const unsigned long long counter = workspace_ + 4;
      const bool first = blockIdx.x + blockIdx.y + blockIdx.z == 0;
      const unsigned step = first ? 0x80000001u - (unsigned)num_blocks() : 1u;
      unsigned before, now;
      asm volatile("atom.add.release.gpu.u32 %0, [%1], %2;" : "=r"(before) : "l"(counter), "r"(step) : "memory");
      do {
        asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(now) : "l"(counter) : "memory");
      } while (((before ^ now) & 0x80000000u) == 0);
    }
    __barrier_sync(0);
  }
  static MUSCOPE_GROUP unsigned long long num_blocks() { return (unsigned long long)gridDim.x * gridDim.y * gridDim.z; }
  static MUSCOPE_GROUP unsigned long long block_rank() {
    return ((unsigned long long)blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  }
  static MUSCOPE_GROUP unsigned long long size() { return num_blocks() * details::block_size(); }
  static MUSCOPE_GROUP unsigned long long num_threads() { return size(); }
  static MUSCOPE_GROUP unsigned long long thread_rank() {
    return block_rank() * details::block_size() + details::block_rank();
  }
  static MUSCOPE_GROUP dim3 group_dim() { return gridDim; }
  static MUSCOPE_GROUP dim3 dim_blocks() { return gridDim; }
  static MUSCOPE_GROUP dim3 block_index() { return blockIdx; }
  static MUSCOPE_GROUP dim3 thread_index() { return threadIdx; }

 private:
  unsigned long long workspace_;
};

MUSCOPE_DEVICE grid_group this_grid() { return grid_group(); }

}  // namespace cooperative_groups

#endif
