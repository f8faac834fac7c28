// Runtime API: Launches, function attributes, occupancy.
#ifndef MUSCOPE_RUNTIME_API_LAUNCH_H
#define MUSCOPE_RUNTIME_API_LAUNCH_H

#include "api_types.h"

#if defined(__cplusplus)
extern "C" {
#endif

MUSCOPE_API cudaError_t cudaLaunchKernel(const void* func, dim3 grid_dim, dim3 block_dim, void** args, size_t shared_mem, cudaStream_t stream);
MUSCOPE_API cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* func, void** args);
MUSCOPE_API cudaError_t cudaLaunchCooperativeKernel(const void* func, dim3 grid_dim, dim3 block_dim, void** args, size_t shared_mem, cudaStream_t stream);
MUSCOPE_API cudaError_t cudaFuncSetCacheConfig(const void* func, enum cudaFuncCache cache_config);
MUSCOPE_API cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes* attr, const void* func);
MUSCOPE_API cudaError_t cudaFuncSetAttribute(const void* func, enum cudaFuncAttribute attr, int value);
MUSCOPE_API cudaError_t cudaFuncGetName(const char** name, const void* func);
MUSCOPE_API cudaError_t cudaFuncGetParamInfo(const void* func, size_t param_index, size_t* param_offset, size_t* param_size);
MUSCOPE_API cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t fn, void* user_data);
MUSCOPE_API cudaError_t cudaFuncSetSharedMemConfig(const void* func, enum cudaSharedMemConfig config);
MUSCOPE_API cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* num_blocks, const void* func, int block_size, size_t dynamic_smem_size);
MUSCOPE_API cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t* dynamic_smem_size, const void* func, int num_blocks, int block_size);
MUSCOPE_API cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* num_blocks, const void* func, int block_size, size_t dynamic_smem_size, unsigned int flags);
MUSCOPE_API cudaError_t cudaOccupancyMaxPotentialClusterSize(int* cluster_size, const void* func, const cudaLaunchConfig_t* launch_config);
MUSCOPE_API cudaError_t cudaOccupancyMaxActiveClusters(int* num_clusters, const void* func, const cudaLaunchConfig_t* launch_config);
MUSCOPE_API cudaError_t cudaGetFuncBySymbol(cudaFunction_t* function_ptr, const void* symbol_ptr);
MUSCOPE_API cudaError_t cudaGetKernel(cudaKernel_t* kernel_ptr, const void* entry_func_addr);

#if defined(__cplusplus)
}
#endif

#endif
