// A kernel that launches itself, for ever: such a chain is stopped by --timeout, which names the kernel.
#include <cstdio>

__global__ void again(unsigned* count) {
  ++*count;
  again<<<1, 1>>>(count);
}

int main() {
  unsigned* count = nullptr;
  cudaMalloc(&count, sizeof *count);
  cudaMemset(count, 0, sizeof *count);
  again<<<1, 1>>>(count);
  std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
}
