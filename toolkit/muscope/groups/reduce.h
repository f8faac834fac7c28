// reduce(): a value of every member combined; every member gets the result.
#ifndef MUSCOPE_GROUPS_REDUCE_H
#define MUSCOPE_GROUPS_REDUCE_H

#include "coalesced.h"

namespace cooperative_groups {

#define MUSCOPE_GROUP_OPERATION(name, expression)                        \
  template <class T>                                                     \
  struct name {                                                          \
    MUSCOPE_GROUP T operator()(T a, T b) const { return (T)(expression); } \
  }
MUSCOPE_GROUP_OPERATION(plus, a + b);
MUSCOPE_GROUP_OPERATION(less, b < a ? b : a);
MUSCOPE_GROUP_OPERATION(greater, a < b ? b : a);
MUSCOPE_GROUP_OPERATION(bit_and, a & b);
MUSCOPE_GROUP_OPERATION(bit_or, a | b);
MUSCOPE_GROUP_OPERATION(bit_xor, a ^ b);
#undef MUSCOPE_GROUP_OPERATION

namespace details {
// redux.sync exists for 32-bit integers; everything else goes by shuffles.
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
#define MUSCOPE_REDUX(T, Op, function) \
  MUSCOPE_DEVICE bool redux(unsigned mask, T& value, Op<T>) { \
    value = function(mask, value);     \
    return true;                       \
  }
MUSCOPE_REDUX(int, plus, __reduce_add_sync)
MUSCOPE_REDUX(unsigned, plus, __reduce_add_sync)
MUSCOPE_REDUX(int, less, __reduce_min_sync)
MUSCOPE_REDUX(unsigned, less, __reduce_min_sync)
MUSCOPE_REDUX(int, greater, __reduce_max_sync)
MUSCOPE_REDUX(unsigned, greater, __reduce_max_sync)
MUSCOPE_REDUX(unsigned, bit_and, __reduce_and_sync)
MUSCOPE_REDUX(unsigned, bit_or, __reduce_or_sync)
MUSCOPE_REDUX(unsigned, bit_xor, __reduce_xor_sync)
#undef MUSCOPE_REDUX
#endif
template <class T, class Op>
MUSCOPE_DEVICE bool redux(unsigned, T&, Op) {
  return false;
}
}  // namespace details

template <unsigned Size, class Parent, class T, class Op>
MUSCOPE_DEVICE T reduce(const thread_block_tile<Size, Parent>& group, T value, Op op) {
  if (details::redux(group.lanes(), value, op)) return value;
#pragma unroll
  for (unsigned step = Size / 2; step > 0; step /= 2) value = op(value, group.shfl_xor(value, step));
  return value;
}
template <class T, class Op>
MUSCOPE_DEVICE T reduce(const coalesced_group& group, T value, Op op) {
  if (details::redux(group.lanes(), value, op)) return value;
  const unsigned size = group.size(), rank = group.thread_rank();
  for (unsigned step = 1; step < size; step *= 2) {
    const T other = group.shfl_down(value, (int)step);
    if (rank + step < size) value = op(value, other);
  }
  return group.shfl(value, 0);
}

}  // namespace cooperative_groups

#endif
