// A transpose of floats, rung by rung. Each kernel is right; `muscope run kernels/ladder/transpose.cu` shows what each
// rung changes, line by line.
//
//   1 naive        reads along rows and writes along columns: 32 sectors for a store of 32 lanes
//   2 tile         through shared memory: both sides along rows; a column of the tile lies in one bank (32 wavefronts)
//   3 padded       one word of padding per row of the tile: no bank conflicts; still 4 bytes per lane
//   4 transpose()  16 bytes per lane, four loads in flight, blocks of 4 x 4 in registers, a swizzle instead of padding
#include "../transpose.cuh"

#include "../tests/check.h"

__global__ void naive(float* out, const float* in, int n) {
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  out[x * n + y] = in[y * n + x];
}

template <int kPitch>
__global__ void tile(float* out, const float* in, int n) {
  __shared__ float shared[32][kPitch];
  const int x = blockIdx.x * 32, y = blockIdx.y * 32;
  for (int k = threadIdx.y; k < 32; k += 8) shared[k][threadIdx.x] = in[(y + k) * n + x + threadIdx.x];
  __syncthreads();
  for (int k = threadIdx.y; k < 32; k += 8) out[(x + k) * n + y + threadIdx.x] = shared[threadIdx.x][k];
}

int main() {
  const int n = 512;
  const auto in = random_elements<float>(n * n);
  std::vector<float> want(n * n);
  for (int i = 0; i < n * n; ++i) want[i % n * n + i / n] = in[i];
  const Device<float> device_in(in);
  Verdict verdict;
  for (int rung = 1; rung <= 4; ++rung) {
    const Device<float> out(n * n);
    const dim3 block(32, 8);
    if (rung == 1) naive<<<dim3(n / 32, n / 8), block>>>(out.get(), device_in.get(), n);
    if (rung == 2) tile<32><<<dim3(n / 32, n / 32), block>>>(out.get(), device_in.get(), n);
    if (rung == 3) tile<33><<<dim3(n / 32, n / 32), block>>>(out.get(), device_in.get(), n);
    if (rung == 4) CHECK(muscope::kernels::transpose(out.get(), n, device_in.get(), n, n, n));
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    verdict.expect(same_bytes(out.host(), want), "rung %d", rung);
  }
  return verdict.finish();
}
