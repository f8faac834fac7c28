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
inline constexpr int kReduceVectors = 4;         // in flight per thread
inline constexpr int kReducePerSm = 4;           // blocks
inline constexpr int kReduceBlocks = 2048;       // at most
inline constexpr std::size_t kReduceHead = 256;  // bytes of workspace before the partial results

template <typename T, typename A, typename Out, typename Op>
__global__ void __launch_bounds__(kReduceThreads, kReducePerSm)
    reduce_kernel(Out* out, const T* in, std::size_t head, std::size_t vectors, std::size_t tail, Op op, A init,
                  unsigned* counter, A* partial) {
  constexpr int kElements = 16 / sizeof(T);
  constexpr std::size_t kStep = kReduceThreads * kReduceVectors;
  __shared__ A shared[kReduceThreads / kLanes];
  __shared__ bool last;
  const A identity = Op::template identity<A>();
  const uint4* const p = reinterpret_cast<const uint4*>(in + head);
  A sums[kReduceVectors];
#pragma unroll
  for (A& sum : sums) sum = identity;
  std::size_t i = blockIdx.x * kStep + threadIdx.x;
  Vector<T> v[kReduceVectors];
  for (; i + (kReduceVectors - 1) * kReduceThreads < vectors; i += gridDim.x * kStep) {
#pragma unroll
    for (int k = 0; k < kReduceVectors; ++k) v[k].whole = load_once(p + i + k * kReduceThreads);
#pragma unroll
    for (int k = 0; k < kReduceVectors; ++k) {
#pragma unroll
      for (int e = 0; e < kElements; ++e) sums[k] = op(sums[k], widened<A>(v[k].elements[e]));
    }
  }
#pragma unroll
  for (int k = 0; k < kReduceVectors - 1; ++k) {
    if (i + k * kReduceThreads < vectors) v[k].whole = load_once(p + i + k * kReduceThreads);
  }
#pragma unroll
  for (int k = 0; k < kReduceVectors - 1; ++k) {
    if (i + k * kReduceThreads < vectors) {
#pragma unroll
      for (int e = 0; e < kElements; ++e) sums[k] = op(sums[k], widened<A>(v[k].elements[e]));
    }
  }
  if (blockIdx.x == gridDim.x - 1) {  // what does not fill a vector, on both sides
    if (threadIdx.x < head) sums[0] = op(sums[0], widened<A>(in[threadIdx.x]));
    if (threadIdx.x < tail) sums[1] = op(sums[1], widened<A>(in[head + vectors * kElements + threadIdx.x]));
  }
  A sum = reduce_block<kReduceThreads>(op(op(sums[0], sums[1]), op(sums[2], sums[3])), op, shared);
  if (gridDim.x == 1) {
    if (threadIdx.x == 0) *out = static_cast<Out>(op(init, sum));
    return;
  }
  if (threadIdx.x == 0) {
    __stcg(partial + blockIdx.x, sum);
    __threadfence();
    last = atomicInc(counter, gridDim.x - 1) == gridDim.x - 1;  // back to zero for the next call
  }
  __syncthreads();
  if (!last) return;
  __threadfence();
  sum = identity;
  for (unsigned b = threadIdx.x; b < gridDim.x; b += kReduceThreads) sum = op(sum, __ldcg(partial + b));
  sum = reduce_block<kReduceThreads>(sum, op, shared);
  if (threadIdx.x == 0) *out = static_cast<Out>(op(init, sum));
}

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
  const std::size_t needed = detail::kReduceHead + detail::kReduceBlocks * sizeof(A);
  if (workspace == nullptr) {
    bytes = needed;
    return cudaSuccess;
  }
  if (bytes < needed || out == nullptr || (in == nullptr && n != 0)) return cudaErrorInvalidValue;
  int sms = 0;
  const cudaError_t error = multiprocessors(&sms);
  if (error != cudaSuccess) return error;
  const detail::Split split = detail::split_of(in, n);
  constexpr std::size_t kStep = detail::kReduceThreads * detail::kReduceVectors;
  std::size_t blocks = parts(split.vectors, kStep);
  const std::size_t most = static_cast<std::size_t>(sms) * detail::kReducePerSm;
  if (blocks > most) blocks = most;
  if (blocks > detail::kReduceBlocks) blocks = detail::kReduceBlocks;
  if (blocks == 0) blocks = 1;
  detail::reduce_kernel<T, A, Out, Op><<<static_cast<unsigned>(blocks), detail::kReduceThreads, 0, stream>>>(
      out, in, split.head, split.vectors, split.tail, op, init, static_cast<unsigned*>(workspace),
      reinterpret_cast<A*>(static_cast<char*>(workspace) + detail::kReduceHead));
  return cudaGetLastError();
}

}  // namespace muscope::kernels
