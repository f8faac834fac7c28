// convolve() and convolve_separable() against loops on the CPU: sizes, borders, pitches, batches, alignment.
#include "../convolution.cuh"

#include <cmath>

#include "check.h"

namespace mk = muscope::kernels;

std::size_t place(long long i, std::size_t n, mk::Border border, bool* outside) {
  const auto size = static_cast<long long>(n);
  if (i >= 0 && i < size) return static_cast<std::size_t>(i);
  if (border == mk::Border::kZero) *outside = true;
  if (border == mk::Border::kClamp) return i < 0 ? 0 : n - 1;
  return static_cast<std::size_t>(((i % size) + size) % size);
}

template <int K>
void filter(Verdict& verdict, std::size_t width, std::size_t height, std::size_t images, mk::Border border,
            std::size_t gap, std::size_t offset) {
  mk::ImageShape shape;
  shape.width = width, shape.height = height, shape.images = images;
  shape.in_pitch = width + gap, shape.out_pitch = width + 2 * gap;
  shape.in_image_pitch = shape.in_pitch * height + gap;
  shape.out_image_pitch = shape.out_pitch * height;
  Random random(static_cast<std::uint32_t>(width * 31 + height));
  std::vector<float> in(shape.in_image_pitch * images);
  for (float& value : in) value = static_cast<float>(random.below(16));  // sums stay exact
  float across[K], down[K], weights[K * K];
  for (int i = 0; i < K; ++i) across[i] = static_cast<float>(i + 1), down[i] = static_cast<float>(2 * i - 3);
  for (int i = 0; i < K; ++i) {
    for (int j = 0; j < K; ++j) weights[i * K + j] = down[i] * across[j];
  }
  const Device<float> device_in(in, offset);
  for (const bool separable : {false, true}) {
    const Device<float> device_out(shape.out_image_pitch * images, offset);
    auto want = device_out.host();
    for (std::size_t image = 0; image < images; ++image) {
      for (std::size_t y = 0; y < height; ++y) {
        for (std::size_t x = 0; x < width; ++x) {
          float sum = 0;
          for (int i = 0; i < K; ++i) {
            for (int j = 0; j < K; ++j) {
              bool outside = false;
              const std::size_t yy = place(static_cast<long long>(y) + i - K / 2, height, border, &outside);
              const std::size_t xx = place(static_cast<long long>(x) + j - K / 2, width, border, &outside);
              if (!outside) sum += weights[i * K + j] * in[image * shape.in_image_pitch + yy * shape.in_pitch + xx];
            }
          }
          want[image * shape.out_image_pitch + y * shape.out_pitch + x] = sum;
        }
      }
    }
    if (separable) {
      CHECK(mk::convolve_separable<K>(device_out.get(), device_in.get(), shape, across, down, border));
    } else {
      CHECK(mk::convolve<K>(device_out.get(), device_in.get(), shape, weights, border));
    }
    CHECK(cudaDeviceSynchronize());
    verdict.expect(same_bytes(device_out.host(), want) && device_out.guard_holds(),
                   "%dx%d filter, separable %d, %zu x %zu, %zu images, border %d, gap %zu, offset %zu", K, K, separable,
                   width, height, images, static_cast<int>(border), gap, offset);
  }
}

int main() {
  Verdict verdict;
  for (const mk::Border border : {mk::Border::kZero, mk::Border::kClamp, mk::Border::kWrap}) {
    const std::size_t sizes[][2] = {{1, 1},    {2, 3},    {5, 70},    {7, 9},    {8, 5},    {128, 32}, {131, 67},
                                    {384, 96}, {388, 33}, {100, 100}, {401, 70}, {402, 70}, {403, 70}, {370, 40}};
    for (const auto& size : sizes) {
      filter<3>(verdict, size[0], size[1], 1, border, 0, 0);
      filter<5>(verdict, size[0], size[1], 1, border, 0, 0);
      filter<3>(verdict, size[0], size[1], 2, border, 4, 0);
      filter<5>(verdict, size[0], size[1], 3, border, 3, 1);  // the two sides lie differently
      filter<3>(verdict, size[0], size[1], 2, border, 4, 3);
    }
  }
  filter<3>(verdict, 1, 1, 65537, mk::Border::kWrap, 0, 0);  // more images than a grid holds
  return verdict.finish();
}
