// Runtime API: Allocation, copies, fills, symbols, managed memory.
#ifndef MUSCOPE_RUNTIME_API_MEMORY_H
#define MUSCOPE_RUNTIME_API_MEMORY_H

#include "api_types.h"

#if defined(__cplusplus)
extern "C" {
#endif

MUSCOPE_API cudaError_t cudaDeviceGetSharedMemConfig(enum cudaSharedMemConfig* config);
MUSCOPE_API cudaError_t cudaDeviceSetSharedMemConfig(enum cudaSharedMemConfig config);
MUSCOPE_API cudaError_t cudaMallocManaged(void** dev_ptr, size_t size, unsigned int flags MUSCOPE_DEFAULT(1));
MUSCOPE_API cudaError_t cudaMalloc(void** dev_ptr, size_t size);
MUSCOPE_API cudaError_t cudaMallocHost(void** ptr, size_t size);
MUSCOPE_API cudaError_t cudaMallocPitch(void** dev_ptr, size_t* pitch, size_t width, size_t height);
MUSCOPE_API cudaError_t cudaMallocArray(cudaArray_t* array, const struct cudaChannelFormatDesc* desc, size_t width, size_t height MUSCOPE_DEFAULT(0), unsigned int flags MUSCOPE_DEFAULT(0));
MUSCOPE_API cudaError_t cudaFree(void* dev_ptr);
MUSCOPE_API cudaError_t cudaFreeHost(void* ptr);
MUSCOPE_API cudaError_t cudaFreeArray(cudaArray_t array);
MUSCOPE_API cudaError_t cudaFreeMipmappedArray(cudaMipmappedArray_t mipmapped_array);
MUSCOPE_API cudaError_t cudaHostAlloc(void** host, size_t size, unsigned int flags);
MUSCOPE_API cudaError_t cudaHostRegister(void* ptr, size_t size, unsigned int flags);
MUSCOPE_API cudaError_t cudaHostUnregister(void* ptr);
MUSCOPE_API cudaError_t cudaHostGetDevicePointer(void** device, void* host, unsigned int flags);
MUSCOPE_API cudaError_t cudaHostGetFlags(unsigned int* flags, void* host);
MUSCOPE_API cudaError_t cudaMalloc3D(struct cudaPitchedPtr* pitched_dev_ptr, struct cudaExtent extent);
MUSCOPE_API cudaError_t cudaMalloc3DArray(cudaArray_t* array, const struct cudaChannelFormatDesc* desc, struct cudaExtent extent, unsigned int flags MUSCOPE_DEFAULT(0));
MUSCOPE_API cudaError_t cudaMallocMipmappedArray(cudaMipmappedArray_t* mipmapped_array, const struct cudaChannelFormatDesc* desc, struct cudaExtent extent, unsigned int num_levels, unsigned int flags MUSCOPE_DEFAULT(0));
MUSCOPE_API cudaError_t cudaGetMipmappedArrayLevel(cudaArray_t* level_array, cudaMipmappedArray_const_t mipmapped_array, unsigned int level);
MUSCOPE_API cudaError_t cudaMemcpy3D(const struct cudaMemcpy3DParms* p);
MUSCOPE_API cudaError_t cudaMemcpy3DPeer(const struct cudaMemcpy3DPeerParms* p);
MUSCOPE_API cudaError_t cudaMemcpy3DAsync(const struct cudaMemcpy3DParms* p, cudaStream_t stream MUSCOPE_DEFAULT(0));
MUSCOPE_API cudaError_t cudaMemcpy3DPeerAsync(const struct cudaMemcpy3DPeerParms* p, cudaStream_t stream MUSCOPE_DEFAULT(0));
MUSCOPE_API cudaError_t cudaMemGetInfo(size_t* free, size_t* total);
MUSCOPE_API cudaError_t cudaArrayGetInfo(struct cudaChannelFormatDesc* desc, struct cudaExtent* extent, unsigned int* flags, cudaArray_t array);
MUSCOPE_API cudaError_t cudaArrayGetPlane(cudaArray_t* plane_array, cudaArray_t array, unsigned int plane_idx);
MUSCOPE_API cudaError_t cudaMemcpy(void* dst, const void* src, size_t count, enum cudaMemcpyKind kind);
MUSCOPE_API cudaError_t cudaMemcpyPeer(void* dst, int dst_device, const void* src, int src_device, size_t count);
MUSCOPE_API cudaError_t cudaMemcpy2D(void* dst, size_t dpitch, const void* src, size_t spitch, size_t width, size_t height, enum cudaMemcpyKind kind);
MUSCOPE_API cudaError_t cudaMemcpy2DToArray(cudaArray_t dst, size_t w_offset, size_t offset, const void* src, size_t spitch, size_t width, size_t height, enum cudaMemcpyKind kind);
MUSCOPE_API cudaError_t cudaMemcpy2DFromArray(void* dst, size_t dpitch, cudaArray_const_t src, size_t w_offset, size_t offset, size_t width, size_t height, enum cudaMemcpyKind kind);
MUSCOPE_API cudaError_t cudaMemcpy2DArrayToArray(cudaArray_t dst, size_t w_offset_dst, size_t offset_dst, cudaArray_const_t src, size_t w_offset_src, size_t offset_src, size_t width, size_t height, enum cudaMemcpyKind kind MUSCOPE_DEFAULT(cudaMemcpyDeviceToDevice));
MUSCOPE_API cudaError_t cudaMemcpyToSymbol(const void* symbol, const void* src, size_t count, size_t offset MUSCOPE_DEFAULT(0), enum cudaMemcpyKind kind MUSCOPE_DEFAULT(cudaMemcpyHostToDevice));
MUSCOPE_API cudaError_t cudaMemcpyFromSymbol(void* dst, const void* symbol, size_t count, size_t offset MUSCOPE_DEFAULT(0), enum cudaMemcpyKind kind MUSCOPE_DEFAULT(cudaMemcpyDeviceToHost));
MUSCOPE_API cudaError_t cudaMemcpyAsync(void* dst, const void* src, size_t count, enum cudaMemcpyKind kind, cudaStream_t stream MUSCOPE_DEFAULT(0));
MUSCOPE_API cudaError_t cudaMemcpyPeerAsync(void* dst, int dst_device, const void* src, int src_device, size_t count, cudaStream_t stream MUSCOPE_DEFAULT(0));
MUSCOPE_API cudaError_t cudaMemcpy2DAsync(void* dst, size_t dpitch, const void* src, size_t spitch, size_t width, size_t height, enum cudaMemcpyKind kind, cudaStream_t stream MUSCOPE_DEFAULT(0));
MUSCOPE_API cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t dst, size_t w_offset, size_t offset, const void* src, size_t spitch, size_t width, size_t height, enum cudaMemcpyKind kind, cudaStream_t stream MUSCOPE_DEFAULT(0));
MUSCOPE_API cudaError_t cudaMemcpy2DFromArrayAsync(void* dst, size_t dpitch, cudaArray_const_t src, size_t w_offset, size_t offset, size_t width, size_t height, enum cudaMemcpyKind kind, cudaStream_t stream MUSCOPE_DEFAULT(0));
MUSCOPE_API cudaError_t cudaMemcpyToSymbolAsync(const void* symbol, const void* src, size_t count, size_t offset, enum cudaMemcpyKind kind, cudaStream_t stream MUSCOPE_DEFAULT(0));
MUSCOPE_API cudaError_t cudaMemcpyFromSymbolAsync(void* dst, const void* symbol, size_t count, size_t offset, enum cudaMemcpyKind kind, cudaStream_t stream MUSCOPE_DEFAULT(0));
MUSCOPE_API cudaError_t cudaMemset(void* dev_ptr, int value, size_t count);
MUSCOPE_API cudaError_t cudaMemset2D(void* dev_ptr, size_t pitch, int value, size_t width, size_t height);
MUSCOPE_API cudaError_t cudaMemset3D(struct cudaPitchedPtr pitched_dev_ptr, int value, struct cudaExtent extent);
MUSCOPE_API cudaError_t cudaMemsetAsync(void* dev_ptr, int value, size_t count, cudaStream_t stream MUSCOPE_DEFAULT(0));
MUSCOPE_API cudaError_t cudaMemset2DAsync(void* dev_ptr, size_t pitch, int value, size_t width, size_t height, cudaStream_t stream MUSCOPE_DEFAULT(0));
MUSCOPE_API cudaError_t cudaMemset3DAsync(struct cudaPitchedPtr pitched_dev_ptr, int value, struct cudaExtent extent, cudaStream_t stream MUSCOPE_DEFAULT(0));
MUSCOPE_API cudaError_t cudaGetSymbolAddress(void** dev_ptr, const void* symbol);
MUSCOPE_API cudaError_t cudaGetSymbolSize(size_t* size, const void* symbol);
MUSCOPE_API cudaError_t cudaMemPrefetchAsync(const void* dev_ptr, size_t count, struct cudaMemLocation location, unsigned int flags, cudaStream_t stream MUSCOPE_DEFAULT(0));
MUSCOPE_API cudaError_t cudaMemAdvise(const void* dev_ptr, size_t count, enum cudaMemoryAdvise advice, struct cudaMemLocation location);
MUSCOPE_API cudaError_t cudaMemRangeGetAttribute(void* data, size_t data_size, enum cudaMemRangeAttribute attribute, const void* dev_ptr, size_t count);
MUSCOPE_API cudaError_t cudaMemRangeGetAttributes(void** data, size_t* data_sizes, enum cudaMemRangeAttribute* attributes, size_t num_attributes, const void* dev_ptr, size_t count);
MUSCOPE_API cudaError_t cudaMemcpyToArray(cudaArray_t dst, size_t w_offset, size_t offset, const void* src, size_t count, enum cudaMemcpyKind kind);
MUSCOPE_API cudaError_t cudaMemcpyFromArray(void* dst, cudaArray_const_t src, size_t w_offset, size_t offset, size_t count, enum cudaMemcpyKind kind);
MUSCOPE_API cudaError_t cudaMemcpyArrayToArray(cudaArray_t dst, size_t w_offset_dst, size_t offset_dst, cudaArray_const_t src, size_t w_offset_src, size_t offset_src, size_t count, enum cudaMemcpyKind kind MUSCOPE_DEFAULT(cudaMemcpyDeviceToDevice));
MUSCOPE_API cudaError_t cudaMemcpyToArrayAsync(cudaArray_t dst, size_t w_offset, size_t offset, const void* src, size_t count, enum cudaMemcpyKind kind, cudaStream_t stream MUSCOPE_DEFAULT(0));
MUSCOPE_API cudaError_t cudaMemcpyFromArrayAsync(void* dst, cudaArray_const_t src, size_t w_offset, size_t offset, size_t count, enum cudaMemcpyKind kind, cudaStream_t stream MUSCOPE_DEFAULT(0));
MUSCOPE_API cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes* attributes, const void* ptr);

#if defined(__cplusplus)
}
#endif

#endif
