// The address of shared memory in another block of the cluster.
#include <cuda_runtime.h>
__global__ void look(unsigned* out) {
  unsigned address = 0;
  asm volatile("mapa.shared::cluster.u32 %0, %1, 0;" : "=r"(address) : "r"(0));
  *out = address;
}
int main() {
  unsigned* out = nullptr;
  cudaMalloc(&out, sizeof *out);
  look<<<1, 1>>>(out);
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
