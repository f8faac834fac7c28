// Virtual memory management: addresses, memory, and who may use it. Answers as an H200 gives them
// (tests/programs/device_memory.txt).
#include "driver/entry.h"
#include "memory/virtual_memory.h"
#include "runtime/memory_calls.h"

using namespace muscope::driver;
using muscope::memory::kGranule;
using muscope::memory::VirtualMemory;
using muscope::memory::VirtualResult;

MUSCOPE_RUNTIME_FUNCTION(cudaMemPoolSetAccess);
MUSCOPE_RUNTIME_FUNCTION(cudaMemPoolGetAccess);

namespace {

CUresult answer(VirtualResult result) {
  switch (result) {
    case VirtualResult::kOk:
      return CUDA_SUCCESS;
    case VirtualResult::kInvalid:
      return CUDA_ERROR_INVALID_VALUE;
    case VirtualResult::kNotSupported:
      return CUDA_ERROR_NOT_SUPPORTED;
    case VirtualResult::kOutOfMemory:
    case VirtualResult::kOutOfAddresses:
      break;
  }
  return CUDA_ERROR_OUT_OF_MEMORY;
}

// What goes with the memory: how it was asked for.
std::uint64_t packed(const CUmemAllocationProp& properties) {
  return static_cast<std::uint64_t>(static_cast<unsigned>(properties.requestedHandleTypes)) |
         std::uint64_t{properties.allocFlags.gpuDirectRDMACapable} << 32;
}

void freed(Runtime& runtime, const VirtualMemory::Memory& memory) {
  if (auto* const device = runtime.device(static_cast<int>(memory.device))) device->used_bytes -= memory.bytes;
}

}  // namespace

MUSCOPE_DRIVER_ENTRY(cuMemGetAllocationGranularity)(std::size_t* bytes, const CUmemAllocationProp* properties,
                                                    CUmemAllocationGranularity_flags which) {
  return enter(Needs::kInit, [&](Runtime&) -> CUresult {
    if (properties == nullptr || static_cast<unsigned>(which) > CU_MEM_ALLOC_GRANULARITY_RECOMMENDED)
      return CUDA_ERROR_INVALID_VALUE;
    return put(bytes, std::size_t{kGranule});
  });
}

MUSCOPE_DRIVER_ENTRY(cuMemAddressReserve)(CUdeviceptr* address, std::size_t bytes, std::size_t alignment,
                                          CUdeviceptr wanted, unsigned long long flags) {
  return enter(Needs::kInit, [&](Runtime& runtime) -> CUresult {
    if (address == nullptr || flags != 0) return CUDA_ERROR_INVALID_VALUE;
    std::uint64_t made = 0;
    const VirtualResult result = runtime.virtual_memory().reserve(bytes, alignment, wanted, made);
    if (result == VirtualResult::kOk) *address = made;
    return answer(result);
  });
}

MUSCOPE_DRIVER_ENTRY(cuMemAddressFree)(CUdeviceptr address, std::size_t bytes) {
  return enter(Needs::kInit,
               [&](Runtime& runtime) { return answer(runtime.virtual_memory().release(address, bytes)); });
}

MUSCOPE_DRIVER_ENTRY(cuMemCreate)(CUmemGenericAllocationHandle* handle, std::size_t bytes,
                                  const CUmemAllocationProp* properties, unsigned long long flags) {
  return enter(Needs::kInit, [&](Runtime& runtime) -> CUresult {
    if (handle == nullptr || properties == nullptr || flags != 0 || bytes == 0 || bytes % kGranule != 0 ||
        properties->type == CU_MEM_ALLOCATION_TYPE_INVALID)
      return CUDA_ERROR_INVALID_VALUE;
    if (properties->type != CU_MEM_ALLOCATION_TYPE_PINNED || properties->location.type != CU_MEM_LOCATION_TYPE_DEVICE)
      return not_supported("cuMemCreate for memory that is not a device's");
    auto* const device = runtime.device(properties->location.id);
    if (device == nullptr) return CUDA_ERROR_INVALID_DEVICE;
    if (device->used_bytes.load() + bytes > runtime.device_bytes()) return CUDA_ERROR_OUT_OF_MEMORY;
    std::uint64_t made = 0;
    const VirtualResult result =
        runtime.virtual_memory().create(bytes, static_cast<unsigned>(device->index()), packed(*properties), made);
    if (result != VirtualResult::kOk) return answer(result);
    device->used_bytes += bytes;
    *handle = made;
    return CUDA_SUCCESS;
  });
}

MUSCOPE_DRIVER_ENTRY(cuMemRelease)(CUmemGenericAllocationHandle handle) {
  return enter(Needs::kInit, [&](Runtime& runtime) -> CUresult {
    const auto gone = runtime.virtual_memory().drop(handle);
    if (!gone) return CUDA_ERROR_INVALID_VALUE;
    if (gone->bytes > 0) freed(runtime, *gone);
    return CUDA_SUCCESS;
  });
}

MUSCOPE_DRIVER_ENTRY(cuMemGetAllocationPropertiesFromHandle)(CUmemAllocationProp* properties,
                                                             CUmemGenericAllocationHandle handle) {
  return enter(Needs::kInit, [&](Runtime& runtime) -> CUresult {
    const auto memory = runtime.virtual_memory().memory(handle);
    if (properties == nullptr || !memory) return CUDA_ERROR_INVALID_VALUE;
    *properties = {};
    properties->type = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties->requestedHandleTypes =
        static_cast<CUmemAllocationHandleType>(static_cast<std::uint32_t>(memory->properties));
    properties->location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    properties->location.id = static_cast<int>(memory->device);
    properties->allocFlags.gpuDirectRDMACapable = static_cast<unsigned char>(memory->properties >> 32);
    return CUDA_SUCCESS;
  });
}

