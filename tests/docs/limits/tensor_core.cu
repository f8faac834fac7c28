// A tensor core instruction.
#include <cuda_runtime.h>
__global__ void mma(int* out) {
  int d0 = 0, d1 = 0;
  asm volatile("mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%0,%1}, {%2}, {%3}, {%0,%1};"
               : "+r"(d0), "+r"(d1)
               : "r"(1), "r"(1));
  out[threadIdx.x] = d0 + d1;
}
int main() {
  int* p;
  cudaMalloc(&p, 256);
  mma<<<1, 32>>>(p);
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
