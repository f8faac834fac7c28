// A graph made by stream capture.
#include <cuda_runtime.h>
#include <cstdio>
__global__ void add(int* p) { atomicAdd(p, 1); }
int main() {
  int* p;
  cudaMalloc(&p, 4);
  cudaStream_t s;
  cudaStreamCreate(&s);
  cudaError_t e = cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
  std::printf("capture: %s\n", cudaGetErrorName(e));
  add<<<1, 1, 0, s>>>(p);
  return e == cudaSuccess ? 0 : 1;
}
