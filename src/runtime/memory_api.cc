// Device and managed memory: cudaMalloc, cudaFree, cudaMallocManaged, cudaMemGetInfo, cudaPointerGetAttributes, advice.
#include <cstring>

#include "runtime/copy.h"
#include "runtime/entry.h"
#include "runtime/memory_calls.h"
#include "runtime/runtime.h"

namespace muscope::runtime {

cudaError_t allocate(Runtime& runtime, void** pointer, std::uint64_t bytes, Source source, unsigned flags) {
  if (pointer == nullptr) return cudaErrorInvalidValue;
  *pointer = nullptr;
  if (bytes == 0) return cudaSuccess;  // and a null pointer (H200)
  Device& device = runtime.current_device();
  const memory::Kind kind = source == Source::kManaged     ? memory::Kind::kManaged
                            : source == Source::kHostAlloc ? memory::Kind::kPinned
                                                           : memory::Kind::kDevice;
  const std::uint64_t address = runtime.allocate(device, bytes, kind);
  if (address == 0) return cudaErrorMemoryAllocation;
  runtime.blocks().add(address, {source, device.index(), flags, bytes});
  *pointer = reinterpret_cast<void*>(address);
  return cudaSuccess;
}

cudaError_t allocate_for_graph(Runtime& runtime, cudaMemAllocNodeParams& asked, AllocateWork& work) {
  asked.dptr = nullptr;
  if (asked.bytesize == 0) return cudaErrorInvalidValue;
  if (const cudaError_t error = allocate(runtime, &asked.dptr, asked.bytesize, Source::kGraph, 0)) return error;
  work.memory = std::make_shared<GraphMemory>(reinterpret_cast<std::uint64_t>(asked.dptr));
  work.asked = asked;
  return cudaSuccess;
}

bool release(Runtime& runtime, std::uint64_t address, bool (*accept)(const Block&)) {
  const auto block = runtime.blocks().take(address, accept);
  if (!block) return false;
  if (!runtime.memory().release(address)) return false;
  Device* const device = runtime.device(block->device);
  if (device != nullptr &&
      (block->source == Source::kMalloc || block->source == Source::kMallocAsync || block->source == Source::kGraph))
    device->used_bytes -= block->bytes;
  return true;
}

}  // namespace muscope::runtime

using namespace muscope::runtime;

namespace {

std::uint64_t number(const void* pointer) { return reinterpret_cast<std::uint64_t>(pointer); }

bool freed_by_cuda_free(const Block& block) {
  return block.source != Source::kHostAlloc && block.source != Source::kHostRegister;
}

// A pitch that cudaMallocPitch would choose (tests/counters/placement.txt).
std::uint64_t pitch_of(std::uint64_t width) {
  return (width + muscope::memory::kPitch - 1) / muscope::memory::kPitch * muscope::memory::kPitch;
}

cudaError_t allocate_pitched(Runtime& runtime, void** pointer, std::size_t* pitch, std::size_t width,
                             std::size_t rows) {
  if (pointer == nullptr || pitch == nullptr) return cudaErrorInvalidValue;
  if (width > (std::uint64_t{1} << 48)) return cudaErrorMemoryAllocation;
  const std::uint64_t row = pitch_of(width);
  std::uint64_t bytes = 0;
  if (__builtin_mul_overflow(row, rows, &bytes)) return cudaErrorMemoryAllocation;
  const cudaError_t error = allocate(runtime, pointer, bytes, Source::kMalloc, 0);
  if (error == cudaSuccess) *pitch = row;
  return error;
}

// Advice and prefetches speak of managed memory (or of host memory that the device may use).
cudaError_t check_range(Runtime& runtime, const void* pointer, std::size_t count) {
  const muscope::memory::Allocation allocation = runtime.memory().find(number(pointer));
  if (allocation.id == 0 || allocation.kind != muscope::memory::Kind::kManaged) return cudaErrorInvalidValue;
  return count > 0 && count <= allocation.end - number(pointer) ? cudaSuccess : cudaErrorInvalidValue;
}

cudaError_t check_location(Runtime& runtime, cudaMemLocationType type, int id) {
  if (type == cudaMemLocationTypeDevice && runtime.device(id) == nullptr) return cudaErrorInvalidDevice;
  return type == cudaMemLocationTypeInvalid ? cudaErrorInvalidValue : cudaSuccess;
}

cudaError_t prefetch(const void* pointer, std::size_t count, cudaMemLocationType type, int id, unsigned flags,
                     cudaStream_t stream) {
  return enter([&](Runtime& runtime) -> cudaError_t {
    if (flags != 0) return cudaErrorInvalidValue;
    if (const cudaError_t error = check_location(runtime, type, id)) return error;
    if (!runtime.stream(stream)) return cudaErrorInvalidResourceHandle;
    return check_range(runtime, pointer, count);  // pages do not move here
  });
}

cudaError_t advise(const void* pointer, std::size_t count, cudaMemoryAdvise advice, cudaMemLocationType type, int id) {
  return enter([&](Runtime& runtime) -> cudaError_t {
    if (advice < cudaMemAdviseSetReadMostly || advice > cudaMemAdviseUnsetAccessedBy) return cudaErrorInvalidValue;
    const bool located = advice != cudaMemAdviseSetReadMostly && advice != cudaMemAdviseUnsetReadMostly &&
                         advice != cudaMemAdviseUnsetPreferredLocation;
    if (located) {
      if (const cudaError_t error = check_location(runtime, type, id)) return error;
    }
    return check_range(runtime, pointer, count);
  });
}

// CUDA 12 names locations by number: devices, or cudaCpuDeviceId.
cudaMemLocationType location_of(int device) {
  return device == cudaCpuDeviceId ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice;
}

}  // namespace

