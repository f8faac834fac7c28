// Reductions of segments of any lengths, given by offsets.
//
//   reduce_ragged(workspace, bytes, out, in, segments, offsets, op, stream)      in[offsets[s] .. offsets[s+1])
//
// Elements and ends of segments make one sequence, in which a segment's end stands behind its last element. Every warp
// takes an equal part of it, however the lengths are distributed, and works through it alone, 32 lanes with 64 bytes
// each at a time: where no segment ends, the lanes' sums join; else ends become marks, every lane walks through
// neighbouring elements, and what is open at its end passes to the next lane and tile. What is open at the ends of
// warps and blocks joins at last. The result is deterministic.
#pragma once

#include <type_traits>

#include "operators.cuh"

namespace muscope::kernels {

namespace detail {

inline constexpr int kRaggedThreads = 256;
inline constexpr int kRaggedPerSm = 4;      // blocks
inline constexpr int kRaggedBlocks = 2048;  // at most
inline constexpr int kRaggedVectors = 4;    // of 16 bytes per lane and tile
// Ends of segments that a warp looks ahead for, in warps' worths: by how many ended in the tile before.
inline constexpr int kRaggedFew = 1;
inline constexpr int kRaggedSome = 3;
inline constexpr int kRaggedMany = 10;

/// What a warp or a block leaves to the next ones.
template <typename T>
struct RaggedShare {
  long long first;  // the first segment that ended here, or -1
  T head;           // what of it is here
  T open;           // what lies behind the last end
};

/// A warp's part of the sequence.
struct RaggedChunk {
  long long first, last;  // segments whose ends are in it
  long long from, to;     // elements
  long long lower;        // the first element of all
};

/// Where a byte of a tile lies in shared memory: 16 bytes stay free behind every 128, so that lanes that read
/// neighbouring vectors each meet all banks.
__host__ __device__ constexpr unsigned ragged_padded(unsigned byte) { return byte + (byte >> 7 << 4); }
/// In the first free place: the identity, which empty segments read.
inline constexpr unsigned kRaggedEmpty = 128;

/// The warp's part of the sequence: `part` of all, with about `segments_each` segments. It begins and ends behind as
/// many ends as there are within so many steps.
template <typename Offset>
__device__ inline RaggedChunk ragged_chunk(const Offset* offsets, long long segments, double part,
                                           double segments_each) {
  constexpr int kHalf = kLanes / 2;
  const Offset* const ends = offsets + 1;
  const int lane = static_cast<int>(threadIdx.x % kLanes);
  const unsigned warp = (blockIdx.x * kRaggedThreads + threadIdx.x) / kLanes;
  // First around a guess: at every place nearby, farther off at distances that widen.
  const int distance = lane < 8 ? -(16 << (3 * (7 - lane))) : lane < 24 ? lane - 16 : 16 << (3 * (lane - 24));
  long long guess[2], end[2], steps[2], low[2], high[2];
#pragma unroll
  for (unsigned k = 0; k < 2; ++k) {
    guess[k] = static_cast<long long>((warp + k) * segments_each);
    const long long at = guess[k] + distance;
    end[k] = at >= 0 && at < segments ? static_cast<long long>(ends[at]) : 0;
  }
  const long long lower = static_cast<long long>(offsets[0]), upper = static_cast<long long>(ends[segments - 1]);
  const long long total = upper - lower + segments;
#pragma unroll
  for (unsigned k = 0; k < 2; ++k) {
    steps[k] = static_cast<long long>((warp + k) * (part * static_cast<double>(total)));
    if (warp + k == gridDim.x * (kRaggedThreads / kLanes)) steps[k] = total;
    const long long at = guess[k] + distance;
    const bool within = at < 0 || (at < segments && end[k] - lower + at < steps[k]);
    const int count = __popc(__ballot_sync(kAllLanes, within));
    low[k] = count == 0 ? 0 : guess[k] + 1 + __shfl_sync(kAllLanes, distance, count - 1);
    if (low[k] < 0) low[k] = 0;
    high[k] = count == kLanes ? segments : guess[k] + __shfl_sync(kAllLanes, distance, count);
    if (high[k] > segments) high[k] = segments;
  }
  // Then at even distances, half of the warp for each.
  const bool second = lane >= kHalf;
  long long from = second ? low[1] : low[0], to = second ? high[1] : high[0];
  while (__any_sync(kAllLanes, from < to)) {
    const long long step = (to - from + kHalf - 1) / kHalf;
    const long long at = from + lane % kHalf * step;
    const bool within = at < to && static_cast<long long>(ends[at]) - lower + at < (second ? steps[1] : steps[0]);
    const int count = __popc(__ballot_sync(kAllLanes, within) >> (lane & kHalf) & 0xffffu);
    const long long last = from + (count - 1) * step;  // the last probe that is within
    if (count == 0) {
      to = from;
    } else {
      to = last + step < to ? last + step : to;
      from = last + 1;
    }
  }
  const long long first = from_lane(from, 0), behind = from_lane(from, kLanes - 1);
  return {first, behind, lower + steps[0] - first, lower + steps[1] - behind, lower};
}

/// A warp at work on its chunk. Positions count from an aligned place at or before the element before the first, so
/// that an end at the very begin has an element to stand behind; it and all others outside of the chunk are identities.
/// They take 32 bits: a chunk is far smaller than a GPU's memory.
template <typename T, typename Offset, typename Op>
struct RaggedWarp {
  static constexpr unsigned kElements = 16 / sizeof(T);
  static constexpr unsigned kEach = kRaggedVectors * kElements;  // elements of a lane
  static constexpr unsigned kTile = kLanes * kEach;
  static constexpr unsigned kTileBytes = ragged_padded(kTile * sizeof(T));
  static constexpr unsigned kNone = 0xffffffffu;

