// A second translation unit for code.cu, with inlined calls of its own.
#include "code_inline.h"

__device__ int own[5];

__device__ __noinline__ float shorten(float x) {
  return outer(x) - own[1];  // shorten calls outer
}

extern "C" __global__ void shortens(float* x) { x[0] = shorten(x[1]); }
