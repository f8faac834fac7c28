// A handle with which another process would open memory: muscope has none.
#include <cuda_runtime.h>
#include <cstdio>
int main() {
  void* memory = nullptr;
  cudaMalloc(&memory, 4096);
  cudaIpcMemHandle_t handle;
  const cudaError_t e = cudaIpcGetMemHandle(&handle, memory);
  std::printf("handle: %s\n", cudaGetErrorName(e));
  return e == cudaSuccess ? 0 : 1;
}
