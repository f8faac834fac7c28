#include "kernels.h"

__constant__ float table[2];

// The same name as a function in another file would clash if device code leaked out of its file.
__device__ float helper(float a) { return a + table[1]; }

__global__ void add_kernel(float* data, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] = helper(data[i]);
}

void add(float* device_data, float value, int n) {
  const float values[2] = {0, value};
  cudaMemcpyToSymbol(table, values, sizeof values);
  add_kernel<<<(n + 127) / 128, 128>>>(device_data, n);
}
