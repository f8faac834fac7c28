// How many clusters run at one time, by size, threads and shared memory: cluster_occupancy_h200.txt holds an H200's
// answers (CUDA 13.0, driver 580.159), taken with `nvcc -arch=sm_90 cluster_occupancy.cu`.
#include <cuda_runtime.h>

#include <cstdio>

__global__ void plain(int* out) {
  extern __shared__ int words[];
  if (out != nullptr) *out = words[0];
}

__global__ void large(int* out) {
  extern __shared__ int words[];
  if (out != nullptr) *out = words[0] + 1;
}

using Kernel = void (*)(int*);

static void ask(const char* name, Kernel kernel, int size, int threads, std::size_t shared, int grid) {
  cudaLaunchConfig_t config{};
  config.gridDim = grid, config.blockDim = threads, config.dynamicSmemBytes = shared;
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim = {static_cast<unsigned>(size), 1, 1};
  config.attrs = &attribute, config.numAttrs = 1;
  int clusters = -1, blocks = -1;
  const cudaError_t error = cudaOccupancyMaxActiveClusters(&clusters, kernel, &config);
  const cudaError_t last = cudaGetLastError();
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads, shared);
  std::printf("%s size %d threads %d smem %zu grid %d: %d %s last %s blocks/sm %d\n", name, size, threads, shared, grid,
              clusters, cudaGetErrorName(error), cudaGetErrorName(last), blocks);
}

static void ask_largest(const char* name, Kernel kernel, int grid) {
  cudaLaunchConfig_t config{};
  config.gridDim = grid, config.blockDim = 128;
  int size = -1;
  const cudaError_t error = cudaOccupancyMaxPotentialClusterSize(&size, kernel, &config);
  std::printf("potential %s %d %s\n", name, size, cudaGetErrorName(error));
}

int main() {
  constexpr std::size_t kMost = 232448;  // bytes of shared memory that a block may have
  cudaFuncSetAttribute(plain, cudaFuncAttributeMaxDynamicSharedMemorySize, kMost);
  cudaFuncSetAttribute(large, cudaFuncAttributeMaxDynamicSharedMemorySize, kMost);
  cudaFuncSetAttribute(large, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
  for (int size = 0; size <= 40; ++size) {
    ask("plain", plain, size, 128, kMost, size);
    ask("large", large, size, 128, kMost, size);
  }
  for (const int size : {2, 3, 5, 8}) {
    ask("plain", plain, size, 128, 0, size + 1);
    ask("plain", plain, size, 128, 0, 0);
    ask("plain", plain, size, 128, 300000, size);
  }
  for (const int threads : {32, 64, 128, 256, 512, 1024})
    for (int size = 1; size <= 16; ++size)
      for (const std::size_t shared : {0, 40000, 100000}) ask("large", large, size, threads, shared, size * 64);
  ask_largest("plain", plain, 64);
  ask_largest("large", large, 64);
  ask_largest("large grid 3:", large, 3);
}
