// The runtime and the 16-bit types serve C++ without CUDA.
#include <cuComplex.h>
#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <vector>

int main() {
  float* pointer = nullptr;
  if (cudaMalloc(&pointer, 16) != cudaSuccess) return 1;
  const float4 v = make_float4(1, 2, 3, 4);
  const __half h(1.5f);
  const __nv_bfloat16 b(1.5f);
  const dim3 grid(1, 2);
  const cuComplex z = cuCmulf(make_cuComplex(0, 1), make_cuComplex(0, 1));
  return int(grid.z + v.x) - int(float(h) + float(b)) + int(z.x);
}
