// Plain C++ that calls the CUDA runtime and kernels in a library. Prints PASS when 3 * i + 1 comes back.
#include <cstdio>
#include <vector>

#include <cuda_runtime.h>

#include "kernels.h"

#ifndef FACTOR
#error "the definition from the command line is missing"
#endif

int main() {
  constexpr int kCount = 1000;
  std::vector<float> values(kCount);
  for (int i = 0; i < kCount; ++i) values[i] = static_cast<float>(i);
  float* device = nullptr;
  if (cudaMalloc(reinterpret_cast<void**>(&device), kCount * sizeof(float)) != cudaSuccess) return std::puts("FAIL cudaMalloc"), 1;
  cudaMemcpy(device, values.data(), kCount * sizeof(float), cudaMemcpyHostToDevice);
  scale(device, FACTOR, kCount);
  add(device, 1.0f, kCount);
  cudaMemcpy(values.data(), device, kCount * sizeof(float), cudaMemcpyDeviceToHost);
  cudaFree(device);
  for (int i = 0; i < kCount; ++i) {
    if (values[i] != FACTOR * static_cast<float>(i) + 1.0f) return std::printf("FAIL at %d: %g\n", i, values[i]), 1;
  }
  std::puts("PASS");
}
