// Stream-ordered allocation. One pool per device, the default one; blocks come from the same place as cudaMalloc's.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>

#include "runtime/capture.h"
#include "runtime/entry.h"
#include "runtime/memory_calls.h"
#include "runtime/runtime.h"

using namespace muscope::runtime;

namespace {

constexpr std::uint64_t kPoolStep = std::uint64_t{32}
                                    << 20;  // a pool takes memory from the device in these steps (H200)

std::uint64_t number(const void* pointer) { return reinterpret_cast<std::uint64_t>(pointer); }

bool on_device(const Block& block) { return block.source == Source::kMalloc || block.source == Source::kMallocAsync; }

// Settings and high-water marks of one pool. Handles are addresses of these.
struct Pool {
  int device = 0;
  std::array<std::atomic<std::uint64_t>, cudaMemPoolAttrUsedMemHigh + 1> values{};
  std::atomic<std::uint64_t> readers{0}, writers{0};  ///< other devices that may use its memory, bit by bit
};

constexpr int kMaxPools = 64;
Pool g_pools[kMaxPools];

cudaMemPool_t handle_of(int device) {
  Pool& pool = g_pools[device % kMaxPools];
  pool.device = device;
  return reinterpret_cast<cudaMemPool_t>(&pool);
}

Pool* find(Runtime& runtime, cudaMemPool_t handle) {
  for (int i = 0; i < std::min(runtime.device_count(), kMaxPools); ++i) {
    if (handle_of(i) == handle) return &g_pools[i];
  }
  return nullptr;
}

std::uint64_t used(Runtime& runtime, const Pool& pool) {
  return runtime.blocks().bytes(Source::kMallocAsync, pool.device);
}

void raise(std::atomic<std::uint64_t>& high, std::uint64_t value) { high = std::max(high.load(), value); }

// Access of peers does not open pools (H200).
void set_rights(Runtime& runtime, std::uint64_t address, const Pool& pool, int device) {
  const std::uint64_t own = std::uint64_t{1} << device;
  runtime.memory().set_rights(address, pool.readers | own, pool.writers | own);
}

cudaError_t allocate_async(Runtime& runtime, void** pointer, std::size_t bytes, cudaStream_t stream) {
  const StreamRef ordered = runtime.stream(stream);
  if (!ordered) return cudaErrorInvalidResourceHandle;
  if (pointer != nullptr && any_capture()) {
    cudaMemAllocNodeParams asked{};
    asked.bytesize = bytes;
    AllocateWork work;
    cudaError_t error = cudaSuccess;
    const auto captured = capture(ordered, true, [&] {
      error = allocate_for_graph(runtime, asked, work);
      return work;
    });
    if (captured && *captured == cudaSuccess && error == cudaSuccess) *pointer = asked.dptr;
    if (captured) return *captured != cudaSuccess ? *captured : error;
  }
  const cudaError_t error = allocate(runtime, pointer, bytes, Source::kMallocAsync, 0);
  if (error == cudaSuccess && *pointer != nullptr)
    set_rights(runtime, number(*pointer), g_pools[runtime.current_device().index() % kMaxPools],
               runtime.current_device().index());
  Pool& pool = g_pools[runtime.current_device().index() % kMaxPools];
  const std::uint64_t now = used(runtime, pool);
  raise(pool.values[cudaMemPoolAttrUsedMemHigh], now);
  raise(pool.values[cudaMemPoolAttrReservedMemHigh], (now + kPoolStep - 1) / kPoolStep * kPoolStep);
  return error;
}

}  // namespace

MUSCOPE_ENTRY(cudaMallocAsync)(void** pointer, std::size_t bytes, cudaStream_t stream) {
  return enter([&](Runtime& runtime) { return allocate_async(runtime, pointer, bytes, stream); });
}

MUSCOPE_ENTRY(cudaMallocFromPoolAsync)(void** pointer, std::size_t bytes, cudaMemPool_t pool, cudaStream_t stream) {
  return enter([&](Runtime& runtime) -> cudaError_t {
    return find(runtime, pool) ? allocate_async(runtime, pointer, bytes, stream) : cudaErrorInvalidValue;
  });
}

