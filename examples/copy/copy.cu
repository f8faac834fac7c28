// One matrix, copied in two directions: the same bytes, very different traffic.
//
// A warp is 32 threads with neighbouring threadIdx.x. Global memory moves in sectors of 32 bytes. In copyRow the lanes
// of a warp touch neighbouring floats: 128 bytes, 4 sectors. In copyCol neighbouring lanes are a whole row apart: each
// lane needs a sector of its own for its 4 bytes, and 28 of the 32 bytes that move are not used by this request.
#include "../example.h"

__global__ void copyRow(float* out, const float* in, int nx, int ny) {
  const int ix = blockIdx.x * blockDim.x + threadIdx.x;
  const int iy = blockIdx.y * blockDim.y + threadIdx.y;
  if (ix < nx && iy < ny) out[iy * nx + ix] = in[iy * nx + ix];
}

__global__ void copyCol(float* out, const float* in, int nx, int ny) {
  const int ix = blockIdx.x * blockDim.x + threadIdx.x;
  const int iy = blockIdx.y * blockDim.y + threadIdx.y;
  if (ix < nx && iy < ny) out[ix * ny + iy] = in[ix * ny + iy];
}

int main(int argc, char** argv) {
  const int n = size_argument(argc, argv, 1024, 32, 4096);
  const size_t count = static_cast<size_t>(n) * n;
  const std::vector<float> host = random_floats(count);
  float* in = to_device(host);
  float* out = device_array<float>(count);
  const dim3 block(32, 8);
  const dim3 grid(n / block.x, n / block.y);
  Verdict verdict;

  copyRow<<<grid, block>>>(out, in, n, n);
  CHECK_LAUNCH();
  verdict.expect(to_host(out, count) == host, "copyRow copies");

  CHECK(cudaMemset(out, 0, count * sizeof(float)));
  copyCol<<<grid, block>>>(out, in, n, n);
  CHECK_LAUNCH();
  verdict.expect(to_host(out, count) == host, "copyCol copies");

  CHECK(cudaFree(in));
  CHECK(cudaFree(out));
  return verdict.finish();
}
