// Reads a __constant__ table through a symbol, with uniform and with diverging indices, and a __device__ counter.
#include <cstdio>

__constant__ int table[64];
__device__ unsigned int visits;

__global__ void look_up(int* out, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= n) return;
  out[i] = table[i % 64] + table[5];
  atomicAdd(&visits, 1u);
}

int main() {
  constexpr int kCount = 300;
  int host_table[64], out[kCount];
  for (int i = 0; i < 64; ++i) host_table[i] = i * i + 1;
  bool ok = cudaMemcpyToSymbol(table, host_table, sizeof host_table) == cudaSuccess;
  int* device_out = nullptr;
  ok = ok && cudaMalloc(&device_out, sizeof out) == cudaSuccess;
  if (ok) look_up<<<3, 128>>>(device_out, kCount);
  ok = ok && cudaGetLastError() == cudaSuccess;
  ok = ok && cudaMemcpy(out, device_out, sizeof out, cudaMemcpyDeviceToHost) == cudaSuccess;
  unsigned int seen = 0;
  ok = ok && cudaMemcpyFromSymbol(&seen, visits, sizeof seen) == cudaSuccess && seen == kCount;
  for (int i = 0; ok && i < kCount; ++i) ok = out[i] == host_table[i % 64] + host_table[5];
  cudaFree(device_out);
  std::puts(ok ? "constants PASS" : "constants FAIL");
  return ok ? 0 : 1;
}
