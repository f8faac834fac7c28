// Memory: device, pinned, registered and managed memory, stream-ordered allocation, advice.
#include "driver/context.h"
#include "driver/entry.h"
#include "runtime/copy.h"
#include "runtime/memory_calls.h"

using namespace muscope::driver;
using muscope::runtime::Source;

MUSCOPE_RUNTIME_FUNCTION(cudaMemGetInfo);
MUSCOPE_RUNTIME_FUNCTION(cudaMallocPitch);
MUSCOPE_RUNTIME_FUNCTION(cudaMallocManaged);
MUSCOPE_RUNTIME_FUNCTION(cudaFree);
MUSCOPE_RUNTIME_FUNCTION(cudaFreeHost);
MUSCOPE_RUNTIME_FUNCTION(cudaHostAlloc);
MUSCOPE_RUNTIME_FUNCTION(cudaHostRegister);
MUSCOPE_RUNTIME_FUNCTION(cudaHostUnregister);
MUSCOPE_RUNTIME_FUNCTION(cudaHostGetDevicePointer);
MUSCOPE_RUNTIME_FUNCTION(cudaHostGetFlags);
MUSCOPE_RUNTIME_FUNCTION(cudaMallocAsync);
MUSCOPE_RUNTIME_FUNCTION(cudaMallocFromPoolAsync);
MUSCOPE_RUNTIME_FUNCTION(cudaFreeAsync);
MUSCOPE_RUNTIME_FUNCTION(cudaMemPoolTrimTo);
MUSCOPE_RUNTIME_FUNCTION(cudaMemPoolSetAttribute);
MUSCOPE_RUNTIME_FUNCTION(cudaMemPoolGetAttribute);
MUSCOPE_RUNTIME_FUNCTION(cudaMemAdvise);
MUSCOPE_RUNTIME_FUNCTION(cudaMemPrefetchAsync);

namespace {

ContextRef current(Runtime& runtime) { return ThreadContexts::of_thread(runtime).current(); }

// Calls `allocate` with the place for an address; the context remembers what was allocated in it.
template <typename Allocate>
CUresult allocate_in_context(CUdeviceptr* out, Context::Kind kind, Allocate&& allocate) {
  return enter([&](Runtime& runtime) -> CUresult {
    if (out == nullptr) return CUDA_ERROR_INVALID_VALUE;
    void* pointer = nullptr;
    if (const cudaError_t error = allocate(&pointer)) return result_of(error);
    *out = address_of(pointer);
    current(runtime)->add(kind, *out);
    return CUDA_SUCCESS;
  });
}

template <typename Free>
CUresult free_in_context(CUdeviceptr address, Context::Kind kind, Free&& free) {
  return enter([&](Runtime& runtime) -> CUresult {
    if (const cudaError_t error = free(pointer_of(address))) return result_of(error);
    current(runtime)->remove(kind, address);
    return CUDA_SUCCESS;
  });
}

cudaMemLocation location(int device) {
  return {device == CU_DEVICE_CPU ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice, device};
}

cudaMemLocation location(const CUmemLocation& asked) {
  return {static_cast<cudaMemLocationType>(asked.type), asked.id};
}

}  // namespace

MUSCOPE_DRIVER_ENTRY(cuMemGetInfo_v2)(std::size_t* free, std::size_t* total) {
  std::size_t unused = 0;  // either may be null (H200)
  return enter([&](Runtime&) {
    return muscope_cudaMemGetInfo(free != nullptr ? free : &unused, total != nullptr ? total : &unused);
  });
}

MUSCOPE_DRIVER_ENTRY(cuMemAlloc_v2)(CUdeviceptr* out, std::size_t bytes) {
  if (bytes == 0 && out != nullptr) return enter([](Runtime&) { return CUDA_ERROR_INVALID_VALUE; });
  return enter([&](Runtime& runtime) -> CUresult {
    if (out == nullptr) return CUDA_ERROR_INVALID_VALUE;
    void* pointer = nullptr;
    if (const cudaError_t error = allocate(runtime, &pointer, bytes, Source::kMalloc, 0)) return result_of(error);
    *out = address_of(pointer);
    current(runtime)->add(Context::Kind::kMemory, *out);
    return CUDA_SUCCESS;
  });
}

