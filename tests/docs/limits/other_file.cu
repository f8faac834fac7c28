// Device code that another file would define.
#include <cuda_runtime.h>
__device__ int other(int);
__global__ void call(int* p) { *p = other(*p); }
int main() {
  int* p = nullptr;
  cudaMalloc(&p, sizeof *p);
  call<<<1, 1>>>(p);
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
