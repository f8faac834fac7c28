// Prefix sums (and prefixes of any associative operator) in one pass: every element is read once and written once.
//
//   exclusive_scan(workspace, bytes, out, in, n, op, init, stream)     out[i] = init + in[0] + ... + in[i - 1]
//   inclusive_scan(workspace, bytes, out, in, n, op, stream)           out[i] = in[0] + ... + in[i]
//
// A block scans a tile in registers and publishes its total; then it looks back over the totals of the tiles before it
// until it meets one whose whole prefix is known ("decoupled look-back", Merrill and Garland 2016). A published word
// carries 32 bits of value beside a tag of 32 bits, so that no fence is needed between the two; the tag holds the
// number of the call, so that nothing must be reset between calls: one launch, no memset.
//
// Rows of 32 x 16 bytes are scanned across the warp where they are loaded: no exchange through shared memory.
#pragma once

#if __has_include(<cuda_pipeline.h>)
#include <cuda_pipeline.h>
#define MUSCOPE_KERNELS_ASYNC_COPIES 1
#endif

#include "operators.cuh"
#include "reduce.cuh"

namespace muscope::kernels {

namespace detail {

/// Lane 31's is the oldest: combines from there to lane 0. All lanes get the result.
template <typename T, typename Op>
__device__ inline T combine_back(T value, Op op) {
#pragma unroll
  for (int mask = 1; mask < kLanes; mask *= 2) {
    const T other = from_lane_xor(value, mask);
    value = (threadIdx.x & static_cast<unsigned>(mask)) ? op(value, other) : op(other, value);
  }
  return value;
}

/// The tiles at - lane, as far as they are needed: from the nearest whose prefix is known. `known` tells whether there
/// is one; tiles before the first count as known and empty.
template <typename T, typename Op>
__device__ inline T look_back(const TaggedWords<T>& tiles, int at, unsigned total_tag, unsigned prefix_tag, Op op,
                              bool* known) {
  const int lane = static_cast<int>(threadIdx.x % kLanes);
  T value = Op::template identity<T>();
  unsigned tag = prefix_tag;
  if (at - lane >= 0) {
    do {
      tag = tiles.read(static_cast<unsigned>(at - lane), &value);
    } while (tag != total_tag && tag != prefix_tag);
  }
  const unsigned prefixes = __ballot_sync(kAllLanes, tag == prefix_tag);
  const int nearest = prefixes == 0 ? kLanes : __ffs(static_cast<int>(prefixes)) - 1;
  if (lane > nearest) value = Op::template identity<T>();
  *known = prefixes != 0;
  return combine_back(value, op);
}

/// All rows of a warp combined in order, for all lanes: without the prefixes, which take three times as many exchanges.
/// At every step half of the lanes go on with one half of the rows. kCount: a power of two.
template <int kCount, int kMask = 1, typename T, typename Op>
__device__ inline T total_of_rows(const T (&rows)[kCount], Op op) {
  const bool upper = (threadIdx.x & kMask) != 0;
  T total;
  if constexpr (kCount > 1) {
    T half[kCount / 2];
#pragma unroll
    for (int r = 0; r < kCount / 2; ++r) {
      const T mine = upper ? rows[r + kCount / 2] : rows[r];
      const T other = from_lane_xor(upper ? rows[r] : rows[r + kCount / 2], kMask);
      half[r] = upper ? op(other, mine) : op(mine, other);
    }
    total = total_of_rows<kCount / 2, kMask * 2>(half, op);
    const T other = from_lane_xor(total, kMask);
    total = upper ? op(other, total) : op(total, other);
  } else {
    total = rows[0];
#pragma unroll
    for (int mask = kMask; mask < kLanes; mask *= 2) {
      const T other = from_lane_xor(total, mask);
      total = (threadIdx.x & static_cast<unsigned>(mask)) ? op(other, total) : op(total, other);
    }
  }
  return total;
}

/// A tile of a block: kVectors rows of 32 x 16 bytes for every warp.
template <int kThreads, int kVectors, typename T>
struct ScanTile {
  static constexpr int kElements = 16 / sizeof(T);
  static constexpr int kWarps = kThreads / kLanes;
  static constexpr int kRow = kLanes * kElements;
  static constexpr long long kSize = static_cast<long long>(kWarps) * kVectors * kRow;

