// Matrix products: naive, tiled, register-blocked, double, half, bytes by dp4a.
#include <cuda_fp16.h>

#include "check.h"

template <typename T>
__global__ void naive(int n, const T* a, const T* b, T* c) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  T sum = 0;
  for (int k = 0; k < n; ++k) sum += a[y * n + k] * b[k * n + x];
  c[y * n + x] = sum;
}

template <typename T, int kTile>
__global__ void tiled(int n, const T* a, const T* b, T* c) {
  __shared__ T as[kTile][kTile], bs[kTile][kTile];
  const int x = blockIdx.x * kTile + threadIdx.x, y = blockIdx.y * kTile + threadIdx.y;
  T sum = 0;
  for (int t = 0; t < n; t += kTile) {
    as[threadIdx.y][threadIdx.x] = a[y * n + t + threadIdx.x];
    bs[threadIdx.y][threadIdx.x] = b[(t + threadIdx.y) * n + x];
    __syncthreads();
    for (int k = 0; k < kTile; ++k) sum += as[threadIdx.y][k] * bs[k][threadIdx.x];
    __syncthreads();
  }
  c[y * n + x] = sum;
}

// 64x64 of c by 256 threads, 4x4 each.
__global__ void blocked(int n, const float* a, const float* b, float* c) {
  __shared__ float as[16][68], bs[16][64];
  const int tx = threadIdx.x % 16, ty = threadIdx.x / 16, x0 = blockIdx.x * 64, y0 = blockIdx.y * 64;
  float sum[4][4] = {};
  for (int t = 0; t < n; t += 16) {
    for (int i = threadIdx.x; i < 64 * 16; i += 256) {
      as[i % 16][i / 16] = a[(y0 + i / 16) * n + t + i % 16];
      bs[i / 64][i % 64] = b[(t + i / 64) * n + x0 + i % 64];
    }
    __syncthreads();
    for (int k = 0; k < 16; ++k) {
      float av[4], bv[4];
      for (int i = 0; i < 4; ++i) av[i] = as[k][ty * 4 + i], bv[i] = bs[k][tx * 4 + i];
      for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j) sum[i][j] += av[i] * bv[j];
    }
    __syncthreads();
  }
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) c[(y0 + ty * 4 + i) * n + x0 + tx * 4 + j] = sum[i][j];
}

__global__ void half_product(int n, const __half* a, const __half* b, __half* c) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  __half2 sum = __float2half2_rn(0);
  for (int k = 0; k < n; k += 2)
    sum = __hfma2(*reinterpret_cast<const __half2*>(&a[y * n + k]), __halves2half2(b[k * n + x], b[(k + 1) * n + x]),
                  sum);
  c[y * n + x] = __hadd(__low2half(sum), __high2half(sum));
}

__global__ void byte_product(int n, const int* a, const int* b, int* c) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  int sum = 0;
  for (int k = 0; k < n; ++k) sum = __dp4a(a[y * n + k], b[x * n + k], sum);
  c[y * n + x] = sum;
}

int main() {
  const int n = 128;
  std::uint32_t state = 3;
  Buffer<float> a(n * n), b(n * n), c(n * n);
  Buffer<double> da(n * n), db(n * n), dc(n * n);
  Buffer<int> ia(n * n), ib(n * n), ic(n * n);
  for (int i = 0; i < n * n; ++i) {
    a.host[i] = float(next_number(state) % 5), b.host[i] = float(next_number(state) % 7);
    da.host[i] = a.host[i], db.host[i] = b.host[i];
    ia.host[i] = int(next_number(state) << 8), ib.host[i] = int(next_number(state) << 8);
  }
  a.up(), b.up(), da.up(), db.up(), ia.up(), ib.up();
  const auto product = [&](std::size_t i) {
    double sum = 0;
    for (int k = 0; k < n; ++k) sum += double(a.host[i / n * n + k]) * b.host[k * n + i % n];
    return sum;
  };
  const dim3 grid(n / 16, n / 16), block(16, 16);
  naive<<<grid, block>>>(n, a.device, b.device, c.device);
  check("naive", c, product);
  naive<<<grid, block>>>(n, da.device, db.device, dc.device);
  check("naive double", dc, product);
  tiled<float, 16><<<grid, block>>>(n, a.device, b.device, c.device);
  check("tiled 16", c, product);
  tiled<float, 32><<<dim3(n / 32, n / 32), dim3(32, 32)>>>(n, a.device, b.device, c.device);
  check("tiled 32", c, product);
  tiled<double, 16><<<grid, block>>>(n, da.device, db.device, dc.device);
  check("tiled double", dc, product);
  c.clear();
  blocked<<<dim3(n / 64, n / 64), 256>>>(n, a.device, b.device, c.device);
  check("blocked", c, product);
  byte_product<<<grid, block>>>(n, ia.device, ib.device, ic.device);
  check("byte_product", ic, [&](std::size_t i) {
    int sum = 0;
    for (int k = 0; k < n; ++k)
      for (int e = 0; e < 32; e += 8)
        sum += int(std::int8_t(ia.host[i / n * n + k] >> e)) * int(std::int8_t(ib.host[i % n * n + k] >> e));
    return sum;
  });
  std::vector<__half> ha(n * n), hb(n * n), hc(n * n);
  for (int i = 0; i < n * n; ++i) ha[i] = __float2half(float(i % 3)), hb[i] = __float2half(float(i % 2));
  __half *pa, *pb, *pc;
  cudaMalloc(&pa, n * n * 2), cudaMalloc(&pb, n * n * 2), cudaMalloc(&pc, n * n * 2);
  cudaMemcpy(pa, ha.data(), n * n * 2, cudaMemcpyHostToDevice);
  cudaMemcpy(pb, hb.data(), n * n * 2, cudaMemcpyHostToDevice);
  half_product<<<grid, block>>>(n, pa, pb, pc);
  cudaMemcpy(hc.data(), pc, n * n * 2, cudaMemcpyDeviceToHost);
  for (int i = 0; i < n * n && !failures; ++i) {
    float sum = 0;
    for (int k = 0; k < n; ++k) sum += float(ha[i / n * n + k]) * float(hb[k * n + i % n]);
    if (float(hc[i]) != sum) std::printf("half_product: wrong at %d\n", i), ++failures;
  }
  return finish();
}
