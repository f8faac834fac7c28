// Devices: selection, properties, limits, synchronisation, peers, versions.
#include <fmt/format.h>

#include <atomic>
#include <cstring>

#include "runtime/capture.h"
#include "runtime/device_info.h"
#include "runtime/entry.h"
#include "runtime/process.h"
#include "runtime/runtime.h"
#include "runtime/selection.h"
#include "runtime/thread_use.h"

using namespace muscope::runtime;

namespace {

constexpr int kDriverVersion = 13000;
constexpr int kRuntimeVersion13 = 13000;
constexpr int kRuntimeVersion11 = 11080;
constexpr int kRuntimeVersion12 = 12090;

constexpr unsigned kDeviceFlags =
    cudaDeviceScheduleMask | cudaDeviceMapHost | cudaDeviceLmemResizeToMax | cudaDeviceSyncMemops;

template <typename Properties>
cudaError_t properties_of(Properties* properties, int index) {
  return enter(Needs::kRuntime, [&](Runtime& runtime) -> cudaError_t {
    if (properties == nullptr) return cudaErrorInvalidValue;
    if (runtime.device(index) == nullptr) return cudaErrorInvalidDevice;
    fill_properties(runtime.gpu(), index, *properties);
    tell_stand_ins(runtime.gpu(), 0);
    return cudaSuccess;
  });
}

// All devices are alike, so the first is as good a choice as any.
cudaError_t choose(int* device, const void* wish) {
  return enter(Needs::kRuntime, [&](Runtime&) -> cudaError_t {
    if (device == nullptr || wish == nullptr) return cudaErrorInvalidValue;
    *device = 0;
    return cudaSuccess;
  });
}

cudaError_t put(int* out, int value) {
  if (out == nullptr) return detail::end_call(cudaErrorInvalidValue);
  *out = value;
  return cudaSuccess;
}

}  // namespace

namespace muscope::runtime {
void tell_stand_ins(const arch::GpuSpec& gpu, int number) {
  static std::atomic<bool> told{false};
  const std::string names = stand_ins(gpu, number);
  if (names.empty() || told.exchange(true)) return;
  tell("D518",
       fmt::format("the program asks for properties of {} that are not known, and gets assumed ones: {}", gpu.name,
                   names),
       "what it decides by them may differ on the GPU; a JSON file for --gpu can state them: see `muscope explain "
       "D518`");
}
}  // namespace muscope::runtime

MUSCOPE_ENTRY(cudaGetDeviceCount)(int* count) {
  // Also answered in a forked child (H200).
  if (forked_from_user()) return put(count, RunOptions::of_process().devices);
  return enter(Needs::kRuntime, [&](Runtime& runtime) { return put(count, runtime.device_count()); });
}

MUSCOPE_ENTRY(cudaRuntimeGetVersion)(int* version) { return put(version, kRuntimeVersion13); }

MUSCOPE_EXPORT cudaError_t muscope_cudaRuntimeGetVersion_12(int* version) { return put(version, kRuntimeVersion12); }

MUSCOPE_EXPORT cudaError_t muscope_cudaRuntimeGetVersion_11(int* version) { return put(version, kRuntimeVersion11); }

MUSCOPE_ENTRY(cudaDriverGetVersion)(int* version) { return put(version, kDriverVersion); }

MUSCOPE_ENTRY(cudaSetDevice)(int index) {
  return enter(Needs::kRuntime, [&](Runtime& runtime) -> cudaError_t {
    if (runtime.device(index) == nullptr) return cudaErrorInvalidDevice;
    runtime.set_current_device(index);
    ++thread_use.selections;
    note_runtime_call();
    return cudaSuccess;
  });
}

MUSCOPE_ENTRY(cudaInitDevice)(int index, unsigned, unsigned) {
  return enter(Needs::kRuntime, [&](Runtime& runtime) -> cudaError_t {
    return runtime.device(index) ? cudaSuccess : cudaErrorInvalidDevice;
  });
}

MUSCOPE_ENTRY(cudaSetValidDevices)(int* devices, int count) {
  return enter(Needs::kRuntime, [&](Runtime& runtime) -> cudaError_t {
    if (count < 0 || (count > 0 && devices == nullptr) || count > runtime.device_count()) return cudaErrorInvalidValue;
    for (int i = 0; i < count; ++i) {
      if (runtime.device(devices[i]) == nullptr) return cudaErrorInvalidDevice;
    }
    return cudaSuccess;
  });
}

MUSCOPE_ENTRY(cudaGetDevice)(int* index) {
  return enter(Needs::kRuntime, [&](Runtime& runtime) { return put(index, runtime.current_device().index()); });
}

MUSCOPE_ENTRY(cudaGetDeviceProperties)(cudaDeviceProp* properties, int index) {
  return properties_of(properties, index);
}

MUSCOPE_EXPORT cudaError_t muscope_cudaGetDeviceProperties_12(DeviceProp12* properties, int index) {
  return properties_of(properties, index);
}

MUSCOPE_ENTRY(cudaChooseDevice)(int* device, const cudaDeviceProp* wish) { return choose(device, wish); }

