// Convolutions of images with small filters: 3x3 and 5x5, full or separable, in one pass over memory.
//
//   convolve<3>(out, in, shape, weights, Border::kZero, stream)          weights[row * 3 + column]
//   convolve_separable<5>(out, in, shape, across, down, border, stream)
//
// The kernels are in convolution_tiles.cuh. "Convolution" as in neural networks and image processing: the filter is not
// mirrored.
#pragma once

#include "convolution_tiles.cuh"

namespace muscope::kernels {

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

/// Narrower images take a thread per pixel.
inline constexpr long long kNarrow = 8;

/// Launches for all images and rows, as many as a grid holds at a time.
template <typename Launch>
inline cudaError_t launch_grids(ConvolutionArgs a, std::size_t images, long long columns, long long rows,
                                const Launch& one) {
  constexpr long long kMost = 65535;
  if (columns > 0x7fffffff || rows > 0x7fffffff) return cudaErrorInvalidValue;
  for (std::size_t image = 0; image < images; image += kMost) {
    const std::size_t count = images - image < kMost ? images - image : kMost;
    for (long long first = 0; first < rows; first += kMost) {
      const long long some = rows - first < kMost ? rows - first : kMost;
      a.first_rows = static_cast<unsigned>(first);
      const cudaError_t error =
          one(a, dim3(static_cast<unsigned>(columns), static_cast<unsigned>(some), static_cast<unsigned>(count)));
      if (error != cudaSuccess) return error;
    }
    a.in += a.in_image * kMost, a.out += a.out_image * kMost;
  }
  return cudaSuccess;
}

template <int K, int kStep, int R, int kAhead, int kWarps, int kBlocks, Border kBorder, typename Filter>
inline cudaError_t launch_convolution(ConvolutionArgs a, std::size_t images, const Filter& f, cudaStream_t stream) {
  constexpr long long kColumns = kTileColumns<kStep>, kRows = kWarps * R;
  // Tiles begin before a row by what its vectors and those of its results are shifted; all that is loaded in an inner
  // one lies inside.
  const bool shifted = kStep != 0 || misalignment(a.in, 16) != 0 || a.in_image % 4 != 0;
  const long long columns = parts(a.width + (shifted ? 6 : 0), kColumns), rows = parts(a.height, kRows);
  const auto inner = [](long long room, long long part) {
    return room < part ? 0u : static_cast<unsigned>(room / part);
  };
  a.inner_columns = inner(a.width - (kStep == 0 ? kColumns + K / 2 : kColumns + 7), kColumns);
  a.inner_rows = inner(a.height - kRows - K / 2, kRows);
  return launch_grids(a, images, columns, rows, [&](const ConvolutionArgs& some, dim3 grid) {
    return launch(convolution_kernel<K, kStep, R, kAhead, kWarps, kBlocks, kBorder, Filter>, grid, kWarps * kLanes, 0,
                  stream, some, f);
  });
}

template <int K, int kStep, Border kBorder, typename Filter>
inline cudaError_t launch_shifted(const ConvolutionArgs& a, std::size_t images, const Filter& f, cudaStream_t stream) {
  if constexpr (K == 5) return launch_convolution<K, kStep, 4, 2, 4, 8, kBorder>(a, images, f, stream);
  return launch_convolution<K, kStep, 4, 3, 8, 4, kBorder>(a, images, f, stream);
}

template <int K, Border kBorder, typename Filter>
inline cudaError_t convolve_with_border(const ConvolutionArgs& a, int step, std::size_t images, const Filter& f,
                                        cudaStream_t stream) {
  if (a.width < kNarrow) {
    return launch_grids(a, images, parts(a.width * a.height, 256ll), 1, [&](const ConvolutionArgs& some, dim3 grid) {
      return launch(narrow_kernel<K, kBorder, Filter>, grid, 256, 0, stream, some, f);
    });
  }
  switch (step) {
    case 0:
      if constexpr (K == 5) return launch_convolution<K, 0, 4, 8, 4, 8, kBorder>(a, images, f, stream);
      return launch_convolution<K, 0, 4, 0, 8, 4, kBorder>(a, images, f, stream);
    case 1:
      return launch_shifted<K, 1, kBorder>(a, images, f, stream);
    case 2:
      return launch_shifted<K, 2, kBorder>(a, images, f, stream);
    case 3:
      return launch_shifted<K, 3, kBorder>(a, images, f, stream);
    default:
      return launch_convolution<K, kAnyStep, 4, 0, 8, 3, kBorder>(a, images, f, stream);
  }
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
  const bool alike = misalignment(in, 16) == misalignment(out, 16) && (a.in_pitch - a.out_pitch) % 4 == 0 &&
                     (shape.images == 1 || (a.in_image - a.out_image) % 4 == 0);
  const int step = alike ? static_cast<int>(a.in_pitch % 4) : kAnyStep;
  switch (border) {
    case Border::kZero:
      return convolve_with_border<K, Border::kZero>(a, step, shape.images, f, stream);
    case Border::kClamp:
      return convolve_with_border<K, Border::kClamp>(a, step, shape.images, f, stream);
    case Border::kWrap:
      return convolve_with_border<K, Border::kWrap>(a, step, shape.images, f, stream);
  }
  return cudaErrorInvalidValue;
}

}  // namespace detail

/// out[y][x] = sum over i, j < K of weights[i * K + j] * in[y + i - K/2][x + j - K/2], for every image. K is 3 or 5.
/// Weights lie in host memory and are read before the call returns. Any sizes, pitches and alignment; fastest where
/// rows of `out` begin as far from multiples of 16 bytes as those of `in`. `out` and `in` must not overlap.
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
