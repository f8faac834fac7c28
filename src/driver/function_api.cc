// What programs ask and set about functions: attributes, names, parameters, occupancy.
#include <algorithm>

#include "driver/function.h"
#include "driver/module.h"

using namespace muscope::driver;

MUSCOPE_RUNTIME_FUNCTION(cudaFuncGetAttributes);
MUSCOPE_RUNTIME_FUNCTION(cudaFuncSetAttribute);
MUSCOPE_RUNTIME_FUNCTION(cudaOccupancyMaxActiveClusters);
MUSCOPE_RUNTIME_FUNCTION(cudaOccupancyMaxPotentialClusterSize);
MUSCOPE_RUNTIME_FUNCTION(cudaFuncSetCacheConfig);
MUSCOPE_RUNTIME_FUNCTION(cudaFuncSetSharedMemConfig);
MUSCOPE_RUNTIME_FUNCTION(cudaFuncGetName);
MUSCOPE_RUNTIME_FUNCTION(cudaFuncGetParamInfo);
MUSCOPE_RUNTIME_FUNCTION(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags);
MUSCOPE_RUNTIME_FUNCTION(cudaOccupancyAvailableDynamicSMemPerBlock);

namespace {

template <typename Body>
CUresult with_function(const void* function, Needs needs, Body&& body) {
  return enter(needs, [&](Runtime& runtime) -> CUresult {
    KernelEntry* kernel = nullptr;
    if (const CUresult result = find_function(runtime, function, kernel)) return result;
    return result_of(body(runtime, *kernel));
  });
}

CUresult value_of(const cudaFuncAttributes& all, CUfunction_attribute attribute, int* value) {
  switch (static_cast<int>(attribute)) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
      return put(value, all.maxThreadsPerBlock);
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
      return put(value, static_cast<int>(all.sharedSizeBytes));
    case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
      return put(value, static_cast<int>(all.constSizeBytes));
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
      return put(value, static_cast<int>(all.localSizeBytes));
    case CU_FUNC_ATTRIBUTE_NUM_REGS:
      return put(value, all.numRegs);
    case CU_FUNC_ATTRIBUTE_PTX_VERSION:
      return put(value, all.ptxVersion);
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
      return put(value, all.binaryVersion);
    case CU_FUNC_ATTRIBUTE_CACHE_MODE_CA:
      return put(value, all.cacheModeCA);
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
      return put(value, all.maxDynamicSharedSizeBytes);
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
      return put(value, all.preferredShmemCarveout);
    case CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET:
      return put(value, all.clusterDimMustBeSet);
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
      return put(value, all.requiredClusterWidth);
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
      return put(value, all.requiredClusterHeight);
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
      return put(value, all.requiredClusterDepth);
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
      return put(value, all.nonPortableClusterSizeAllowed);
    case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
      return put(value, all.clusterSchedulingPolicyPreference);
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}

// The block size with which most threads run on an SM, tried from the largest on in steps of a warp, as the headers of
// CUDA's runtime do it (cudaOccupancyMaxPotentialBlockSizeVariableSMem).
CUresult potential_block_size(int* min_grid, int* block, CUfunction function, CUoccupancyB2DSize shared_of,
                              std::size_t shared, int limit, unsigned flags) {
  return with_function(function, Needs::kContext, [&](Runtime& runtime, KernelEntry&) -> CUresult {
    if (min_grid == nullptr || block == nullptr || limit < 0) return CUDA_ERROR_INVALID_VALUE;
    cudaFuncAttributes attributes{};
    if (const cudaError_t error = muscope_cudaFuncGetAttributes(&attributes, function)) return result_of(error);
    constexpr int kWarp = 32;
    const int most = limit == 0 ? attributes.maxThreadsPerBlock : std::min(limit, attributes.maxThreadsPerBlock);
    const auto& gpu = runtime.gpu();
    const int full = gpu.max_threads_per_sm.known ? static_cast<int>(gpu.max_threads_per_sm.as_int()) : 2048;
    int best = 0;
    *min_grid = *block = 0;
    for (int rounded = (most + kWarp - 1) / kWarp * kWarp; rounded > 0 && best < full; rounded -= kWarp) {
      const int threads = std::min(rounded, most);
      int blocks = 0;
      if (const cudaError_t error = muscope_cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
              &blocks, function, threads, shared_of ? shared_of(threads) : shared, flags))
        return result_of(error);
      if (threads * blocks <= best) continue;
      best = threads * blocks;
      *block = threads;
      *min_grid = blocks * (gpu.sm_count.known ? static_cast<int>(gpu.sm_count.as_int()) : 1);
    }
    return CUDA_SUCCESS;
  });
}

}  // namespace