MUSCOPE_ENTRY(cudaFreeAsync)(void* pointer, cudaStream_t handle) {
  return enter([&](Runtime& runtime) -> cudaError_t {
    if (pointer == nullptr) return cudaSuccess;
    const StreamRef stream = runtime.stream(handle);
    if (!stream) return cudaErrorInvalidResourceHandle;
    const auto block = runtime.blocks().find(number(pointer));
    if (const auto captured = capture(stream, true, [&] { return FreeWork{number(pointer)}; })) return *captured;
    if (block && block->source == Source::kGraph) return cudaSuccess;  // the graph may be launched again
    if (!block || !on_device(*block)) return cudaErrorInvalidValue;
    Operation operation;
    operation.run = [&runtime, address = number(pointer)]() -> std::shared_ptr<muscope::exec::LaunchHandle> {
      release(runtime, address, on_device);
      return nullptr;
    };
    runtime.scheduler().enqueue(stream, std::move(operation));
    return cudaSuccess;
  });
}

MUSCOPE_ENTRY(cudaDeviceGetDefaultMemPool)(cudaMemPool_t* pool, int device) {
  return enter([&](Runtime& runtime) -> cudaError_t {
    if (pool == nullptr) return cudaErrorInvalidValue;
    if (runtime.device(device) == nullptr) return cudaErrorInvalidDevice;
    *pool = handle_of(device);
    return cudaSuccess;
  });
}

MUSCOPE_ENTRY(cudaDeviceGetMemPool)(cudaMemPool_t* pool, int device) {
  return muscope_cudaDeviceGetDefaultMemPool(pool, device);
}

MUSCOPE_ENTRY(cudaDeviceSetMemPool)(int device, cudaMemPool_t pool) {
  return enter([&](Runtime& runtime) -> cudaError_t {
    if (runtime.device(device) == nullptr) return cudaErrorInvalidDevice;
    return find(runtime, pool) ? cudaSuccess : cudaErrorInvalidValue;
  });
}

MUSCOPE_ENTRY(cudaMemPoolTrimTo)(cudaMemPool_t pool, std::size_t) {
  return enter(
      [&](Runtime& runtime) -> cudaError_t { return find(runtime, pool) ? cudaSuccess : cudaErrorInvalidValue; });
}

MUSCOPE_ENTRY(cudaMemPoolSetAttribute)(cudaMemPool_t handle, cudaMemPoolAttr attribute, void* value) {
  return enter([&](Runtime& runtime) -> cudaError_t {
    Pool* const pool = find(runtime, handle);
    if (pool == nullptr || value == nullptr) return cudaErrorInvalidValue;
    switch (attribute) {
      case cudaMemPoolReuseFollowEventDependencies:
      case cudaMemPoolReuseAllowOpportunistic:
      case cudaMemPoolReuseAllowInternalDependencies: {
        int flag = 0;
        std::memcpy(&flag, value, sizeof flag);
        pool->values[attribute] = flag == 0 ? 2 : 1;  // 0 stands for the default, which is on
        return cudaSuccess;
      }
      case cudaMemPoolAttrReleaseThreshold: {
        std::uint64_t bytes = 0;
        std::memcpy(&bytes, value, sizeof bytes);
        pool->values[attribute] = bytes;
        return cudaSuccess;
      }
      case cudaMemPoolAttrReservedMemHigh:
      case cudaMemPoolAttrUsedMemHigh: {
        std::uint64_t bytes = 0;
        std::memcpy(&bytes, value, sizeof bytes);
        if (bytes != 0) return cudaErrorInvalidValue;  // may only be reset
        pool->values[attribute] = 0;
        return cudaSuccess;
      }
      default:
        return cudaErrorInvalidValue;
    }
  });
}

