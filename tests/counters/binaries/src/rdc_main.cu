// Two translation units whose device code uses each other's functions, variables and constants: needs -rdc=true.
#include <cstdio>

#include "rdc_parts.h"

__device__ int launches = 40;
__constant__ int table[4] = {1, 10, 100, 1000};
static __device__ int own = 5;  // rdc_part.cu has one of this name too

__global__ void apply(int* out) {
  out[threadIdx.x] = triple(static_cast<int>(threadIdx.x)) + bias + twice(own);
  if (threadIdx.x == 0) ++launches;
}

namespace {

bool read_back(const int* device_out, int* out) {
  return cudaMemcpy(out, device_out, 32 * sizeof(int), cudaMemcpyDeviceToHost) == cudaSuccess;
}

}  // namespace

int main() {
  int out[32];
  int* device_out = nullptr;
  bool ok = cudaMalloc(&device_out, sizeof out) == cudaSuccess;
  if (ok) apply<<<1, 32>>>(device_out);
  ok = ok && read_back(device_out, out);
  for (int i = 0; ok && i < 32; ++i) ok = out[i] == 3 * i + 7 + 10;
  // A symbol of the other file, from host code of this one.
  const int bias_now = 1000;
  ok = ok && cudaMemcpyToSymbol(bias, &bias_now, sizeof bias_now) == cudaSuccess;
  if (ok) apply<<<1, 32>>>(device_out);
  ok = ok && read_back(device_out, out);
  for (int i = 0; ok && i < 32; ++i) ok = out[i] == 3 * i + 1000 + 10;
  // A kernel of the other file, with this file's variable and constants.
  ok = ok && run_part(device_out) == cudaSuccess && read_back(device_out, out);
  const int powers[4] = {1, 10, 100, 1000};
  for (int i = 0; ok && i < 32; ++i) ok = out[i] == 3 * powers[i % 4] + 42 + 2 * 6;
  int launches_now = 0;
  ok = ok && cudaMemcpyFromSymbol(&launches_now, launches, sizeof launches_now) == cudaSuccess && launches_now == 52;
  cudaFree(device_out);
  std::puts(ok ? "rdc PASS" : "rdc FAIL");
  return ok ? 0 : 1;
}
