// Waits for a flag that nobody sets.
#include <cuda_runtime.h>
__global__ void wait(volatile int* flag) {
  while (*flag == 0) {
  }
}
int main() {
  int* flag = nullptr;
  cudaMalloc(&flag, sizeof *flag);
  cudaMemset(flag, 0, sizeof *flag);
  wait<<<1, 1>>>(flag);
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
