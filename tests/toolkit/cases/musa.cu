// MUSA's names for the same program.
// FLAGS: -include musa_runtime.h
#include <musa.h>
#include <musa_bf16.h>
#include <musa_fp16.h>

__constant__ float factors[4];

__global__ void scale(float* y, const float* x, __mt_bfloat16* b) {
  y[threadIdx.x] = x[threadIdx.x] * factors[0];
  b[threadIdx.x] = __mt_bfloat16(y[threadIdx.x]);
}

int main() {
  float *x, *y;
  if (musaMalloc(&x, 128) != musaSuccess || musaMalloc((void**)&y, 128) != musaSuccess)
    return musaErrorMemoryAllocation;
  float host[4] = {2, 2, 2, 2};
  musaMemcpyToSymbol(factors, host, sizeof host);
  scale<<<1, 32>>>(y, x, nullptr);
  musaDeviceProp properties;
  musaGetDeviceProperties(&properties, 0);
  MUdevice device;
  MUdeviceptr memory;
  if (muInit(0) != MUSA_SUCCESS || muDeviceGet(&device, 0) != MUSA_SUCCESS || muMemAlloc(&memory, 128) != MUSA_SUCCESS)
    return MUSA_ERROR_OUT_OF_MEMORY;
  muMemFree(memory);
  musaStream_t stream;
  musaStreamCreate(&stream);
  return musaMemcpy(host, y, sizeof host, musaMemcpyDeviceToHost) != musaSuccess;
}
