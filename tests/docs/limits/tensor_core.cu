// A tensor core instruction with a sparse factor.
#include <cuda_runtime.h>
__global__ void product(float* out) {
  float d[4];
  asm volatile(
      "mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%4}, {%4,%4}, {%5,%5,%5,%5}, %4, 0x0;"
      : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
      : "r"(0x44444444), "f"(0.0f));
  out[threadIdx.x] = d[0];
}
int main() {
  float* p;
  cudaMalloc(&p, 256);
  product<<<1, 32>>>(p);
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