MUSCOPE_DRIVER_ENTRY(cuMemRetainAllocationHandle)(CUmemGenericAllocationHandle* handle, void* address) {
  return enter(Needs::kInit, [&](Runtime& runtime) -> CUresult {
    if (handle == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const std::uint64_t found = runtime.virtual_memory().retain(address_of(address));
    if (found == 0) return CUDA_ERROR_INVALID_VALUE;
    *handle = found;
    return CUDA_SUCCESS;
  });
}

MUSCOPE_DRIVER_ENTRY(cuMemMap)(CUdeviceptr address, std::size_t bytes, std::size_t offset,
                               CUmemGenericAllocationHandle handle, unsigned long long flags) {
  return enter(Needs::kInit, [&](Runtime& runtime) -> CUresult {
    if (flags != 0 || bytes == 0 || !runtime.virtual_memory().memory(handle)) return CUDA_ERROR_INVALID_VALUE;
    if (offset != 0) return CUDA_ERROR_NOT_SUPPORTED;
    return answer(runtime.virtual_memory().map(address, bytes, handle));
  });
}

MUSCOPE_DRIVER_ENTRY(cuMemUnmap)(CUdeviceptr address, std::size_t bytes) {
  return enter(Needs::kInit, [&](Runtime& runtime) -> CUresult {
    // Kernels that still run may use it.
    for (int i = 0; i < runtime.device_count(); ++i) runtime.scheduler().wait_device(i);
    return answer(runtime.virtual_memory().unmap(address, bytes,
                                                 [&](const VirtualMemory::Memory& memory) { freed(runtime, memory); }));
  });
}

MUSCOPE_DRIVER_ENTRY(cuMemSetAccess)(CUdeviceptr address, std::size_t bytes, const CUmemAccessDesc* list,
                                     std::size_t count) {
  return enter(Needs::kInit, [&](Runtime& runtime) -> CUresult {
    if (list == nullptr || count == 0) return CUDA_ERROR_INVALID_VALUE;
    for (std::size_t i = 0; i < count; ++i) {
      const auto flags = static_cast<unsigned>(list[i].flags);
      if (flags > CU_MEM_ACCESS_FLAGS_PROT_READWRITE || flags == 2) return CUDA_ERROR_INVALID_VALUE;
      if (list[i].location.type == CU_MEM_LOCATION_TYPE_DEVICE && runtime.device(list[i].location.id) == nullptr)
        return CUDA_ERROR_INVALID_VALUE;
      if (list[i].location.type != CU_MEM_LOCATION_TYPE_DEVICE)
        return not_supported("cuMemSetAccess for what is not a device");
    }
    for (int i = 0; i < runtime.device_count(); ++i) runtime.scheduler().wait_device(i);
    for (std::size_t i = 0; i < count; ++i) {
      const VirtualResult result = runtime.virtual_memory().set_access(
          address, bytes, static_cast<unsigned>(list[i].location.id), list[i].flags != CU_MEM_ACCESS_FLAGS_PROT_NONE,
          list[i].flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
      if (result != VirtualResult::kOk) return answer(result);
    }
    return CUDA_SUCCESS;
  });
}

// Also asked of memory that was allocated in the usual way.
MUSCOPE_DRIVER_ENTRY(cuMemGetAccess)(unsigned long long* flags, const CUmemLocation* location, CUdeviceptr address) {
  return enter(Needs::kInit, [&](Runtime& runtime) -> CUresult {
    if (flags == nullptr || location == nullptr || location->type != CU_MEM_LOCATION_TYPE_DEVICE)
      return CUDA_ERROR_INVALID_VALUE;
    auto* const device = runtime.device(location->id);
    const muscope::memory::Allocation found = runtime.memory().find(address);
    if (device == nullptr || found.id == 0) return CUDA_ERROR_INVALID_VALUE;
    const auto user = static_cast<unsigned>(device->index());
    const std::uint64_t reach = device->reach();
    *flags = found.lets(user, reach, true)    ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE
             : found.lets(user, reach, false) ? CU_MEM_ACCESS_FLAGS_PROT_READ
                                              : CU_MEM_ACCESS_FLAGS_PROT_NONE;
    return CUDA_SUCCESS;
  });
}

MUSCOPE_DRIVER_ENTRY(cuMemPoolSetAccess)(CUmemoryPool pool, const CUmemAccessDesc* list, std::size_t count) {
  static_assert(sizeof(CUmemAccessDesc) == sizeof(cudaMemAccessDesc));
  return enter([&](Runtime&) {
    return muscope_cudaMemPoolSetAccess(reinterpret_cast<cudaMemPool_t>(pool),
                                        reinterpret_cast<const cudaMemAccessDesc*>(list), count);
  });
}

MUSCOPE_DRIVER_ENTRY(cuMemPoolGetAccess)(CUmemAccess_flags* flags, CUmemoryPool pool, CUmemLocation* location) {
  static_assert(sizeof(CUmemLocation) == sizeof(cudaMemLocation));
  return enter([&](Runtime&) -> CUresult {
    cudaMemAccessFlags found = cudaMemAccessFlagsProtNone;
    const cudaError_t error =
        muscope_cudaMemPoolGetAccess(flags == nullptr ? nullptr : &found, reinterpret_cast<cudaMemPool_t>(pool),
                                     reinterpret_cast<cudaMemLocation*>(location));
    if (error == cudaSuccess) *flags = static_cast<CUmemAccess_flags>(found);
    return result_of(error);
  });
}
