// The kernels of convolution.cuh.
//
// No shared memory: a lane makes 4 columns of several rows from vectors of 16 bytes; each input row is loaded once into
// registers and used for all output rows that it touches; columns at the side come from the neighbours' loads by way of
// the L1 cache. Rows may begin anywhere: where each begins as many words further from a multiple of 16 bytes as the
// last one, it is known at compile time which words of which vector are meant, and neighbouring lanes exchange results
// so that vectors are stored whole. Tiles away from the border compute no predicates.
#pragma once

#include "common.cuh"

namespace muscope::kernels {

/// What stands outside of an image: zero, the nearest pixel, or the opposite side.
enum class Border { kZero, kClamp, kWrap };

namespace detail {

/// How rows lie to multiples of 16 bytes. 0 to 3: each begins so many words further than the one above, in the same
/// place on both sides; kAnyStep: not so.
inline constexpr int kAnyStep = 4;

struct ConvolutionArgs {
  float* out;
  const float* in;
  long long width, height;
  long long in_pitch, out_pitch, in_image, out_image;
  unsigned inner_columns, inner_rows;  // tiles that touch no border: 1 up to this number
  unsigned first_rows;                 // the launch's first row of tiles
};

/// A full filter: the weights as kernel parameters, which instructions read as constants.
template <int K>
struct FullFilter {
  float w[K * K];
};
template <int K>
struct SeparableFilter {
  float across[K];
  float down[K];
};

/// Where pixel `i` of `n` is found; negative: nowhere.
template <Border kBorder>
__device__ inline long long place(long long i, long long n) {
  if constexpr (kBorder == Border::kZero) return i < n ? i : -1;
  if constexpr (kBorder == Border::kClamp) return i < 0 ? 0 : i < n ? i : n - 1;
  i = i < 0 ? i + n : i < n ? i : i - n;
  if (i < 0 || i >= n) {  // images smaller than the filter
    i %= n;
    if (i < 0) i += n;
  }
  return i;
}

/// Adds one input row to the output row that has it as row `dy` of the filter.
template <int K, int C>
__device__ inline void add_row(const FullFilter<K>& f, int dy, const float (&q)[C + K - 1], float (&sum)[C]) {
#pragma unroll
  for (int k = 0; k < K; ++k) {
#pragma unroll
    for (int c = 0; c < C; ++c) sum[c] = fmaf(f.w[dy * K + k], q[c + k], sum[c]);
  }
}

template <int K, int C>
__device__ inline void add_row(const SeparableFilter<K>& f, int dy, const float (&q)[C + K - 1], float (&sum)[C]) {
#pragma unroll
  for (int c = 0; c < C; ++c) sum[c] = fmaf(f.down[dy], q[c], sum[c]);
}

/// What is kept of an input row: itself, or its sums across.
template <int K, int C>
__device__ inline void across(const FullFilter<K>&, float (&)[C + K - 1]) {}
template <int K, int C>
__device__ inline void across(const SeparableFilter<K>& f, float (&q)[C + K - 1]) {
#pragma unroll
  for (int c = 0; c < C; ++c) {
    float sum = 0.0f;
#pragma unroll
    for (int k = 0; k < K; ++k) sum = fmaf(f.across[k], q[c + k], sum);
    q[c] = sum;
  }
}

/// A lane's place in a tile at the border.
struct Edge {
  long long other;  // to columns outside: clamp: from the row's begin; wrap: from where they would be
  unsigned inside;  // bit k: column x - K / 2 + k is inside
  bool whole;       // so is all that loads of vectors touch
  bool alive;       // there are outputs
};

template <int K, Border kBorder>
__device__ inline Edge edge_at(const ConvolutionArgs& a, long long x) {
  constexpr int kHalf = K / 2;
  Edge e{};
  e.alive = x > -4 && x < a.width;
  e.whole = x >= kHalf + 3 && x + 7 + kHalf <= a.width;  // vectors touch up to three words more
#pragma unroll
  for (int k = 0; k < K + 3; ++k) e.inside |= x + k >= kHalf && x + k - kHalf < a.width ? 1u << k : 0u;
  e.other = kBorder == Border::kClamp ? (x < kHalf ? 0 : a.width - 1) : (x < kHalf ? a.width : -a.width);
  return e;
}

/// N words from p, which lies t words behind a multiple of 16 bytes. `t` is known once loops are unrolled.
template <int N>
__device__ inline void load_words(float (&w)[N], const float* p, int t) {
#pragma unroll
  for (int i = 0; i < N; ++i) {
    const int at = (t + i) % 4;
    if (at == 0 ? N - i >= 3 : at == 1 && i == 0) {
      const float4 v = *reinterpret_cast<const float4*>(p + i - at);
      const float words[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        if (k >= at && i + k - at < N) w[i + k - at] = words[k];
      }
    } else if (at == 0 ? N - i == 2 : at == 2 && i == 0) {
      const float2 v = *reinterpret_cast<const float2*>(p + i);
      w[i] = v.x, w[i + 1] = v.y;
    } else if (at == 0 ? N - i == 1 : at == 3 && i == 0) {
      w[i] = p[i];
    }
  }
}

/// Columns x - K / 2 to x + 3 + K / 2 of one input row, x being the lane's.
template <int K, int kStep>
struct Pixels {
  static constexpr int kCount = K + 3;
  float w[kCount];
  /// `begin`: the first of them. `row`: which of the tile's; the first has column x at a multiple of 16 bytes.
  __device__ void load(const float* begin, int row) { load_words(w, begin, (row * kStep + 4 - K / 2) % 4); }
  __device__ void clear() {
#pragma unroll
    for (int k = 0; k < kCount; ++k) w[k] = 0.0f;
  }
  __device__ void get(float (&q)[kCount]) const {
#pragma unroll
    for (int k = 0; k < kCount; ++k) q[k] = w[k];
  }
};

/// Any alignment, which the address tells: vectors around the words, then shifted.
template <int K>
struct Pixels<K, kAnyStep> {
  static constexpr int kCount = K + 3;
  float w[12];
  bool two, one;  // begin so many words further
  __device__ void vector(int i, float4 v) { w[i] = v.x, w[i + 1] = v.y, w[i + 2] = v.z, w[i + 3] = v.w; }
  __device__ void load(const float* begin, int) {
    const unsigned t = misalignment(begin, 16) / 4;
    const float* const p = begin - t;
    two = (t & 2) != 0, one = (t & 1) != 0;
    vector(0, *reinterpret_cast<const float4*>(p));
    vector(4, *reinterpret_cast<const float4*>(p + 4));
    if constexpr (K == 3) {
      if (t == 3) w[8] = p[8];
    } else {
      if (t != 0) vector(8, *reinterpret_cast<const float4*>(p + 8));
    }
  }
  __device__ void clear() {
    two = one = false;
#pragma unroll
    for (int k = 0; k < 12; ++k) w[k] = 0.0f;
  }
  __device__ void get(float (&q)[kCount]) const {
    float v[kCount + 1];
#pragma unroll
    for (int k = 0; k < kCount + 1; ++k) v[k] = two ? w[k + 2] : w[k];
#pragma unroll
    for (int k = 0; k < kCount; ++k) q[k] = one ? v[k + 1] : v[k];
  }
};

/// The same at the border, where a lane has all that vectors touch or single columns; no branch keeps the loads of one
/// row from following those of another at once. `row`: where the row begins; `there`: the row is inside; `alike`: it
/// lies as the tile's rows do.
template <int K, int kStep, Border kBorder>
__device__ inline void load_edge(Pixels<K, kStep>& pixels, const float* row, const float* begin, int number,
                                 const Edge& e, bool there, bool alike) {
  pixels.clear();
  const bool whole = there && e.whole && alike;
  if (whole) pixels.load(begin, number);
  const unsigned single = there && e.alive && !whole ? (1u << (K + 3)) - 1 : 0, inside = single & e.inside;
#pragma unroll
  for (int k = 0; k < K + 3; ++k) {
    if (inside >> k & 1) pixels.w[k] = begin[k];
  }
  if constexpr (kBorder != Border::kZero) {
    const unsigned outside = single & ~e.inside;
    const float* const p = kBorder == Border::kClamp ? row + e.other : begin + e.other;
#pragma unroll
    for (int k = 0; k < K + 3; ++k) {
      if (outside >> k & 1) pixels.w[k] = p[kBorder == Border::kClamp ? 0 : k];
    }
  }
}

/// By how many words output row `number` of a tile is off a multiple of 16 bytes at `p`, a lane's column x.
template <int K, int kStep>
__device__ inline unsigned words_off(const float* p, int number) {
  return kStep == kAnyStep ? misalignment(p, 16) / 4 : static_cast<unsigned>((number + K / 2) * kStep % 4);
}

/// Exchanges results with the lane to the left, so that each lane has a vector to store: the one so many words before
/// its columns. Lane 0 lacks some.
template <int K, int kStep>
__device__ inline void align_results(float (&s)[4], unsigned off) {
  float v[4];
  if constexpr (kStep == kAnyStep) {
    const bool two = (off & 2) == 0, one = (off & 1) == 0;
    float w[7] = {0, 0, 0, s[0], s[1], s[2], s[3]};
#pragma unroll
    for (int k = 0; k < 3; ++k) w[k] = __shfl_up_sync(kAllLanes, s[k + 1], 1);
#pragma unroll
    for (int k = 0; k < 5; ++k) w[k] = two ? w[k + 2] : w[k];
#pragma unroll
    for (int k = 0; k < 4; ++k) v[k] = one ? w[k + 1] : w[k];
  } else {
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      const float own = s[(k + 4 - off) % 4];
      v[k] = k < static_cast<int>(off) ? __shfl_up_sync(kAllLanes, own, 1) : own;
    }
  }
#pragma unroll
  for (int k = 0; k < 4; ++k) s[k] = v[k];
}

template <int kStep, bool kEdge>
__device__ inline void store_results(float* p, const float (&s)[4], unsigned off, long long x, long long width) {
  if (kStep != 0 && threadIdx.x % kLanes == 0) return;
  p -= off, x -= off;
  if constexpr (kEdge) {
    if (x < 0 || x + 4 > width) {
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        if (x + k >= 0 && x + k < width) store_once(p + k, s[k]);
      }
      return;
    }
  }
  store_once(reinterpret_cast<float4*>(p), make_float4(s[0], s[1], s[2], s[3]));
}

