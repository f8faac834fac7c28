// Runtime API: Stream-ordered allocation and memory pools.
#ifndef MUSCOPE_RUNTIME_API_MEMORY_POOLS_H
#define MUSCOPE_RUNTIME_API_MEMORY_POOLS_H

#include "api_types.h"

#if defined(__cplusplus)
extern "C" {
#endif

MUSCOPE_API cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* mem_pool, int device);
MUSCOPE_API cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t mem_pool);
MUSCOPE_API cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* mem_pool, int device);
MUSCOPE_API cudaError_t cudaMallocAsync(void** dev_ptr, size_t size, cudaStream_t stream);
MUSCOPE_API cudaError_t cudaFreeAsync(void* dev_ptr, cudaStream_t stream);
MUSCOPE_API cudaError_t cudaMemPoolTrimTo(cudaMemPool_t mem_pool, size_t min_bytes_to_keep);
MUSCOPE_API cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t mem_pool, enum cudaMemPoolAttr attr, void* value);
MUSCOPE_API cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t mem_pool, enum cudaMemPoolAttr attr, void* value);
MUSCOPE_API cudaError_t cudaMemPoolSetAccess(cudaMemPool_t mem_pool, const struct cudaMemAccessDesc* desc_list, size_t count);
MUSCOPE_API cudaError_t cudaMemPoolGetAccess(enum cudaMemAccessFlags* flags, cudaMemPool_t mem_pool, struct cudaMemLocation* location);
MUSCOPE_API cudaError_t cudaMemPoolCreate(cudaMemPool_t* mem_pool, const struct cudaMemPoolProps* pool_props);
MUSCOPE_API cudaError_t cudaMemPoolDestroy(cudaMemPool_t mem_pool);
MUSCOPE_API cudaError_t cudaMemGetDefaultMemPool(cudaMemPool_t* mem_pool, struct cudaMemLocation* location, enum cudaMemAllocationType type);
MUSCOPE_API cudaError_t cudaMemGetMemPool(cudaMemPool_t* mem_pool, struct cudaMemLocation* location, enum cudaMemAllocationType type);
MUSCOPE_API cudaError_t cudaMemSetMemPool(struct cudaMemLocation* location, enum cudaMemAllocationType type, cudaMemPool_t mem_pool);
MUSCOPE_API cudaError_t cudaMallocFromPoolAsync(void** ptr, size_t size, cudaMemPool_t mem_pool, cudaStream_t stream);
MUSCOPE_API cudaError_t cudaMemPoolExportToShareableHandle(void* shareable_handle, cudaMemPool_t mem_pool, enum cudaMemAllocationHandleType handle_type, unsigned int flags);
MUSCOPE_API cudaError_t cudaMemPoolImportFromShareableHandle(cudaMemPool_t* mem_pool, void* shareable_handle, enum cudaMemAllocationHandleType handle_type, unsigned int flags);
MUSCOPE_API cudaError_t cudaMemPoolExportPointer(struct cudaMemPoolPtrExportData* export_data, void* ptr);
MUSCOPE_API cudaError_t cudaMemPoolImportPointer(void** ptr, cudaMemPool_t mem_pool, struct cudaMemPoolPtrExportData* export_data);

#if defined(__cplusplus)
}
#endif

#endif
