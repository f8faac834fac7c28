// coalesced_group: the lanes of a warp that are together at this point, numbered from 0.
#ifndef MUSCOPE_GROUPS_COALESCED_H
#define MUSCOPE_GROUPS_COALESCED_H

#include "tile.h"

namespace cooperative_groups {

class coalesced_group {
 public:
  MUSCOPE_GROUP explicit coalesced_group(unsigned mask) : mask_(mask), groups_(1), rank_of_group_(0) {}
  MUSCOPE_GROUP coalesced_group(unsigned mask, unsigned groups, unsigned rank)
      : mask_(mask), groups_(groups), rank_of_group_(rank) {}
  MUSCOPE_GROUP operator thread_group() const { return thread_group::of_lanes(mask_); }

  MUSCOPE_GROUP void sync() const { __syncwarp(mask_); }
  MUSCOPE_GROUP unsigned size() const { return __popc(mask_); }
  MUSCOPE_GROUP unsigned num_threads() const { return __popc(mask_); }
  MUSCOPE_GROUP unsigned thread_rank() const { return __popc(mask_ & details::lanes_below()); }
  MUSCOPE_GROUP unsigned meta_group_size() const { return groups_; }
  MUSCOPE_GROUP unsigned meta_group_rank() const { return rank_of_group_; }

  template <class T>
  MUSCOPE_GROUP T shfl(const T& value, int rank) const {
    return from_lane(value, lane_of((unsigned)rank));
  }
  /// From the member `delta` further on; its own value where there is none.
  template <class T>
  MUSCOPE_GROUP T shfl_down(const T& value, int delta) const {
    const unsigned rank = thread_rank() + delta;
    return from_lane(value, rank < size() ? lane_of(rank) : details::lane());
  }
  template <class T>
  MUSCOPE_GROUP T shfl_up(const T& value, int delta) const {
    const int rank = (int)thread_rank() - delta;
    return from_lane(value, rank >= 0 ? lane_of((unsigned)rank) : details::lane());
  }
  MUSCOPE_GROUP int any(int predicate) const { return __any_sync(mask_, predicate); }
  MUSCOPE_GROUP int all(int predicate) const { return __all_sync(mask_, predicate); }
  MUSCOPE_GROUP unsigned ballot(int predicate) const { return packed(__ballot_sync(mask_, predicate)); }
  template <class T>
  MUSCOPE_GROUP unsigned match_any(T value) const {
    return packed(__match_any_sync(mask_, value));
  }
  template <class T>
  MUSCOPE_GROUP unsigned match_all(T value, int& all) const {
    return packed(__match_all_sync(mask_, value, &all));
  }
  MUSCOPE_GROUP unsigned lanes() const { return mask_; }

 private:
  /// The lane of member `rank`.
  MUSCOPE_GROUP unsigned lane_of(unsigned rank) const {
    return mask_ == 0xffffffffu ? rank & 31u : __fns(mask_, 0, (int)rank + 1);
  }
  template <class T>
  MUSCOPE_GROUP T from_lane(const T& value, unsigned lane) const {
    const unsigned mask = mask_;
    return details::shuffle_words(value, [=](unsigned w) MUSCOPE_GROUP_LAMBDA { return __shfl_sync(mask, w, (int)lane); });
  }
  /// Bits by lane to bits by rank.
  MUSCOPE_GROUP unsigned packed(unsigned by_lane) const {
    if (mask_ == 0xffffffffu) return by_lane;
    unsigned result = 0;
    for (unsigned left = mask_, rank = 0; left; left &= left - 1, ++rank) {
      if (by_lane & left & (0u - left)) result |= 1u << rank;
    }
    return result;
  }
  unsigned mask_, groups_, rank_of_group_;
};

MUSCOPE_DEVICE coalesced_group coalesced_threads() { return coalesced_group(__activemask()); }

}  // namespace cooperative_groups

#endif