/// R output rows of a warp. `in`: column x of the first input row; `out`: of the first output row, y. kAhead: so many
/// input rows are loaded before the first is used and before results are stored; 0: all, and stores come last.
template <int K, int kStep, int R, int kAhead, bool kEdge, Border kBorder, typename Filter>
__device__ inline void convolve_rows(const ConvolutionArgs& a, const Filter& f, const float* in, float* out,
                                     long long x, long long y) {
  constexpr int kHalf = K / 2, kRows = R + K - 1, kFirst = kAhead == 0 || kAhead > kRows ? kRows : kAhead;
  Pixels<K, kStep> rows[kRows];
  float sums[R][4] = {};
  Edge e{};
  if constexpr (kEdge) e = edge_at<K, kBorder>(a, x);
  const auto fetch = [&](int r) {
    if constexpr (kEdge) {
      const long long row = place<kBorder>(y + r - kHalf, a.height);
      const float* const p = in + (row + kHalf - y) * a.in_pitch;
      const bool alike = kStep == kAnyStep || row == y + r - kHalf;
      load_edge<K, kStep, kBorder>(rows[r], p - x, p - kHalf, r, e, kBorder != Border::kZero || row >= 0, alike);
    } else {
      rows[r].load(in + r * a.in_pitch - kHalf, r);
    }
  };
  const auto align = [&](int j) { align_results<K, kStep>(sums[j], words_off<K, kStep>(out + j * a.out_pitch, j)); };
  const auto store = [&](int j) {
    float* const p = out + j * a.out_pitch;
    if (!kEdge || y + j < a.height) {
      store_results<kStep, kEdge>(p, sums[j], words_off<K, kStep>(p, j), x, a.width);
    }
  };
#pragma unroll
  for (int r = 0; r < kFirst; ++r) fetch(r);
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    if (r + kFirst < kRows) fetch(r + kFirst);
    float q[K + 3];
    rows[r].get(q);
    across<K, 4>(f, q);
#pragma unroll
    for (int j = 0; j < R; ++j) {
      if (r - j >= 0 && r - j < K) add_row<K, 4>(f, r - j, q, sums[j]);
    }
    if (r < K - 1) continue;
    align(r - (K - 1));
    if (kAhead != 0) store(r - (K - 1));
  }
  if (kAhead == 0) {
#pragma unroll
    for (int j = 0; j < R; ++j) store(j);
  }
}

