// What clang makes when it embeds PTX text itself as the "fat binary" (-fcuda-include-gpubinary FILE.ptx): the runtime
// is handed raw, NUL-terminated PTX. Declares the few runtime functions it needs, so that no CUDA headers are used.
#include <cstddef>
#include <cstdio>

#define __global__ __attribute__((global))
struct dim3 {
  unsigned x, y, z;
  dim3(unsigned x_, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
};
using cudaStream_t = struct CUstream_st*;
using cudaError_t = int;
extern "C" cudaError_t cudaMalloc(void**, std::size_t);
extern "C" cudaError_t cudaFree(void*);
extern "C" cudaError_t cudaMemcpy(void*, const void*, std::size_t, int);
extern "C" cudaError_t cudaLaunchKernel(const void*, dim3, dim3, void**, std::size_t, cudaStream_t);
extern "C" unsigned __cudaPushCallConfiguration(dim3, dim3, std::size_t = 0, cudaStream_t = nullptr);
extern "C" cudaError_t __cudaPopCallConfiguration(dim3*, dim3*, std::size_t*, cudaStream_t*);

__global__ void fill(int* out) { out[__nvvm_read_ptx_sreg_tid_x()] = 7 * __nvvm_read_ptx_sreg_tid_x() + 1; }

#ifndef __CUDA_ARCH__
int main() {
  int out[64];
  void* device_out = nullptr;
  bool ok = cudaMalloc(&device_out, sizeof out) == 0;
  if (ok) fill<<<1, 64>>>(static_cast<int*>(device_out));
  ok = ok && cudaMemcpy(out, device_out, sizeof out, 2) == 0;
  for (int i = 0; ok && i < 64; ++i) ok = out[i] == 7 * i + 1;
  cudaFree(device_out);
  std::puts(ok ? "raw_ptx PASS" : "raw_ptx FAIL");
  return ok ? 0 : 1;
}
#endif