  Op op;
  char* tile;                   // in shared memory
  unsigned char* marks;         // likewise, one per element; all zero between tiles
  const uint4* vectors;         // this lane's of the first tile
  const Offset* ends;           // this lane's of the segments that have not ended
  T* results;                   // likewise
  unsigned lead, size;          // elements are in [lead, size)
  unsigned known;               // all from here on are elements of segments
  unsigned base;                // the place of a segment's last element is its end - base
  unsigned all, left;           // segments whose ends are in the chunk; those that have not ended
  unsigned ahead[kRaggedMany];  // ends of the next segments
  unsigned bytes[kRaggedSome];  // where in the tile the results of few are; those of many take the place of the ends
  unsigned earlier, count;      // ends in this tile: in earlier rounds, in the last
  T carry, head;                // of lane 0: what is open before the tile; what of the first segment is in the chunk
  Vector<T> v[kRaggedVectors];

  __device__ static unsigned lane() { return threadIdx.x % kLanes; }
  __device__ static T identity() { return Op::template identity<T>(); }

  __device__ RaggedWarp(T* out, const T* in, const Offset* offsets, const RaggedChunk& chunk, Op op_, char* tile_,
                        unsigned char* marks_)
      : op(op_), tile(tile_), marks(marks_) {
    constexpr unsigned kLine = 128;
    lead = misalignment(in + chunk.from - 1, kLine) / sizeof(T) + 1;
    known = chunk.from - chunk.lower >= lead ? 0 : lead;
    size = static_cast<unsigned>(chunk.to - chunk.from) + lead;
    base = static_cast<unsigned>(chunk.from) - lead + 1;
    vectors = reinterpret_cast<const uint4*>(in + chunk.from - lead) + lane();
    ends = offsets + 1 + chunk.first + lane();
    results = out + chunk.first + lane();
    all = left = static_cast<unsigned>(chunk.last - chunk.first);
    carry = head = identity();
#pragma unroll
    for (unsigned& one : ahead) one = 0;
  }

