// A write to a surface.
#include <cuda_runtime.h>
__global__ void fill(cudaSurfaceObject_t surface) { surf2Dwrite(1.0f, surface, threadIdx.x * 4, 0); }
int main() {
  fill<<<1, 32>>>(0);
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
