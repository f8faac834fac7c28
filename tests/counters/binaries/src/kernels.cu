// Kernels whose resources differ in every figure that a cubin states: registers, shared memory, stack, spills,
// constants, thread limits. Compiled to cubins only.
__constant__ float weights[100];

extern "C" __global__ void plain(float* out) { out[threadIdx.x] = static_cast<float>(threadIdx.x); }

extern "C" __global__ void shared_tile(float* out, const float* in) {
  __shared__ float tile[32][33];
  tile[threadIdx.y][threadIdx.x] = in[threadIdx.y * 32 + threadIdx.x];
  __syncthreads();
  out[threadIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}

extern "C" __global__ void dynamic_shared(float* out) {
  extern __shared__ float buffer[];
  buffer[threadIdx.x] = out[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = buffer[blockDim.x - 1 - threadIdx.x];
}

extern "C" __global__ void local_array(int* out, int at) {
  int values[50];
#pragma unroll 1
  for (int i = 0; i < 50; ++i) values[(i * at) % 50] = out[i];
  out[threadIdx.x] = values[at] + values[threadIdx.x % 50];
}

extern "C" __global__ void __launch_bounds__(192) bounded(float* out) { out[threadIdx.x] *= 2.0f; }

extern "C" __global__ void from_constant(float* out, int at) { out[threadIdx.x] = weights[at] + weights[threadIdx.x]; }

extern "C" __global__ void __launch_bounds__(1024, 2) spilling(double* out) {
  double v[20];
#pragma unroll
  for (int i = 0; i < 20; ++i) v[i] = out[i * 32 + threadIdx.x];
  __syncthreads();
#pragma unroll
  for (int i = 0; i < 20; ++i) {
    double sum = 0.0;
#pragma unroll
    for (int k = 0; k < 20; ++k) sum += v[k] * v[(k * 3 + i) % 20];
    out[i * 32 + threadIdx.x] = sum;
  }
}
struct Big {
  int values[64];
};
extern "C" __global__ void many_parameters(int* out, Big big, double scale) {
  out[threadIdx.x] = static_cast<int>(big.values[threadIdx.x & 63] * scale);
}