  /// Elements before `known` and from `size` on read as identities.
  __device__ void load(unsigned at, unsigned known) {
    const uint4* const p = vectors + at / kElements;
    if (at >= known && at + kTile <= size) {
#pragma unroll
      for (int k = 0; k < kRaggedVectors; ++k) v[k].whole = load_once(p + k * kLanes);
      return;
    }
#pragma unroll
    for (int k = 0; k < kRaggedVectors; ++k) {
      const unsigned i = at + (lane() + k * kLanes) * kElements;
      if (i >= known && i + kElements <= size) {
        v[k].whole = load_once(p + k * kLanes);
      } else {
#pragma unroll
        for (unsigned e = 0; e < kElements; ++e) {
          const bool inside = i + e >= known && i + e < size;
          v[k].elements[e] = inside ? reinterpret_cast<const T*>(p + k * kLanes)[e] : identity();
        }
      }
    }
  }

  /// Without a choice of values, so that nothing waits for the loads: lanes beyond the last segment get its end again.
  template <int kGroups>
  __device__ void look_ahead() {
    if (left >= kGroups * kLanes) {
#pragma unroll
      for (int k = 0; k < kGroups; ++k) ahead[k] = static_cast<unsigned>(ends[k * kLanes]);
    } else if (left != 0) {
#pragma unroll
      for (int k = 0; k < kGroups; ++k) {
        const unsigned i = lane() + k * kLanes < left ? k * kLanes : left - 1 - lane();
        ahead[k] = static_cast<unsigned>(ends[static_cast<int>(i)]);
      }
    }
  }

  /// Marks the last elements of segments that end in the tile before `end`, and notes where in the tile their results
  /// will stand; of rounds before the last, that must be found again.
  template <int kGroups>
  __device__ void mark(unsigned at, unsigned end) {
    earlier = 0;
    // No segment that ends in the tile as the first is empty: the one before has ended in the tile before. At the begin
    // of a chunk, it reads an identity anyway.
    unsigned below = kNone;
    for (;;) {
      count = 0;
#pragma unroll
      for (int k = 0; k < kGroups; ++k) {
        const unsigned place = ahead[k] - base;
        const unsigned rotated = __shfl_sync(kAllLanes, place, static_cast<int>(lane() + kLanes - 1));
        if (lane() != 0) below = rotated;
        const bool inside = place < end && lane() + k * kLanes < left;
        if (inside) marks[place - at] = 1;
        bytes_of<kGroups>()[k] = below == place ? kRaggedEmpty : byte_of(place - at);
        below = rotated;
        count += static_cast<unsigned>(__popc(__ballot_sync(kAllLanes, inside)));
      }
      ends += count;
      left -= count;
      if (count < kGroups * kLanes) break;
      earlier += count;
      look_ahead<kGroups>();
    }
  }
  template <int kGroups>
  __device__ unsigned* bytes_of() {
    return kGroups <= kRaggedSome ? bytes : ahead;
  }
  __device__ static unsigned byte_of(unsigned element) {
    return ragged_padded(element * static_cast<unsigned>(sizeof(T)));
  }

  /// One bit per element of the lane that is marked; takes the marks away.
  __device__ unsigned own_marks() {
    using Bytes = std::conditional_t<kEach == 16, uint4, uint2>;
    Bytes* const own = reinterpret_cast<Bytes*>(marks) + lane();
    const Bytes bytes = *own;
    unsigned words[kEach / 4], bits = 0;
    __builtin_memcpy(words, &bytes, kEach);
    // The product has the lowest bits of four bytes side by side.
#pragma unroll
    for (unsigned k = 0; k < kEach / 4; ++k) bits |= words[k] * 0x01020408u >> 24 << (4 * k);
    if (bits != 0) *own = Bytes{};
    return bits;
  }