namespace muscope::driver {

CUresult get_attribute(int* value, CUfunction_attribute attribute, const void* function, int device) {
  return with_function(function, device < 0 ? Needs::kContext : Needs::kInit,
                       [&](Runtime& runtime, KernelEntry&) -> CUresult {
                         if (value == nullptr) return CUDA_ERROR_INVALID_VALUE;
                         if (device >= 0 && runtime.device(device) == nullptr) return CUDA_ERROR_INVALID_DEVICE;
                         cudaFuncAttributes all{};
                         const cudaError_t error = muscope_cudaFuncGetAttributes(&all, function);
                         return error ? result_of(error) : value_of(all, attribute, value);
                       });
}

CUresult set_attribute(const void* function, CUfunction_attribute attribute, int value, int device) {
  return with_function(
      function, device < 0 ? Needs::kContext : Needs::kInit, [&](Runtime& runtime, KernelEntry&) -> CUresult {
        if (device >= 0 && runtime.device(device) == nullptr) return CUDA_ERROR_INVALID_DEVICE;
        return result_of(muscope_cudaFuncSetAttribute(function, static_cast<cudaFuncAttribute>(attribute), value));
      });
}

CUresult set_cache_config(const void* function, CUfunc_cache config) {
  return with_function(function, Needs::kInit, [&](Runtime&, KernelEntry&) {
    return muscope_cudaFuncSetCacheConfig(function, static_cast<cudaFuncCache>(config));
  });
}

CUresult function_name(const char** name, const void* function, Needs needs) {
  return with_function(function, needs,
                       [&](Runtime&, KernelEntry& kernel) { return put(name, kernel.mangled.c_str()); });
}

CUresult parameter_info(const void* function, std::size_t index, std::size_t* offset, std::size_t* size, Needs needs) {
  return with_function(function, needs, [&](Runtime& runtime, KernelEntry& kernel) -> CUresult {
    const auto code = runtime.modules().load(runtime, kernel, runtime.current_device().index());
    if (!code || offset == nullptr || index >= code->params.size()) return CUDA_ERROR_INVALID_VALUE;
    // In machine code offsets count from the start of the constant bank.
    *offset = code->params[index].offset - code->params.front().offset;
    if (size != nullptr) *size = code->params[index].bytes;
    return CUDA_SUCCESS;
  });
}

}  // namespace muscope::driver

MUSCOPE_DRIVER_ENTRY(cuFuncGetAttribute)(int* value, CUfunction_attribute attribute, CUfunction function) {
  return get_attribute(value, attribute, function, -1);
}

MUSCOPE_DRIVER_ENTRY(cuFuncSetAttribute)(CUfunction function, CUfunction_attribute attribute, int value) {
  return set_attribute(function, attribute, value, -1);
}

MUSCOPE_DRIVER_ENTRY(cuFuncSetCacheConfig)(CUfunction function, CUfunc_cache config) {
  return set_cache_config(function, config);
}

MUSCOPE_DRIVER_ENTRY(cuFuncSetSharedMemConfig)(CUfunction function, CUsharedconfig config) {
  return with_function(function, Needs::kContext, [&](Runtime&, KernelEntry&) {
    return muscope_cudaFuncSetSharedMemConfig(function, static_cast<cudaSharedMemConfig>(config));
  });
}

MUSCOPE_DRIVER_ENTRY(cuFuncGetModule)(CUmodule* module, CUfunction function) {
  return with_function(function, Needs::kContext, [&](Runtime& runtime, KernelEntry& kernel) {
    return put(module, Images::of_process().module_of(*kernel.binary, ThreadContexts::of_thread(runtime).current()));
  });
}

MUSCOPE_DRIVER_ENTRY(cuFuncGetName)(const char** name, CUfunction function) {
  return function_name(name, function, Needs::kContext);
}

MUSCOPE_DRIVER_ENTRY(cuFuncGetParamInfo)(CUfunction function, std::size_t index, std::size_t* offset,
                                         std::size_t* size) {
  return parameter_info(function, index, offset, size, Needs::kContext);
}

