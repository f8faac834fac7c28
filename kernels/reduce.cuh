// Reductions of a whole array: one launch, deterministic, at the speed at which memory can be read.
//
//   std::size_t bytes = 0;
//   reduce(nullptr, bytes, out, in, n, Sum{}, 0.0f, stream);          // asks for the size: no launch
//   cudaMalloc(&workspace, bytes);  prepare_workspace(workspace, bytes, stream);   // once
//   reduce(workspace, bytes, out, in, n, Sum{}, 0.0f, stream);        // as often as wanted
//
// Every thread has four loads of 16 bytes in flight. Blocks leave their partial results in the workspace; the last
// block to finish combines them in the order of blocks, so that the result does not depend on which block was faster.
#pragma once

#include "operators.cuh"

namespace muscope::kernels {

namespace detail {

inline constexpr int kReduceThreads = 512;
inline constexpr int kReduceBlocks = 2048;  // at most

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

/// A thread's vectors are `apart` vectors from each other: a block's number of threads where there is much to read
/// (a block then reads 32 KiB in one piece), that of all blocks where there is little (all blocks share it).
template <int kVectors, int kPerSm, typename T, typename A, typename Out, typename Op>
__global__ void __launch_bounds__(kReduceThreads, kPerSm)
    reduce_kernel(Out* out, const T* in, Split split, std::size_t apart, Op op, A init, CallState* state,
                  unsigned long long* words) {
  constexpr int kElements = 16 / sizeof(T);
  constexpr std::size_t kStep = kReduceThreads * kVectors;
  __shared__ A shared[kReduceThreads / kLanes];
  const unsigned call = *reinterpret_cast<const volatile unsigned*>(&state->call);
  const std::size_t head = split.head, vectors = split.vectors, tail = split.tail;
  const A identity = Op::template identity<A>();
  const uint4* const p = reinterpret_cast<const uint4*>(in + head);
  A sums[kVectors];
#pragma unroll
  for (A& sum : sums) sum = identity;
  std::size_t i = blockIdx.x * (apart == kReduceThreads ? kStep : kReduceThreads) + threadIdx.x;
  Vector<T> v[kVectors];
  for (; i + (kVectors - 1) * apart < vectors; i += gridDim.x * kStep) {
#pragma unroll
    for (int k = 0; k < kVectors; ++k) v[k].whole = load_once(p + i + k * apart);
#pragma unroll
    for (int k = 0; k < kVectors; ++k) {
#pragma unroll
      for (int e = 0; e < kElements; ++e) sums[k] = op(sums[k], widened<A>(v[k].elements[e]));
    }
  }
#pragma unroll
  for (int k = 0; k < kVectors - 1; ++k) {
    if (i + k * apart < vectors) v[k].whole = load_once(p + i + k * apart);
  }
#pragma unroll
  for (int k = 0; k < kVectors - 1; ++k) {
    if (i + k * apart < vectors) {
#pragma unroll
      for (int e = 0; e < kElements; ++e) sums[k] = op(sums[k], widened<A>(v[k].elements[e]));
    }
  }
  if (blockIdx.x == gridDim.x - 1) {  // what does not fill a vector, on both sides
    if (threadIdx.x < head) sums[0] = op(sums[0], widened<A>(in[threadIdx.x]));
    if (threadIdx.x < tail) sums[1] = op(sums[1], widened<A>(in[head + vectors * kElements + threadIdx.x]));
  }
  A sum = reduce_block<kReduceThreads>(all_of(sums, op), op, shared);
  if (gridDim.x == 1) {
    if (threadIdx.x == 0) *out = static_cast<Out>(op(init, sum));
    return;
  }
  const TaggedWords<A> partial{words};
  const unsigned tag = call + 1;
  if (blockIdx.x != 0) {
    if (threadIdx.x == 0) partial.publish(blockIdx.x, sum, tag);
    return;
  }
  // The first block: it was started first, and no other block waits for it.
  if (threadIdx.x != 0) sum = identity;
  for (unsigned b = threadIdx.x; b < gridDim.x; b += kReduceThreads) {
    A value = identity;
    while (b != 0 && partial.read(b, &value) != tag) {
    }
    if (b != 0) sum = op(sum, value);
  }
  __syncthreads();  // the shared values are used again
  sum = reduce_block<kReduceThreads>(sum, op, shared);
  if (threadIdx.x == 0) {
    *out = static_cast<Out>(op(init, sum));
    state->call = tag;  // all blocks have read it: they have published
  }
}

template <int kVectors, int kPerSm, typename T, typename A, typename Out, typename Op>
inline cudaError_t launch_reduce(void* workspace, Out* out, const T* in, std::size_t n, Op op, A init, int sms,
                                 bool interleaved, cudaStream_t stream) {
  const Split split = split_of(in, n);
  // With very little, one block: nothing to exchange. With little, one block per multiprocessor and few vectors per
  // thread. With much, all blocks that fit.
  constexpr std::size_t kThreads = kReduceThreads, kStep = kThreads * kVectors;
  const auto count = static_cast<std::size_t>(sms);
  const bool little = split.vectors <= count * kStep;
  std::size_t blocks = little ? parts(split.vectors, kThreads) : parts(split.vectors, kStep);
  const std::size_t most = little ? count : count * kPerSm;
  if (blocks > most) blocks = most;
  if (blocks > kReduceBlocks) blocks = kReduceBlocks;
  if (blocks == 0 || split.vectors <= 4096) blocks = 1;
  const bool spread = blocks > 1 && (little || interleaved);
  reduce_kernel<kVectors, kPerSm, T, A, Out, Op><<<static_cast<unsigned>(blocks), kReduceThreads, 0, stream>>>(
      out, in, split, spread ? blocks * kThreads : kThreads, op, init, static_cast<CallState*>(workspace),
      reinterpret_cast<unsigned long long*>(static_cast<char*>(workspace) + kStateBytes));
  return cudaGetLastError();
}

}  // namespace detail

/// *out = op(init, all of in[0 .. n)). T: any arithmetic type of 1 to 8 bytes, or __half (combined in float). The same
/// input gives the same bits on the same GPU, however often it is run. Op: Sum, Min, Max or an own one that also
/// commutes. n may be zero: the result is `init`. `in` is aligned to T, no more.
/// With workspace == nullptr only `bytes` is set. Else `bytes` must be at least that, the workspace aligned to 256
/// bytes (as cudaMalloc gives it), prepared once by prepare_workspace(), and used by one stream at a time. Errors:
/// cudaErrorInvalidValue for null with a size or too little workspace; what a launch returns. Asynchronous.
template <typename T, typename Out, typename Op = Sum, typename A = accumulator_t<T>>
cudaError_t reduce(void* workspace, std::size_t& bytes, Out* out, const T* in, std::size_t n, Op op = {},
                   A init = Op::template identity<A>(), cudaStream_t stream = nullptr) {
  const std::size_t needed = detail::kStateBytes + detail::kReduceBlocks * detail::TaggedWords<A>::kWords * 8;
  if (workspace == nullptr) {
    bytes = needed;
    return cudaSuccess;
  }
  if (bytes < needed || out == nullptr || (in == nullptr && n != 0)) return cudaErrorInvalidValue;
  int sms = 0;
  const cudaError_t error = multiprocessors(&sms);
  if (error != cudaSuccess) return error;
  // Few blocks: a multiprocessor's share of the loads in flight fits into two, and there is less to combine.
  if (n * sizeof(T) <= std::size_t{1} << 26) {
    return detail::launch_reduce<4, 2, T, A>(workspace, out, in, n, op, init, sms, false, stream);
  }
  return detail::launch_reduce<8, 2, T, A>(workspace, out, in, n, op, init, sms, false, stream);
}

}  // namespace muscope::kernels
