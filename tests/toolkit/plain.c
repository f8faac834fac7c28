/* The runtime's declarations serve C. */
#include <cuda_profiler_api.h>
#include <cuda_runtime_api.h>

int main(void) {
  struct cudaDeviceProp properties;
  struct dim3 grid = {1, 1, 1};
  void* pointer = 0;
  if (cudaGetDeviceProperties(&properties, 0) != cudaSuccess) return 1;
  if (cudaMalloc(&pointer, 16) != cudaSuccess) return 1;
  return (int)grid.x - properties.major;
}