/// The same at the border where vectors are aligned: pixel by pixel and row by row, which takes few registers, so that
/// more warps of all tiles are there at once.
template <int K, int R, Border kBorder, typename Filter>
__device__ inline void convolve_rows_at_border(const ConvolutionArgs& a, const Filter& f, float* out, long long x,
                                               long long y) {
  if (x >= a.width) return;
  const float* const image = a.in + blockIdx.z * a.in_image;
  const Edge e = edge_at<K, kBorder>(a, x);
  float sums[R][4] = {};
#pragma unroll
  for (int r = 0; r < R + K - 1; ++r) {
    const long long row = place<kBorder>(y + r - K / 2, a.height);
    const float* const begin = image + row * a.in_pitch;
    float q[K + 3];
#pragma unroll
    for (int k = 0; k < K + 3; ++k) {
      const bool inside = (e.inside >> k & 1) != 0;
      const float* p = begin + x + k - K / 2;
      if constexpr (kBorder == Border::kZero) {
        q[k] = inside && row >= 0 ? *p : 0.0f;
      } else {
        if (!inside) p = kBorder == Border::kClamp ? begin + e.other : p + e.other;
        q[k] = *p;
      }
    }
    across<K, 4>(f, q);
#pragma unroll
    for (int j = 0; j < R; ++j) {
      if (r - j >= 0 && r - j < K) add_row<K, 4>(f, r - j, q, sums[j]);
    }
  }
#pragma unroll
  for (int j = 0; j < R; ++j, out += a.out_pitch) {
    if (y + j >= a.height) return;
    store_results<0, true>(out, sums[j], 0, x, a.width);
  }
}

