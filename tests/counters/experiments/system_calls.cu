// How many registers does the driver give kernels that call its functions (printf, assert, malloc, free)? Their code is
// the driver's: it is linked in when the program starts. Prints what cudaFuncGetAttributes says: kernel, registers,
// local bytes. Built for a GPU and from PTX alone.
#include <cassert>
#include <cstdio>

__global__ void plain(int* p) { p[threadIdx.x] += 1; }
__global__ void prints(int* p) {
  if (p[threadIdx.x] == 77) printf("x");
}
__global__ void printsNumbers(int* p) { printf("%d %f %s\n", p[0], 1.5, "text"); }
__global__ void asserts(int* p) {
  assert(p[threadIdx.x] != 77);
  p[threadIdx.x] += 1;
}
__global__ void allocates(int** p) { p[threadIdx.x] = static_cast<int*>(malloc(16)); }
__global__ void frees(int** p) { free(p[threadIdx.x]); }
__global__ void allocatesAndFrees(int** p) {
  int* q = static_cast<int*>(malloc(16));
  if (q) *q = 1, p[0] = q;
  free(q);
}
__global__ void printsAndAllocates(int** p) {
  p[threadIdx.x] = static_cast<int*>(malloc(16));
  if (!p[threadIdx.x]) printf("none\n");
}
template <int kCount>
__global__ void many(const float* in, float* out, bool wrong) {
  float v[kCount];
#pragma unroll
  for (int i = 0; i < kCount; ++i) v[i] = in[threadIdx.x + i * 32];
  assert(!wrong);
#pragma unroll
  for (int i = 0; i < kCount; ++i) out[threadIdx.x + i * 32] = v[i] * v[(i + 7) % kCount];
}
template <int kCount>
__global__ void manyPrinted(const float* in, float* out, bool wrong) {
  float v[kCount];
#pragma unroll
  for (int i = 0; i < kCount; ++i) v[i] = in[threadIdx.x + i * 32];
  if (wrong) printf("wrong\n");
#pragma unroll
  for (int i = 0; i < kCount; ++i) out[threadIdx.x + i * 32] = v[i] * v[(i + 7) % kCount];
}
__global__ void __launch_bounds__(1024, 2) bounded(int* p) { assert(p[threadIdx.x] != 77); }
template <typename... Parameters>
void show(const char* name, void (*kernel)(Parameters...), Parameters... arguments) {
  cudaFuncAttributes a;
  if (cudaFuncGetAttributes(&a, kernel) != cudaSuccess) return;
  std::printf("%s\t%d\t%zu\n", name, a.numRegs, a.localSizeBytes);
  kernel<<<1, 32>>>(arguments...);
}
#define SHOW(f, ...) show(#f, f, __VA_ARGS__)
int main() {
  void* memory;
  if (cudaMalloc(&memory, 1 << 16) != cudaSuccess) return 1;
  cudaMemset(memory, 0, 1 << 16);
  int* const p = static_cast<int*>(memory);
  int** const pp = static_cast<int**>(memory);
  const float* const in = static_cast<float*>(memory);
  float* const out = static_cast<float*>(memory);
  SHOW(plain, p), SHOW(prints, p), SHOW(printsNumbers, p), SHOW(asserts, p), SHOW(bounded, p);
  cudaMemset(memory, 0, 1 << 16);
  SHOW(frees, pp), SHOW(allocates, pp), SHOW(allocatesAndFrees, pp), SHOW(printsAndAllocates, pp);
  SHOW(many<4>, in, out, false), SHOW(many<8>, in, out, false), SHOW(many<12>, in, out, false);
  SHOW(many<16>, in, out, false), SHOW(many<24>, in, out, false), SHOW(many<32>, in, out, false);
  SHOW(manyPrinted<4>, in, out, false), SHOW(manyPrinted<8>, in, out, false);
  SHOW(manyPrinted<16>, in, out, false), SHOW(manyPrinted<32>, in, out, false);
  std::fprintf(stderr, "%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
