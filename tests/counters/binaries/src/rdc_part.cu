// The other half of rdc_main.cu.
#include "rdc_parts.h"

__device__ int bias = 7;
static __device__ int own = 6;

__device__ int triple(int value) { return 3 * value; }

using Function = int (*)(int);
__device__ Function chosen = triple;

__global__ void part(int* out) {
  out[threadIdx.x] = chosen(table[threadIdx.x % 4]) + launches + twice(own);
  __syncthreads();
  if (threadIdx.x == 0) launches += 10;
}

cudaError_t run_part(int* device_out) {
  part<<<1, 32>>>(device_out);
  return cudaGetLastError();
}