MUSCOPE_DRIVER_ENTRY(cuFuncIsLoaded)(int* state, CUfunction function) {
  constexpr int kUnloaded = 0, kLoaded = 1;  // CUfunctionLoadingState
  return with_function(function, Needs::kContext, [&](Runtime& runtime, KernelEntry& kernel) {
    const std::lock_guard lock(kernel.mutex);
    const auto at = static_cast<std::size_t>(runtime.current_device().index());
    return put(state, at < kernel.loaded.size() && kernel.loaded[at] ? kLoaded : kUnloaded);
  });
}

MUSCOPE_DRIVER_ENTRY(cuFuncLoad)(CUfunction function) {
  return with_function(function, Needs::kContext, [&](Runtime& runtime, KernelEntry& kernel) -> CUresult {
    return runtime.modules().load(runtime, kernel, runtime.current_device().index()) ? CUDA_SUCCESS
                                                                                     : CUDA_ERROR_INVALID_HANDLE;
  });
}

MUSCOPE_DRIVER_ENTRY(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags)(int* blocks, CUfunction function,
                                                                           int threads, std::size_t shared,
                                                                           unsigned flags) {
  return with_function(function, Needs::kContext, [&](Runtime&, KernelEntry&) {
    return muscope_cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, threads, shared, flags);
  });
}

MUSCOPE_DRIVER_ENTRY(cuOccupancyMaxActiveBlocksPerMultiprocessor)(int* blocks, CUfunction function, int threads,
                                                                  std::size_t shared) {
  return muscope_cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, threads, shared, 0);
}

MUSCOPE_DRIVER_ENTRY(cuOccupancyMaxPotentialBlockSize)(int* min_grid, int* block, CUfunction function,
                                                       CUoccupancyB2DSize shared_of, std::size_t shared, int limit) {
  return potential_block_size(min_grid, block, function, shared_of, shared, limit, 0);
}

MUSCOPE_DRIVER_ENTRY(cuOccupancyMaxPotentialBlockSizeWithFlags)(int* min_grid, int* block, CUfunction function,
                                                                CUoccupancyB2DSize shared_of, std::size_t shared,
                                                                int limit, unsigned flags) {
  return potential_block_size(min_grid, block, function, shared_of, shared, limit, flags);
}

MUSCOPE_DRIVER_ENTRY(cuOccupancyAvailableDynamicSMemPerBlock)(std::size_t* bytes, CUfunction function, int blocks,
                                                              int threads) {
  return with_function(function, Needs::kContext, [&](Runtime&, KernelEntry&) {
    return muscope_cudaOccupancyAvailableDynamicSMemPerBlock(bytes, function, blocks, threads);
  });
}

namespace {

// The runtime's functions about clusters with the driver's description of a launch.
template <typename Function>
CUresult ask_of_launch(Function ask, int* answer, CUfunction function, const CUlaunchConfig* config) {
  return with_function(function, Needs::kContext, [&](Runtime&, KernelEntry&) -> CUresult {
    if (config == nullptr || (config->numAttrs > 0 && config->attrs == nullptr)) return CUDA_ERROR_INVALID_VALUE;
    cudaLaunchConfig_t same{};
    same.gridDim = {config->gridDimX, config->gridDimY, config->gridDimZ};
    same.blockDim = {config->blockDimX, config->blockDimY, config->blockDimZ};
    same.dynamicSmemBytes = config->sharedMemBytes;
    cudaLaunchAttribute cluster{};
    for (unsigned i = 0; i < config->numAttrs; ++i) {
      if (config->attrs[i].id != CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) continue;
      const auto& asked = config->attrs[i].value.clusterDim;
      cluster.id = cudaLaunchAttributeClusterDimension;
      cluster.val.clusterDim = {asked.x, asked.y, asked.z};
      same.attrs = &cluster;
      same.numAttrs = 1;
    }
    return result_of(ask(answer, function, &same));
  });
}

}  // namespace

MUSCOPE_DRIVER_ENTRY(cuOccupancyMaxActiveClusters)(int* clusters, CUfunction function, const CUlaunchConfig* config) {
  return ask_of_launch(muscope_cudaOccupancyMaxActiveClusters, clusters, function, config);
}

MUSCOPE_DRIVER_ENTRY(cuOccupancyMaxPotentialClusterSize)(int* size, CUfunction function, const CUlaunchConfig* config) {
  return ask_of_launch(muscope_cudaOccupancyMaxPotentialClusterSize, size, function, config);
}