MUSCOPE_ENTRY(cudaDeviceGetAttribute)(int* value, cudaDeviceAttr attribute, int index) {
  return enter(Needs::kRuntime, [&](Runtime& runtime) -> cudaError_t {
    if (value == nullptr) return cudaErrorInvalidValue;
    if (runtime.device(index) == nullptr) return cudaErrorInvalidDevice;
    tell_stand_ins(runtime.gpu(), attribute);
    return device_attribute(runtime.gpu(), index, attribute, *value) ? cudaSuccess : cudaErrorInvalidValue;
  });
}

MUSCOPE_ENTRY(cudaDeviceSynchronize)() {
  return enter([&](Runtime& runtime) -> cudaError_t {
    if (const auto refused = refuse_any_captured()) return *refused;
    runtime.scheduler().wait_device(runtime.current_device().index());
    runtime.write_output();
    return runtime.current_device().check_usable();
  });
}

MUSCOPE_ENTRY(cudaDeviceReset)() {
  return enter(Needs::kRuntime, [&](Runtime& runtime) {
    runtime.scheduler().wait_device(runtime.current_device().index());
    runtime.write_output();
    runtime.reset_device(runtime.current_device());
    return cudaSuccess;
  });
}

MUSCOPE_ENTRY(cudaDeviceGetLimit)(std::size_t* value, cudaLimit limit) {
  return enter([&](Runtime& runtime) -> cudaError_t {
    Device& device = runtime.current_device();
    const auto which = static_cast<std::size_t>(limit);
    if (value == nullptr || which >= device.limits.size()) return cudaErrorInvalidValue;
    if (limit == cudaLimitDevRuntimeSyncDepth) return cudaErrorUnsupportedLimit;
    const std::lock_guard lock(device.mutex);
    *value = device.limits[which];
    return cudaSuccess;
  });
}

MUSCOPE_ENTRY(cudaDeviceSetLimit)(cudaLimit limit, std::size_t value) {
  return enter([&](Runtime& runtime) -> cudaError_t {
    Device& device = runtime.current_device();
    const auto which = static_cast<std::size_t>(limit);
    if (which >= device.limits.size()) return cudaErrorInvalidValue;
    if (limit == cudaLimitDevRuntimeSyncDepth) return cudaErrorUnsupportedLimit;
    if (limit == cudaLimitStackSize) value = (value + 15) / 16 * 16;  // H200: 5,000 becomes 5,008
    if (limit == cudaLimitMallocHeapSize) {
      // H200: 1 becomes 4 MiB, 5,000,000 becomes 5,046,272.
      constexpr std::size_t kUnit = 64 << 10, kLeast = 4 << 20;
      value = std::min(value, ~std::size_t{0} - kUnit);
      value = std::max(kLeast, (value + kUnit - 1) / kUnit * kUnit);
      runtime.memory().set_heap_limit(value);
    }
    const std::lock_guard lock(device.mutex);
    device.limits[which] = value;
    return cudaSuccess;
  });
}

MUSCOPE_ENTRY(cudaDeviceGetCacheConfig)(cudaFuncCache* config) {
  return enter([&](Runtime& runtime) -> cudaError_t {
    if (config == nullptr) return cudaErrorInvalidValue;
    *config = runtime.current_device().cache;
    return cudaSuccess;
  });
}

MUSCOPE_ENTRY(cudaDeviceSetCacheConfig)(cudaFuncCache config) {
  return enter([&](Runtime& runtime) -> cudaError_t {
    if (static_cast<unsigned>(config) > cudaFuncCachePreferEqual) return cudaErrorInvalidValue;
    runtime.current_device().cache = config;
    return cudaSuccess;
  });
}

MUSCOPE_ENTRY(cudaDeviceGetSharedMemConfig)(cudaSharedMemConfig* config) {
  return enter([&](Runtime&) -> cudaError_t {
    if (config == nullptr) return cudaErrorInvalidValue;
    *config = cudaSharedMemBankSizeFourByte;  // since cc 5.0 banks have 4 bytes, whatever was asked for
    return cudaSuccess;
  });
}

MUSCOPE_ENTRY(cudaDeviceSetSharedMemConfig)(cudaSharedMemConfig config) {
  return enter([&](Runtime&) -> cudaError_t {
    return static_cast<unsigned>(config) <= cudaSharedMemBankSizeEightByte ? cudaSuccess : cudaErrorInvalidValue;
  });
}

MUSCOPE_ENTRY(cudaGetDeviceFlags)(unsigned* flags) {
  return enter([&](Runtime& runtime) -> cudaError_t {
    if (flags == nullptr) return cudaErrorInvalidValue;
    *flags = runtime.current_device().flags;
    return cudaSuccess;
  });
}

MUSCOPE_ENTRY(cudaSetDeviceFlags)(unsigned flags) {
  return enter(Needs::kRuntime, [&](Runtime& runtime) -> cudaError_t {
    if ((flags & ~kDeviceFlags) != 0) return cudaErrorInvalidValue;
    runtime.current_device().flags = flags | cudaDeviceMapHost;
    return cudaSuccess;
  });
}

