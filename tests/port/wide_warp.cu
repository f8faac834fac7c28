// What takes warps of 32 lanes for granted, each with the code that a run with a card of 128-lane warps gives for it.
#include <cuda_runtime.h>
#include <cstdio>
__device__ float sum32(float v) {
  for (int o = 16; o > 0; o /= 2) v += __shfl_down_sync(0xffffffffu, v, o);  // D630
  return v;
}
__device__ float sum32w(float v) {
  for (int o = 16; o > 0; o /= 2)
    v += __shfl_down_sync(0xffffffffu, v, o, 32);
  return v;
}
__global__ void reduce(float* out, const float* in) {
  __shared__ float part[32];
  float v = in[blockIdx.x * blockDim.x + threadIdx.x];
  v = sum32(v) + sum32w(v);
  const int lane = threadIdx.x & 31;  // D632
  if (lane == 0) part[threadIdx.x >> 5] = v;  // D632
  __syncthreads();
  if (threadIdx.x < 32) {  // D632
    volatile float* s = part;
    s[lane] += s[lane ^ 1];
    s[lane] += s[lane ^ 2];  // D633
    if (lane == 0) out[blockIdx.x] = s[0];
  }
  if (__popc(__ballot_sync(0xffffffffu, v > 0)) > 40) out[0] = 1;  // D631
}
__global__ void big(float* out) {
  __shared__ float tile[9000];
  tile[threadIdx.x] = threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = tile[threadIdx.x ^ 1];
}
int main() {
  float *in, *out;
  cudaMalloc(&in, 4096 * 4);
  cudaMalloc(&out, 4096 * 4);
  cudaMemset(in, 0, 4096 * 4);
  reduce<<<4, 160>>>(out, in);
  big<<<1, 128>>>(out);
  printf("%d\n", (int)cudaDeviceSynchronize());
}