  Vector<T> v[kVectors];  // after scan_vectors(): each element with those before it in its vector
  T before[kVectors];  // that of all elements; after scan_rows(): everything of the warp before this lane's part of the
                       // row

  /// Element of the tile at which this lane's part of row 0 begins.
  __device__ static long long offset() {
    return (threadIdx.x / kLanes * (kVectors * kLanes) + threadIdx.x % kLanes) * kElements;
  }
  /// first: element of the array, below 0 for what lies before a misaligned one. inside: no element is outside.
  __device__ void load(const T* in, long long first, std::size_t n, bool inside, T identity) {
    if (inside) {
#pragma unroll
      for (int r = 0; r < kVectors; ++r) v[r].whole = *(reinterpret_cast<const uint4*>(in + first) + r * kLanes);
      return;
    }
#pragma unroll
    for (int r = 0; r < kVectors; ++r) {
#pragma unroll
      for (int e = 0; e < kElements; ++e) {
        const long long i = first + r * kRow + e;
        v[r].elements[e] = i >= 0 && i < static_cast<long long>(n) ? in[i] : identity;
      }
    }
  }
  /// Each lane's elements.
  template <typename Op>
  __device__ void scan_vectors(Op op) {
#pragma unroll
    for (int r = 0; r < kVectors; ++r) {
#pragma unroll
      for (int e = 1; e < kElements; ++e) v[r].elements[e] = op(v[r].elements[e - 1], v[r].elements[e]);
      before[r] = v[r].elements[kElements - 1];
    }
  }
  /// Then across the lanes of each row and over the rows. Returns the total of the warp.
  template <typename Op>
  __device__ T scan_rows(Op op) {
    const T identity = Op::template identity<T>();
    const unsigned lane = threadIdx.x % kLanes;
#pragma unroll
    for (int distance = 1; distance < kLanes; distance *= 2) {
#pragma unroll
      for (int r = 0; r < kVectors; ++r) {
        const T below = from_lane_below(before[r], distance);
        if (lane >= static_cast<unsigned>(distance)) before[r] = op(below, before[r]);
      }
    }
    T total = identity;
#pragma unroll
    for (int r = 0; r < kVectors; ++r) {
      const T row = from_lane(before[r], kLanes - 1);
      const T left = from_lane_below(before[r], 1);
      before[r] = op(total, lane == 0 ? identity : left);
      total = op(total, row);
    }
    return total;
  }
  /// What row r becomes after everything that `prefix` stands for.
  template <bool kExclusive, typename Op>
  __device__ Vector<T> result(int r, T prefix, Op op) const {
    const T base = op(prefix, before[r]);
    Vector<T> row;
#pragma unroll
    for (int e = 0; e < kElements; ++e) {
      if constexpr (kExclusive) {
        row.elements[e] = e == 0 ? base : op(base, v[r].elements[e > 0 ? e - 1 : 0]);
      } else {
        row.elements[e] = op(base, v[r].elements[e]);
      }
    }
    return row;
  }
  /// prefix: of everything before the warp. whole: in vectors, all of them inside.
  template <bool kExclusive, typename Op>
  __device__ void store(T* out, long long first, std::size_t n, bool whole, T prefix, Op op) const {
#pragma unroll
    for (int r = 0; r < kVectors; ++r) {
      store_row(out, first + r * kRow, n, whole, result<kExclusive>(r, prefix, op));
    }
  }
  /// From element i on.
  __device__ static void store_row(T* out, long long i, std::size_t n, bool whole, const Vector<T>& row) {
    if (whole) {  // explicitly of 16 bytes: from a plain store the compiler makes four of 4 bytes for the first row
      __stwb(reinterpret_cast<uint4*>(out + i), row.whole);
      return;
    }
#pragma unroll
    for (int e = 0; e < kElements; ++e) {
      if (i + e >= 0 && i + e < static_cast<long long>(n)) out[i + e] = row.elements[e];
    }
  }
};

/// What the warps of a block tell each other.
template <int kWarps, int kWindows, typename T>
struct ScanShared {
  T totals[kWarps];
  T windows[kWindows];
  bool known[kWindows];
};

/// From the totals of all warps: that of the warps before this one, and that of the tile.
template <int kWarps, typename T, typename Op>
__device__ inline T warps_before(const T (&totals)[kWarps], Op op, T* whole) {
  const T identity = Op::template identity<T>();
  const unsigned lane = threadIdx.x % kLanes, warp = threadIdx.x / kLanes;
  T upto = lane < kWarps ? totals[lane] : identity;
#pragma unroll
  for (int distance = 1; distance < kWarps; distance *= 2) {
    const T below = from_lane_below(upto, distance);
    if (lane >= static_cast<unsigned>(distance)) upto = op(below, upto);
  }
  *whole = from_lane(upto, kWarps - 1);
  const T left = from_lane(upto, warp == 0 ? 0 : static_cast<int>(warp) - 1);
  return warp == 0 ? identity : left;
}

/// Reads the words that tiles_before() will ask for first: they come from memory while the data do, and whoever
/// publishes writes into the cache.
template <int kWindows, typename T>
__device__ inline void touch_tiles(const TaggedWords<T>& tiles, unsigned tile) {
  if (threadIdx.x < kWindows * kLanes && threadIdx.x <= tile) {
    T unused;
    tiles.read(tile - threadIdx.x, &unused);
  }
}

/// Tells the total of a tile, under the first tag (prefixes have the second); that of the first one is its prefix too.
template <typename T, typename Op>
__device__ inline void publish_total(const TaggedWords<T>& tiles, unsigned tile, T whole, T init, CallTags tags,
                                     Op op) {
  if (threadIdx.x != 0) return;
  if (tile == 0) {
    tiles.publish(0, op(init, whole), tags.second);
  } else {
    tiles.publish(tile, whole, tags.first);
  }
}

/// Waits for the prefix of what lies before the tile, publishes the tile's own. kWindows warps look back, 32 tiles
/// each.
template <int kWarps, int kWindows, typename T, typename Op>
__device__ inline T tiles_before(const TaggedWords<T>& tiles, unsigned tile, T whole, T init, CallTags tags, Op op,
                                 ScanShared<kWarps, kWindows, T>& shared) {
  const unsigned lane = threadIdx.x % kLanes, warp = threadIdx.x / kLanes;
  if (tile == 0) return init;
  T prefix = Op::template identity<T>();
  bool found = false;
  for (int at = static_cast<int>(tile) - 1; !found; at -= kWindows * kLanes) {
    if (warp < kWindows) {
      bool known;
      const T window = look_back(tiles, at - static_cast<int>(warp) * kLanes, tags.first, tags.second, op, &known);
      if (lane == 0) shared.windows[warp] = window, shared.known[warp] = known;
    }
    __syncthreads();
#pragma unroll
    for (int w = 0; w < kWindows; ++w) {
      if (!found) prefix = op(shared.windows[w], prefix);
      found = found || shared.known[w];
    }
    if (!found) __syncthreads();
  }
  if (threadIdx.x == 0) tiles.publish(tile, op(prefix, whole), tags.second);
  return prefix;
}

/// One tile per block. kVectorOut: `out` is as far from a multiple of 16 bytes as `in`.
template <int kThreads, int kVectors, int kWindows, bool kExclusive, bool kVectorOut, typename T, typename Op>
__global__ void __launch_bounds__(kThreads, 1024 / kThreads)
    scan_kernel(T* out, const T* in, std::size_t n, unsigned behind, Op op, T init, CallState* state,
                unsigned long long* words) {
  using Tile = ScanTile<kThreads, kVectors, T>;
  __shared__ unsigned shared_call;
  __shared__ ScanShared<Tile::kWarps, kWindows, T> shared;
  const T identity = Op::template identity<T>();
  const unsigned tile = blockIdx.x;
  const long long begin = tile * Tile::kSize - behind;
  const bool inside = begin >= 0 && begin + Tile::kSize <= static_cast<long long>(n);
  const TaggedWords<T> tiles{words};
  Tile t;
  t.load(in, begin + Tile::offset(), n, inside, identity);
  if (threadIdx.x == 0) shared_call = *reinterpret_cast<const volatile unsigned*>(&state->call);
  // Where all tiles run at once, every step towards the exchange of totals counts: words are asked for early, the total
  // is known before the prefixes. In long scans other tiles keep the GPU busy meanwhile.
  constexpr bool kShort = kWindows > 1;
  constexpr bool kEarly = kShort && (kVectors & (kVectors - 1)) == 0;
  if (kShort) touch_tiles<kWindows>(tiles, tile);
  t.scan_vectors(op);
  T total;
  if constexpr (kEarly) {
    total = total_of_rows(t.before, op);
  } else {
    total = t.scan_rows(op);
  }
  if (threadIdx.x % kLanes == 0) shared.totals[threadIdx.x / kLanes] = total;
  __syncthreads();
  const CallTags tags(shared_call);
  T whole;
  T prefix = warps_before(shared.totals, op, &whole);
  if (gridDim.x > 1) publish_total(tiles, tile, whole, init, tags, op);
  if (kEarly) t.scan_rows(op);
  if (gridDim.x > 1) {
    prefix = op(tiles_before(tiles, tile, whole, init, tags, op, shared), prefix);
    // All blocks have read the number of the call: they have published.
    if (tile == gridDim.x - 1 && threadIdx.x == 0) state->call = tags.next_call;
  } else {
    prefix = op(init, prefix);
  }
  t.template store<kExclusive>(out, begin + Tile::offset(), n, inside && kVectorOut, prefix, op);
}

#ifdef MUSCOPE_KERNELS_ASYNC_COPIES
/// Large tiles for long scans: all of them advance in step, so that the time between the last load of a tile and its
/// first store is lost, and the fewer tiles the better. One block per multiprocessor keeps kShared rows of each warp in
/// shared memory and kRegisters in registers.
template <int kThreads, int kShared, int kRegisters, int kWindows, bool kExclusive, bool kVectorOut, typename T,
          typename Op>
__global__ void __launch_bounds__(kThreads, 1)
    scan_long_kernel(T* out, const T* in, std::size_t n, unsigned behind, Op op, T init, CallState* state,
                     unsigned long long* words) {
  using Row = ScanTile<kThreads, 1, T>;
  constexpr int kRows = kShared + kRegisters;
  constexpr long long kSize = kRows * Row::kSize;
  extern __shared__ uint4 kept[];
  __shared__ unsigned shared_call;
  __shared__ ScanShared<Row::kWarps, kWindows, T> shared;
  const T identity = Op::template identity<T>();
  const unsigned lane = threadIdx.x % kLanes, warp = threadIdx.x / kLanes;
  const unsigned tile = blockIdx.x;
  const long long begin = tile * kSize - behind;
  const long long first = begin + static_cast<long long>(warp) * kRows * Row::kRow + lane * Row::kElements;
  const bool inside = begin >= 0 && begin + kSize <= static_cast<long long>(n);
  Row rows[kRegisters];
  if (inside) {
#pragma unroll
    for (int r = 0; r < kShared; ++r) {
      __pipeline_memcpy_async(kept + r * kThreads + threadIdx.x, in + first + r * Row::kRow, 16);
      __pipeline_commit();
    }
#pragma unroll
    for (int r = 0; r < kRegisters; ++r) rows[r].load(in, first + (kShared + r) * Row::kRow, n, true, identity);
  } else {
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      Row row;
      row.load(in, first + r * Row::kRow, n, false, identity);
      if (r < kShared) kept[r * kThreads + threadIdx.x] = row.v[0].whole;
      if (r >= kShared) rows[r < kShared ? 0 : r - kShared].v[0].whole = row.v[0].whole;
    }
  }
  if (threadIdx.x == 0) shared_call = *reinterpret_cast<const volatile unsigned*>(&state->call);
  // Rows are scanned one after the other while later ones are on their way, and become what lacks the prefix only.
  T total = identity;
  const auto scan_row = [&](Row& row) {
    row.scan_vectors(op);
    const T of_row = row.scan_rows(op);
    row.v[0].whole = row.template result<kExclusive>(0, total, op).whole;
    total = op(total, of_row);
  };
#pragma unroll
  for (int r = 0; r < kShared; ++r) {
    __pipeline_wait_prior(kShared - 1 - r);
    Row row;
    row.v[0].whole = kept[r * kThreads + threadIdx.x];
    scan_row(row);
    kept[r * kThreads + threadIdx.x] = row.v[0].whole;
  }
#pragma unroll
  for (int r = 0; r < kRegisters; ++r) scan_row(rows[r]);
  if (lane == 0) shared.totals[warp] = total;
  __syncthreads();
  const CallTags tags(shared_call);
  const TaggedWords<T> tiles{words};
  T whole;
  T prefix = warps_before(shared.totals, op, &whole);
  publish_total(tiles, tile, whole, init, tags, op);
  prefix = op(tiles_before(tiles, tile, whole, init, tags, op, shared), prefix);
  if (tile == gridDim.x - 1 && threadIdx.x == 0) state->call = tags.next_call;  // all have read it: they have published
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    Vector<T> row;
    row.whole = r < kShared ? kept[r * kThreads + threadIdx.x] : rows[r < kShared ? 0 : r - kShared].v[0].whole;
#pragma unroll
    for (int e = 0; e < Row::kElements; ++e) row.elements[e] = op(prefix, row.elements[e]);
    Row::store_row(out, first + r * Row::kRow, n, inside && kVectorOut, row);
  }
}