MUSCOPE_DRIVER_ENTRY(cuMemAllocPitch_v2)(CUdeviceptr* out, std::size_t* pitch, std::size_t width, std::size_t height,
                                         unsigned element) {
  return allocate_in_context(out, Context::Kind::kMemory, [&](void** pointer) -> cudaError_t {
    if (width == 0 || height == 0 || (element != 4 && element != 8 && element != 16)) return cudaErrorInvalidValue;
    return muscope_cudaMallocPitch(pointer, pitch, width, height);
  });
}

MUSCOPE_DRIVER_ENTRY(cuMemAllocManaged)(CUdeviceptr* out, std::size_t bytes, unsigned flags) {
  return allocate_in_context(out, Context::Kind::kMemory, [&](void** pointer) -> cudaError_t {
    return bytes == 0 ? cudaErrorInvalidValue : muscope_cudaMallocManaged(pointer, bytes, flags);
  });
}

MUSCOPE_DRIVER_ENTRY(cuMemFree_v2)(CUdeviceptr address) {
  return free_in_context(address, Context::Kind::kMemory, [](void* pointer) { return muscope_cudaFree(pointer); });
}

MUSCOPE_DRIVER_ENTRY(cuMemGetAddressRange_v2)(CUdeviceptr* base, std::size_t* size, CUdeviceptr address) {
  return enter([&](Runtime& runtime) -> CUresult {
    const muscope::memory::Allocation found = runtime.memory().find(address);
    const auto block = found.id == 0 ? std::nullopt : runtime.blocks().find(found.base);
    if (found.id == 0) return CUDA_ERROR_NOT_FOUND;
    if (base != nullptr) *base = found.base;
    if (size != nullptr) *size = block ? block->bytes : found.end - found.base;
    return CUDA_SUCCESS;
  });
}

MUSCOPE_DRIVER_ENTRY(cuMemHostAlloc)(void** out, std::size_t bytes, unsigned flags) {
  return allocate_in_context(
      reinterpret_cast<CUdeviceptr*>(out), Context::Kind::kHostMemory,
      [&](void** pointer) -> cudaError_t { return muscope_cudaHostAlloc(pointer, bytes, flags); });
}

MUSCOPE_DRIVER_ENTRY(cuMemAllocHost_v2)(void** out, std::size_t bytes) { return muscope_cuMemHostAlloc(out, bytes, 0); }

MUSCOPE_DRIVER_ENTRY(cuMemFreeHost)(void* pointer) {
  return free_in_context(address_of(pointer), Context::Kind::kHostMemory, [](void* p) -> cudaError_t {
    return p == nullptr ? cudaErrorInvalidValue : muscope_cudaFreeHost(p);
  });
}

MUSCOPE_DRIVER_ENTRY(cuMemHostRegister_v2)(void* pointer, std::size_t bytes, unsigned flags) {
  return enter([&](Runtime& runtime) -> CUresult {
    if (const cudaError_t error = muscope_cudaHostRegister(pointer, bytes, flags)) return result_of(error);
    current(runtime)->add(Context::Kind::kHostMemory, address_of(pointer));
    return CUDA_SUCCESS;
  });
}

MUSCOPE_DRIVER_ENTRY(cuMemHostUnregister)(void* pointer) {
  return free_in_context(address_of(pointer), Context::Kind::kHostMemory,
                         [](void* p) { return muscope_cudaHostUnregister(p); });
}

MUSCOPE_DRIVER_ENTRY(cuMemHostGetDevicePointer_v2)(CUdeviceptr* out, void* host, unsigned flags) {
  return enter([&](Runtime&) { return muscope_cudaHostGetDevicePointer(reinterpret_cast<void**>(out), host, flags); });
}