MUSCOPE_ENTRY(cudaMemPoolGetAttribute)(cudaMemPool_t handle, cudaMemPoolAttr attribute, void* value) {
  return enter([&](Runtime& runtime) -> cudaError_t {
    Pool* const pool = find(runtime, handle);
    if (pool == nullptr || value == nullptr) return cudaErrorInvalidValue;
    std::uint64_t bytes = 0;
    switch (attribute) {
      case cudaMemPoolReuseFollowEventDependencies:
      case cudaMemPoolReuseAllowOpportunistic:
      case cudaMemPoolReuseAllowInternalDependencies: {
        const int flag = pool->values[attribute] != 2 ? 1 : 0;
        std::memcpy(value, &flag, sizeof flag);
        return cudaSuccess;
      }
      case cudaMemPoolAttrUsedMemCurrent:
        bytes = used(runtime, *pool);
        break;
      case cudaMemPoolAttrReservedMemCurrent:
        bytes = (used(runtime, *pool) + kPoolStep - 1) / kPoolStep * kPoolStep;
        break;
      case cudaMemPoolAttrReleaseThreshold:
      case cudaMemPoolAttrReservedMemHigh:
      case cudaMemPoolAttrUsedMemHigh:
        bytes = pool->values[attribute];
        break;
      default:
        return cudaErrorInvalidValue;
    }
    std::memcpy(value, &bytes, sizeof bytes);
    return cudaSuccess;
  });
}

MUSCOPE_ENTRY(cudaMemPoolSetAccess)(cudaMemPool_t handle, const cudaMemAccessDesc* list, std::size_t count) {
  return enter([&](Runtime& runtime) -> cudaError_t {
    Pool* const pool = find(runtime, handle);
    if (pool == nullptr || (list == nullptr && count > 0)) return cudaErrorInvalidValue;
    for (std::size_t i = 0; i < count; ++i) {
      const bool known = list[i].flags == cudaMemAccessFlagsProtNone || list[i].flags == cudaMemAccessFlagsProtRead ||
                         list[i].flags == cudaMemAccessFlagsProtReadWrite;
      if (list[i].location.type != cudaMemLocationTypeDevice || !known) return cudaErrorInvalidValue;
      if (runtime.device(list[i].location.id) == nullptr) return cudaErrorInvalidDevice;
      // The device that has the memory cannot lose it ("cudaMemPoolSetAccess" in the CUDA Runtime API).
      if (list[i].location.id == pool->device && list[i].flags != cudaMemAccessFlagsProtReadWrite)
        return cudaErrorInvalidValue;
    }
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint64_t bit = std::uint64_t{1} << list[i].location.id;
      const bool read = list[i].flags != cudaMemAccessFlagsProtNone;
      pool->readers = read ? pool->readers | bit : pool->readers & ~bit;
      pool->writers = list[i].flags == cudaMemAccessFlagsProtReadWrite ? pool->writers | bit : pool->writers & ~bit;
    }
    for (const muscope::memory::Allocation& allocation : runtime.memory().allocations()) {
      const auto block = runtime.blocks().find(allocation.base);
      if (block && block->source == Source::kMallocAsync && block->device == pool->device)
        set_rights(runtime, allocation.base, *pool, pool->device);
    }
    return cudaSuccess;
  });
}

MUSCOPE_ENTRY(cudaMemPoolGetAccess)(cudaMemAccessFlags* flags, cudaMemPool_t handle, cudaMemLocation* location) {
  return enter([&](Runtime& runtime) -> cudaError_t {
    Pool* const pool = find(runtime, handle);
    if (pool == nullptr || flags == nullptr || location == nullptr) return cudaErrorInvalidValue;
    if (location->type != cudaMemLocationTypeDevice) return cudaErrorInvalidValue;
    if (runtime.device(location->id) == nullptr) return cudaErrorInvalidDevice;
    const bool own = location->id == pool->device;
    const bool read = own || ((pool->readers >> location->id) & 1) != 0;
    const bool write = own || ((pool->writers >> location->id) & 1) != 0;
    *flags = write ? cudaMemAccessFlagsProtReadWrite : read ? cudaMemAccessFlagsProtRead : cudaMemAccessFlagsProtNone;
    return cudaSuccess;
  });
}