/// cudaErrorNotSupported where a block cannot have so much shared memory.
template <int kThreads, int kShared, int kRegisters, int kWindows, bool kExclusive, typename T, typename Op>
inline cudaError_t launch_scan_long(void* workspace, T* out, const T* in, std::size_t n, Op op, T init,
                                    cudaStream_t stream) {
  constexpr int kBytes = kThreads * kShared * 16;
  constexpr std::size_t kTile = std::size_t{kThreads} * (kShared + kRegisters) * (16 / sizeof(T));
  int device = 0, most = 0;
  cudaError_t error = cudaGetDevice(&device);
  if (error == cudaSuccess) {
    error = cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
  }
  if (error != cudaSuccess) return error;
  if (most < kBytes + 1024) return cudaErrorNotSupported;
  const unsigned behind = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(in) % 16 / sizeof(T));
  const std::size_t blocks = parts(n + behind, kTile);
  if (blocks > 0x7fffffff) return cudaErrorInvalidValue;
  const auto long_scan = [&](auto kernel) {
    const cudaError_t set = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes);
    if (set != cudaSuccess) return set;
    return launch(kernel, static_cast<unsigned>(blocks), kThreads, kBytes, stream, out, in, n, behind, op, init,
                  static_cast<CallState*>(workspace),
                  reinterpret_cast<unsigned long long*>(static_cast<char*>(workspace) + kStateBytes));
  };
  if (reinterpret_cast<std::uintptr_t>(out) % 16 == reinterpret_cast<std::uintptr_t>(in) % 16) {
    return long_scan(scan_long_kernel<kThreads, kShared, kRegisters, kWindows, kExclusive, true, T, Op>);
  }
  return long_scan(scan_long_kernel<kThreads, kShared, kRegisters, kWindows, kExclusive, false, T, Op>);
}
#endif