  /// Leaves the results of segments that end in the tile at their last elements.
  __device__ void walk(unsigned bits) {
    char* const own = tile + ragged_padded(lane() * kRaggedVectors * 16);
    T open = identity();
#pragma unroll
    for (unsigned k = 0; k < kRaggedVectors; ++k) {
      uint4* const place = reinterpret_cast<uint4*>(own) + k;
      Vector<T> some;
      some.whole = *place;
#pragma unroll
      for (unsigned e = 0; e < kElements; ++e) {
        open = k == 0 && e == 0 ? some.elements[0] : op(open, some.elements[e]);
        some.elements[e] = open;
        if (bits >> (k * kElements + e) & 1) open = identity();
      }
      if (bits >> (k * kElements) & ((1u << kElements) - 1)) *place = some.whole;
    }
    if (lane() == 0 && bits == 0) open = op(carry, open);
    const T joined = join_open(open, bits != 0, op);
    T entering = from_lane_below(joined, 1);
    if (lane() == 0) entering = carry;
    carry = from_lane(joined, kLanes - 1);
    if (bits != 0) {
      T* const ended = reinterpret_cast<T*>(own) + (__ffs(static_cast<int>(bits)) - 1);
      *ended = op(entering, *ended);
    }
  }

  template <int kGroups>
  __device__ void write_results(unsigned at) {
    const bool first = left + earlier + count == all && lane() == 0;
    if (earlier != 0) {
      const Offset* const again = ends - count - earlier;
#pragma unroll 4
      for (unsigned s = 0; s < earlier; s += kLanes) {
        const Offset e = again[s];
        const bool empty = e == again[static_cast<int>(s) - 1];
        const unsigned byte = empty ? kRaggedEmpty : byte_of(static_cast<unsigned>(e) - base - at);
        const T result = *reinterpret_cast<const T*>(tile + byte);
        if (first && s == 0) {
          head = result;
        } else {
          results[s] = result;
        }
      }
      results += earlier;
    }
#pragma unroll
    for (int k = 0; k < kGroups; ++k) {
      if (lane() + k * kLanes < count) {
        const T result = *reinterpret_cast<const T*>(tile + bytes_of<kGroups>()[k]);
        if (k == 0 && first && earlier == 0) {
          head = result;
        } else {
          results[k * kLanes] = result;
        }
      }
    }
    results += count;
  }

  __device__ static unsigned level_of(unsigned ended) {
    // More than four fifths of a level: the next tile may need the one above.
    return ended <= kRaggedFew * kLanes * 4 / 5 ? 0 : ended <= kRaggedSome * kLanes * 4 / 5 ? 1 : 2;
  }

  /// Calls work with as many groups of ends as the level has.
  template <typename Work>
  __device__ static void at_level(unsigned level, const Work& work) {
    if (level == 0) {
      work(std::integral_constant<int, kRaggedFew>{});
    } else if (level == 1) {
      work(std::integral_constant<int, kRaggedSome>{});
    } else {
      work(std::integral_constant<int, kRaggedMany>{});
    }
  }

