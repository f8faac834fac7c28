// P-B3 and P-B4: accesses that are not aligned end the launch. The argument chooses which.
#include <cstring>

#include "case.h"

// Rows of v floats, taken 16 bytes at a time.
__global__ void b3_rows(const float* in, float* out, int v, int row) {
  out[threadIdx.x] = load(reinterpret_cast<const float4*>(in + row * v) + threadIdx.x).x;
}
__global__ void b4_odd_byte(const char* in, int* out) {
  out[threadIdx.x] = *reinterpret_cast<const volatile int*>(in + 3 * threadIdx.x);
}

int main(int argc, char** argv) {
  float* in = device_array<float>(4096);
  float* out = device_array<float>(4096);
  if (argc > 3) b3_rows<<<1, 4>>>(in + std::atoi(argv[3]), out, std::atoi(argv[1]), std::atoi(argv[2]));
  else b4_odd_byte<<<1, 3>>>(reinterpret_cast<char*>(in), reinterpret_cast<int*>(out));
  const cudaError_t error = cudaDeviceSynchronize();
  std::printf("%d\n", static_cast<int>(error));
}
