// What programs ask and set about kernels: attributes, cache preferences, occupancy.
#include <algorithm>
#include <cstring>

#include "runtime/entry.h"
#include "runtime/launch.h"
#include "runtime/runtime.h"

using namespace muscope::runtime;

namespace {

// Calls `body` with the kernel behind `function`, lowered for the current device.
template <typename Body>
cudaError_t with_kernel(const void* function, Body&& body) {
  return enter([&](Runtime& runtime) -> cudaError_t {
    KernelEntry* kernel = nullptr;
    if (const cudaError_t error = find_kernel(runtime, function, kernel)) return error;
    const auto code = runtime.modules().load(runtime, *kernel, runtime.current_device().index());
    return code ? body(runtime, *kernel, *code) : cudaErrorInvalidDeviceFunction;
  });
}

int sm_of_name(const std::string& target) { return target.size() > 3 ? std::atoi(target.c_str() + 3) : 0; }

std::uint64_t constant_bytes(Runtime& runtime, KernelEntry& kernel) {
  return runtime.modules().load(runtime, *kernel.binary, runtime.current_device().index()).constant_bytes();
}

cudaError_t set_attribute(Runtime& runtime, KernelEntry& kernel, const muscope::code::Kernel& code,
                          cudaFuncAttribute attribute, int value) {
  const KernelLimits limits = limits_of(runtime, kernel, code);
  const auto& gpu = runtime.gpu();
  const auto& opt_in = gpu.shared_per_block_optin.known ? gpu.shared_per_block_optin : gpu.shared_per_block;
  switch (attribute) {
    case cudaFuncAttributeMaxDynamicSharedMemorySize:
      if (value < 0 ||
          static_cast<std::uint64_t>(value) + limits.static_shared > static_cast<std::uint64_t>(opt_in.as_int()))
        return cudaErrorInvalidValue;
      kernel.max_dynamic_shared = value;
      return cudaSuccess;
    case cudaFuncAttributePreferredSharedMemoryCarveout:
      if (value < -1 || value > 100) return cudaErrorInvalidValue;
      kernel.carveout = value;
      return cudaSuccess;
    case cudaFuncAttributeNonPortableClusterSizeAllowed:
      kernel.large_clusters = value != 0;
      return cudaSuccess;
    case cudaFuncAttributeClusterSchedulingPolicyPreference:
      return cudaSuccess;
    default:
      return cudaErrorInvalidValue;
  }
}

cudaError_t active_blocks(int* blocks, const void* function, int threads, std::size_t dynamic_shared, unsigned flags) {
  return with_kernel(function,
                     [&](Runtime& runtime, KernelEntry& kernel, const muscope::code::Kernel& code) -> cudaError_t {
                       if (blocks == nullptr || threads <= 0 || flags > cudaOccupancyDisableCachingOverride)
                         return cudaErrorInvalidValue;
                       const KernelLimits limits = limits_of(runtime, kernel, code);
                       const auto most = static_cast<std::uint64_t>(runtime.gpu().shared_per_sm.as_int());
                       *blocks = threads > limits.max_threads || dynamic_shared > most
                                     ? 0
                                     : occupancy_of(runtime, kernel, code, threads, dynamic_shared).blocks_per_sm;
                       return cudaSuccess;
                     });
}

}  // namespace

MUSCOPE_ENTRY(cudaFuncGetAttributes)(cudaFuncAttributes* attributes, const void* function) {
  return with_kernel(function,
                     [&](Runtime& runtime, KernelEntry& kernel, const muscope::code::Kernel& code) -> cudaError_t {
                       if (attributes == nullptr) return cudaErrorInvalidValue;
                       const KernelLimits limits = limits_of(runtime, kernel, code);
                       std::memset(attributes, 0, sizeof *attributes);
                       attributes->sharedSizeBytes = limits.static_shared;
                       attributes->constSizeBytes = constant_bytes(runtime, kernel);
                       // An H200 gives what `ptxas -v` calls the cumulative stack size: 0 for recursive kernels.
                       const auto* const machine = Modules::machine_code(kernel);
                       attributes->localSizeBytes = machine ? machine->stack_bytes : code.info.local_bytes;
                       attributes->maxThreadsPerBlock = limits.max_threads;
                       attributes->numRegs = limits.registers;
                       attributes->ptxVersion = sm_of_name(code.info.ptx_target);
                       attributes->binaryVersion = runtime.gpu().cc_major * 10 + runtime.gpu().cc_minor;
                       attributes->maxDynamicSharedSizeBytes = static_cast<int>(limits.dynamic_shared);
                       attributes->preferredShmemCarveout = kernel.carveout;
                       const auto cluster = cluster_of(kernel);
                       attributes->clusterDimMustBeSet = cluster[0] != 0;
                       attributes->requiredClusterWidth = static_cast<int>(cluster[0]);
                       attributes->requiredClusterHeight = static_cast<int>(cluster[1]);
                       attributes->requiredClusterDepth = static_cast<int>(cluster[2]);
                       attributes->nonPortableClusterSizeAllowed = kernel.large_clusters.load() ? 1 : 0;
                       return cudaSuccess;
                     });
}

