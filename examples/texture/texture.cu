// Textures: reads that are near in two dimensions, and arithmetic on the way.
//
// A CUDA array is laid out for neighbourhoods, not for rows: elements that are close in x and in y share sectors.
// Reading a column through a texture therefore costs far less than reading a column of a matrix in linear memory.
// Coordinates are floats, and texel (x, y) has its centre at (x + 0.5, y + 0.5).
//
// With linear filtering the texture unit mixes the four texels around a coordinate. Its weights have 8 fractional bits,
// so the result is good to about 1/256 of the difference between neighbours - fine for pictures, not for every
// computation. Outside, clamping repeats the edge.
#include "../example.h"

__global__ void readTexture(cudaTextureObject_t texture, float* out, int n, bool along_columns) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int j = blockIdx.y * blockDim.y + threadIdx.y;
  if (i >= n || j >= n) return;
  const int x = along_columns ? j : i;
  const int y = along_columns ? i : j;
  out[j * n + i] = tex2D<float>(texture, x + 0.5f, y + 0.5f);
}

__global__ void readMatrix(const float* matrix, float* out, int n, bool along_columns) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int j = blockIdx.y * blockDim.y + threadIdx.y;
  if (i >= n || j >= n) return;
  const int x = along_columns ? j : i;
  const int y = along_columns ? i : j;
  out[j * n + i] = matrix[y * n + x];
}

// Shifts the picture by a part of a texel.
__global__ void shift(cudaTextureObject_t texture, float* out, int n, float dx, float dy) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < n && y < n) out[y * n + x] = tex2D<float>(texture, x + 0.5f + dx, y + 0.5f + dy);
}

cudaTextureObject_t make_texture(cudaArray_t array, cudaTextureFilterMode filter) {
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaTextureDesc description = {};
  description.addressMode[0] = cudaAddressModeClamp;
  description.addressMode[1] = cudaAddressModeClamp;
  description.filterMode = filter;
  description.readMode = cudaReadModeElementType;
  cudaTextureObject_t texture = 0;
  CHECK(cudaCreateTextureObject(&texture, &resource, &description, nullptr));
  return texture;
}

int main(int argc, char** argv) {
  const int n = size_argument(argc, argv, 256, 32, 4096);
  const size_t count = static_cast<size_t>(n) * n;
  const std::vector<float> host = random_floats(count);
  cudaArray_t array = nullptr;
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  CHECK(cudaMallocArray(&array, &format, n, n));
  const size_t row_bytes = n * sizeof(float);
  CHECK(cudaMemcpy2DToArray(array, 0, 0, host.data(), row_bytes, row_bytes, n, cudaMemcpyHostToDevice));
  const cudaTextureObject_t nearest = make_texture(array, cudaFilterModePoint);
  const cudaTextureObject_t linear = make_texture(array, cudaFilterModeLinear);
  float* matrix = to_device(host);
  float* out = device_array<float>(count);
  const dim3 block(32, 8);
  const dim3 grid(n / block.x, n / block.y);
  Verdict verdict;

  for (const bool along_columns : {false, true}) {
    for (const bool through_texture : {false, true}) {
      CHECK(cudaMemset(out, 0xa5, count * sizeof(float)));
      if (through_texture) {
        readTexture<<<grid, block>>>(nearest, out, n, along_columns);
      } else {
        readMatrix<<<grid, block>>>(matrix, out, n, along_columns);
      }
      CHECK_LAUNCH();
      const std::vector<float> got = to_host(out, count);
      bool ok = true;
      for (int j = 0; j < n; ++j) {
        for (int i = 0; i < n; ++i) {
          const size_t from = along_columns ? static_cast<size_t>(i) * n + j : static_cast<size_t>(j) * n + i;
          ok = ok && got[static_cast<size_t>(j) * n + i] == host[from];
        }
      }
      verdict.expect(ok, through_texture ? "readTexture" : "readMatrix");
    }
  }

  const float dx = 0.25f;
  const float dy = 0.5f;
  shift<<<grid, block>>>(linear, out, n, dx, dy);
  CHECK_LAUNCH();
  const std::vector<float> got = to_host(out, count);
  const auto texel = [&](int x, int y) {
    x = x < n ? x : n - 1;
    y = y < n ? y : n - 1;
    return host[static_cast<size_t>(y) * n + x];
  };
  float largest_error = 0.0f;
  for (int y = 0; y < n; ++y) {
    for (int x = 0; x < n; ++x) {
      const float above = texel(x, y) * (1 - dx) + texel(x + 1, y) * dx;
      const float below = texel(x, y + 1) * (1 - dx) + texel(x + 1, y + 1) * dx;
      const float wanted = above * (1 - dy) + below * dy;
      largest_error = std::fmax(largest_error, std::fabs(got[static_cast<size_t>(y) * n + x] - wanted));
    }
  }
  verdict.expect(largest_error < 1.0f / 128, "linear filtering");

  CHECK(cudaDestroyTextureObject(nearest));
  CHECK(cudaDestroyTextureObject(linear));
  CHECK(cudaFreeArray(array));
  CHECK(cudaFree(matrix));
  CHECK(cudaFree(out));
  return verdict.finish();
}
