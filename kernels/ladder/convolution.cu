// A 3x3 convolution of floats with a border of zeros, rung by rung.
#include "../convolution.cuh"

#include "ladder.cuh"

namespace {

__host__ __device__ inline float pixel_at(std::size_t i) {
  return static_cast<float>(lab::mixed(static_cast<std::uint32_t>(i)) & 255);
}
__host__ __device__ inline float weight(int k) { return static_cast<float>(k * 7 % 9 - 3); }

struct Pixels {
  __device__ std::uint32_t operator()(std::size_t i) const { return __float_as_uint(pixel_at(i)); }
};
struct Weights {
  float w[9];
};

__device__ inline float at(const float* in, int x, int y, int width, int height) {
  return x < 0 || y < 0 || x >= width || y >= height ? 0.0f : in[static_cast<std::size_t>(y) * width + x];
}

/// `across`: neighbouring threads take neighbouring rows, not columns.
template <bool kAcross>
__global__ void naive(float* out, const float* in, const float* weights, int width, int height) {
  const int a = blockIdx.x * blockDim.x + threadIdx.x, b = blockIdx.y * blockDim.y + threadIdx.y;
  const int x = kAcross ? b : a, y = kAcross ? a : b;
  if (x >= width || y >= height) return;
  float sum = 0;
  for (int dy = 0; dy < 3; ++dy)
    for (int dx = 0; dx < 3; ++dx) sum += weights[dy * 3 + dx] * at(in, x + dx - 1, y + dy - 1, width, height);
  out[static_cast<std::size_t>(y) * width + x] = sum;
}
__global__ void parameters(float* out, const float* in, Weights weights, int width, int height) {
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  if (x >= width || y >= height) return;
  float sum = 0;
#pragma unroll
  for (int dy = 0; dy < 3; ++dy)
#pragma unroll
    for (int dx = 0; dx < 3; ++dx) sum += weights.w[dy * 3 + dx] * at(in, x + dx - 1, y + dy - 1, width, height);
  out[static_cast<std::size_t>(y) * width + x] = sum;
}
__global__ void shared_tile(float* out, const float* in, Weights weights, int width, int height) {
  __shared__ float tile[10][34];
  const int left = blockIdx.x * 32 - 1, top = blockIdx.y * 8 - 1;
  for (int i = threadIdx.y * 32 + threadIdx.x; i < 340; i += 256)
    tile[i / 34][i % 34] = at(in, left + i % 34, top + i / 34, width, height);
  __syncthreads();
  const int x = left + 1 + threadIdx.x, y = top + 1 + threadIdx.y;
  if (x >= width || y >= height) return;
  float sum = 0;
#pragma unroll
  for (int dy = 0; dy < 3; ++dy)
#pragma unroll
    for (int dx = 0; dx < 3; ++dx) sum += weights.w[dy * 3 + dx] * tile[threadIdx.y + dy][threadIdx.x + dx];
  out[static_cast<std::size_t>(y) * width + x] = sum;
}
/// A column of eight outputs per thread: three rows in registers go down with it.
__global__ void rows_in_registers(float* out, const float* in, Weights weights, int width, int height) {
  const int x = blockIdx.x * 32 + threadIdx.x, top = (blockIdx.y * 8 + threadIdx.y) * 8;
  if (x >= width) return;
  float r[3][3];
#pragma unroll
  for (int k = 0; k < 2; ++k)
#pragma unroll
    for (int dx = 0; dx < 3; ++dx) r[k][dx] = at(in, x + dx - 1, top + k - 1, width, height);
#pragma unroll
  for (int j = 0; j < 8; ++j) {
    if (top + j >= height) return;
#pragma unroll
    for (int dx = 0; dx < 3; ++dx) r[(j + 2) % 3][dx] = at(in, x + dx - 1, top + j + 1, width, height);
    float sum = 0;
#pragma unroll
    for (int dy = 0; dy < 3; ++dy)
#pragma unroll
      for (int dx = 0; dx < 3; ++dx) sum += weights.w[dy * 3 + dx] * r[(j + dy) % 3][dx];
    out[static_cast<std::size_t>(top + j) * width + x] = sum;
  }
}

struct Right {  // integers: exact in any order
  const float* out;
  int width, height;
  __device__ bool operator()(std::size_t i) const {
    const int x = static_cast<int>(i % width), y = static_cast<int>(i / width);
    float sum = 0;
    for (int dy = 0; dy < 3; ++dy)
      for (int dx = 0; dx < 3; ++dx) {
        const int u = x + dx - 1, v = y + dy - 1;
        if (u >= 0 && v >= 0 && u < width && v < height)
          sum += weight(dy * 3 + dx) * pixel_at(static_cast<std::size_t>(v) * width + u);
      }
    return out[i] == sum;
  }
};

}  // namespace

