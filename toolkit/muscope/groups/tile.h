// thread_block_tile<N>: N neighbouring threads, N a power of two; up to 32 within a warp, larger ones of whole warps.
#ifndef MUSCOPE_GROUPS_TILE_H
#define MUSCOPE_GROUPS_TILE_H

#include "block.h"

namespace cooperative_groups {

namespace details {
/// Shuffles of any trivially copyable type, 32 bits at a time. `shuffle` maps unsigned to unsigned.
template <class T, class Shuffle>
MUSCOPE_DEVICE T shuffle_words(const T& value, Shuffle shuffle) {
  constexpr int kWords = (sizeof(T) + 3) / 4;
  unsigned words[kWords] = {};
  __builtin_memcpy(words, &value, sizeof(T));
#pragma unroll
  for (int i = 0; i < kWords; ++i) words[i] = shuffle(words[i]);
  T result;
  __builtin_memcpy(&result, words, sizeof(T));
  return result;
}
}  // namespace details

template <unsigned Size, class Parent = void>
class thread_block_tile {
 public:
  MUSCOPE_GROUP thread_block_tile() {}
  // What a tile was cut from makes no difference to it.
  template <class OtherParent>
  MUSCOPE_GROUP thread_block_tile(const thread_block_tile<Size, OtherParent>&) {}

  static MUSCOPE_GROUP unsigned thread_rank() { return details::block_rank() & (Size - 1); }
  static constexpr MUSCOPE_GROUP unsigned size() { return Size; }
  static constexpr MUSCOPE_GROUP unsigned num_threads() { return Size; }
  static MUSCOPE_GROUP unsigned meta_group_rank() { return details::block_rank() / Size; }
  static MUSCOPE_GROUP unsigned meta_group_size() { return (details::block_size() + Size - 1) / Size; }
  MUSCOPE_GROUP operator thread_group() const { return thread_group::of_lanes(lanes()); }

  MUSCOPE_GROUP void sync() const { __syncwarp(lanes()); }
  template <class T>
  MUSCOPE_GROUP T shfl(const T& value, int rank) const {
    const unsigned mask = lanes();
    return details::shuffle_words(value, [=](unsigned w) MUSCOPE_GROUP_LAMBDA { return __shfl_sync(mask, w, rank, Size); });
  }
  template <class T>
  MUSCOPE_GROUP T shfl_down(const T& value, unsigned delta) const {
    const unsigned mask = lanes();
    return details::shuffle_words(value, [=](unsigned w) MUSCOPE_GROUP_LAMBDA { return __shfl_down_sync(mask, w, delta, Size); });
  }
  template <class T>
  MUSCOPE_GROUP T shfl_up(const T& value, unsigned delta) const {
    const unsigned mask = lanes();
    return details::shuffle_words(value, [=](unsigned w) MUSCOPE_GROUP_LAMBDA { return __shfl_up_sync(mask, w, delta, Size); });
  }
  template <class T>
  MUSCOPE_GROUP T shfl_xor(const T& value, unsigned bits) const {
    const unsigned mask = lanes();
    return details::shuffle_words(value, [=](unsigned w) MUSCOPE_GROUP_LAMBDA { return __shfl_xor_sync(mask, w, (int)bits, Size); });
  }
  MUSCOPE_GROUP int any(int predicate) const { return (__ballot_sync(lanes(), predicate) & lanes()) != 0; }
  MUSCOPE_GROUP int all(int predicate) const { return (__ballot_sync(lanes(), predicate) & lanes()) == lanes(); }
  MUSCOPE_GROUP unsigned ballot(int predicate) const { return (__ballot_sync(lanes(), predicate) & lanes()) >> shift(); }
  template <class T>
  MUSCOPE_GROUP unsigned match_any(T value) const {
    return (__match_any_sync(lanes(), value) & lanes()) >> shift();
  }
  template <class T>
  MUSCOPE_GROUP unsigned match_all(T value, int& all) const {
    return (__match_all_sync(lanes(), value, &all) & lanes()) >> shift();
  }
  /// The lanes of the warp that the tile covers.
  static MUSCOPE_GROUP unsigned lanes() {
    if constexpr (Size == 32) return 0xffffffffu;
    return (unsigned)((1ull << Size) - 1) << shift();
  }

 private:
  static_assert(Size > 0 && Size <= 32 && (Size & (Size - 1)) == 0, "a tile has 1, 2, 4, 8, 16 or 32 threads");
  static MUSCOPE_GROUP unsigned shift() { return details::lane() & ~(Size - 1); }
};

}  // namespace cooperative_groups

#endif
