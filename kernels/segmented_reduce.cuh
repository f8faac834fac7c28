// Reductions of many segments of an array.
//
//   reduce_segments(out, in, segments, length, op, stream)                       all of one length
//   reduce_ragged(workspace, bytes, out, in, segments, offsets, op, stream)      in[offsets[s] .. offsets[s+1])
//
// Equal short segments: a block brings a run of whole segments to shared memory in lines, and a thread, or a few, add
// up each segment there. Long ones: a warp or a block reads its segment in vectors.
//
// Ragged segments: every block takes an equal share of the elements, whatever the lengths. Ends of segments become
// bits; every thread walks through 64 bytes of neighbouring elements, and what is open at its end passes to the next
// thread, warp, tile and block. The work does not depend on how lengths are distributed, and the result is
// deterministic.
#pragma once

#include "layout.cuh"
#include "operators.cuh"
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
  short_segments_kernel<kTogether, T, A, Out, Op>
      <<<static_cast<unsigned>(blocks), kLayoutThreads, 0, stream>>>(out, in, segments, length, even, op);
  return cudaGetLastError();
}

// ---- ragged segments -----------------------------------------------------------------------------------------------

inline constexpr int kRaggedThreads = 256;
inline constexpr int kRaggedPerSm = 5;      // blocks
inline constexpr int kRaggedBlocks = 2048;  // at most
inline constexpr int kRaggedVectors = 4;    // of 16 bytes per thread and tile

/// What a block leaves to the next ones: the sum of its elements behind the last end of a segment, and the segment
/// whose end came first, whose result still lacks what the blocks before it have left.
template <typename A>
struct RaggedShare {
  long long first_ended;  // segment, or -1 when none ended in the block
  A open;
};

struct RaggedCounter {
  unsigned done;
};

/// What another block wrote in this launch: past the L1 cache.
template <typename V>
__device__ inline V fresh(const V* p) {
  unsigned words[sizeof(V) / 4];
#pragma unroll
  for (unsigned k = 0; k < sizeof(V) / 4; ++k) words[k] = __ldcg(reinterpret_cast<const unsigned*>(p) + k);
  V value;
  __builtin_memcpy(&value, words, sizeof(V));
  return value;
}

/// The place of vector v of a tile in shared memory: threads that read 4 neighbouring vectors each meet all banks.
__device__ inline unsigned ragged_place(unsigned vector) { return vector ^ ((vector >> 3) & 3u); }

/// The first segment whose end lies behind `position`; all threads of the block search together.
template <typename Offset>
__device__ inline long long first_ending_behind(const Offset* ends, long long segments, long long position) {
  long long low = 0, high = segments;  // the answer lies in [low, high]
  while (low < high) {
    const long long step = parts(high - low, static_cast<long long>(kRaggedThreads));
    const long long at = low + threadIdx.x * step;
    const int before = __syncthreads_count(at < high && static_cast<long long>(ends[at]) <= position);
    if (before == 0) return low;
    // The last probe that is not behind the position, and the first that is.
    const long long last = low + (before - 1) * step;
    high = last + step < high ? last + step : high;
    low = last + 1;
  }
  return low;
}

