// What reductions and scans combine with: operators with an identity, types to add up in, and groups of lanes.
#pragma once

#include <cuda_fp16.h>

#include <cfloat>
#include <climits>
#include <type_traits>
#include <utility>

#include "common.cuh"

namespace muscope::kernels {

namespace detail {

template <typename T>
__host__ __device__ constexpr T lowest() {
  if constexpr (std::is_same_v<T, float>) {
    return -__builtin_huge_valf();
  } else if constexpr (std::is_same_v<T, double>) {
    return -__builtin_huge_val();
  } else {
    return std::is_signed_v<T> ? static_cast<T>(T{1} << (sizeof(T) * 8 - 1)) : T{0};
  }
}

template <typename T>
__host__ __device__ constexpr T highest() {
  if constexpr (std::is_floating_point_v<T>) {
    return -lowest<T>();
  } else {
    return static_cast<T>(~lowest<T>());
  }
}

}  // namespace detail

namespace detail {
template <typename Op, typename T, typename = void>
struct IsOperator : std::false_type {};
template <typename Op, typename T>
struct IsOperator<
    Op, T,
    std::void_t<decltype(static_cast<T>(Op::template identity<T>())),
                decltype(static_cast<T>(std::declval<const Op&>()(std::declval<T>(), std::declval<T>())))>>
    : std::true_type {};
}  // namespace detail
template <typename Op, typename T>
inline constexpr bool is_operator = detail::IsOperator<Op, T>::value;

/// An operator is associative and has an identity on both sides: op(identity, x) == x == op(x, identity). Own operators
/// have the same two members. They need not commute for scans and for segmented reductions of ragged segments; reduce()
/// needs that they do.
struct Sum {
  template <typename T>
  __host__ __device__ static constexpr T identity() {
    return T{};
  }
  template <typename T>
  __host__ __device__ T operator()(T a, T b) const {
    return a + b;
  }
};

/// The smaller one. A NaN is passed over, as fminf does.
struct Min {
  template <typename T>
  __host__ __device__ static constexpr T identity() {
    return detail::highest<T>();
  }
  template <typename T>
  __host__ __device__ T operator()(T a, T b) const {
    return b < a || a != a ? b : a;
  }
};

/// The larger one. A NaN is passed over, as fmaxf does.
struct Max {
  template <typename T>
  __host__ __device__ static constexpr T identity() {
    return detail::lowest<T>();
  }
  template <typename T>
  __host__ __device__ T operator()(T a, T b) const {
    return a < b || a != a ? b : a;
  }
};

/// The type in which elements are combined: half in float, integers of 1 and 2 bytes in int or unsigned, everything
/// else in itself.
template <typename T, typename = void>
struct Accumulator {
  using type = T;
};
template <>
struct Accumulator<__half> {
  using type = float;
};
template <typename T>
struct Accumulator<T, std::enable_if_t<std::is_integral_v<T> && sizeof(T) < 4>> {
  using type = std::conditional_t<std::is_signed_v<T>, int, unsigned>;
};
template <typename T>
using accumulator_t = typename Accumulator<T>::type;

namespace detail {

template <typename A, typename T>
__device__ inline A widened(T value) {
  if constexpr (std::is_same_v<T, __half>) {
    return __half2float(value);
  } else {
    return static_cast<A>(value);
  }
}

/// A value of a multiple of 4 bytes from the lane whose number differs by `mask`.
template <typename T>
__device__ inline T from_lane_xor(T value, int mask) {
  static_assert(sizeof(T) % 4 == 0, "whole words");
  unsigned words[sizeof(T) / 4];
  __builtin_memcpy(words, &value, sizeof(T));
#pragma unroll
  for (unsigned& word : words) word = __shfl_xor_sync(kAllLanes, word, mask, kLanes);
  __builtin_memcpy(&value, words, sizeof(T));
  return value;
}

/// The value of the lane `distance` below; the lane's own where there is none.
template <typename T>
__device__ inline T from_lane_below(T value, int distance) {
  static_assert(sizeof(T) % 4 == 0, "whole words");
  unsigned words[sizeof(T) / 4];
  __builtin_memcpy(words, &value, sizeof(T));
#pragma unroll
  for (unsigned& word : words) word = __shfl_up_sync(kAllLanes, word, distance, kLanes);
  __builtin_memcpy(&value, words, sizeof(T));
  return value;
}

/// The value of the lane `distance` above; the lane's own where there is none.
template <typename T>
__device__ inline T from_lane_above(T value, int distance) {
  unsigned words[sizeof(T) / 4];
  __builtin_memcpy(words, &value, sizeof(T));
#pragma unroll
  for (unsigned& word : words) word = __shfl_down_sync(kAllLanes, word, distance, kLanes);
  __builtin_memcpy(&value, words, sizeof(T));
  return value;
}

/// The value of one lane for all of them.
template <typename T>
__device__ inline T from_lane(T value, int lane) {
  static_assert(sizeof(T) % 4 == 0, "whole words");
  unsigned words[sizeof(T) / 4];
  __builtin_memcpy(words, &value, sizeof(T));
#pragma unroll
  for (unsigned& word : words) word = __shfl_sync(kAllLanes, word, lane, kLanes);
  __builtin_memcpy(&value, words, sizeof(T));
  return value;
}

/// All lanes of groups of kGroup neighbouring lanes get the group's result.
template <int kGroup, typename T, typename Op>
__device__ inline T reduce_lanes(T value, Op op) {
#pragma unroll
  for (int mask = kGroup / 2; mask > 0; mask /= 2) value = op(value, from_lane_xor(value, mask));
  return value;
}

/// What is open in each lane joins what the lanes below left open, back to the last that `ended`.
template <typename T, typename Op>
__device__ inline T join_open(T open, bool ended, Op op) {
  const unsigned lane = threadIdx.x % kLanes;
  const unsigned until = __ballot_sync(kAllLanes, ended) & (kAllLanes >> (kLanes - 1 - lane));
  const int reach = static_cast<int>(lane) - (until == 0 ? 0 : kLanes - 1 - __clz(static_cast<int>(until)));
#pragma unroll
  for (int distance = 1; distance < kLanes; distance *= 2) {
    const T below = from_lane_below(open, distance);
    if (reach >= distance) open = op(below, open);
  }
  return open;
}

/// Rows of one value per lane, one row after the other, combined in order; lane 0 gets the result. Lanes share the
/// rows, so that this takes hardly more exchanges than one row.
template <int kRows, typename T, typename Op>
__device__ inline T join_rows(T (&rows)[kRows], Op op) {
  int distance = 1;
#pragma unroll
  for (int half = kRows / 2; half > 0; half /= 2, distance *= 2) {
    const bool upper = (threadIdx.x & static_cast<unsigned>(distance)) != 0;
#pragma unroll
    for (int i = 0; i < half; ++i) {
      const T other = from_lane_xor(upper ? rows[i] : rows[i + half], distance);
      rows[i] = upper ? op(other, rows[i + half]) : op(rows[i], other);
    }
  }
  T all = rows[0];
#pragma unroll
  for (distance = kRows; distance < kLanes; distance *= 2) all = op(all, from_lane_above(all, distance));
#pragma unroll
  for (distance = kRows / 2; distance > 0; distance /= 2) all = op(all, from_lane_above(all, distance));
  return all;
}

/// The result of all kThreads threads, in thread 0 (and its warp). Two barriers if `shared` is used again.
template <int kThreads, typename T, typename Op>
__device__ inline T reduce_block(T value, Op op, T* shared) {
  constexpr int kWarps = kThreads / kLanes;
  value = reduce_lanes<kLanes>(value, op);
  if (threadIdx.x % kLanes == 0) shared[threadIdx.x / kLanes] = value;
  __syncthreads();
  if (threadIdx.x < kLanes) {
    value = threadIdx.x < kWarps ? shared[threadIdx.x] : Op::template identity<T>();
    value = reduce_lanes<kLanes>(value, op);
  }
  return value;
}

/// The first bytes of a workspace; tagged words follow at kStateBytes.
struct CallState {
  unsigned call;  // number of the next call
};

/// What marks the words of one call, whatever it computes: two tags that no call of the 2^31 - 2 before it had, and
/// that are not 0, the tag of words that were never written.
struct CallTags {
  unsigned first, second, next_call;
  __device__ explicit CallTags(unsigned call)
      : first(call * 2 + 1), second(call * 2 + 2), next_call(call == 0x7ffffffe ? 0 : call + 1) {}
};
inline constexpr std::size_t kStateBytes = 256;

/// The words by which blocks tell each other values: one of 64 bits for every 32 bits of T, a tag in its upper half. No
/// fence is needed between value and tag. Tags hold the number of the call, so that nothing must be reset in between.
template <typename T>
struct TaggedWords {
  static constexpr int kWords = sizeof(T) / 4;
  static_assert(sizeof(T) % 4 == 0, "whole words");