MUSCOPE_DRIVER_ENTRY(cuMemHostGetFlags)(unsigned* flags, void* host) {
  return enter([&](Runtime&) { return muscope_cudaHostGetFlags(flags, host); });
}

MUSCOPE_DRIVER_ENTRY(cuMemAllocAsync)(CUdeviceptr* out, std::size_t bytes, CUstream stream) {
  return allocate_in_context(out, Context::Kind::kMemory, [&](void** pointer) -> cudaError_t {
    return bytes == 0 ? cudaErrorInvalidValue : muscope_cudaMallocAsync(pointer, bytes, stream);
  });
}

MUSCOPE_DRIVER_ENTRY(cuMemAllocFromPoolAsync)(CUdeviceptr* out, std::size_t bytes, CUmemoryPool pool, CUstream stream) {
  return allocate_in_context(out, Context::Kind::kMemory, [&](void** pointer) -> cudaError_t {
    return bytes == 0 ? cudaErrorInvalidValue : muscope_cudaMallocFromPoolAsync(pointer, bytes, pool, stream);
  });
}

MUSCOPE_DRIVER_ENTRY(cuMemFreeAsync)(CUdeviceptr address, CUstream stream) {
  return free_in_context(address, Context::Kind::kMemory,
                         [&](void* pointer) { return muscope_cudaFreeAsync(pointer, stream); });
}

MUSCOPE_DRIVER_ENTRY(cuMemPoolTrimTo)(CUmemoryPool pool, std::size_t keep) {
  return enter(Needs::kInit, [&](Runtime&) { return muscope_cudaMemPoolTrimTo(pool, keep); });
}

MUSCOPE_DRIVER_ENTRY(cuMemPoolSetAttribute)(CUmemoryPool pool, CUmemPool_attribute attribute, void* value) {
  return enter(Needs::kInit, [&](Runtime&) {
    return muscope_cudaMemPoolSetAttribute(pool, static_cast<cudaMemPoolAttr>(attribute), value);
  });
}

MUSCOPE_DRIVER_ENTRY(cuMemPoolGetAttribute)(CUmemoryPool pool, CUmemPool_attribute attribute, void* value) {
  return enter(Needs::kInit, [&](Runtime&) {
    return muscope_cudaMemPoolGetAttribute(pool, static_cast<cudaMemPoolAttr>(attribute), value);
  });
}

MUSCOPE_DRIVER_ENTRY(cuMemAdvise)(CUdeviceptr pointer, std::size_t bytes, CUmem_advise advice, CUdevice device) {
  return enter([&](Runtime&) {
    return muscope_cudaMemAdvise(pointer_of(pointer), bytes, static_cast<cudaMemoryAdvise>(advice), location(device));
  });
}

MUSCOPE_DRIVER_ENTRY(cuMemAdvise_v2)(CUdeviceptr pointer, std::size_t bytes, CUmem_advise advice, CUmemLocation where) {
  return enter([&](Runtime&) {
    return muscope_cudaMemAdvise(pointer_of(pointer), bytes, static_cast<cudaMemoryAdvise>(advice), location(where));
  });
}

MUSCOPE_DRIVER_ENTRY(cuMemPrefetchAsync)(CUdeviceptr pointer, std::size_t bytes, CUdevice device, CUstream stream) {
  return enter(
      [&](Runtime&) { return muscope_cudaMemPrefetchAsync(pointer_of(pointer), bytes, location(device), 0, stream); });
}

MUSCOPE_DRIVER_ENTRY(cuMemPrefetchAsync_v2)(CUdeviceptr pointer, std::size_t bytes, CUmemLocation where, unsigned flags,
                                            CUstream stream) {
  return enter([&](Runtime&) {
    return muscope_cudaMemPrefetchAsync(pointer_of(pointer), bytes, location(where), flags, stream);
  });
}