/// Columns of a tile. Where results move between lanes, the first lane makes none of its own.
template <int kStep>
inline constexpr int kTileColumns = kStep == 0 ? kLanes * 4 : kLanes * 4 - 4;

/// A block makes kWarps * R rows.
template <int K, int kStep, int R, int kAhead, int kWarps, int kBlocks, Border kBorder, typename Filter>
__global__ void __launch_bounds__(kWarps* kLanes, kBlocks) convolution_kernel(ConvolutionArgs a, Filter f) {
  const unsigned warp = threadIdx.x / kLanes, lane = threadIdx.x % kLanes;
  const unsigned tile_y = blockIdx.y + a.first_rows;
  const long long y = static_cast<long long>(tile_y) * (kWarps * R) + warp * R;
  const float* in = a.in + blockIdx.z * a.in_image + (y - K / 2) * a.in_pitch;
  float* out = a.out + blockIdx.z * a.out_image + y * a.out_pitch;
  long long x = static_cast<long long>(blockIdx.x) * kTileColumns<kStep> + lane * 4 - (kStep == 0 ? 0 : 4);
  // Vectors of the first input row begin at multiples of 16 bytes.
  if (kStep != kAnyStep) x -= misalignment(in, 16) / 4;
  in += x, out += x;
  if (blockIdx.x - 1 < a.inner_columns && tile_y - 1 < a.inner_rows) {
    convolve_rows<K, kStep, R, kAhead, false, kBorder>(a, f, in, out, x, y);
  } else if (y >= a.height) {
    return;
  } else if constexpr (kStep == 0) {
    convolve_rows_at_border<K, R, kBorder>(a, f, out, x, y);
  } else {
    convolve_rows<K, kStep, R, kAhead, true, kBorder>(a, f, in, out, x, y);
  }
}

/// Images so narrow that a lane's columns may lie outside at both sides: a thread per pixel.
template <int K, Border kBorder, typename Filter>
__global__ void __launch_bounds__(256) narrow_kernel(ConvolutionArgs a, Filter f) {
  const long long i = static_cast<long long>(blockIdx.x) * 256 + threadIdx.x, x = i % a.width, y = i / a.width;
  if (y >= a.height) return;
  float sum[1] = {};
#pragma unroll
  for (int r = 0; r < K; ++r) {
    const long long row = place<kBorder>(y + r - K / 2, a.height);
    float q[K];
#pragma unroll
    for (int k = 0; k < K; ++k) {
      const long long column = place<kBorder>(x + k - K / 2, a.width);
      const bool there = kBorder != Border::kZero || (row >= 0 && column >= 0);
      q[k] = there ? a.in[blockIdx.z * a.in_image + row * a.in_pitch + column] : 0.0f;
    }
    across<K, 1>(f, q);
    add_row<K, 1>(f, r, q, sum);
  }
  a.out[blockIdx.z * a.out_image + y * a.out_pitch + x] = sum[0];
}

}  // namespace detail

}  // namespace muscope::kernels
