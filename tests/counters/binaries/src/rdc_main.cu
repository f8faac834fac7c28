// Two translation units with a device function called across them: needs -rdc=true.
#include <cstdio>

extern __device__ int triple(int value);

__global__ void apply(int* out) { out[threadIdx.x] = triple(static_cast<int>(threadIdx.x)); }

int main() {
  int out[32];
  int* device_out = nullptr;
  bool ok = cudaMalloc(&device_out, sizeof out) == cudaSuccess;
  if (ok) apply<<<1, 32>>>(device_out);
  ok = ok && cudaMemcpy(out, device_out, sizeof out, cudaMemcpyDeviceToHost) == cudaSuccess;
  for (int i = 0; ok && i < 32; ++i) ok = out[i] == 3 * i;
  cudaFree(device_out);
  std::puts(ok ? "rdc PASS" : "rdc FAIL");
  return ok ? 0 : 1;
}
