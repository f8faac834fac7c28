// The shape of a block decides which elements a warp holds.
//
// Threads are numbered x first, and 32 consecutive ones form a warp. In a 32x8 block a warp is one row of 32: 4 sectors
// per request. In a 16x16 block it is two rows of 16, in an 8x32 block four rows of 8: still 4 sectors here, because 8
// floats are just one sector. In a 4x64 block the rows are half a sector each: 8 sectors per request. In a 1x256 block,
// the thin one, every lane is in a row of its own: 32.
#include "../example.h"

__global__ void scaleMatrix(const float* in, float* out, int width, int height, float factor) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < width && y < height) out[y * width + x] = in[y * width + x] * factor;
}

int main(int argc, char** argv) {
  const int n = size_argument(argc, argv, 512, 256, 4096);
  const size_t count = static_cast<size_t>(n) * n;
  const std::vector<float> host = random_floats(count);
  float* in = to_device(host);
  float* out = device_array<float>(count);
  const dim3 shapes[] = {dim3(256, 1), dim3(128, 2), dim3(64, 4),  dim3(32, 8), dim3(16, 16),
                         dim3(8, 32),  dim3(4, 64),  dim3(2, 128), dim3(1, 256)};
  Verdict verdict;
  for (const dim3 block : shapes) {
    CHECK(cudaMemset(out, 0, count * sizeof(float)));
    const dim3 grid(n / block.x, n / block.y);
    scaleMatrix<<<grid, block>>>(in, out, n, n, 2.0f);
    CHECK_LAUNCH();
    const std::vector<float> got = to_host(out, count);
    bool ok = true;
    for (size_t i = 0; i < count; ++i) ok = ok && got[i] == host[i] * 2.0f;
    verdict.expect(ok, "scaleMatrix");
  }

  // A block of too many threads does not run at all, and only the error says so (which one depends on the CUDA
  // release).
  CHECK(cudaMemset(out, 0, count * sizeof(float)));
  scaleMatrix<<<dim3(1, 1), dim3(64, 32)>>>(in, out, n, n, 2.0f);
  verdict.expect(cudaGetLastError() != cudaSuccess, "2,048 threads per block are refused");
  CHECK(cudaDeviceSynchronize());
  verdict.expect(to_host(out, 1)[0] == 0.0f, "a refused launch writes nothing");

  CHECK(cudaFree(in));
  CHECK(cudaFree(out));
  return verdict.finish();
}
