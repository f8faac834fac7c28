// What machine code can contain: inlined calls, calls, function pointers, branch tables, system functions, constants,
// initialised data. The comments at the ends of lines are looked up by code_image_test.cc.
#include <cstdio>

#include "code_inline.h"

__constant__ int scales[4] = {3, 5, 7, 11};
__constant__ int offset;
__device__ int table[3] = {10, 20, 30};
__device__ int counter;
__device__ int* into_table = table + 1;

__device__ __noinline__ int twice(int x) {
  return 2 * x + counter;  // body of twice
}
__device__ __noinline__ int thrice(int x) {
  return 3 * x - table[x & 1];  // body of thrice
}
typedef int (*Function)(int);
__device__ Function functions[2] = {twice, thrice};

extern "C" __global__ void inlines(float* x) {
  x[threadIdx.x] = outer(x[threadIdx.x]);  // inlines calls outer
}

extern "C" __global__ void calls(int* x) {
  x[0] = twice(x[1]);   // first call
  x[3] = thrice(x[2]);  // second call
}

extern "C" __global__ void indirect(int* x) { x[0] = functions[x[1] & 1](x[2]); }

extern "C" __global__ void constants(int* x) { x[threadIdx.x] = scales[threadIdx.x & 3] + offset + *into_table; }

extern "C" __global__ void switches(int* x, int which) {
  switch (which) {
    case 0: x[0] = x[1] * x[2]; break;
    case 1: x[3] = x[1] + 7; break;
    case 2: x[5] = __popc(x[1]); break;
    case 3: x[6] = x[1] ^ x[9]; break;
    case 4: x[8] = __clz(x[1]); break;
    default: x[10] = 1;
  }
}

extern "C" __global__ void prints(int* x) { printf("%d\n", x[0]); }
