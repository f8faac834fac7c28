// Barriers that nothing needs, and the ones that only look like it (A203). No cases of the table: kernels of our own.
#include "case.h"

constexpr int kThreads = 128;

// Each thread has its own element: no barrier is needed.
__global__ void own_element(const float* in, float* out) {  //! own launch kernel=own_element advice=A203 says="no data passes between warps"
  __shared__ volatile float values[kThreads];
  const int i = blockIdx.x * kThreads + threadIdx.x;
  values[threadIdx.x] = in[i];
  __syncthreads();
  out[i] = 2 * values[threadIdx.x];
}

__device__ __forceinline__ void sum_tiles(const float* in, float* out, int turns) {
  __shared__ volatile float values[kThreads];
  float sum = 0;
#pragma unroll 1
  for (int turn = 0; turn < turns; ++turn) {
    values[threadIdx.x] = in[turn * kThreads + threadIdx.x];
    __syncthreads();
    sum += values[(threadIdx.x + 32) % kThreads];
    __syncthreads();
  }
  out[blockIdx.x * kThreads + threadIdx.x] = sum;
}

// A tile is loaded, used by all warps and overwritten in the next turn: both barriers are needed.
__global__ void tile(const float* in, float* out, int turns) {  //! tile launch kernel=tile not=A203
  sum_tiles(in, out, turns);
}

// One turn shows no need of the second barrier: the next size has it.
__global__ void one_turn(const float* in, float* out, int turns) {  //! one launch kernel=one_turn not=A203
  sum_tiles(in, out, turns);
}

// A tree whose last turns are of one warp; the last five without barriers, as was usual with volatile.
__global__ void tree(const float* in, float* out) {  //! tree launch kernel=tree not=A203
  __shared__ volatile float values[kThreads];
  const int t = threadIdx.x;
  values[t] = in[blockIdx.x * kThreads + t];
  __syncthreads();
#pragma unroll 1
  for (int half = kThreads / 2; half > 16; half /= 2) {
    if (t < half) values[t] += values[t + half];
    __syncthreads();
  }
  if (t < 16)
    for (int half = 16; half > 0; half /= 2) {
      const float other = values[t + half];
      __syncwarp(0xffff);
      values[t] += other;
      __syncwarp(0xffff);
    }
  if (t == 0) out[blockIdx.x] = values[0];
}

// Sums of blocks, added by the block that comes last: the barrier keeps stores from the flag that other blocks look at.
__device__ unsigned arrived;
__global__ void last_block(float* out) {  //! last launch kernel=last_block not=A203
  out[blockIdx.x * kThreads + threadIdx.x] = 1;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) atomicAdd(&arrived, 1u);
}

int main() {
  float* in = device_array<float>(4096);
  float* out = device_array<float>(4096);
  own_element<<<8, kThreads>>>(in, out);
  tile<<<8, kThreads>>>(in, out, 8);
  one_turn<<<8, kThreads>>>(in, out, 1);
  tree<<<8, kThreads>>>(in, out);
  last_block<<<8, kThreads>>>(out);
  finish();
}