MUSCOPE_ENTRY(cudaMalloc)(void** pointer, std::size_t bytes) {
  return enter([&](Runtime& runtime) { return allocate(runtime, pointer, bytes, Source::kMalloc, 0); });
}

MUSCOPE_ENTRY(cudaMallocPitch)(void** pointer, std::size_t* pitch, std::size_t width, std::size_t height) {
  return enter([&](Runtime& runtime) { return allocate_pitched(runtime, pointer, pitch, width, height); });
}

MUSCOPE_ENTRY(cudaMalloc3D)(cudaPitchedPtr* pointer, cudaExtent extent) {
  return enter([&](Runtime& runtime) -> cudaError_t {
    if (pointer == nullptr) return cudaErrorInvalidValue;
    std::size_t rows = 0;
    if (__builtin_mul_overflow(extent.height, extent.depth, &rows)) return cudaErrorMemoryAllocation;
    cudaPitchedPtr made{nullptr, 0, extent.width, extent.height};
    const cudaError_t error = allocate_pitched(runtime, &made.ptr, &made.pitch, extent.width, rows);
    if (error == cudaSuccess) *pointer = made;
    return error;
  });
}

MUSCOPE_ENTRY(cudaMallocManaged)(void** pointer, std::size_t bytes, unsigned flags) {
  return enter([&](Runtime& runtime) -> cudaError_t {
    if (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost) return cudaErrorInvalidValue;
    return allocate(runtime, pointer, bytes, Source::kManaged, flags);
  });
}

MUSCOPE_ENTRY(cudaFree)(void* pointer) {
  return enter([&](Runtime& runtime) -> cudaError_t {
    if (pointer == nullptr) return cudaSuccess;
    const auto block = runtime.blocks().find(number(pointer));
    if (!block) return cudaErrorInvalidValue;
    if (block->source == Source::kGraph) return cudaSuccess;  // the graph may be launched again
    // Kernels that still run may use it: cudaFree waits for the device.
    for (int i = 0; i < runtime.device_count(); ++i) runtime.scheduler().wait_device(i);
    return release(runtime, number(pointer), freed_by_cuda_free) ? cudaSuccess : cudaErrorInvalidValue;
  });
}

MUSCOPE_ENTRY(cudaMemGetInfo)(std::size_t* free, std::size_t* total) {
  return enter([&](Runtime& runtime) -> cudaError_t {
    if (free == nullptr || total == nullptr) return cudaErrorInvalidValue;
    std::uint64_t free_bytes = 0, total_bytes = 0;
    runtime.memory_info(runtime.current_device(), free_bytes, total_bytes);
    *free = free_bytes;
    *total = total_bytes;
    return cudaSuccess;
  });
}

MUSCOPE_ENTRY(cudaPointerGetAttributes)(cudaPointerAttributes* attributes, const void* pointer) {
  return enter([&](Runtime& runtime) -> cudaError_t {
    if (attributes == nullptr) return cudaErrorInvalidValue;
    std::memset(attributes, 0, sizeof *attributes);
    auto* const same = const_cast<void*>(pointer);
    const Place place = place_of(runtime, number(pointer));
    if (place == Place::kHost || place == Place::kNowhere) {
      attributes->type = cudaMemoryTypeUnregistered;
      attributes->device = cudaInvalidDeviceId;
      attributes->hostPointer = same;
      return cudaSuccess;
    }
    const auto block = runtime.blocks().find(runtime.memory().find(number(pointer)).base);
    attributes->device = block ? block->device : runtime.current_device().index();
    attributes->devicePointer = same;
    if (place == Place::kDevice) {
      attributes->type = cudaMemoryTypeDevice;
    } else {
      attributes->type = place == Place::kManaged ? cudaMemoryTypeManaged : cudaMemoryTypeHost;
      attributes->hostPointer = same;
    }
    return cudaSuccess;
  });
}

MUSCOPE_ENTRY(cudaMemPrefetchAsync)(const void* pointer, std::size_t count, cudaMemLocation location, unsigned flags,
                                    cudaStream_t stream) {
  return prefetch(pointer, count, location.type, location.id, flags, stream);
}

MUSCOPE_EXPORT cudaError_t muscope_cudaMemPrefetchAsync_12(const void* pointer, std::size_t count, int device,
                                                           cudaStream_t stream) {
  return prefetch(pointer, count, location_of(device), device, 0, stream);
}

MUSCOPE_ENTRY(cudaMemAdvise)(const void* pointer, std::size_t count, cudaMemoryAdvise advice,
                             cudaMemLocation location) {
  return advise(pointer, count, advice, location.type, location.id);
}

MUSCOPE_EXPORT cudaError_t muscope_cudaMemAdvise_12(const void* pointer, std::size_t count, cudaMemoryAdvise advice,
                                                    int device) {
  return advise(pointer, count, advice, location_of(device), device);
}

MUSCOPE_ENTRY(cudaStreamAttachMemAsync)(cudaStream_t stream, void* pointer, std::size_t, unsigned flags) {
  return enter([&](Runtime& runtime) -> cudaError_t {
    if (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost && flags != cudaMemAttachSingle)
      return cudaErrorInvalidValue;
    if (!runtime.stream(stream)) return cudaErrorInvalidResourceHandle;
    return place_of(runtime, number(pointer)) == Place::kManaged ? cudaSuccess : cudaErrorInvalidValue;
  });
}
