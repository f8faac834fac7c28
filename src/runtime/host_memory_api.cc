// Pinned, mapped and registered host memory.
#include "runtime/copy.h"
#include "runtime/entry.h"
#include "runtime/host_probe.h"
#include "runtime/memory_calls.h"
#include "runtime/runtime.h"

using namespace muscope::runtime;

namespace {

constexpr unsigned kAllocFlags = cudaHostAllocPortable | cudaHostAllocMapped | cudaHostAllocWriteCombined;
constexpr unsigned kRegisterFlags =
    cudaHostRegisterPortable | cudaHostRegisterMapped | cudaHostRegisterIoMemory | cudaHostRegisterReadOnly;

std::uint64_t number(const void* pointer) { return reinterpret_cast<std::uint64_t>(pointer); }

bool from_host_alloc(const Block& block) { return block.source == Source::kHostAlloc; }
bool from_host_register(const Block& block) { return block.source == Source::kHostRegister; }

// The pinned or registered block that holds `pointer`.
std::optional<Block> host_block(Runtime& runtime, const void* pointer) {
  if (place_of(runtime, number(pointer)) != Place::kPinned) return std::nullopt;
  return runtime.blocks().find(runtime.memory().find(number(pointer)).base);
}

}  // namespace

MUSCOPE_ENTRY(cudaMallocHost)(void** pointer, std::size_t bytes) {
  return enter(
      [&](Runtime& runtime) { return allocate(runtime, pointer, bytes, Source::kHostAlloc, cudaHostAllocDefault); });
}

MUSCOPE_ENTRY(cudaHostAlloc)(void** pointer, std::size_t bytes, unsigned flags) {
  return enter([&](Runtime& runtime) -> cudaError_t {
    if ((flags & ~kAllocFlags) != 0) return cudaErrorInvalidValue;
    return allocate(runtime, pointer, bytes, Source::kHostAlloc, flags);
  });
}

MUSCOPE_ENTRY(cudaFreeHost)(void* pointer) {
  return enter([&](Runtime& runtime) -> cudaError_t {
    if (pointer == nullptr) return cudaSuccess;
    const auto block = runtime.blocks().find(number(pointer));
    if (!block || !from_host_alloc(*block)) return cudaErrorInvalidValue;
    for (int i = 0; i < runtime.device_count(); ++i) runtime.scheduler().wait_device(i);
    return release(runtime, number(pointer), from_host_alloc) ? cudaSuccess : cudaErrorInvalidValue;
  });
}

MUSCOPE_ENTRY(cudaHostRegister)(void* pointer, std::size_t bytes, unsigned flags) {
  return enter([&](Runtime& runtime) -> cudaError_t {
    if (pointer == nullptr || bytes == 0 || (flags & ~kRegisterFlags) != 0) return cudaErrorInvalidValue;
    if (runtime.memory().in_device_range(number(pointer))) return cudaErrorInvalidValue;
    if (!host_readable(pointer, bytes)) return cudaErrorInvalidValue;
    if (!runtime.memory().add_host(pointer, bytes, muscope::memory::Kind::kRegistered))
      return cudaErrorHostMemoryAlreadyRegistered;
    runtime.blocks().add(number(pointer), {Source::kHostRegister, runtime.current_device().index(), flags, bytes});
    return cudaSuccess;
  });
}

MUSCOPE_ENTRY(cudaHostUnregister)(void* pointer) {
  return enter([&](Runtime& runtime) -> cudaError_t {
    if (pointer == nullptr) return cudaErrorInvalidValue;
    for (int i = 0; i < runtime.device_count(); ++i) runtime.scheduler().wait_device(i);
    if (runtime.blocks().take(number(pointer), from_host_register)) {
      return runtime.memory().remove_host(pointer) ? cudaSuccess : cudaErrorHostMemoryNotRegistered;
    }
    // Inside known memory, but not where it was registered: another error than for unknown memory (H200).
    return place_of(runtime, number(pointer)) == Place::kHost ? cudaErrorHostMemoryNotRegistered
                                                              : cudaErrorInvalidValue;
  });
}

MUSCOPE_ENTRY(cudaHostGetDevicePointer)(void** device, void* host, unsigned flags) {
  return enter([&](Runtime& runtime) -> cudaError_t {
    if (device == nullptr || flags != 0 || !host_block(runtime, host)) return cudaErrorInvalidValue;
    *device = host;  // one address space (H200)
    return cudaSuccess;
  });
}

MUSCOPE_ENTRY(cudaHostGetFlags)(unsigned* flags, void* host) {
  return enter([&](Runtime& runtime) -> cudaError_t {
    const auto block = host_block(runtime, host);
    if (flags == nullptr || !block) return cudaErrorInvalidValue;
    // With unified addressing all of it is mapped, and portable is what it is anyway (H200 reports no more than that).
    *flags = (block->flags & cudaHostAllocWriteCombined) | cudaHostAllocMapped;
    return cudaSuccess;
  });
}