int main(int argc, char** argv) {
  lab::Lab lab(argc, argv, "ladder-convolution");
  if (!lab.wanted("ladder-convolution")) return lab.finish();
  const int n = static_cast<int>(lab.pick(8192, 4096, 128));
  const std::size_t words = static_cast<std::size_t>(n) * n;
  float* const in = lab.memory<float>(4 * words);
  float* const out = lab.memory<float>(4 * words, 9);
  lab.run("ceilings", ceilings::rows(lab, reinterpret_cast<char*>(out), reinterpret_cast<char*>(in),
                                     reinterpret_cast<char*>(in), 4 * words, lab::Flush::kClean));
  lab.fill(in, 4 * words, Pixels{});
  Weights weights;
  for (int k = 0; k < 9; ++k) weights.w[k] = weight(k);
  float* device_weights = nullptr;
  LAB_CHECK(cudaMalloc(&device_weights, sizeof weights));
  LAB_CHECK(cudaMemcpy(device_weights, &weights, sizeof weights, cudaMemcpyHostToDevice));
  ladder::Ladder ladder(lab, "ladder-convolution");
  ladder.begin(std::to_string(n) + " x " + std::to_string(n), 8.0 * static_cast<double>(words), "copy");
  const auto add = [&](const char* name, const char* why, std::function<void(cudaStream_t)> call) {
    ladder.rung(name, why, 1, std::move(call), ladder::poisoned(out, 4 * words),
                [=, &lab] { return lab.check(words, Right{out, n, n}); });
  };
  const dim3 block(32, 8), grid(n / 32, n / 8);
  add("naive, threads down columns", "neighbouring lanes read different rows: 32 sectors per request",
      [=](cudaStream_t s) { naive<true><<<grid, block, 0, s>>>(out, in, device_weights, n, n); });
  add("threads along rows", "whole sectors; nine loads per output, eight of them answered by the L1",
      [=](cudaStream_t s) { naive<false><<<grid, block, 0, s>>>(out, in, device_weights, n, n); });
  add("weights as parameters", "constants that instructions read themselves: half of the loads are gone",
      [=](cudaStream_t s) { parameters<<<grid, block, 0, s>>>(out, in, weights, n, n); });
  add("shared tile",
      "each pixel loaded once per block; but nine loads from shared memory are no cheaper than nine from the L1",
      [=](cudaStream_t s) { shared_tile<<<grid, block, 0, s>>>(out, in, weights, n, n); });
  add("rows in registers", "eight outputs per thread: three loads for each instead of nine", [=](cudaStream_t s) {
    rows_in_registers<<<dim3(n / 32, n / 64 + (n % 64 != 0)), block, 0, s>>>(out, in, weights, n, n);
  });
  add("convolve<3>()", "four columns per lane in one load of 16 bytes; no predicates away from the border",
      [=](cudaStream_t s) {
        muscope::kernels::ImageShape shape;
        shape.width = shape.height = static_cast<std::size_t>(n);
        muscope::kernels::convolve<3>(out, in, shape, weights.w, muscope::kernels::Border::kZero, s);
      });
  ladder.run();
  return lab.finish();
}
