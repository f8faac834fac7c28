// Devices: count, names, attributes, peers, pools.
#include <algorithm>
#include <cstring>
#include <tuple>

#include "driver/array_format.h"
#include "driver/entry.h"
#include "runtime/device_info.h"

using namespace muscope::driver;

MUSCOPE_RUNTIME_FUNCTION(cudaDeviceGetPCIBusId);
MUSCOPE_RUNTIME_FUNCTION(cudaDeviceGetByPCIBusId);
MUSCOPE_RUNTIME_FUNCTION(cudaDeviceCanAccessPeer);
MUSCOPE_RUNTIME_FUNCTION(cudaDeviceGetP2PAttribute);
MUSCOPE_RUNTIME_FUNCTION(cudaDeviceGetTexture1DLinearMaxWidth);
MUSCOPE_RUNTIME_FUNCTION(cudaDeviceGetDefaultMemPool);
MUSCOPE_RUNTIME_FUNCTION(cudaDeviceGetMemPool);
MUSCOPE_RUNTIME_FUNCTION(cudaDeviceSetMemPool);

namespace {

template <typename Body>
CUresult with_device(CUdevice device, Body&& body) {
  return enter(Needs::kInit, [&](Runtime& runtime) -> CUresult {
    return runtime.device(device) ? result_of(body(runtime)) : CUDA_ERROR_INVALID_DEVICE;
  });
}

int attribute(Runtime& runtime, CUdevice device, CUdevice_attribute which) {
  int value = 0;
  muscope::runtime::device_attribute(runtime.gpu(), device, which, value);
  return value;
}

CUresult uuid_of(CUuuid* uuid, CUdevice device) {
  return with_device(device, [&](Runtime& runtime) -> CUresult {
    if (uuid == nullptr) return CUDA_ERROR_INVALID_VALUE;
    cudaDeviceProp properties{};
    muscope::runtime::fill_properties(runtime.gpu(), device, properties);
    std::memcpy(uuid, &properties.uuid, sizeof *uuid);
    return CUDA_SUCCESS;
  });
}

}  // namespace

MUSCOPE_DRIVER_ENTRY(cuDeviceGetCount)(int* count) {
  return enter(Needs::kInit, [&](Runtime& runtime) { return put(count, runtime.device_count()); });
}

MUSCOPE_DRIVER_ENTRY(cuDeviceGet)(CUdevice* device, int ordinal) {
  return enter(Needs::kInit, [&](Runtime& runtime) -> CUresult {
    if (device == nullptr) return CUDA_ERROR_INVALID_VALUE;
    return runtime.device(ordinal) ? put(device, ordinal) : CUDA_ERROR_INVALID_DEVICE;
  });
}

MUSCOPE_DRIVER_ENTRY(cuDeviceGetName)(char* name, int length, CUdevice device) {
  return with_device(device, [&](Runtime& runtime) -> CUresult {
    if (name == nullptr || length <= 0) return CUDA_ERROR_INVALID_VALUE;
    cudaDeviceProp properties{};
    muscope::runtime::fill_properties(runtime.gpu(), device, properties);
    const std::size_t count = std::min(std::strlen(properties.name), static_cast<std::size_t>(length - 1));
    std::memcpy(name, properties.name, count);
    name[count] = '\0';
    return CUDA_SUCCESS;
  });
}

MUSCOPE_DRIVER_ENTRY(cuDeviceGetUuid)(CUuuid* uuid, CUdevice device) { return uuid_of(uuid, device); }
MUSCOPE_DRIVER_ENTRY(cuDeviceGetUuid_v2)(CUuuid* uuid, CUdevice device) { return uuid_of(uuid, device); }

MUSCOPE_DRIVER_ENTRY(cuDeviceTotalMem_v2)(std::size_t* bytes, CUdevice device) {
  return with_device(device, [&](Runtime& runtime) -> CUresult {
    std::uint64_t free = 0, total = 0;
    runtime.memory_info(*runtime.device(device), free, total);
    return put(bytes, total);
  });
}

MUSCOPE_DRIVER_ENTRY(cuDeviceGetAttribute)(int* value, CUdevice_attribute which, CUdevice device) {
  return with_device(device, [&](Runtime& runtime) -> CUresult {
    if (value == nullptr) return CUDA_ERROR_INVALID_VALUE;
    muscope::runtime::tell_stand_ins(runtime.gpu(), which);
    return muscope::runtime::device_attribute(runtime.gpu(), device, which, *value) ? CUDA_SUCCESS
                                                                                    : CUDA_ERROR_INVALID_VALUE;
  });
}

