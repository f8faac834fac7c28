// Which part of L1 does the driver set aside as shared memory? Launches kernels that do nothing, of four register counts,
// as a list says; Nsight Compute prints launch__shared_mem_config_size of each:
//
//   nvcc -O2 -arch=sm_90 -o carveouts carveouts.cu
//   ncu --clock-control none --csv --page raw --metrics launch__shared_mem_config_size,launch__block_size,\
//       launch__registers_per_thread,launch__shared_mem_per_block_dynamic ./carveouts LIST
//
// Each line of LIST: kernel (0 to 3), threads per block, dynamic shared bytes, blocks, preferred carve-out in percent (-1:
// none), cache configuration (0 none, 1 shared, 2 L1, 3 equal). carveouts.tsv is what an H200 chose in 6,996 such launches,
// neighbouring sizes with the same choice in one row; the number of blocks made no difference.
#include <cstdio>

template <int N>
__global__ void idle(float* p, int n) {
  extern __shared__ float shared[];
  if (n <= 0) return;
  float v[N];
  for (int r = 0; r < n; ++r) {
#pragma unroll
    for (int i = 0; i < N; ++i) v[i] = p[i * 64 + r * 7];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < N; ++i) p[i * 32 + threadIdx.x] = v[i] * v[(i * 7 + 3) % N];
  }
  shared[threadIdx.x] = p[0];
  __syncthreads();
  p[threadIdx.x] = shared[threadIdx.x ^ 1];
}

int main(int argc, char** argv) {
  std::FILE* const list = argc > 1 ? std::fopen(argv[1], "r") : nullptr;
  if (list == nullptr) return 2;
  void (*const kernels[])(float*, int) = {idle<2>, idle<24>, idle<60>, idle<120>};
  char line[256];
  while (std::fgets(line, sizeof line, list)) {
    int kernel, threads, shared, blocks, percent, config;
    if (std::sscanf(line, "%d %d %d %d %d %d", &kernel, &threads, &shared, &blocks, &percent, &config) != 6) continue;
    const void* const function = reinterpret_cast<const void*>(kernels[kernel & 3]);
    cudaFuncSetAttribute(function, cudaFuncAttributeMaxDynamicSharedMemorySize, shared > 49152 ? shared : 49152);
    cudaFuncSetAttribute(function, cudaFuncAttributePreferredSharedMemoryCarveout, percent);
    cudaFuncSetCacheConfig(function, static_cast<cudaFuncCache>(config));
    kernels[kernel & 3]<<<blocks, threads, shared>>>(nullptr, 0);
    if (const cudaError_t error = cudaGetLastError()) std::printf("%s: %s", cudaGetErrorName(error), line);
  }
  std::fclose(list);
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