  __device__ void run() {
    load(0, known);
#pragma unroll
    for (unsigned e = 0; e < kElements; ++e) {
      if (lane() * kElements + e < lead) v[0].elements[e] = identity();
    }
    unsigned level = level_of(static_cast<unsigned>(static_cast<float>(left) / static_cast<float>(size) * kTile));
    at_level(level, [&](auto groups) { look_ahead<decltype(groups)::value>(); });
    if (lane() == 0) *reinterpret_cast<T*>(tile + kRaggedEmpty) = identity();
    char* const column = tile + ragged_padded(lane() * 16);
    for (unsigned at = 0; at < size; at += kTile) {
      const unsigned rest = size - at;
      const bool last = rest <= kTile;
      const unsigned end = at + (last ? rest : kTile);
      if (!__any_sync(kAllLanes, lane() < left && ahead[0] - base < end)) {  // the inside of a long segment
        T rows[kRaggedVectors];
#pragma unroll
        for (int k = 0; k < kRaggedVectors; ++k) {
          rows[k] = op(v[k].elements[0], v[k].elements[1]);
          if constexpr (kElements == 4) rows[k] = op(rows[k], op(v[k].elements[2], v[k].elements[3]));
        }
        if (!last) load(at + kTile, 0);
        carry = op(carry, join_rows(rows, op));
        continue;
      }
#pragma unroll
      for (int k = 0; k < kRaggedVectors; ++k) {
        *reinterpret_cast<uint4*>(column + ragged_padded(k * kLanes * 16)) = v[k].whole;
      }
      if (!last) load(at + kTile, 0);
      at_level(level, [&](auto groups) {
        constexpr int kGroups = decltype(groups)::value;
        mark<kGroups>(at, end);
        const unsigned next = level_of(earlier + count);
        const bool early = kGroups <= kRaggedSome && next == level;  // registers are left for that
        if (early) look_ahead<kGroups>();
        __syncwarp();
        walk(own_marks());
        __syncwarp();
        write_results<kGroups>(at);
        if (!early) {
          level = next;
          at_level(next, [&](auto more) { look_ahead<decltype(more)::value>(); });
        }
      });
      __syncwarp();
    }
  }
};

/// Appends `b` to `a`. A segment that ends in `b` after more than that is complete.
template <typename T, typename Op>
__device__ inline void append_share(RaggedShare<T>* a, const RaggedShare<T>& b, T* out, Op op) {
  if (b.first < 0) {
    a->open = op(a->open, b.open);
    return;
  }
  const T value = op(a->open, b.head);
  if (a->first < 0) {
    a->first = b.first;
    a->head = value;
  } else {
    out[b.first] = value;
  }
  a->open = b.open;
}

/// Joins the shares of all blocks: each thread those of neighbouring blocks, then threads and warps among each other.
template <typename T, typename Op>
__device__ inline void join_shares(const RaggedShare<T>& own, TaggedWords<RaggedShare<T>> shares, unsigned tag,
                                   RaggedShare<T>* of_warps, T* out, Op op) {
  const unsigned lane = threadIdx.x % kLanes, warp = threadIdx.x / kLanes;
  const T identity = Op::template identity<T>();
  const unsigned each = parts(gridDim.x, static_cast<unsigned>(kRaggedThreads));
  RaggedShare<T> mine = {-1, identity, identity};
  for (unsigned b = threadIdx.x * each; b < (threadIdx.x + 1) * each && b < gridDim.x; ++b) {
    RaggedShare<T> share = own;
    while (b != 0 && shares.read(b, &share) != tag) {
    }
    append_share(&mine, share, out, op);
  }
  const bool ended = mine.first >= 0;
  const T joined = join_open(mine.open, ended, op);
  const unsigned lanes_ended = __ballot_sync(kAllLanes, ended);
  if (lane == kLanes - 1) of_warps[warp] = {lanes_ended != 0 ? 0 : -1, identity, joined};
  __syncthreads();
  T before = identity;
  for (unsigned w = 0; w < warp; ++w) {
    before = of_warps[w].first >= 0 ? of_warps[w].open : op(before, of_warps[w].open);
  }
  T entering = from_lane_below(joined, 1);
  if (lane == 0) entering = identity;
  if ((lanes_ended & ((1u << lane) - 1)) == 0) entering = op(before, entering);
  if (ended) out[mine.first] = op(entering, mine.head);
}

template <typename T, typename Offset, typename Op>
__global__ void __launch_bounds__(kRaggedThreads, kRaggedPerSm)
    ragged_kernel(T* out, const T* in, long long segments, const Offset* offsets, Op op, double part,
                  double segments_each, CallState* state, unsigned long long* words) {
  using Warp = RaggedWarp<T, Offset, Op>;
  constexpr int kWarps = kRaggedThreads / kLanes;
  __shared__ uint4 tiles[kWarps][Warp::kTileBytes / 16];
  __shared__ uint4 marks[kWarps][Warp::kTile / 16];
  __shared__ RaggedShare<T> of_warps[kWarps];
  __shared__ unsigned call;
  if (threadIdx.x == 0) call = *reinterpret_cast<const volatile unsigned*>(&state->call);
  const unsigned lane = threadIdx.x % kLanes, warp = threadIdx.x / kLanes;
  if (lane < Warp::kTile / 16) marks[warp][lane] = make_uint4(0, 0, 0, 0);
  const RaggedChunk chunk = ragged_chunk(offsets, segments, part, segments_each);
  Warp work(out, in, offsets, chunk, op, reinterpret_cast<char*>(tiles[warp]),
            reinterpret_cast<unsigned char*>(marks[warp]));
  if (chunk.from < chunk.to || chunk.first < chunk.last) work.run();
  if (lane == 0) of_warps[warp] = {work.left != work.all ? chunk.first : -1, work.head, work.carry};
  __syncthreads();
  const TaggedWords<RaggedShare<T>> shares{words};
  RaggedShare<T> share = of_warps[0];
  if (threadIdx.x == 0) {
    for (int w = 1; w < kWarps; ++w) append_share(&share, of_warps[w], out, op);
    if (blockIdx.x != 0) shares.publish(blockIdx.x, share, CallTags(call).first);
  }
  if (blockIdx.x != 0) return;
  // The first block: it was started first, and no other block waits for it.
  __syncthreads();  // the shared values are used again
  const CallTags tags(call);
  join_shares(share, shares, tags.first, of_warps, out, op);
  __syncthreads();
  if (threadIdx.x == 0) state->call = tags.next_call;  // all blocks have read it: they have published
}

/// The result depends on the number of blocks only where op's does on where values are combined first.
template <typename T, typename Offset, typename Op>
inline cudaError_t launch_ragged(void* workspace, T* out, const T* in, std::size_t segments, const Offset* offsets,
                                 Op op, unsigned blocks, cudaStream_t stream) {
  const double warps = static_cast<double>(blocks) * (kRaggedThreads / kLanes);
  return launch(ragged_kernel<T, Offset, Op>, blocks, kRaggedThreads, 0, stream, out, in,
                static_cast<long long>(segments), offsets, op, 1.0 / warps, static_cast<double>(segments) / warps,
                static_cast<CallState*>(workspace),
                reinterpret_cast<unsigned long long*>(static_cast<char*>(workspace) + kStateBytes));
}

}  // namespace detail

/// out[s] = all of in[offsets[s] .. offsets[s + 1]) combined, in order, for s < segments; the identity for an empty
/// one. Offsets (segments + 1 of them, device memory, int or long long or unsigned) do not fall. T: float, double and
/// integers of 4 or 8 bytes. Deterministic on one GPU. Workspace, alignment and errors as for reduce().
template <typename T, typename Offset, typename Op = Sum>
cudaError_t reduce_ragged(void* workspace, std::size_t& bytes, T* out, const T* in, std::size_t segments,
                          const Offset* offsets, Op op = {}, cudaStream_t stream = nullptr) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8, "elements of 4 or 8 bytes");
  const std::size_t needed = detail::kStateBytes + detail::kRaggedBlocks * 2 * sizeof(detail::RaggedShare<T>);
  if (workspace == nullptr) {
    bytes = needed;
    return cudaSuccess;
  }
  if (segments == 0) return cudaSuccess;
  if (bytes < needed || out == nullptr || in == nullptr || offsets == nullptr) return cudaErrorInvalidValue;
  int sms = 0;
  const cudaError_t error = multiprocessors(&sms);
  if (error != cudaSuccess) return error;
  // The number of elements is known to the GPU only.
  const int most = sms * detail::kRaggedPerSm;
  const auto blocks = static_cast<unsigned>(most < detail::kRaggedBlocks ? most : detail::kRaggedBlocks);
  return detail::launch_ragged(workspace, out, in, segments, offsets, op, blocks, stream);
}

}  // namespace muscope::kernels