MUSCOPE_ENTRY(cudaDeviceGetStreamPriorityRange)(int* least, int* greatest) {
  return enter([&](Runtime&) -> cudaError_t {
    if (least != nullptr) *least = 0;
    if (greatest != nullptr) *greatest = -5;
    return cudaSuccess;
  });
}

MUSCOPE_ENTRY(cudaDeviceGetPCIBusId)(char* id, int length, int index) {
  return enter(Needs::kRuntime, [&](Runtime& runtime) -> cudaError_t {
    if (runtime.device(index) == nullptr) return cudaErrorInvalidDevice;
    const std::string text = pci_bus_id(index);
    if (id == nullptr || length <= static_cast<int>(text.size())) return cudaErrorInvalidValue;
    std::memcpy(id, text.c_str(), text.size() + 1);
    return cudaSuccess;
  });
}

MUSCOPE_ENTRY(cudaDeviceGetByPCIBusId)(int* device, const char* id) {
  return enter(Needs::kRuntime, [&](Runtime& runtime) -> cudaError_t {
    if (device == nullptr || id == nullptr) return cudaErrorInvalidValue;
    for (int i = 0; i < runtime.device_count(); ++i) {
      if (pci_bus_id(i) == id) return put(device, i);
    }
    return cudaErrorInvalidDevice;
  });
}

MUSCOPE_ENTRY(cudaDeviceCanAccessPeer)(int* can, int from, int to) {
  return enter(Needs::kRuntime, [&](Runtime& runtime) -> cudaError_t {
    if (can == nullptr) return cudaErrorInvalidValue;
    if (runtime.device(from) == nullptr || runtime.device(to) == nullptr) return cudaErrorInvalidDevice;
    note_runtime_call();
    *can = from != to;
    return cudaSuccess;
  });
}

MUSCOPE_ENTRY(cudaDeviceEnablePeerAccess)(int peer, unsigned flags) {
  return enter([&](Runtime& runtime) -> cudaError_t {
    Device& device = runtime.current_device();
    if (flags != 0) return cudaErrorInvalidValue;
    if (runtime.device(peer) == nullptr) return cudaErrorInvalidDevice;
    if (peer == device.index()) return cudaErrorPeerAccessUnsupported;
    const std::lock_guard lock(device.mutex);
    return device.peers.insert(peer).second ? cudaSuccess : cudaErrorPeerAccessAlreadyEnabled;
  });
}

MUSCOPE_ENTRY(cudaDeviceDisablePeerAccess)(int peer) {
  return enter([&](Runtime& runtime) -> cudaError_t {
    Device& device = runtime.current_device();
    if (runtime.device(peer) == nullptr) return cudaErrorInvalidDevice;
    const std::lock_guard lock(device.mutex);
    return device.peers.erase(peer) > 0 ? cudaSuccess : cudaErrorPeerAccessNotEnabled;
  });
}

MUSCOPE_ENTRY(cudaDeviceGetP2PAttribute)(int* value, cudaDeviceP2PAttr attribute, int from, int to) {
  return enter(Needs::kRuntime, [&](Runtime& runtime) -> cudaError_t {
    if (value == nullptr) return cudaErrorInvalidValue;
    if (runtime.device(from) == nullptr || runtime.device(to) == nullptr || from == to) return cudaErrorInvalidDevice;
    switch (attribute) {
      case cudaDevP2PAttrPerformanceRank:
        return put(value, 0);
      case cudaDevP2PAttrAccessSupported:
      case cudaDevP2PAttrNativeAtomicSupported:
      case cudaDevP2PAttrCudaArrayAccessSupported:
        return put(value, 1);
      case cudaDevP2PAttrOnlyPartialNativeAtomicSupported:
        return put(value, 0);
    }
    return cudaErrorInvalidValue;
  });
}

MUSCOPE_ENTRY(cudaDeviceGetTexture1DLinearMaxWidth)(std::size_t* width, const cudaChannelFormatDesc* format,
                                                    int device) {
  return enter(Needs::kRuntime, [&](Runtime& runtime) -> cudaError_t {
    if (width == nullptr || format == nullptr) return cudaErrorInvalidValue;
    if (runtime.device(device) == nullptr) return cudaErrorInvalidDevice;
    *width = std::size_t{1} << 28;
    return cudaSuccess;
  });
}

MUSCOPE_ENTRY(cudaCtxResetPersistingL2Cache)() {
  return enter([](Runtime&) { return cudaSuccess; });
}

MUSCOPE_ENTRY(cudaDeviceFlushGPUDirectRDMAWrites)(cudaFlushGPUDirectRDMAWritesTarget,
                                                  cudaFlushGPUDirectRDMAWritesScope) {
  return enter([](Runtime&) { return cudaSuccess; });
}

MUSCOPE_EXPORT cudaError_t muscope_cudaProfilerStart() {
  return enter([](Runtime&) {
    profiler_start();
    return cudaSuccess;
  });
}

MUSCOPE_EXPORT cudaError_t muscope_cudaProfilerStop() {
  return enter([](Runtime&) {
    profiler_stop();
    return cudaSuccess;
  });
}
