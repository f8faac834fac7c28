// What the kernels of layout.cuh and layout_narrow.cuh share: runs of bytes between global and padded shared memory.
#pragma once

#include "common.cuh"

namespace muscope::kernels::detail {

inline constexpr int kLayoutThreads = 256;
inline constexpr int kLayoutVectors = 4;  // per thread
inline constexpr int kLayoutTile = kLayoutThreads * kLayoutVectors * 16;

/// Bytes that a block of so many threads takes at once.
__host__ __device__ constexpr unsigned layout_bytes(int threads) {
  return static_cast<unsigned>(threads * kLayoutVectors * 16);
}

/// One word of padding behind every 32 words.
__host__ __device__ constexpr unsigned padded(unsigned word) { return word + word / 32; }

/// Words of shared memory for a tile of `bytes`.
__host__ __device__ constexpr unsigned layout_words(unsigned bytes) { return bytes / 4 + bytes / 128; }

/// A contiguous run of bytes of global memory as a block sees it: it begins `shift` bytes behind a multiple of 16.
struct Run {
  char* begin;
  unsigned length;
};

/// Global memory to shared memory; kOnce as load_once(). Byte i of the run arrives at padded byte `misalignment(begin,
/// 16) + i`. kVectors per thread hold it.
template <int kBytes, int kThreads = kLayoutThreads, bool kOnce = false, int kVectors = kLayoutVectors>
__device__ inline void run_to_shared(unsigned* words, Run run, Bytes whole) {
  const unsigned shift = misalignment(run.begin, 16);
  const char* const p = run.begin - shift;
  const unsigned count = (shift + run.length + 15) / 16;
  uint4 v[kVectors];
  // The same for the whole block. Inside, every load is issued before the first is needed.
  if (p >= whole.begin && p + count * 16 <= whole.end) {
#pragma unroll
    for (int k = 0; k < kVectors; ++k) {
      const unsigned i = threadIdx.x + k * kThreads;
      const uint4* const q = reinterpret_cast<const uint4*>(p) + i;
      if (i < count) v[k] = kOnce ? load_once(q) : load_whole(q);
    }
  } else {
#pragma unroll
    for (int k = 0; k < kVectors; ++k) {
      const unsigned i = threadIdx.x + k * kThreads;
      if (i < count) v[k] = load_aligned<kBytes>(p + i * 16, whole);
    }
  }
#pragma unroll
  for (int k = 0; k < kVectors; ++k) {
    const unsigned i = threadIdx.x + k * kThreads;
    if (i < count) {
      unsigned* w = words + padded(i * 4);
      w[0] = v[k].x;
      w[1] = v[k].y;
      w[2] = v[k].z;
      w[3] = v[k].w;
    }
  }
}

/// The way back.
template <int kBytes, int kThreads = kLayoutThreads, int kVectors = kLayoutVectors>
__device__ inline void run_from_shared(const unsigned* words, Run run) {
  const unsigned shift = misalignment(run.begin, 16);
  char* const p = run.begin - shift;
  const unsigned count = (shift + run.length + 15) / 16;
  const Bytes range = {run.begin, run.begin + run.length};
#pragma unroll
  for (int k = 0; k < kVectors; ++k) {
    const unsigned i = threadIdx.x + k * kThreads;
    if (i < count) {
      const unsigned* w = words + padded(i * 4);
      store_aligned<kBytes>(p + i * 16, make_uint4(w[0], w[1], w[2], w[3]), range);
    }
  }
}

struct LayoutArgs {
  char* out;
  const char* in;
  long long pitch;  // of a field's array, in bytes
  long long structs;
  unsigned fields;
  unsigned tile;      // structures of a block
  unsigned overlap;   // structures in front of them that it reads too
  Divider per_field;  // pieces of a field in a tile
  Divider per_group;  // words of a field in a tile, in layout_narrow.cuh
};

/// The structures that a block reads on the way to arrays whose parts begin at whole sectors. A field's part begins up
/// to a sector before structure `first`, and ends as much earlier, so that no two blocks write into one sector.
struct Window {
  long long first;
  unsigned before;  // structures in front of `first`
  unsigned count;   // of all
};

__device__ inline Window window_of_block(const LayoutArgs& a) {
  Window w;
  w.first = static_cast<long long>(blockIdx.x) * a.tile;
  w.before = blockIdx.x == 0 ? 0 : a.overlap;
  const long long left = a.structs - w.first;
  w.count = w.before + a.tile;
  if (left < a.tile) w.count = static_cast<unsigned>(w.before + left);  // left is at least -overlap
  return w;
}

}  // namespace muscope::kernels::detail
