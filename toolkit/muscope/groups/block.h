// The block as a group, and thread_group, which stands for a group whose kind is only known at run time.
#ifndef MUSCOPE_GROUPS_BLOCK_H
#define MUSCOPE_GROUPS_BLOCK_H

#include "../../cuda_runtime.h"

#define MUSCOPE_GROUP MUSCOPE_INLINE __device__
#define MUSCOPE_GROUP_LAMBDA __attribute__((always_inline, nodebug))

namespace cooperative_groups {

namespace details {
MUSCOPE_DEVICE unsigned lane() {
  unsigned lane;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  return lane;
}
MUSCOPE_DEVICE unsigned lanes_below() {
  unsigned mask;
  asm("mov.u32 %0, %%lanemask_lt;" : "=r"(mask));
  return mask;
}
MUSCOPE_DEVICE unsigned block_rank() {
  return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
}
MUSCOPE_DEVICE unsigned block_size() { return blockDim.x * blockDim.y * blockDim.z; }
}  // namespace details

class thread_block;

/// A block (mask 0) or some lanes of a warp.
class thread_group {
 public:
  MUSCOPE_GROUP thread_group() : mask_(0) {}
  MUSCOPE_GROUP thread_group(const thread_block&) : mask_(0) {}
  MUSCOPE_GROUP static thread_group of_lanes(unsigned mask) {
    thread_group group;
    group.mask_ = mask;
    return group;
  }
  MUSCOPE_GROUP void sync() const {
    if (mask_) __syncwarp(mask_);
    else __syncthreads();
  }
  MUSCOPE_GROUP unsigned size() const { return mask_ ? __popc(mask_) : details::block_size(); }
  MUSCOPE_GROUP unsigned num_threads() const { return size(); }
  MUSCOPE_GROUP unsigned thread_rank() const {
    return mask_ ? __popc(mask_ & details::lanes_below()) : details::block_rank();
  }
  MUSCOPE_GROUP bool is_valid() const { return true; }
  MUSCOPE_GROUP unsigned lanes() const { return mask_; }

 private:
  unsigned mask_;
};

class thread_block {
 public:
  static MUSCOPE_GROUP void sync() { __syncthreads(); }
  static MUSCOPE_GROUP unsigned thread_rank() { return details::block_rank(); }
  static MUSCOPE_GROUP unsigned size() { return details::block_size(); }
  static MUSCOPE_GROUP unsigned num_threads() { return details::block_size(); }
  static MUSCOPE_GROUP dim3 group_index() { return blockIdx; }
  static MUSCOPE_GROUP dim3 thread_index() { return threadIdx; }
  static MUSCOPE_GROUP dim3 group_dim() { return blockDim; }
  static MUSCOPE_GROUP dim3 dim_threads() { return blockDim; }
  struct arrival_token {};
  static MUSCOPE_GROUP arrival_token barrier_arrive() { return {}; }
  static MUSCOPE_GROUP void barrier_wait(arrival_token&&) { __syncthreads(); }
};

MUSCOPE_DEVICE thread_block this_thread_block() { return thread_block(); }

template <class Group>
MUSCOPE_DEVICE void sync(const Group& group) {
  group.sync();
}
template <class Group>
MUSCOPE_DEVICE unsigned thread_rank(const Group& group) {
  return group.thread_rank();
}
template <class Group>
MUSCOPE_DEVICE unsigned group_size(const Group& group) {
  return group.size();
}

}  // namespace cooperative_groups

#endif