template <typename T, typename Offset, typename Op>
__global__ void __launch_bounds__(kRaggedThreads, kRaggedPerSm)
    ragged_kernel(T* out, const T* in, long long segments, const Offset* offsets, Op op, RaggedCounter* counter,
                  RaggedShare<T>* shares) {
  constexpr int kElements = 16 / sizeof(T);
  constexpr int kEach = kRaggedVectors * kElements;  // elements of a thread
  constexpr int kTile = kRaggedThreads * kEach;
  constexpr int kWarps = kRaggedThreads / kLanes;
  constexpr unsigned kMaskWords = kTile / 32;
  __shared__ uint4 tile[kRaggedThreads * kRaggedVectors];
  __shared__ unsigned ends_here[kMaskWords];
  __shared__ T warp_open[kWarps];
  __shared__ bool warp_ended[kWarps];
  __shared__ bool last_block;
  const T identity = Op::template identity<T>();
  const Offset* const ends = offsets + 1;
  const long long lower = static_cast<long long>(offsets[0]), upper = static_cast<long long>(ends[segments - 1]);
  // Positions count from `lower` rounded down to a vector; tiles begin there.
  const long long origin = lower - static_cast<long long>(misalignment(in + lower, 16) / sizeof(T));
  const long long tiles = parts(upper - origin, static_cast<long long>(kTile));
  const long long per_block = parts(tiles, static_cast<long long>(gridDim.x));
  const long long from = origin + blockIdx.x * per_block * kTile;
  const bool is_last = from + per_block * kTile >= upper;
  const long long to = is_last ? upper : from + per_block * kTile;
  const unsigned lane = threadIdx.x % kLanes, warp = threadIdx.x / kLanes;

  const auto load = [&](long long begin, Vector<T>(&v)[kRaggedVectors]) {
#pragma unroll
    for (int k = 0; k < kRaggedVectors; ++k) {
      const long long i = begin + (threadIdx.x + k * kRaggedThreads) * kElements;
      if (i >= lower && i + kElements <= upper) {
        v[k].whole = load_once(reinterpret_cast<const uint4*>(in + i));
      } else {
#pragma unroll
        for (int e = 0; e < kElements; ++e) v[k].elements[e] = i + e >= lower && i + e < upper ? in[i + e] : identity;
      }
    }
  };

  // The ends of the next segments, on their way long before they are needed.
  constexpr int kAhead = 2;
  Offset ahead[kAhead];
  const auto look_ahead = [&](long long from_segment) {
#pragma unroll
    for (int k = 0; k < kAhead; ++k) {
      const long long s = from_segment + threadIdx.x + k * kRaggedThreads;
      if (s < segments) ahead[k] = ends[s];
    }
  };

  long long current = 0;  // the first segment that has not ended
  long long first = -1;   // the first that ended in this block
  T carry = identity;     // of this block, before the tile; the same in all threads
  if (from < upper || blockIdx.x == 0) {
    Vector<T> v[kRaggedVectors];
    load(from, v);
    if (blockIdx.x != 0) current = first_ending_behind(ends, segments, from);
    look_ahead(current);
    for (long long begin = from; begin < to || begin == origin; begin += kTile) {
      const long long end = begin + kTile < to ? begin + kTile : to;
#pragma unroll
      for (int k = 0; k < kRaggedVectors; ++k) tile[ragged_place(threadIdx.x + k * kRaggedThreads)] = v[k].whole;
      if (begin + kTile < to) load(begin + kTile, v);
      for (unsigned i = threadIdx.x; i < kMaskWords; i += kRaggedThreads) ends_here[i] = 0;
      __syncthreads();
      // Ends of segments in (begin, end] become bits of their last elements.
      long long next = current;
      for (bool more = true; more;) {
        bool inside[kAhead];
#pragma unroll
        for (int k = 0; k < kAhead; ++k) {
          const long long s = next + threadIdx.x + k * kRaggedThreads;
          const long long e = static_cast<long long>(ahead[k]);
          inside[k] = s < segments && e <= end;
          if (inside[k] && e > begin) {
            const unsigned bit = static_cast<unsigned>(e - 1 - begin);
            atomicOr(ends_here + bit / 32, 1u << (bit % 32));
          }
        }
        int count = 0;
#pragma unroll
        for (int k = 0; k < kAhead; ++k) count += __syncthreads_count(inside[k]);
        next += count;
        more = count == kAhead * kRaggedThreads;
        look_ahead(next);  // for the next round, or for the next tile
      }
      // Each thread walks through its elements.
      T values[kEach];
#pragma unroll
      for (int k = 0; k < kRaggedVectors; ++k) {
        Vector<T> four;
        four.whole = tile[ragged_place(threadIdx.x * kRaggedVectors + k)];
#pragma unroll
        for (int e = 0; e < kElements; ++e) values[k * kElements + e] = four.elements[e];
      }
      const unsigned bits = ends_here[threadIdx.x * kEach / 32] >> (threadIdx.x * kEach % 32) & ((1ull << kEach) - 1);
      T open = identity;
      T* const slots = reinterpret_cast<T*>(tile);
      const auto slot = [&](int i) {
        return slots + ragged_place(threadIdx.x * kRaggedVectors + i / kElements) * kElements + i % kElements;
      };
      T first_sum = identity;
      if (__any_sync(kAllLanes, bits != 0)) {
#pragma unroll
        for (int i = 0; i < kEach; ++i) {
          open = op(open, values[i]);
          if (bits >> i & 1) {
            if ((bits & ((1u << i) - 1)) == 0) first_sum = open;
            *slot(i) = open;
            open = identity;
          }
        }
      } else {  // the inside of a long segment
#pragma unroll
        for (int i = 0; i < kEach; ++i) open = op(open, values[i]);
      }
      // What is open passes over threads, warps and tiles until a segment ends.
      T left = open;
      bool ended = bits != 0;
#pragma unroll
      for (int distance = 1; distance < kLanes; distance *= 2) {
        const T below = from_lane_below(left, distance);
        const bool below_ended = __shfl_up_sync(kAllLanes, static_cast<int>(ended), distance, kLanes) != 0;
        if (lane >= static_cast<unsigned>(distance)) {
          if (!ended) left = op(below, left);
          ended = ended || below_ended;
        }
      }
      if (lane == kLanes - 1) {
        warp_open[warp] = left;
        warp_ended[warp] = ended;
      }
      T before = from_lane_below(left, 1);
      bool before_ended = __shfl_up_sync(kAllLanes, static_cast<int>(ended), 1, kLanes) != 0;
      if (lane == 0) before = identity, before_ended = false;
      __syncthreads();
      T entering = carry;
      T whole = carry;
#pragma unroll
      for (int w = 0; w < kWarps; ++w) {
        if (static_cast<unsigned>(w) == warp) entering = whole;
        whole = warp_ended[w] ? warp_open[w] : op(whole, warp_open[w]);
      }
      carry = whole;
      if (bits != 0) {
        const int i = __ffs(static_cast<int>(bits)) - 1;
        *slot(i) = op(before_ended ? before : op(entering, before), first_sum);
      }
      __syncthreads();
      // Results of the segments that ended here, in order.
#pragma unroll 4
      for (long long s = current + threadIdx.x; s < next; s += kRaggedThreads) {
        const long long e = static_cast<long long>(ends[s]);
        T result = identity;
        if (static_cast<long long>(offsets[s]) != e) {
          const unsigned at = static_cast<unsigned>(e - 1 - begin);
          result = slots[ragged_place(at / kElements) * kElements + at % kElements];
        }
        out[s] = result;
      }
      if (first < 0 && next > current) {
        // The first with elements: an empty one takes nothing from the blocks before.
        for (first = current; first < next && offsets[first] == ends[first];) ++first;
        if (first == next) first = -1;
      }
      current = next;
      __syncthreads();
      if (end >= to) break;
    }
  }
  if (threadIdx.x == 0) {
    shares[blockIdx.x] = {first, carry};
    __threadfence();
    last_block = atomicInc(&counter->done, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last_block) return;
  __threadfence();
  // Segments that reach over blocks: what the blocks before the end have left, in order.
  for (unsigned b = 1 + threadIdx.x; b < gridDim.x; b += kRaggedThreads) {
    const RaggedShare<T> mine = fresh(shares + b);
    if (mine.first_ended < 0) continue;
    RaggedShare<T> before = fresh(shares + b - 1);
    T sum = before.open;
    for (unsigned a = b - 1; a > 0 && before.first_ended < 0; --a) {
      before = fresh(shares + a - 1);
      sum = op(before.open, sum);
    }
    out[mine.first_ended] = op(sum, fresh(out + mine.first_ended));
  }
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
    detail::long_segments_kernel<kLanes, T, A, Out, Op>
        <<<static_cast<unsigned>(blocks), 256, 0, stream>>>(out, in, segments, length, op);
    return cudaGetLastError();
  }
  if (segments > 0x7fffffff) return cudaErrorInvalidValue;
  detail::long_segments_kernel<512, T, A, Out, Op>
      <<<static_cast<unsigned>(segments), 512, 0, stream>>>(out, in, segments, length, op);
  return cudaGetLastError();
}

