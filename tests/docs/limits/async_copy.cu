// cp.async: a copy from global to shared memory that passes by the registers.
#include <cuda_runtime.h>
__global__ void copy(const float* in, float* out) {
  __shared__ float tile[32];
  const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(&tile[threadIdx.x]));
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(in + threadIdx.x));
  asm volatile("cp.async.wait_all;");
  out[threadIdx.x] = tile[threadIdx.x];
}
int main() {
  float* p;
  cudaMalloc(&p, 256);
  copy<<<1, 32>>>(p, p + 32);
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