MUSCOPE_ENTRY(cudaFuncSetAttribute)(const void* function, cudaFuncAttribute attribute, int value) {
  return with_kernel(function, [&](Runtime& runtime, KernelEntry& kernel, const muscope::code::Kernel& code) {
    return set_attribute(runtime, kernel, code, attribute, value);
  });
}

MUSCOPE_ENTRY(cudaFuncSetCacheConfig)(const void* function, cudaFuncCache config) {
  return with_kernel(function, [&](Runtime&, KernelEntry& kernel, const muscope::code::Kernel&) -> cudaError_t {
    if (static_cast<unsigned>(config) > cudaFuncCachePreferEqual) return cudaErrorInvalidValue;
    constexpr int kPreferences[] = {muscope::model::kDriverChooses, 100, muscope::model::kPrefersL1, 50};
    kernel.cache_preference = kPreferences[config];
    return cudaSuccess;
  });
}

MUSCOPE_ENTRY(cudaFuncSetSharedMemConfig)(const void* function, cudaSharedMemConfig config) {
  return with_kernel(function, [&](Runtime&, KernelEntry&, const muscope::code::Kernel&) -> cudaError_t {
    return static_cast<unsigned>(config) <= cudaSharedMemBankSizeEightByte ? cudaSuccess : cudaErrorInvalidValue;
  });
}

MUSCOPE_ENTRY(cudaFuncGetName)(const char** name, const void* function) {
  return with_kernel(function, [&](Runtime&, KernelEntry& kernel, const muscope::code::Kernel&) -> cudaError_t {
    if (name == nullptr) return cudaErrorInvalidValue;
    *name = kernel.mangled.c_str();
    return cudaSuccess;
  });
}

MUSCOPE_ENTRY(cudaFuncGetParamInfo)(const void* function, std::size_t index, std::size_t* offset, std::size_t* size) {
  return with_kernel(function, [&](Runtime&, KernelEntry&, const muscope::code::Kernel& code) -> cudaError_t {
    if (offset == nullptr || index >= code.params.size()) return cudaErrorInvalidValue;
    *offset = code.params[index].offset;
    if (size != nullptr) *size = code.params[index].bytes;
    return cudaSuccess;
  });
}

MUSCOPE_ENTRY(cudaOccupancyMaxActiveBlocksPerMultiprocessor)(int* blocks, const void* function, int threads,
                                                             std::size_t dynamic_shared) {
  return active_blocks(blocks, function, threads, dynamic_shared, cudaOccupancyDefault);
}

MUSCOPE_ENTRY(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags)(int* blocks, const void* function, int threads,
                                                                      std::size_t dynamic_shared, unsigned flags) {
  return active_blocks(blocks, function, threads, dynamic_shared, flags);
}

// The rule is that of cuda_occupancy.h: one block may have all that a block can opt in to; several share the carve-out.
MUSCOPE_ENTRY(cudaOccupancyAvailableDynamicSMemPerBlock)(std::size_t* bytes, const void* function, int blocks,
                                                         int threads) {
  return with_kernel(
      function, [&](Runtime& runtime, KernelEntry& kernel, const muscope::code::Kernel& code) -> cudaError_t {
        if (bytes == nullptr || blocks <= 0 || threads <= 0) return cudaErrorInvalidValue;
        if (occupancy_of(runtime, kernel, code, threads, 0).blocks_per_sm < blocks) return cudaErrorInvalidValue;
        const auto& gpu = runtime.gpu();
        const auto most = static_cast<std::uint64_t>(
            (gpu.shared_per_block_optin.known ? gpu.shared_per_block_optin : gpu.shared_per_block).as_int());
        const std::uint64_t unit =
            gpu.shared_allocation_unit.known ? static_cast<std::uint64_t>(gpu.shared_allocation_unit.as_int()) : 128;
        const std::uint64_t pool = blocks == 1 ? most : static_cast<std::uint64_t>(preferred_carveout(gpu, kernel));
        const std::uint64_t share = std::min(pool / static_cast<std::uint64_t>(blocks) / unit * unit, most);
        const std::uint64_t fixed = limits_of(runtime, kernel, code).static_shared;
        *bytes = share - std::min(share, fixed);
        return cudaSuccess;
      });
}
