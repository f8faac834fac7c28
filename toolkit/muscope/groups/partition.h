// Splitting groups: tiled_partition, labeled_partition, binary_partition.
#ifndef MUSCOPE_GROUPS_PARTITION_H
#define MUSCOPE_GROUPS_PARTITION_H

#include "coalesced.h"

namespace cooperative_groups {

template <unsigned Size, class Parent>
MUSCOPE_DEVICE thread_block_tile<Size, Parent> tiled_partition(const Parent&) {
  return thread_block_tile<Size, Parent>();
}
/// `size` known only at run time: 1, 2, 4, 8, 16 or 32 neighbouring threads of a block, or of the members of a group.
MUSCOPE_DEVICE thread_group tiled_partition(const thread_group& parent, unsigned size) {
  const unsigned lanes = parent.lanes();
  if (!lanes) {
    const unsigned first = details::lane() & ~(size - 1);
    return thread_group::of_lanes(size == 32 ? 0xffffffffu : ((1u << size) - 1) << first);
  }
  const unsigned first = parent.thread_rank() / size * size;
  unsigned mask = 0;
  for (unsigned left = lanes, rank = 0; left; left &= left - 1, ++rank) {
    if (rank >= first && rank < first + size) mask |= left & (0u - left);
  }
  return thread_group::of_lanes(mask);
}
MUSCOPE_DEVICE thread_group tiled_partition(const thread_block& parent, unsigned size) {
  return tiled_partition(thread_group(parent), size);
}
MUSCOPE_DEVICE coalesced_group tiled_partition(const coalesced_group& parent, unsigned size) {
  const unsigned count = parent.size();
  return coalesced_group(tiled_partition((thread_group)parent, size).lanes(), (count + size - 1) / size,
                         parent.thread_rank() / size);
}

/// Members with equal labels.
template <class Group, class Label>
MUSCOPE_DEVICE coalesced_group labeled_partition(const Group& parent, Label label) {
  const unsigned mask = __match_any_sync(parent.lanes(), label);
  // Groups are ranked by their first lanes.
  const unsigned firsts = __ballot_sync(parent.lanes(), (mask & details::lanes_below()) == 0);
  const unsigned own_first = mask & (0u - mask);
  return coalesced_group(mask, __popc(firsts), __popc(firsts & (own_first - 1)));
}
template <class Group>
MUSCOPE_DEVICE coalesced_group binary_partition(const Group& parent, bool predicate) {
  const unsigned yes = __ballot_sync(parent.lanes(), predicate) & parent.lanes(), no = parent.lanes() & ~yes;
  return coalesced_group(predicate ? yes : no, (yes != 0) + (no != 0), predicate && no ? 1u : 0u);
}

}  // namespace cooperative_groups

#endif