/// out[s] = all of in[offsets[s] .. offsets[s + 1]) combined, in order, for s < segments; the identity for an empty
/// one. Offsets (segments + 1 of them, device memory, int or long long or unsigned) do not fall. T: float, double and
/// integers of 4 or 8 bytes. Deterministic on one GPU. Workspace, alignment and errors as for reduce().
template <typename T, typename Offset, typename Op = Sum>
cudaError_t reduce_ragged(void* workspace, std::size_t& bytes, T* out, const T* in, std::size_t segments,
                          const Offset* offsets, Op op = {}, cudaStream_t stream = nullptr) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8, "elements of 4 or 8 bytes");
  const std::size_t needed = detail::kStateBytes + detail::kRaggedBlocks * sizeof(detail::RaggedShare<T>);
  if (workspace == nullptr) {
    bytes = needed;
    return cudaSuccess;
  }
  if (segments == 0) return cudaSuccess;
  if (bytes < needed || out == nullptr || in == nullptr || offsets == nullptr) return cudaErrorInvalidValue;
  int sms = 0;
  const cudaError_t error = multiprocessors(&sms);
  if (error != cudaSuccess) return error;
  // The number of elements is known to the GPU only; blocks that find nothing to do end at once.
  const int most = sms * detail::kRaggedPerSm;
  const auto blocks = static_cast<unsigned>(most < detail::kRaggedBlocks ? most : detail::kRaggedBlocks);
  detail::ragged_kernel<T, Offset, Op><<<blocks, detail::kRaggedThreads, 0, stream>>>(
      out, in, static_cast<long long>(segments), offsets, op, static_cast<detail::RaggedCounter*>(workspace),
      reinterpret_cast<detail::RaggedShare<T>*>(static_cast<char*>(workspace) + detail::kStateBytes));
  return cudaGetLastError();
}

}  // namespace muscope::kernels
