// What the two files of rdc_shared use of each other. Needs -rdc=true.
#pragma once

extern __device__ int triple(int value);  // rdc_part.cu
extern __device__ int bias;               // rdc_part.cu
extern __device__ int launches;           // rdc_main.cu
extern __constant__ int table[4];         // rdc_main.cu

/// In both files, and once in the program.
template <typename T>
__device__ __noinline__ T twice(T value) {
  return value + value;
}

/// Launches a kernel of rdc_part.cu that writes its 32 results.
cudaError_t run_part(int* device_out);