MUSCOPE_DRIVER_ENTRY(cuDeviceComputeCapability)(int* major, int* minor, CUdevice device) {
  return with_device(device, [&](Runtime& runtime) -> CUresult {
    if (major == nullptr || minor == nullptr) return CUDA_ERROR_INVALID_VALUE;
    std::tie(*major, *minor) = muscope::runtime::reported_capability(runtime.gpu());
    return CUDA_SUCCESS;
  });
}

MUSCOPE_DRIVER_ENTRY(cuDeviceGetProperties)(CUdevprop* out, CUdevice device) {
  return with_device(device, [&](Runtime& runtime) -> CUresult {
    if (out == nullptr) return CUDA_ERROR_INVALID_VALUE;
    out->maxThreadsPerBlock = attribute(runtime, device, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
    constexpr CUdevice_attribute kBlock[] = {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y,
                                             CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z};
    constexpr CUdevice_attribute kGrid[] = {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y,
                                            CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z};
    for (int i = 0; i < 3; ++i) {
      out->maxThreadsDim[i] = attribute(runtime, device, kBlock[i]);
      out->maxGridSize[i] = attribute(runtime, device, kGrid[i]);
    }
    out->sharedMemPerBlock = attribute(runtime, device, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK);
    out->totalConstantMemory = attribute(runtime, device, CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY);
    out->SIMDWidth = attribute(runtime, device, CU_DEVICE_ATTRIBUTE_WARP_SIZE);
    out->memPitch = attribute(runtime, device, CU_DEVICE_ATTRIBUTE_MAX_PITCH);
    out->regsPerBlock = attribute(runtime, device, CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK);
    out->clockRate = attribute(runtime, device, CU_DEVICE_ATTRIBUTE_CLOCK_RATE);
    out->textureAlign = attribute(runtime, device, CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT);
    return CUDA_SUCCESS;
  });
}

MUSCOPE_DRIVER_ENTRY(cuDeviceGetPCIBusId)(char* id, int length, CUdevice device) {
  return enter(Needs::kInit, [&](Runtime&) { return muscope_cudaDeviceGetPCIBusId(id, length, device); });
}

MUSCOPE_DRIVER_ENTRY(cuDeviceGetByPCIBusId)(CUdevice* device, const char* id) {
  return enter(Needs::kInit, [&](Runtime&) { return muscope_cudaDeviceGetByPCIBusId(device, id); });
}

MUSCOPE_DRIVER_ENTRY(cuDeviceCanAccessPeer)(int* can, CUdevice device, CUdevice peer) {
  return enter(Needs::kInit, [&](Runtime&) { return muscope_cudaDeviceCanAccessPeer(can, device, peer); });
}

MUSCOPE_DRIVER_ENTRY(cuDeviceGetP2PAttribute)(int* value, CUdevice_P2PAttribute which, CUdevice from, CUdevice to) {
  return enter(Needs::kInit, [&](Runtime&) {
    return muscope_cudaDeviceGetP2PAttribute(value, static_cast<cudaDeviceP2PAttr>(which), from, to);
  });
}

MUSCOPE_DRIVER_ENTRY(cuDeviceGetTexture1DLinearMaxWidth)(std::size_t* width, CUarray_format format, unsigned channels,
                                                         CUdevice device) {
  return enter(Needs::kInit, [&](Runtime&) -> CUresult {
    cudaChannelFormatDesc description{};
    if (!channels_of(format, channels, description)) return CUDA_ERROR_INVALID_VALUE;
    return result_of(muscope_cudaDeviceGetTexture1DLinearMaxWidth(width, &description, device));
  });
}

// Pools can be asked for before a context is there; the runtime wants a working device.
MUSCOPE_DRIVER_ENTRY(cuDeviceGetDefaultMemPool)(CUmemoryPool* pool, CUdevice device) {
  return enter(Needs::kInit, [&](Runtime&) { return muscope_cudaDeviceGetDefaultMemPool(pool, device); });
}

MUSCOPE_DRIVER_ENTRY(cuDeviceGetMemPool)(CUmemoryPool* pool, CUdevice device) {
  return enter(Needs::kInit, [&](Runtime&) { return muscope_cudaDeviceGetMemPool(pool, device); });
}

MUSCOPE_DRIVER_ENTRY(cuDeviceSetMemPool)(CUdevice device, CUmemoryPool pool) {
  return enter(Needs::kInit, [&](Runtime&) { return muscope_cudaDeviceSetMemPool(device, pool); });
}

MUSCOPE_DRIVER_ENTRY(cuFlushGPUDirectRDMAWrites)(int, int) {
  return enter([](Runtime&) { return CUDA_SUCCESS; });
}
