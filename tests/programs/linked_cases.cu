// Functions that nvlink leaves in sections of their own: calls across sections, function pointers in variables and
// constants. Prints what the device made, and the same made by the host.
#include <cstdio>

using Operation = int (*)(int);

__host__ __device__ __noinline__ int twice(int x) { return 2 * x; }
__host__ __device__ __noinline__ int thrice(int x) { return 3 * x + twice(x); }
__device__ Operation table[2] = {twice, thrice};
__constant__ Operation fixed[2] = {thrice, twice};

__global__ void call(int* out) {
  const int i = threadIdx.x;
  out[i] = table[i & 1](i) + 1000 * thrice(i) + fixed[i >> 1 & 1](7);
}

int main() {
  int* out = nullptr;
  cudaMallocManaged(&out, 32 * sizeof(int));
  call<<<1, 32>>>(out);
  cudaDeviceSynchronize();
  unsigned device = 0, host = 0;
  for (int i = 0; i < 32; ++i) {
    device = device * 31 + static_cast<unsigned>(out[i]);
    const int expected = (i & 1 ? thrice(i) : twice(i)) + 1000 * thrice(i) + (i >> 1 & 1 ? twice(7) : thrice(7));
    host = host * 31 + static_cast<unsigned>(expected);
  }
  std::printf("%u %u %s\n", device, host, cudaGetErrorString(cudaGetLastError()));
  return 0;
}
