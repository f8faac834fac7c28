// Typed forms of launches, function attributes and occupancy: kernels by name, arguments checked.
#ifndef MUSCOPE_RUNTIME_TYPED_LAUNCH_H
#define MUSCOPE_RUNTIME_TYPED_LAUNCH_H

#include <memory>
#include <utility>

#include "../../cuda_runtime_api.h"

namespace muscope_toolkit {
// A kernel's address is that of its host stub; cudaKernel_t and cudaFunction_t handles pass through.
template <class T>
static inline const void* kernel_address(T* kernel) {
  return (const void*)kernel;
}
}  // namespace muscope_toolkit

template <class T>
static inline cudaError_t cudaLaunchKernel(T* kernel, dim3 grid, dim3 block, void** args, size_t shared = 0,
                                           cudaStream_t stream = 0) {
  return ::cudaLaunchKernel(muscope_toolkit::kernel_address(kernel), grid, block, args, shared, stream);
}
template <class T>
static inline cudaError_t cudaLaunchCooperativeKernel(T* kernel, dim3 grid, dim3 block, void** args, size_t shared = 0,
                                                      cudaStream_t stream = 0) {
  return ::cudaLaunchCooperativeKernel(muscope_toolkit::kernel_address(kernel), grid, block, args, shared, stream);
}
template <class... Params, class... Args>
static inline cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* config, void (*kernel)(Params...),
                                             Args&&... args) {
  return [&](Params... values) {
    void* addresses[sizeof...(Params) + 1] = {
        const_cast<void*>(static_cast<const volatile void*>(std::addressof(values)))..., nullptr};
    return ::cudaLaunchKernelExC(config, reinterpret_cast<const void*>(kernel), addresses);
  }(std::forward<Args>(args)...);
}

template <class T>
static inline cudaError_t cudaFuncSetCacheConfig(T* kernel, cudaFuncCache config) {
  return ::cudaFuncSetCacheConfig(muscope_toolkit::kernel_address(kernel), config);
}
template <class T>
static inline cudaError_t cudaFuncSetSharedMemConfig(T* kernel, cudaSharedMemConfig config) {
  return ::cudaFuncSetSharedMemConfig(muscope_toolkit::kernel_address(kernel), config);
}
template <class T>
static inline cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, T* kernel) {
  return ::cudaFuncGetAttributes(attributes, muscope_toolkit::kernel_address(kernel));
}
template <class T>
static inline cudaError_t cudaFuncSetAttribute(T* kernel, cudaFuncAttribute attribute, int value) {
  return ::cudaFuncSetAttribute(muscope_toolkit::kernel_address(kernel), attribute, value);
}
template <class T>
static inline cudaError_t cudaFuncGetName(const char** name, T* kernel) {
  return ::cudaFuncGetName(name, muscope_toolkit::kernel_address(kernel));
}

template <class T>
static inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, T kernel, int block_size,
                                                                        size_t dynamic_shared) {
  return ::cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, muscope_toolkit::kernel_address(kernel),
                                                                  block_size, dynamic_shared, cudaOccupancyDefault);
}
template <class T>
static inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, T kernel, int block_size,
                                                                                 size_t dynamic_shared,
                                                                                 unsigned int flags) {
  return ::cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, muscope_toolkit::kernel_address(kernel),
                                                                  block_size, dynamic_shared, flags);
}
template <class T>
static inline cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t* bytes, T* kernel, int blocks,
                                                                    int block_size) {
  return ::cudaOccupancyAvailableDynamicSMemPerBlock(bytes, muscope_toolkit::kernel_address(kernel), blocks,
                                                     block_size);
}

/// The block size, a multiple of the warp size, with the most resident threads on a multiprocessor; the largest such
/// block when several tie. `shared_of(block_size)` gives the dynamic shared memory of a block. `min_grid` receives the
/// number of blocks that fill the device once.
template <class SharedOf, class T>
static inline cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMemWithFlags(int* min_grid, int* block_size,
                                                                                  T kernel, SharedOf shared_of,
                                                                                  int limit = 0,
                                                                                  unsigned int flags = 0) {
  if (!min_grid || !block_size || !muscope_toolkit::kernel_address(kernel)) return cudaErrorInvalidValue;
  int device = 0, multiprocessors = 0, resident_threads = 0, device_limit = 0, warp = 0;
  cudaFuncAttributes attributes;
  cudaError_t status = ::cudaGetDevice(&device);
  if (status == cudaSuccess) {
    status = ::cudaDeviceGetAttribute(&resident_threads, cudaDevAttrMaxThreadsPerMultiProcessor, device);
  }
  if (status == cudaSuccess) status = ::cudaDeviceGetAttribute(&device_limit, cudaDevAttrMaxThreadsPerBlock, device);
  if (status == cudaSuccess) {
    status = ::cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
  }
  if (status == cudaSuccess) status = ::cudaDeviceGetAttribute(&warp, cudaDevAttrWarpSize, device);
  if (status == cudaSuccess) status = cudaFuncGetAttributes(&attributes, kernel);
  if (status != cudaSuccess) return status;
  int largest = attributes.maxThreadsPerBlock < device_limit ? attributes.maxThreadsPerBlock : device_limit;
  if (limit > 0 && limit < largest) largest = limit;
  int best_threads = 0, best_blocks = 0, best_size = 0;
  for (int rounded = (largest + warp - 1) / warp * warp; rounded > 0; rounded -= warp) {
    const int size = rounded < largest ? rounded : largest;
    int blocks = 0;
    status = cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, kernel, size, shared_of(size), flags);
    if (status != cudaSuccess) return status;
    if (size * blocks > best_threads) {
      best_threads = size * blocks;
      best_blocks = blocks;
      best_size = size;
    }
    if (best_threads == resident_threads) break;
  }
  *min_grid = best_blocks * multiprocessors;
  *block_size = best_size;
  return cudaSuccess;
}
template <class SharedOf, class T>
static inline cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMem(int* min_grid, int* block_size, T kernel,
                                                                         SharedOf shared_of, int limit = 0) {
  return cudaOccupancyMaxPotentialBlockSizeVariableSMemWithFlags(min_grid, block_size, kernel, shared_of, limit);
}
template <class T>
static inline cudaError_t cudaOccupancyMaxPotentialBlockSizeWithFlags(int* min_grid, int* block_size, T kernel,
                                                                      size_t dynamic_shared = 0, int limit = 0,
                                                                      unsigned int flags = 0) {
  return cudaOccupancyMaxPotentialBlockSizeVariableSMemWithFlags(
      min_grid, block_size, kernel, [dynamic_shared](int) { return dynamic_shared; }, limit, flags);
}
template <class T>
static inline cudaError_t cudaOccupancyMaxPotentialBlockSize(int* min_grid, int* block_size, T kernel,
                                                             size_t dynamic_shared = 0, int limit = 0) {
  return cudaOccupancyMaxPotentialBlockSizeWithFlags(min_grid, block_size, kernel, dynamic_shared, limit);
}
template <class T>
static inline cudaError_t cudaOccupancyMaxPotentialClusterSize(int* size, T* kernel, const cudaLaunchConfig_t* config) {
  return ::cudaOccupancyMaxPotentialClusterSize(size, muscope_toolkit::kernel_address(kernel), config);
}
template <class T>
static inline cudaError_t cudaOccupancyMaxActiveClusters(int* clusters, T* kernel, const cudaLaunchConfig_t* config) {
  return ::cudaOccupancyMaxActiveClusters(clusters, muscope_toolkit::kernel_address(kernel), config);
}

#endif
