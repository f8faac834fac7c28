// What a pointer is: cuPointerGetAttribute and its kin.
#include <cstring>
#include <span>

#include "driver/context.h"
#include "driver/entry.h"
#include "runtime/copy.h"

using namespace muscope::driver;
using muscope::runtime::Place;

namespace {

struct Pointer {
  Place place = Place::kHost;
  CUdeviceptr address = 0;
  muscope::memory::Allocation allocation{};
  std::optional<muscope::runtime::Block> block;
  int device = 0;
  bool known() const { return place != Place::kHost && place != Place::kNowhere; }
};

Pointer look(Runtime& runtime, CUdeviceptr address) {
  Pointer pointer;
  pointer.address = address;
  pointer.place = muscope::runtime::place_of(runtime, address);
  if (!pointer.known()) return pointer;
  pointer.allocation = runtime.memory().find(address);
  pointer.block = runtime.blocks().find(pointer.allocation.base);
  pointer.device = pointer.block                  ? pointer.block->device
                   : pointer.allocation.on_host() ? runtime.current_device().index()
                                                  : pointer.allocation.device;
  // Of mapped memory the range is the whole reservation (H200).
  if (pointer.allocation.kind == muscope::memory::Kind::kVirtual)
    if (const auto range = runtime.virtual_memory().reservation(address)) {
      pointer.allocation.base = range->address;
      pointer.allocation.end = range->address + range->bytes;
    }
  return pointer;
}

template <typename Value>
CUresult give(void* data, Value value) {
  const auto bytes = std::as_bytes(std::span(&value, 1));
  std::memcpy(data, bytes.data(), bytes.size());
  return CUDA_SUCCESS;
}

// Memory that CUDA does not know has no attributes.
CUresult attribute_of(Runtime& runtime, const Pointer& pointer, CUpointer_attribute attribute, void* data) {
  const bool host = pointer.place == Place::kPinned, managed = pointer.place == Place::kManaged;
  if (attribute == CU_POINTER_ATTRIBUTE_MAPPED) return give(data, pointer.known());
  if (!pointer.known()) return CUDA_ERROR_INVALID_VALUE;
  switch (static_cast<int>(attribute)) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
      return give(data, handle_of(Contexts::of_process().maker(
                            runtime, host ? Context::Kind::kHostMemory : Context::Kind::kMemory,
                            pointer.allocation.base, pointer.device)));
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
      return give(data, host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE);
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
      return give(data, pointer.address);
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
      return host || managed ? give(data, pointer.address) : CUDA_ERROR_INVALID_VALUE;
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
      return give(data, 0);
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
      return give(data, static_cast<unsigned long long>(pointer.allocation.id));
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
      return give(data, managed);
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
      return give(data, pointer.device);
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
      return give(data, CUdeviceptr{pointer.allocation.base});
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
      return give(data,
                  std::size_t{pointer.block ? pointer.block->bytes : pointer.allocation.end - pointer.allocation.base});
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
      return give(data, std::uint64_t{0});
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
      return give(data, false);
    default:
      return CUDA_ERROR_NOT_SUPPORTED;
  }
}

}  // namespace

MUSCOPE_DRIVER_ENTRY(cuPointerGetAttribute)(void* data, CUpointer_attribute attribute, CUdeviceptr address) {
  return enter(Needs::kInit, [&](Runtime& runtime) -> CUresult {
    if (data == nullptr || attribute < CU_POINTER_ATTRIBUTE_CONTEXT) return CUDA_ERROR_INVALID_VALUE;
    const CUresult result = attribute_of(runtime, look(runtime, address), attribute, data);
    return result == CUDA_ERROR_NOT_SUPPORTED ? not_supported("cuPointerGetAttribute with such an attribute") : result;
  });
}

// Attributes that a pointer does not have are zero here.
MUSCOPE_DRIVER_ENTRY(cuPointerGetAttributes)(unsigned count, CUpointer_attribute* attributes, void** data,
                                             CUdeviceptr address) {
  return enter(Needs::kInit, [&](Runtime& runtime) -> CUresult {
    if (attributes == nullptr || data == nullptr || count == 0) return CUDA_ERROR_INVALID_VALUE;
    const Pointer pointer = look(runtime, address);
    for (unsigned i = 0; i < count; ++i) {
      if (data[i] == nullptr) return CUDA_ERROR_INVALID_VALUE;
      const CUresult result = attribute_of(runtime, pointer, attributes[i], data[i]);
      if (result == CUDA_ERROR_NOT_SUPPORTED) return not_supported("cuPointerGetAttributes with such an attribute");
      if (result == CUDA_SUCCESS) continue;
      switch (static_cast<int>(attributes[i])) {
        case CU_POINTER_ATTRIBUTE_IS_MANAGED:
        case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
        case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
          give(data[i], false);
          break;
        case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
        case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
          give(data[i], 0);
          break;
        case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
          give(data[i], CU_DEVICE_INVALID);
          break;
        default:
          give(data[i], std::uint64_t{0});
      }
    }
    return CUDA_SUCCESS;
  });
}

MUSCOPE_DRIVER_ENTRY(cuPointerSetAttribute)(const void* value, CUpointer_attribute attribute, CUdeviceptr address) {
  return enter([&](Runtime& runtime) -> CUresult {
    if (value == nullptr || attribute != CU_POINTER_ATTRIBUTE_SYNC_MEMOPS) return CUDA_ERROR_INVALID_VALUE;
    return look(runtime, address).known() ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;  // copies wait anyway
  });
}
