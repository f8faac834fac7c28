// A mipmapped array, which muscope does not have.
#include <cuda_runtime.h>
#include <cstdio>
int main() {
  cudaMipmappedArray_t levels;
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  const cudaError_t e = cudaMallocMipmappedArray(&levels, &format, make_cudaExtent(64, 64, 0), 4);
  std::printf("mipmaps: %s\n", cudaGetErrorName(e));
  return e == cudaSuccess ? 0 : 1;
}
