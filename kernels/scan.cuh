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

/// kVectors rows of 16 bytes per lane; kWindows warps look back, 32 tiles each. kVectorOut: `out` is as far from a
/// multiple of 16 bytes as `in`.
template <int kThreads, int kVectors, int kWindows, bool kExclusive, bool kVectorOut, typename T, typename Op>
__global__ void __launch_bounds__(kThreads, 1024 / kThreads)
    scan_kernel(T* out, const T* in, std::size_t n, unsigned behind, Op op, T init, CallState* state,
                unsigned long long* words) {
  constexpr int kElements = 16 / sizeof(T);
  constexpr int kWarps = kThreads / kLanes;
  constexpr long long kTile = static_cast<long long>(kThreads) * kVectors * kElements;
  __shared__ unsigned shared_call;
  __shared__ T totals[kWarps];
  __shared__ T windows[kWindows];
  __shared__ bool known[kWindows];
  const T identity = Op::template identity<T>();
  const unsigned lane = threadIdx.x % kLanes, warp = threadIdx.x / kLanes;
  const unsigned tile = blockIdx.x;
  // Element of the array at which this lane's part of row 0 begins; below 0 for what lies before a misaligned array.
  const long long first = tile * kTile - behind + (warp * (kVectors * kLanes) + lane) * kElements;
  const long long tile_begin = tile * kTile - behind;
  const bool inside = tile_begin >= 0 && tile_begin + kTile <= static_cast<long long>(n);
  Vector<T> v[kVectors];
  if (inside) {
#pragma unroll
    for (int r = 0; r < kVectors; ++r) {
      v[r].whole = *(reinterpret_cast<const uint4*>(in + first) + r * kLanes);
    }
  } else {
#pragma unroll
    for (int r = 0; r < kVectors; ++r) {
#pragma unroll
      for (int e = 0; e < kElements; ++e) {
        const long long i = first + r * (kLanes * kElements) + e;
        v[r].elements[e] = i >= 0 && i < static_cast<long long>(n) ? in[i] : identity;
      }
    }
  }
  if (threadIdx.x == 0) shared_call = *reinterpret_cast<const volatile unsigned*>(&state->call);
  // Each lane's elements, then across the lanes of each row, then over the rows.
  T before[kVectors];  // everything of the warp before this lane's part of the row
  T total = identity;
#pragma unroll
  for (int r = 0; r < kVectors; ++r) {
#pragma unroll
    for (int e = 1; e < kElements; ++e) v[r].elements[e] = op(v[r].elements[e - 1], v[r].elements[e]);
    before[r] = v[r].elements[kElements - 1];
  }
#pragma unroll
  for (int distance = 1; distance < kLanes; distance *= 2) {
#pragma unroll
    for (int r = 0; r < kVectors; ++r) {
      const T below = from_lane_below(before[r], distance);
      if (lane >= static_cast<unsigned>(distance)) before[r] = op(below, before[r]);
    }
  }
#pragma unroll
  for (int r = 0; r < kVectors; ++r) {
    const T row = from_lane(before[r], kLanes - 1);
    const T left = from_lane_below(before[r], 1);
    before[r] = op(total, lane == 0 ? identity : left);
    total = op(total, row);
  }
  if (lane == 0) totals[warp] = total;
  __syncthreads();
  const unsigned call = shared_call;
  // Every warp adds up the warps before it; the first one tells the tile's total at once.
  T upto = lane < kWarps ? totals[lane] : identity;
#pragma unroll
  for (int distance = 1; distance < kWarps; distance *= 2) {
    const T below = from_lane_below(upto, distance);
    if (lane >= static_cast<unsigned>(distance)) upto = op(below, upto);
  }
  const T whole = from_lane(upto, kWarps - 1);
  const T left = from_lane(upto, warp == 0 ? 0 : static_cast<int>(warp) - 1);
  const T warps_before = warp == 0 ? identity : left;
  const TaggedWords<T> tiles{words};
  const unsigned total_tag = (call + 1) * 2, prefix_tag = total_tag + 1;
  T prefix = init;
  if (gridDim.x > 1) {
    if (tile == 0) {
      if (threadIdx.x == 0) tiles.publish(0, op(init, whole), prefix_tag);
    } else {
      if (threadIdx.x == 0) tiles.publish(tile, whole, total_tag);
      T behind_us = identity;
      bool found = false;
      for (int at = static_cast<int>(tile) - 1; !found; at -= kWindows * kLanes) {
        if (warp < kWindows) {
          bool warp_known;
          const T window =
              look_back(tiles, at - static_cast<int>(warp) * kLanes, total_tag, prefix_tag, op, &warp_known);
          if (lane == 0) windows[warp] = window, known[warp] = warp_known;
        }
        __syncthreads();
#pragma unroll
        for (int w = 0; w < kWindows; ++w) {
          if (!found) behind_us = op(windows[w], behind_us);
          found = found || known[w];
        }
        if (!found) __syncthreads();
      }
      prefix = behind_us;
      if (threadIdx.x == 0) tiles.publish(tile, op(prefix, whole), prefix_tag);
    }
    // All blocks have read the number of the call before the last one arrives here and counts it up.
    if (threadIdx.x == kThreads - 1 && atomicInc(&state->done, gridDim.x - 1) == gridDim.x - 1) state->call = call + 1;
  }
  prefix = op(prefix, warps_before);
  const auto row = [&](int r, T(&result)[kElements]) {
    const T base = op(prefix, before[r]);
#pragma unroll
    for (int e = 0; e < kElements; ++e) {
      if constexpr (kExclusive) {
        result[e] = e == 0 ? base : op(base, v[r].elements[e > 0 ? e - 1 : 0]);
      } else {
        result[e] = op(base, v[r].elements[e]);
      }
    }
  };
  // An explicit store of 16 bytes: from a plain one the compiler makes four of 4 bytes for the first row.
  if (inside && kVectorOut) {
#pragma unroll
    for (int r = 0; r < kVectors; ++r) {
      T result[kElements];
      row(r, result);
      uint4 whole;
      __builtin_memcpy(&whole, result, sizeof whole);
      __stwb(reinterpret_cast<uint4*>(out + first) + r * kLanes, whole);
    }
    return;
  }
#pragma unroll
  for (int r = 0; r < kVectors; ++r) {
    T result[kElements];
    row(r, result);
    const long long i = first + r * (kLanes * kElements);
#pragma unroll
    for (int e = 0; e < kElements; ++e) {
      if (i + e >= 0 && i + e < static_cast<long long>(n)) out[i + e] = result[e];
    }
  }
}

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
    scan_kernel<kThreads, kVectors, kWindows, kExclusive, true, T, Op>
        <<<static_cast<unsigned>(blocks), kThreads, 0, stream>>>(out, in, n, behind, op, init, state, words);
  } else {
    scan_kernel<kThreads, kVectors, kWindows, kExclusive, false, T, Op>
        <<<static_cast<unsigned>(blocks), kThreads, 0, stream>>>(out, in, n, behind, op, init, state, words);
  }
  return cudaGetLastError();
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
  // Short scans: many tiles at once look back over all others. Long ones: large tiles, of which few are between a tile
  // and the last prefix that is known. Sizes by measurement on an H200.
  const std::size_t size = n * sizeof(T);
  if (size <= std::size_t{1} << 18) return launch_scan<256, 4, 4, kExclusive>(workspace, out, in, n, op, init, stream);
  if (size <= std::size_t{1} << 21) return launch_scan<512, 4, 4, kExclusive>(workspace, out, in, n, op, init, stream);
  if (size <= std::size_t{1} << 23) return launch_scan<512, 6, 4, kExclusive>(workspace, out, in, n, op, init, stream);
  if (size <= std::size_t{1} << 25) return launch_scan<512, 8, 1, kExclusive>(workspace, out, in, n, op, init, stream);
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
