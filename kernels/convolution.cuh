// Convolutions of images with small filters: 3x3 and 5x5, full or separable, in one pass over memory.
//
//   convolve<3>(out, in, shape, weights, Border::kZero, stream)          weights[row * 3 + column]
//   convolve_separable<5>(out, in, shape, across, down, border, stream)
//
// No shared memory: a thread makes 4 columns (16 bytes) of several rows, each input row is loaded once into registers
// and used for all output rows that it touches; columns at the side come from the neighbours' loads by way of the L1
// cache. Blocks away from the border compute no predicates. "Convolution" as in neural networks and image processing:
// the filter is not mirrored.
#pragma once

#include "common.cuh"

namespace muscope::kernels {

/// What stands outside of an image: zero, the nearest pixel, or the opposite side.
enum class Border { kZero, kClamp, kWrap };

/// Images one after the other. Pitches in elements.
struct ImageShape {
  std::size_t width = 0;
  std::size_t height = 0;
  std::size_t images = 1;
  std::size_t in_pitch = 0;  // of rows; 0: width
  std::size_t out_pitch = 0;
  std::size_t in_image_pitch = 0;  // of images; 0: height rows
  std::size_t out_image_pitch = 0;
};

namespace detail {

struct ConvolutionArgs {
  float* out;
  const float* in;
  long long width, height;
  long long in_pitch, out_pitch, in_image, out_image;
  unsigned blocks_x, blocks_y;
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

template <Border kBorder>
__device__ inline float pixel(const float* image, const ConvolutionArgs& a, long long x, long long y) {
  if constexpr (kBorder == Border::kZero) {
    if (x < 0 || x >= a.width || y < 0 || y >= a.height) return 0.0f;
  } else if constexpr (kBorder == Border::kClamp) {
    x = x < 0 ? 0 : x >= a.width ? a.width - 1 : x;
    y = y < 0 ? 0 : y >= a.height ? a.height - 1 : y;
  } else {
    x %= a.width, y %= a.height;
    if (x < 0) x += a.width;
    if (y < 0) y += a.height;
  }
  return image[y * a.in_pitch + x];
}

/// Columns x - K/2 .. x + C - 1 + K/2 of a row that lies inside with them.
template <int K, int C>
__device__ inline void load_inside(const float* p, float (&q)[C + K - 1]) {
  constexpr int kHalf = K / 2;
  if constexpr (C == 4) {
    const float4 centre = *reinterpret_cast<const float4*>(p);
    q[kHalf] = centre.x, q[kHalf + 1] = centre.y, q[kHalf + 2] = centre.z, q[kHalf + 3] = centre.w;
#pragma unroll
    for (int k = 0; k < kHalf; ++k) {
      q[k] = p[k - kHalf];
      q[4 + kHalf + k] = p[4 + k];
    }
  } else {
#pragma unroll
    for (int k = 0; k < C + K - 1; ++k) q[k] = p[k - kHalf];
  }
}

/// Adds one input row to the output rows that it touches. `dy`: the filter's row for the output row `sum`.
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

/// A block of 8 warps makes 8 * R rows. C = 4 needs rows that begin at multiples of 16 bytes on both sides, C = 1
/// nothing.
template <int K, int C, int R, Border kBorder, typename Filter>
__global__ void __launch_bounds__(256) convolution_kernel(ConvolutionArgs a, Filter f) {
  constexpr int kHalf = K / 2;
  const unsigned bx = blockIdx.x % a.blocks_x, rest = blockIdx.x / a.blocks_x;
  const unsigned by = rest % a.blocks_y, image = rest / a.blocks_y;
  const float* const in = a.in + image * a.in_image;
  float* const out = a.out + image * a.out_image;
  constexpr int kColumns = kLanes * C;
  const long long x0 = static_cast<long long>(bx) * kColumns, x = x0 + threadIdx.x % kLanes * C;
  const long long y0 = static_cast<long long>(by) * (8 * R), y = y0 + threadIdx.x / kLanes * R;
  float sums[R][C] = {};
  const bool inside = x0 >= kHalf && x0 + kColumns + kHalf <= a.width && y0 >= kHalf && y0 + 8 * R + kHalf <= a.height;
  if (inside) {
    const float* const p = in + (y - kHalf) * a.in_pitch + x;
    float q[R + K - 1][C + K - 1];
#pragma unroll
    for (int r = 0; r < R + K - 1; ++r) load_inside<K, C>(p + r * a.in_pitch, q[r]);
#pragma unroll
    for (int r = 0; r < R + K - 1; ++r) {
      across<K, C>(f, q[r]);
#pragma unroll
      for (int j = 0; j < R; ++j) {
        if (r - j >= 0 && r - j < K) add_row<K, C>(f, r - j, q[r], sums[j]);
      }
    }
  } else {
    if (x >= a.width || y >= a.height) return;
#pragma unroll
    for (int r = 0; r < R + K - 1; ++r) {
      float q[C + K - 1];
#pragma unroll
      for (int k = 0; k < C + K - 1; ++k) q[k] = pixel<kBorder>(in, a, x + k - kHalf, y + r - kHalf);
      across<K, C>(f, q);
#pragma unroll
      for (int j = 0; j < R; ++j) {
        if (r - j >= 0 && r - j < K) add_row<K, C>(f, r - j, q, sums[j]);
      }
    }
  }
  float* p = out + y * a.out_pitch + x;
#pragma unroll
  for (int j = 0; j < R; ++j, p += a.out_pitch) {
    if (y + j >= a.height) return;
    if constexpr (C == 4) {
      if (x + 4 <= a.width) {
        store_once(reinterpret_cast<float4*>(p), make_float4(sums[j][0], sums[j][1], sums[j][2], sums[j][3]));
        continue;
      }
    }
#pragma unroll
    for (int c = 0; c < C; ++c) {
      if (x + c < a.width) store_once(p + c, sums[j][c]);
    }
  }
}

template <int K, int C, int R, Border kBorder, typename Filter>
inline cudaError_t launch_convolution(ConvolutionArgs a, std::size_t images, const Filter& f, cudaStream_t stream) {
  const long long blocks_x = parts(a.width, static_cast<long long>(kLanes * C));
  const long long blocks_y = parts(a.height, static_cast<long long>(8 * R));
  if (blocks_x > 0x7fffffff / blocks_y || images > static_cast<std::size_t>(0x7fffffff / (blocks_x * blocks_y))) {
    return cudaErrorInvalidValue;
  }
  a.blocks_x = static_cast<unsigned>(blocks_x);
  a.blocks_y = static_cast<unsigned>(blocks_y);
  convolution_kernel<K, C, R, kBorder, Filter>
      <<<static_cast<unsigned>(blocks_x * blocks_y * static_cast<long long>(images)), 256, 0, stream>>>(a, f);
  return cudaGetLastError();
}

template <int K, Border kBorder, typename Filter>
inline cudaError_t convolve_with_border(const ConvolutionArgs& a, bool vectors, std::size_t images, const Filter& f,
                                        cudaStream_t stream) {
  constexpr int kSingleRows = K == 3 ? 4 : 8, kRows = K == 3 ? 2 : 6;
  if (!vectors) return launch_convolution<K, 1, kSingleRows, kBorder>(a, images, f, stream);
  // Few pixels: few blocks, all there at once. Many: more blocks that touch fewer rows each.
  const bool few = K == 3 && a.width * a.height * static_cast<long long>(images) <= 1 << 22;
  return few ? launch_convolution<K, 4, 8, kBorder>(a, images, f, stream)
             : launch_convolution<K, 4, kRows, kBorder>(a, images, f, stream);
}

template <int K, typename Filter>
inline cudaError_t convolve_with(float* out, const float* in, const ImageShape& shape, const Filter& f, Border border,
                                 cudaStream_t stream) {
  if (shape.width == 0 || shape.height == 0 || shape.images == 0) return cudaSuccess;
  ConvolutionArgs a{};
  const auto given = [](std::size_t value, std::size_t otherwise) {
    return static_cast<long long>(value != 0 ? value : otherwise);
  };
  a.out = out;
  a.in = in;
  a.width = static_cast<long long>(shape.width);
  a.height = static_cast<long long>(shape.height);
  a.in_pitch = given(shape.in_pitch, shape.width);
  a.out_pitch = given(shape.out_pitch, shape.width);
  a.in_image = given(shape.in_image_pitch, static_cast<std::size_t>(a.in_pitch) * shape.height);
  a.out_image = given(shape.out_image_pitch, static_cast<std::size_t>(a.out_pitch) * shape.height);
  if (out == nullptr || in == nullptr || a.in_pitch < a.width || a.out_pitch < a.width) return cudaErrorInvalidValue;
  const bool vectors = ((reinterpret_cast<std::uintptr_t>(in) | reinterpret_cast<std::uintptr_t>(out)) % 16 == 0) &&
                       (a.in_pitch | a.out_pitch | a.in_image | a.out_image) % 4 == 0;
  switch (border) {
    case Border::kZero:
      return convolve_with_border<K, Border::kZero>(a, vectors, shape.images, f, stream);
    case Border::kClamp:
      return convolve_with_border<K, Border::kClamp>(a, vectors, shape.images, f, stream);
    case Border::kWrap:
      return convolve_with_border<K, Border::kWrap>(a, vectors, shape.images, f, stream);
  }
  return cudaErrorInvalidValue;
}

}  // namespace detail

/// out[y][x] = sum over i, j < K of weights[i * K + j] * in[y + i - K/2][x + j - K/2], for every image. K is 3 or 5.
/// Weights lie in host memory and are read before the call returns. Any sizes and pitches; fastest where rows begin at
/// multiples of 16 bytes. `out` and `in` must not overlap.
/// Errors: cudaErrorInvalidValue for null, a pitch below the width, more than 2^31 blocks; what a launch returns.
template <int K>
cudaError_t convolve(float* out, const float* in, const ImageShape& shape, const float* weights, Border border,
                     cudaStream_t stream = nullptr) {
  static_assert(K == 3 || K == 5, "filter size");
  if (weights == nullptr) return cudaErrorInvalidValue;
  detail::FullFilter<K> f;
  for (int i = 0; i < K * K; ++i) f.w[i] = weights[i];
  return detail::convolve_with<K>(out, in, shape, f, border, stream);
}

/// The same with weights[i * K + j] = down[i] * across[j], in K + K multiplications per pixel instead of K * K. Each
/// row is summed across first, then down.
template <int K>
cudaError_t convolve_separable(float* out, const float* in, const ImageShape& shape, const float* across,
                               const float* down, Border border, cudaStream_t stream = nullptr) {
  static_assert(K == 3 || K == 5, "filter size");
  if (across == nullptr || down == nullptr) return cudaErrorInvalidValue;
  detail::SeparableFilter<K> f;
  for (int i = 0; i < K; ++i) f.across[i] = across[i], f.down[i] = down[i];
  return detail::convolve_with<K>(out, in, shape, f, border, stream);
}

}  // namespace muscope::kernels