template <int kThreads, int kVectors, int kWindows, bool kExclusive, typename T, typename Op>
inline cudaError_t launch_scan(void* workspace, T* out, const T* in, std::size_t n, Op op, T init,
                               cudaStream_t stream) {
  constexpr std::size_t kTile = static_cast<std::size_t>(kThreads) * kVectors * (16 / sizeof(T));
  const unsigned behind = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(in) % 16 / sizeof(T));
  const std::size_t blocks = parts(n + behind, kTile);
  if (blocks > 0x7fffffff) return cudaErrorInvalidValue;
  auto* const state = static_cast<CallState*>(workspace);
  auto* const words = reinterpret_cast<unsigned long long*>(static_cast<char*>(workspace) + kStateBytes);
  if (reinterpret_cast<std::uintptr_t>(out) % 16 == reinterpret_cast<std::uintptr_t>(in) % 16) {
    return launch(scan_kernel<kThreads, kVectors, kWindows, kExclusive, true, T, Op>, static_cast<unsigned>(blocks),
                  kThreads, 0, stream, out, in, n, behind, op, init, state, words);
  }
  return launch(scan_kernel<kThreads, kVectors, kWindows, kExclusive, false, T, Op>, static_cast<unsigned>(blocks),
                kThreads, 0, stream, out, in, n, behind, op, init, state, words);
}

