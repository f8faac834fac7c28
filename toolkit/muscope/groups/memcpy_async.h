// memcpy_async(): members copy to shared memory together by cp.async, 16, 8 or 4 bytes each; wait() is for all copies.
#ifndef MUSCOPE_GROUPS_MEMCPY_ASYNC_H
#define MUSCOPE_GROUPS_MEMCPY_ASYNC_H

#include "coalesced.h"

namespace cooperative_groups {

namespace details {
template <int Bytes, class Group>
MUSCOPE_DEVICE void copy_chunks(const Group& group, char* target, const char* source, size_t bytes) {
  for (size_t i = (size_t)group.thread_rank() * Bytes; i + Bytes <= bytes; i += (size_t)group.size() * Bytes) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"((unsigned)__cvta_generic_to_shared(target + i)),
                 "l"(__cvta_generic_to_global(source + i)), "n"(Bytes)
                 : "memory");
  }
}
}  // namespace details

template <class Group, class T, class S>
MUSCOPE_DEVICE void memcpy_async(const Group& group, T* target, const S* source, size_t bytes) {
  char* to = (char*)target;
  const char* from = (const char*)source;
  const size_t low = (size_t)to | (size_t)from | bytes;
  if (__isShared(to) && __isGlobal(from) && low % 4 == 0) {
    if (low % 16 == 0) details::copy_chunks<16>(group, to, from, bytes);
    else if (low % 8 == 0) details::copy_chunks<8>(group, to, from, bytes);
    else details::copy_chunks<4>(group, to, from, bytes);
    asm volatile("cp.async.commit_group;" ::: "memory");
  } else {
    for (size_t i = group.thread_rank(); i < bytes; i += group.size()) to[i] = from[i];
  }
}
template <class Group>
MUSCOPE_DEVICE void wait(const Group& group) {
  asm volatile("cp.async.wait_all;" ::: "memory");
  group.sync();
}
template <unsigned Stages, class Group>
MUSCOPE_DEVICE void wait_prior(const Group& group) {
  asm volatile("cp.async.wait_group %0;" ::"n"(Stages) : "memory");
  group.sync();
}

}  // namespace cooperative_groups

#endif
