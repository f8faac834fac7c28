// The two kernels that bench/side_by_side.sh also runs under oclgrind. Prints the seconds each launch took on the
// host's clock.
#include <cuda_runtime.h>
#include <chrono>
#include <cstdio>

__global__ void naive(float* out, const float* in, int n) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  out[x * n + y] = in[y * n + x];
}

__global__ void arith(float* o, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float a = i, b = 1.5f;
  int c = i, d = 7;
#pragma unroll 1
  for (int k = 0; k < n; ++k) {
    a = a * b + 0.5f;
    b = b * 0.99f + 0.01f;
    c = c * d + k;
    d = d ^ c;
    a = a + b;
    c += i;
    b = fminf(b, a);
    d = d + 3;
  }
  o[i] = a + b + c + d;
}

template <typename F>
double seconds(F launch) {
  cudaDeviceSynchronize();
  const auto start = std::chrono::steady_clock::now();
  launch();
  cudaDeviceSynchronize();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

int main() {
  const int n = 4096;
  float *out, *in;
  if (cudaMalloc(&out, size_t{4} * n * n) != cudaSuccess || cudaMalloc(&in, size_t{4} * n * n) != cudaSuccess) return 1;
  cudaMemset(out, 0, size_t{4} * n * n);
  cudaMemset(in, 0, size_t{4} * n * n);
  std::printf("naive %.6f\n", seconds([&] { naive<<<dim3(n / 16, n / 16), dim3(16, 16)>>>(out, in, n); }));
  std::printf("arith %.6f\n", seconds([&] { arith<<<64, 256>>>(out, 1000); }));
  return cudaGetLastError() != cudaSuccess;
}