/// Tiles of 2 KiB are the smallest that are used.
template <typename T>
inline std::size_t scan_workspace(std::size_t n) {
  return kStateBytes + (parts<std::size_t>(n + 16, 2048 / sizeof(T)) + 1) * (sizeof(T) / 4) * 8;
}

template <bool kExclusive, typename T, typename Op>
inline cudaError_t scan(void* workspace, std::size_t& bytes, T* out, const T* in, std::size_t n, Op op, T init,
                        cudaStream_t stream) {
  static_assert(std::is_trivially_copyable_v<T> && (sizeof(T) == 4 || sizeof(T) == 8), "elements of 4 or 8 bytes");
  const std::size_t needed = scan_workspace<T>(n);
  if (workspace == nullptr) {
    bytes = needed;
    return cudaSuccess;
  }
  if (n == 0) return cudaSuccess;
  if (bytes < needed || out == nullptr || in == nullptr) return cudaErrorInvalidValue;
  // Short scans: all tiles at once look back over all others, 64 tiles as long as these are small. Long ones: large
  // tiles, of which few are between a tile and the last prefix that is known. Sizes by measurement on an H200.
  const std::size_t size = n * sizeof(T);
  if (size <= std::size_t{1} << 18) return launch_scan<256, 1, 2, kExclusive>(workspace, out, in, n, op, init, stream);
  if (size <= std::size_t{1} << 20) return launch_scan<256, 4, 2, kExclusive>(workspace, out, in, n, op, init, stream);
  if (size <= std::size_t{1} << 22) return launch_scan<512, 4, 4, kExclusive>(workspace, out, in, n, op, init, stream);
  if (size <= std::size_t{1} << 24) return launch_scan<512, 8, 4, kExclusive>(workspace, out, in, n, op, init, stream);
  if (size <= std::size_t{1} << 25) return launch_scan<512, 8, 1, kExclusive>(workspace, out, in, n, op, init, stream);
#ifdef MUSCOPE_KERNELS_ASYNC_COPIES
  if (size >= std::size_t{1} << 28) {
    const cudaError_t error = launch_scan_long<1024, 11, 8, 4, kExclusive>(workspace, out, in, n, op, init, stream);
    if (error != cudaErrorNotSupported) return error;
  }
#endif
  return launch_scan<512, 10, 1, kExclusive>(workspace, out, in, n, op, init, stream);
}

}  // namespace detail

