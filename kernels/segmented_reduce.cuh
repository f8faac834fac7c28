// Reductions of many segments of an array, all of one length; ragged_reduce.cuh has those of any lengths.
//
//   reduce_segments(out, in, segments, length, op, stream)
//
// Equal short segments: a block brings a run of whole segments to shared memory in lines, and a thread, or a few, add
// up each segment there. Long ones: a warp or a block reads its segment in vectors.
#pragma once

#include "layout.cuh"
#include "operators.cuh"
#include "ragged_reduce.cuh"
#include "reduce.cuh"

namespace muscope::kernels {

namespace detail {

/// Element of a run that run_to_shared() brought to shared memory.
template <typename T>
__device__ inline T element_in_run(unsigned* words, unsigned byte) {
  T value;
  if constexpr (sizeof(T) == 8) {
    const unsigned parts_of[2] = {words[padded(byte / 4)], words[padded(byte / 4 + 1)]};
    __builtin_memcpy(&value, parts_of, 8);
  } else {
    const auto bits = at_byte<sizeof(T)>(words, byte);
    __builtin_memcpy(&value, &bits, sizeof(T));
  }
  return value;
}

/// kTogether threads per segment.
template <int kTogether, typename T, typename A, typename Out, typename Op>
__global__ void __launch_bounds__(kLayoutThreads)
    short_segments_kernel(Out* out, const T* in, std::size_t segments, unsigned length, unsigned tile, Op op) {
  __shared__ unsigned words[kLayoutWords];
  const std::size_t first = static_cast<std::size_t>(blockIdx.x) * tile;
  const unsigned count = static_cast<unsigned>(segments - first < tile ? segments - first : tile);
  char* const all = reinterpret_cast<char*>(const_cast<T*>(in));
  const Run run = {all + first * length * sizeof(T), static_cast<unsigned>(count * length * sizeof(T))};
  run_to_shared<sizeof(T), kLayoutThreads, true>(words, run, {all, all + segments * length * sizeof(T)});
  __syncthreads();
  const unsigned shift = misalignment(run.begin, 16);
  const unsigned j = threadIdx.x % kTogether;
  // All lanes of a warp make the same rounds, so that they can exchange values.
  for (unsigned base = 0; base < count; base += kLayoutThreads / kTogether) {
    const unsigned s = base + threadIdx.x / kTogether;
    A sum = Op::template identity<A>();
    if (s < count) {
#pragma unroll 4
      for (unsigned e = j; e < length; e += kTogether) {
        sum = op(sum, widened<A>(element_in_run<T>(words, shift + (s * length + e) * sizeof(T))));
      }
    }
    sum = reduce_lanes<kTogether>(sum, op);
    if (s < count && j == 0) out[first + s] = static_cast<Out>(sum);
  }
}

/// kThreads threads (a warp or a block) per segment.
template <int kThreads, typename T, typename A, typename Out, typename Op>
__global__ void __launch_bounds__(kThreads == kLanes ? 256 : kThreads)
    long_segments_kernel(Out* out, const T* in, std::size_t segments, std::size_t length, Op op) {
  constexpr int kElements = 16 / sizeof(T);
  constexpr int kVectors = 4;
  constexpr int kPerBlock = kThreads == kLanes ? 256 / kLanes : 1;
  __shared__ A shared[kThreads / kLanes];
  const std::size_t s = static_cast<std::size_t>(blockIdx.x) * kPerBlock + threadIdx.x / kThreads;
  if (s >= segments) return;
  const unsigned t = threadIdx.x % kThreads;
  const T* const begin = in + s * length;
  const unsigned behind = misalignment(begin, 16) / sizeof(T);
  std::size_t head = behind == 0 ? 0 : kElements - behind;
  if (head > length) head = length;
  const std::size_t vectors = (length - head) / kElements;
  const std::size_t tail = length - head - vectors * kElements;
  const uint4* const p = reinterpret_cast<const uint4*>(begin + head);
  A sums[kVectors];
#pragma unroll
  for (A& sum : sums) sum = Op::template identity<A>();
  // Unconditional loads in flight, then the rest.
  Vector<T> v[kVectors];
  std::size_t i = t;
  for (; i + (kVectors - 1) * kThreads < vectors; i += kVectors * kThreads) {
#pragma unroll
    for (int k = 0; k < kVectors; ++k) v[k].whole = load_once(p + i + k * kThreads);
#pragma unroll
    for (int k = 0; k < kVectors; ++k) {
#pragma unroll
      for (int e = 0; e < kElements; ++e) sums[k] = op(sums[k], widened<A>(v[k].elements[e]));
    }
  }
#pragma unroll
  for (int k = 0; k < kVectors - 1; ++k) {
    if (i + k * kThreads < vectors) v[k].whole = load_once(p + i + k * kThreads);
  }
  if (t < head) sums[2] = op(sums[2], widened<A>(begin[t]));
  if (t < tail) sums[3] = op(sums[3], widened<A>(begin[head + vectors * kElements + t]));
#pragma unroll
  for (int k = 0; k < kVectors - 1; ++k) {
    if (i + k * kThreads < vectors) {
#pragma unroll
      for (int e = 0; e < kElements; ++e) sums[k] = op(sums[k], widened<A>(v[k].elements[e]));
    }
  }
  A sum = op(op(sums[0], sums[1]), op(sums[2], sums[3]));
  if constexpr (kThreads == kLanes) {
    sum = reduce_lanes<kLanes>(sum, op);
  } else {
    sum = reduce_block<kThreads>(sum, op, shared);
  }
  if (t == 0) out[s] = static_cast<Out>(sum);
}

template <int kTogether, typename T, typename A, typename Out, typename Op>
inline cudaError_t launch_short_segments(Out* out, const T* in, std::size_t segments, unsigned length, Op op,
                                         cudaStream_t stream) {
  const unsigned tile = length == 0 ? 4096 : (kLayoutTile - 16) / (length * static_cast<unsigned>(sizeof(T)));
  // Whole vectors per block where that costs little, so that blocks do not share one.
  constexpr unsigned kStep = 16 / sizeof(T);
  const unsigned even = tile >= 8 * kStep ? tile / kStep * kStep : tile;
  const std::size_t blocks = parts(segments, static_cast<std::size_t>(even));
  if (blocks > 0x7fffffff) return cudaErrorInvalidValue;
  return launch(short_segments_kernel<kTogether, T, A, Out, Op>, static_cast<unsigned>(blocks), kLayoutThreads, 0,
                stream, out, in, segments, length, even, op);
}

}  // namespace detail

/// out[s] = all of in[s * length .. (s + 1) * length) combined. Types, operators, alignment and errors as for reduce();
/// deterministic; needs no workspace. Segments of more than 2^16 elements are read by one block each: with few of them,
/// call reduce() for each instead.
template <typename T, typename Out, typename Op = Sum, typename A = accumulator_t<T>>
cudaError_t reduce_segments(Out* out, const T* in, std::size_t segments, std::size_t length, Op op = {},
                            cudaStream_t stream = nullptr) {
  if (segments == 0) return cudaSuccess;
  if (out == nullptr || (in == nullptr && length != 0)) return cudaErrorInvalidValue;
  const std::size_t bytes = length * sizeof(T);
  if (bytes < 2048) {
    const auto l = static_cast<unsigned>(length);
    if (bytes <= 96) return detail::launch_short_segments<1, T, A>(out, in, segments, l, op, stream);
    if (bytes <= 192) return detail::launch_short_segments<2, T, A>(out, in, segments, l, op, stream);
    if (bytes <= 384) return detail::launch_short_segments<4, T, A>(out, in, segments, l, op, stream);
    if (bytes <= 768) return detail::launch_short_segments<8, T, A>(out, in, segments, l, op, stream);
    return detail::launch_short_segments<16, T, A>(out, in, segments, l, op, stream);
  }
  if (bytes <= 65536) {
    const std::size_t blocks = parts<std::size_t>(segments, 256 / kLanes);
    if (blocks > 0x7fffffff) return cudaErrorInvalidValue;
    return launch(detail::long_segments_kernel<kLanes, T, A, Out, Op>, static_cast<unsigned>(blocks), 256, 0, stream,
                  out, in, segments, length, op);
  }
  if (segments > 0x7fffffff) return cudaErrorInvalidValue;
  return launch(detail::long_segments_kernel<512, T, A, Out, Op>, static_cast<unsigned>(segments), 512, 0, stream, out,
                in, segments, length, op);
}

}  // namespace muscope::kernels