  volatile unsigned long long* words;

  __device__ void publish(unsigned index, T value, unsigned tag) const {
    unsigned parts_of[kWords];
    __builtin_memcpy(parts_of, &value, sizeof(T));
#pragma unroll
    for (int k = 0; k < kWords; ++k) {
      words[static_cast<std::size_t>(index) * kWords + k] = static_cast<unsigned long long>(tag) << 32 | parts_of[k];
    }
  }
  /// The tag of what was published, or 0 when its words are not of one piece.
  __device__ unsigned read(unsigned index, T* value) const {
    unsigned parts_of[kWords];
    unsigned tag = 0;
#pragma unroll
    for (int k = 0; k < kWords; ++k) {
      const unsigned long long word = words[static_cast<std::size_t>(index) * kWords + k];
      parts_of[k] = static_cast<unsigned>(word);
      const unsigned part_tag = static_cast<unsigned>(word >> 32);
      tag = k == 0 || tag == part_tag ? part_tag : 0;
    }
    __builtin_memcpy(value, parts_of, sizeof(T));
    return tag;
  }
};

/// The elements of 16 bytes.
template <typename T>
union Vector {
  uint4 whole;
  T elements[16 / sizeof(T)];
  __device__ Vector() {}
};

}  // namespace detail

/// Makes workspace ready for its first use. Every call leaves it ready for the next one in the same stream.
inline cudaError_t prepare_workspace(void* workspace, std::size_t bytes, cudaStream_t stream = nullptr) {
  return cudaMemsetAsync(workspace, 0, bytes, stream);
}

}  // namespace muscope::kernels
