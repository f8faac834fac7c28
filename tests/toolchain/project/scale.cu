#include "kernels.h"

namespace {
__global__ void scale_kernel(float* data, float factor, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] *= factor;
}
}  // namespace

void scale(float* device_data, float factor, int n) { scale_kernel<<<(n + 127) / 128, 128>>>(device_data, factor, n); }