/// out[i] = op(init, in[0], ..., in[i - 1]). T: float, double and integers of 4 or 8 bytes (or a trivially copyable
/// type of these sizes with an Op). `out` may be `in`. Pointers are aligned to T, no more; fastest where both are
/// equally far from a multiple of 16 bytes. Sums of floating-point numbers may differ in their last bits from run to
/// run. Workspace: asked for and prepared as for reduce(); its size depends on n. Errors: cudaErrorInvalidValue for
/// null with a size or too little workspace; what a launch returns. Asynchronous.
template <typename T, typename Op = Sum>
cudaError_t exclusive_scan(void* workspace, std::size_t& bytes, T* out, const T* in, std::size_t n, Op op = {},
                           T init = Op::template identity<T>(), cudaStream_t stream = nullptr) {
  return detail::scan<true>(workspace, bytes, out, in, n, op, init, stream);
}

/// out[i] = op(in[0], ..., in[i]). Otherwise as exclusive_scan().
template <typename T, typename Op = Sum>
cudaError_t inclusive_scan(void* workspace, std::size_t& bytes, T* out, const T* in, std::size_t n, Op op = {},
                           cudaStream_t stream = nullptr) {
  return detail::scan<false>(workspace, bytes, out, in, n, op, Op::template identity<T>(), stream);
}

}  // namespace muscope::kernels
