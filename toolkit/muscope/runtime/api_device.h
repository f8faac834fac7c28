// Runtime API: Devices, errors, versions, peers, inter-process handles.
#ifndef MUSCOPE_RUNTIME_API_DEVICE_H
#define MUSCOPE_RUNTIME_API_DEVICE_H

#include "api_types.h"

#if defined(__cplusplus)
extern "C" {
#endif

MUSCOPE_API cudaError_t cudaDeviceReset(void);
MUSCOPE_API cudaError_t cudaDeviceSynchronize(void);
MUSCOPE_API cudaError_t cudaDeviceSetLimit(enum cudaLimit limit, size_t value);
MUSCOPE_API cudaError_t cudaDeviceGetLimit(size_t* value, enum cudaLimit limit);
MUSCOPE_API cudaError_t cudaDeviceGetTexture1DLinearMaxWidth(size_t* max_width_in_elements, const struct cudaChannelFormatDesc* fmt_desc, int device);
MUSCOPE_API cudaError_t cudaDeviceGetCacheConfig(enum cudaFuncCache* cache_config);
MUSCOPE_API cudaError_t cudaDeviceGetStreamPriorityRange(int* least_priority, int* greatest_priority);
MUSCOPE_API cudaError_t cudaDeviceSetCacheConfig(enum cudaFuncCache cache_config);
MUSCOPE_API cudaError_t cudaDeviceGetByPCIBusId(int* device, const char* pci_bus_id);
MUSCOPE_API cudaError_t cudaDeviceGetPCIBusId(char* pci_bus_id, int len, int device);
MUSCOPE_API cudaError_t cudaIpcGetEventHandle(cudaIpcEventHandle_t* handle, cudaEvent_t event);
MUSCOPE_API cudaError_t cudaIpcOpenEventHandle(cudaEvent_t* event, cudaIpcEventHandle_t handle);
MUSCOPE_API cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t* handle, void* dev_ptr);
MUSCOPE_API cudaError_t cudaIpcOpenMemHandle(void** dev_ptr, cudaIpcMemHandle_t handle, unsigned int flags);
MUSCOPE_API cudaError_t cudaIpcCloseMemHandle(void* dev_ptr);
MUSCOPE_API cudaError_t cudaDeviceFlushGPUDirectRDMAWrites(enum cudaFlushGPUDirectRDMAWritesTarget target, enum cudaFlushGPUDirectRDMAWritesScope scope);
MUSCOPE_API cudaError_t cudaGetLastError(void);
MUSCOPE_API cudaError_t cudaPeekAtLastError(void);
MUSCOPE_API const char*  cudaGetErrorName(cudaError_t error);
MUSCOPE_API const char*  cudaGetErrorString(cudaError_t error);
MUSCOPE_API cudaError_t cudaGetDeviceCount(int* count);
MUSCOPE_API cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp* prop, int device);
MUSCOPE_API cudaError_t cudaDeviceGetAttribute(int* value, enum cudaDeviceAttr attr, int device);
MUSCOPE_API cudaError_t cudaDeviceGetP2PAttribute(int* value, enum cudaDeviceP2PAttr attr, int src_device, int dst_device);
MUSCOPE_API cudaError_t cudaChooseDevice(int* device, const struct cudaDeviceProp* prop);
MUSCOPE_API cudaError_t cudaInitDevice(int device, unsigned int device_flags, unsigned int flags);
MUSCOPE_API cudaError_t cudaSetDevice(int device);
MUSCOPE_API cudaError_t cudaGetDevice(int* device);
MUSCOPE_API cudaError_t cudaSetValidDevices(int* device_arr, int len);
MUSCOPE_API cudaError_t cudaSetDeviceFlags(unsigned int flags);
MUSCOPE_API cudaError_t cudaGetDeviceFlags(unsigned int* flags);
MUSCOPE_API cudaError_t cudaCtxResetPersistingL2Cache(void);
MUSCOPE_API cudaError_t cudaDeviceCanAccessPeer(int* can_access_peer, int device, int peer_device);
MUSCOPE_API cudaError_t cudaDeviceEnablePeerAccess(int peer_device, unsigned int flags);
MUSCOPE_API cudaError_t cudaDeviceDisablePeerAccess(int peer_device);
MUSCOPE_API cudaError_t cudaDriverGetVersion(int* driver_version);
MUSCOPE_API cudaError_t cudaRuntimeGetVersion(int* runtime_version);

#if defined(__cplusplus)
}
#endif

#endif
