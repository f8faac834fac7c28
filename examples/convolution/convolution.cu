// A 3x3 convolution: every input is needed nine times. Where do the nine come from, and where do the coefficients?
//
//   global     nine global loads per output, coefficients from global memory too: 18 requests per warp and output row
//   constant   the coefficients in constant memory: all lanes need the same one at the same time, which is what the
//              constant cache is made for
//   tiled      a 16x16 block loads its 18x18 neighbourhood once into shared memory
//   unrolled   the same with both loops unrolled: addresses become constants, coefficients become operands
//
// Pixels outside the picture repeat the nearest one inside.
#include "../example.h"

constexpr int kTile = 16;

__constant__ float coefficients[9];

__device__ int clampTo(int i, int size) { return min(max(i, 0), size - 1); }

__global__ void convolveGlobal(const float* in, float* out, const float* weights, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  float sum = 0.0f;
  for (int j = -1; j <= 1; ++j) {
    for (int i = -1; i <= 1; ++i) {
      sum += weights[(j + 1) * 3 + i + 1] * in[clampTo(y + j, height) * width + clampTo(x + i, width)];
    }
  }
  out[y * width + x] = sum;
}

__global__ void convolveConstant(const float* in, float* out, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  float sum = 0.0f;
  for (int j = -1; j <= 1; ++j) {
    for (int i = -1; i <= 1; ++i) {
      sum += coefficients[(j + 1) * 3 + i + 1] * in[clampTo(y + j, height) * width + clampTo(x + i, width)];
    }
  }
  out[y * width + x] = sum;
}

template <bool kUnrolled>
__global__ void convolveTiled(const float* in, float* out, int width, int height) {
  constexpr int kHalo = kTile + 2;
  __shared__ float tile[kHalo][kHalo];
  const int left = blockIdx.x * kTile - 1;
  const int top = blockIdx.y * kTile - 1;
  // 324 elements by 256 threads: some load two.
  for (int i = threadIdx.y * kTile + threadIdx.x; i < kHalo * kHalo; i += kTile * kTile) {
    const int tx = i % kHalo;
    const int ty = i / kHalo;
    tile[ty][tx] = in[clampTo(top + ty, height) * width + clampTo(left + tx, width)];
  }
  __syncthreads();
  const int x = blockIdx.x * kTile + threadIdx.x;
  const int y = blockIdx.y * kTile + threadIdx.y;
  if (x >= width || y >= height) return;
  float sum = 0.0f;
  if (kUnrolled) {
#pragma unroll
    for (int j = 0; j < 3; ++j) {
#pragma unroll
      for (int i = 0; i < 3; ++i) sum += coefficients[j * 3 + i] * tile[threadIdx.y + j][threadIdx.x + i];
    }
  } else {
#pragma unroll 1
    for (int j = 0; j < 3; ++j) {
#pragma unroll 1
      for (int i = 0; i < 3; ++i) sum += coefficients[j * 3 + i] * tile[threadIdx.y + j][threadIdx.x + i];
    }
  }
  out[y * width + x] = sum;
}

int main(int argc, char** argv) {
  const int n = size_argument(argc, argv, 512, 16, 4096);
  const int width = n;
  const int height = n - 3;  // blocks at the lower edge are partly outside
  const size_t count = static_cast<size_t>(width) * height;
  const std::vector<float> host = random_floats(count);
  const std::vector<float> weights{1, 2, 1, 2, 4, 2, 1, 2, 1};
  std::vector<float> wanted(count);
  const auto clamp = [](int i, int size) { return i < 0 ? 0 : i >= size ? size - 1 : i; };
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      float sum = 0.0f;
      for (int j = -1; j <= 1; ++j) {
        for (int i = -1; i <= 1; ++i) {
          sum += weights[(j + 1) * 3 + i + 1] *
                 host[static_cast<size_t>(clamp(y + j, height)) * width + clamp(x + i, width)];
        }
      }
      wanted[static_cast<size_t>(y) * width + x] = sum;
    }
  }
  float* in = to_device(host);
  float* device_weights = to_device(weights);
  float* out = device_array<float>(count);
  CHECK(cudaMemcpyToSymbol(coefficients, weights.data(), 9 * sizeof(float)));
  const dim3 block(kTile, kTile);
  const dim3 grid((width + kTile - 1) / kTile, (height + kTile - 1) / kTile);
  Verdict verdict;
  const auto check = [&](const char* name) {
    CHECK_LAUNCH();
    const std::vector<float> got = to_host(out, count);
    bool ok = true;
    for (size_t i = 0; i < count; ++i) ok = ok && std::fabs(got[i] - wanted[i]) < 1e-4f;
    verdict.expect(ok, name);
    CHECK(cudaMemset(out, 0xa5, count * sizeof(float)));
  };
  convolveGlobal<<<grid, block>>>(in, out, device_weights, width, height);
  check("convolveGlobal");
  convolveConstant<<<grid, block>>>(in, out, width, height);
  check("convolveConstant");
  convolveTiled<false><<<grid, block>>>(in, out, width, height);
  check("convolveTiled");
  convolveTiled<true><<<grid, block>>>(in, out, width, height);
  check("convolveTiled, unrolled");
  for (float* p : {in, device_weights, out}) CHECK(cudaFree(p));
  return verdict.finish();
}
