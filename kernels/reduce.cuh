// Reductions of a whole array: one launch, deterministic, at the speed at which memory can be read.
//
//   std::size_t bytes = 0;
//   reduce(nullptr, bytes, out, in, n, Sum{}, 0.0f, stream);          // asks for the size: no launch
//   cudaMalloc(&workspace, bytes);  prepare_workspace(workspace, bytes, stream);   // once
//   reduce(workspace, bytes, out, in, n, Sum{}, 0.0f, stream);        // as often as wanted
//
// Every thread has its loads in flight before it adds anything. Blocks leave their partial results in the workspace;
// the first block reads nothing but them and combines them in their order, so that the result does not depend on which
// block was faster.
#pragma once

#include <algorithm>

#include "operators.cuh"

namespace muscope::kernels {

namespace detail {

inline constexpr int kReduceThreads = 512;
inline constexpr int kReduceBlocks = 2048;  // at most
inline constexpr int kReducePolls = 4;      // words that a thread waits for at once

/// How an array of any alignment divides into 16-byte vectors.
struct Split {
  std::size_t head, vectors, tail;  // elements, vectors, elements
};
template <typename T>
inline Split split_of(const T* in, std::size_t n) {
  constexpr std::size_t kElements = 16 / sizeof(T);
  const std::size_t behind = reinterpret_cast<std::uintptr_t>(in) % 16 / sizeof(T);
  std::size_t head = behind == 0 ? 0 : kElements - behind;
  if (head > n) head = n;
  const std::size_t vectors = (n - head) / kElements;
  return {head, vectors, n - head - vectors * kElements};
}

/// The elements of an array combined pairwise.
template <int kCount, typename A, typename Op>
__device__ inline A all_of(A (&values)[kCount], Op op) {
#pragma unroll
  for (int step = 1; step < kCount; step *= 2) {
#pragma unroll
    for (int k = 0; k + step < kCount; k += 2 * step) values[k] = op(values[k], values[k + step]);
  }
  return values[0];
}

/// All partial results, once they are there: by one warp where they are few, else by all threads. In thread 0. Lanes of
/// a warp wait together: those that went ahead would only wait for the others.
template <typename A, typename Op>
__device__ inline A combine_partials(const TaggedWords<A>& partial, unsigned count, unsigned tag, Op op, A* shared) {
  const bool few = count <= kReducePolls * kLanes;
  const unsigned apart = few ? kLanes : kReduceThreads;
  A sum = Op::template identity<A>();
  for (unsigned first = threadIdx.x; first < parts(count, apart) * apart; first += apart * kReducePolls) {
    A values[kReducePolls];
    bool there;
    do {
      there = true;
#pragma unroll
      for (int k = 0; k < kReducePolls; ++k) {
        values[k] = Op::template identity<A>();
        const unsigned b = first + k * apart;
        if (b < count) there &= partial.read(b, &values[k]) == tag;
      }
    } while (!__all_sync(kAllLanes, there));
    sum = op(sum, all_of(values, op));
  }
  return few ? reduce_lanes<kLanes>(sum, op) : reduce_block<kReduceThreads>(sum, op, shared);
}

/// The first block combines what the others read; a single block does both. A thread's vectors are `apart` vectors from
/// each other: a block's number of threads where there is much to read (a block then reads 32 KiB in one piece), that
/// of all reading blocks where there is little (all share it). kOnce: all vectors are read in one step.
template <bool kOnce, int kVectors, int kPerSm, typename T, typename A, typename Out, typename Op>
__global__ void __launch_bounds__(kReduceThreads, kPerSm)
    reduce_kernel(const uint4* p, std::size_t all_vectors, unsigned apart, unsigned head, unsigned tail, const T* in,
                  Out* out, CallState* state, unsigned long long* words, Op op, A init) {
  using Index = std::conditional_t<kOnce, unsigned, std::size_t>;
  constexpr int kElements = 16 / sizeof(T);
  __shared__ A shared[kReduceThreads / kLanes];
  const TaggedWords<A> partial{words};
  const unsigned readers = gridDim.x == 1 ? 1 : gridDim.x - 1;
  if (gridDim.x > 1 && blockIdx.x == 0) {  // was started first, and no other block waits for it
    if (readers <= kReducePolls * kLanes && threadIdx.x >= kLanes) return;
    const CallTags tags(*reinterpret_cast<const volatile unsigned*>(&state->call));
    const A sum = combine_partials(partial, readers, tags.first, op, shared);
    if (threadIdx.x == 0) {
      *out = static_cast<Out>(op(init, sum));
      state->call = tags.next_call;  // all blocks have read it: they have published
    }
    return;
  }
  const unsigned reader = gridDim.x == 1 ? 0 : blockIdx.x - 1;
  const auto vectors = static_cast<Index>(all_vectors);
  const A identity = Op::template identity<A>();
  A sums[kVectors];
#pragma unroll
  for (A& sum : sums) sum = identity;
  Index i =
      static_cast<Index>(reader) * (apart == kReduceThreads ? kReduceThreads * kVectors : kReduceThreads) + threadIdx.x;
  const Index step = static_cast<Index>(readers) * (kReduceThreads * kVectors);
  Vector<T> v[kVectors];
  const auto add = [&](int k) {
#pragma unroll
    for (int e = 0; e < kElements; ++e) sums[k] = op(sums[k], widened<A>(v[k].elements[e]));
  };
  if constexpr (!kOnce) {
    for (; i + (kVectors - 1) * apart < vectors; i += step) {
#pragma unroll
      for (int k = 0; k < kVectors; ++k) v[k].whole = load_once(p + i + k * apart);
#pragma unroll
      for (int k = 0; k < kVectors; ++k) add(k);
    }
  }
#pragma unroll
  for (int k = 0; k < kVectors; ++k) {
    if (i + k * apart < vectors) v[k].whole = load_once(p + i + k * apart);
  }
  // By one thread of a block: thousands of requests for one sector would queue.
  unsigned call = 0;
  if (threadIdx.x == 0) call = *reinterpret_cast<const volatile unsigned*>(&state->call);
#pragma unroll
  for (int k = 0; k < kVectors; ++k) {
    if (i + k * apart < vectors) add(k);
  }
  if (blockIdx.x == gridDim.x - 1) {  // what does not fill a vector, on both sides
    if (threadIdx.x < head) sums[0] = op(sums[0], widened<A>(in[threadIdx.x]));
    if (threadIdx.x < tail) sums[1] = op(sums[1], widened<A>(in[head + all_vectors * kElements + threadIdx.x]));
  }
  const A sum = reduce_block<kReduceThreads>(all_of(sums, op), op, shared);
  if (threadIdx.x != 0) return;
  if (gridDim.x == 1) {
    *out = static_cast<Out>(op(init, sum));
  } else {
    partial.publish(reader, sum, CallTags(call).first);
  }
}

/// blocks: that read; with more than one, another one combines.
template <bool kOnce, int kVectors, int kPerSm, typename T, typename A, typename Out, typename Op>
inline cudaError_t launch_reduce(void* workspace, Out* out, const T* in, Split split, Op op, A init, std::size_t blocks,
                                 bool spread, cudaStream_t stream) {
  if (blocks > kReduceBlocks) blocks = kReduceBlocks;
  const auto grid = static_cast<unsigned>(blocks > 1 ? blocks + 1 : 1);
  const auto apart = static_cast<unsigned>(spread ? blocks * kReduceThreads : kReduceThreads);
  return launch(reduce_kernel<kOnce, kVectors, kPerSm, T, A, Out, Op>, grid, kReduceThreads, 0, stream,
                reinterpret_cast<const uint4*>(in + split.head), split.vectors, apart,
                static_cast<unsigned>(split.head), static_cast<unsigned>(split.tail), in, out,
                static_cast<CallState*>(workspace),
                reinterpret_cast<unsigned long long*>(static_cast<char*>(workspace) + kStateBytes), op, init);
}

}  // namespace detail

/// *out = op(init, all of in[0 .. n)). T: any arithmetic type of 1 to 8 bytes, or __half. Elements and `init` are
/// combined as A, which is accumulator_t<T> unless it is given (reduce<T, Out, Op, A>): T itself, float for __half, int
/// or unsigned for integers of 1 and 2 bytes. The same input gives the same bits on the same GPU, however often it is
/// run. Op: Sum, Min, Max or an own one that also commutes. n may be zero: the result is `init`. `in` is a multiple of
/// its element's size, no more.
/// With workspace == nullptr only `bytes` is set. Else `bytes` must be at least that, the workspace aligned to 256
/// bytes (as cudaMalloc gives it), prepared once by prepare_workspace(), and used by one stream at a time. Errors:
/// cudaErrorInvalidValue for null with a size or too little workspace; what a launch returns. Asynchronous.
template <typename T, typename Out, typename Op = Sum, typename A = accumulator_t<T>>
cudaError_t reduce(void* workspace, std::size_t& bytes, Out* out, const T* in, std::size_t n, Op op = {},
                   typename SameType<A>::type init = Op::template identity<A>(), cudaStream_t stream = nullptr) {
  static_assert(is_operator<Op, A>, "an operator needs operator()(A, A) const and template <T> static T identity()");
  const std::size_t needed = detail::kStateBytes + detail::kReduceBlocks * detail::TaggedWords<A>::kWords * 8;
  if (workspace == nullptr) {
    bytes = needed;
    return cudaSuccess;
  }
  if (bytes < needed || out == nullptr || (in == nullptr && n != 0)) return cudaErrorInvalidValue;
  int sms = 0;
  const cudaError_t error = multiprocessors(&sms);
  if (error != cudaSuccess) return error;
  constexpr std::size_t kFour = detail::kReduceThreads * 4;
  const detail::Split split = detail::split_of(in, n);
  const std::size_t most = std::min(static_cast<std::size_t>(sms), std::size_t{detail::kReduceBlocks / 4});
  // With very little, one block: nothing to exchange. With little, all is read at once, by no more blocks than one warp
  // can wait for as long as they suffice. With much, all blocks that fit go on until everything is read. Elements of
  // less than 4 bytes take more instructions per vector, and with them more warps. By measurement on an H200.
  constexpr bool kNarrow = sizeof(T) < 4;
  if (split.vectors <= kFour) {
    return detail::launch_reduce<false, 4, 2, T, A>(workspace, out, in, split, op, init, 1, false, stream);
  }
  if (split.vectors <= (most - 1) * kFour) {
    const std::size_t blocks = parts(split.vectors, kFour);
    return detail::launch_reduce<true, 4, 2, T, A>(workspace, out, in, split, op, init, blocks, true, stream);
  }
  if constexpr (kNarrow) {
    if (split.vectors <= (most * 3 - 1) * kFour) {
      const std::size_t blocks = parts(split.vectors, kFour);
      return detail::launch_reduce<true, 4, 3, T, A>(workspace, out, in, split, op, init, blocks, true, stream);
    }
  }
  if (split.vectors <= (most * 2 - 1) * kFour * 2) {
    const std::size_t least = std::min<std::size_t>(most - 1, detail::kReducePolls * kLanes);
    const std::size_t blocks = std::max(least, parts(split.vectors, kFour * 2));
    return detail::launch_reduce<true, 8, 2, T, A>(workspace, out, in, split, op, init, blocks, true, stream);
  }
  if (n * sizeof(T) <= std::size_t{1} << 26) {
    return detail::launch_reduce<false, 4, 2, T, A>(workspace, out, in, split, op, init, most * 2 - 1, false, stream);
  }
  if constexpr (kNarrow) {
    return detail::launch_reduce<false, 4, 4, T, A>(workspace, out, in, split, op, init, most * 4 - 1, false, stream);
  } else {
    return detail::launch_reduce<false, 8, 2, T, A>(workspace, out, in, split, op, init, most * 2 - 1, false, stream);
  }
}

}  // namespace muscope::kernels
