// Launches: cuLaunchKernel and its kin, parameters one by one or as a block of bytes, and the interface of CUDA 2.
#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <vector>

#include "driver/entry.h"
#include "driver/launch_params.h"
#include "driver/module.h"
#include "runtime/launch.h"

using namespace muscope::driver;

MUSCOPE_RUNTIME_FUNCTION(cudaLaunchHostFunc);

namespace {

CUresult launch_function(Runtime& runtime, const void* function, muscope::runtime::Launch request, void** params,
                         void** extra) {
  const auto stream = runtime.stream(request.stream);
  if (!stream) return CUDA_ERROR_INVALID_HANDLE;
  // The context of the function and that of the stream must be one; which is current does not matter (H200).
  request.device = runtime.device(stream->device());
  if (const CUresult result = find_function(runtime, function, request.kernel, stream->device())) return result;
  std::vector<void*> pointers;
  if (const CUresult result = find_parameters(runtime, *request.kernel, params, extra, pointers)) return result;
  request.arguments = pointers.data();
  return result_of(launch(runtime, request));
}

CUresult launch_kernel(const void* function, const dim3& grid, const dim3& block, unsigned shared, CUstream stream,
                       void** params, void** extra, bool cooperative) {
  return enter([&](Runtime& runtime) {
    muscope::runtime::Launch request;
    request.grid = grid;
    request.block = block;
    request.dynamic_shared = shared;
    request.stream = stream;
    request.cooperative = cooperative;
    return launch_function(runtime, function, request, params, extra);
  });
}

// ---- CUDA 2: block, shared memory and parameters are set function by function ----

struct OldLaunch {
  dim3 block{1, 1, 1};
  unsigned shared = 0;
  std::vector<std::uint8_t> parameters;
};

std::mutex& old_mutex() {
  static auto* const mutex = new std::mutex;
  return *mutex;
}

std::map<const void*, OldLaunch>& old_launches() {
  static auto* const all = new std::map<const void*, OldLaunch>;
  return *all;
}

template <typename Body>
CUresult with_old_launch(CUfunction function, Body&& body) {
  return enter([&](Runtime& runtime) -> CUresult {
    KernelEntry* kernel = nullptr;
    if (const CUresult result = find_function(runtime, function, kernel)) return result;
    OldLaunch copy;
    {
      const std::lock_guard lock(old_mutex());
      copy = old_launches()[function];
    }
    const CUresult result = body(runtime, copy);
    const std::lock_guard lock(old_mutex());
    old_launches()[function] = copy;
    return result;
  });
}

CUresult set_parameter(CUfunction function, int offset, const void* data, std::size_t bytes) {
  return with_old_launch(function, [&](Runtime&, OldLaunch& old) -> CUresult {
    constexpr std::size_t kMost = 32764;  // bytes of parameters, CUDA C++ Programming Guide
    if (offset < 0 || data == nullptr || static_cast<std::size_t>(offset) + bytes > kMost)
      return CUDA_ERROR_INVALID_VALUE;
    old.parameters.resize(std::max(old.parameters.size(), static_cast<std::size_t>(offset) + bytes));
    std::memcpy(old.parameters.data() + offset, data, bytes);
    return CUDA_SUCCESS;
  });
}

CUresult launch_grid(CUfunction function, int width, int height, CUstream stream) {
  return with_old_launch(function, [&](Runtime& runtime, OldLaunch& old) -> CUresult {
    if (width <= 0 || height <= 0) return CUDA_ERROR_INVALID_VALUE;
    std::size_t bytes = old.parameters.size();
    void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, old.parameters.data(), CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                     CU_LAUNCH_PARAM_END};
    muscope::runtime::Launch request;
    request.grid = {static_cast<unsigned>(width), static_cast<unsigned>(height), 1};
    request.block = old.block;
    request.dynamic_shared = old.shared;
    request.stream = stream;
    return launch_function(runtime, function, request, nullptr, extra);
  });
}

}  // namespace

MUSCOPE_DRIVER_ENTRY(cuLaunchKernel)(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                                     unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
                                     CUstream stream, void** params, void** extra) {
  return launch_kernel(function, {grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared, stream, params, extra,
                       false);
}

MUSCOPE_DRIVER_ENTRY(cuLaunchCooperativeKernel)(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                                                unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
                                                CUstream stream, void** params) {
  return launch_kernel(function, {grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared, stream, params, nullptr,
                       true);
}

MUSCOPE_DRIVER_ENTRY(cuLaunchKernelEx)(const CUlaunchConfig* config, CUfunction function, void** params, void** extra) {
  return enter([&](Runtime& runtime) -> CUresult {
    if (config == nullptr || (config->numAttrs > 0 && config->attrs == nullptr)) return CUDA_ERROR_INVALID_VALUE;
    muscope::runtime::Launch request;
    request.grid = {config->gridDimX, config->gridDimY, config->gridDimZ};
    request.block = {config->blockDimX, config->blockDimY, config->blockDimZ};
    request.dynamic_shared = config->sharedMemBytes;
    request.stream = config->hStream;
    for (unsigned i = 0; i < config->numAttrs; ++i) {
      const CUlaunchAttribute& attribute = config->attrs[i];
      if (attribute.id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE) request.cooperative = attribute.value.cooperative != 0;
      if (attribute.id != CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) continue;  // the others change speed, not results
      const auto& asked = attribute.value.clusterDim;
      request.cluster = {asked.x, asked.y, asked.z};
      request.has_cluster = true;
    }
    return launch_function(runtime, function, request, params, extra);
  });
}

MUSCOPE_DRIVER_ENTRY(cuLaunchHostFunc)(CUstream stream, CUhostFn function, void* user_data) {
  return enter([&](Runtime&) { return muscope_cudaLaunchHostFunc(stream, function, user_data); });
}

MUSCOPE_DRIVER_ENTRY(cuFuncSetBlockShape)(CUfunction function, int x, int y, int z) {
  return with_old_launch(function, [&](Runtime&, OldLaunch& old) -> CUresult {
    if (x <= 0 || y <= 0 || z <= 0) return CUDA_ERROR_INVALID_VALUE;
    old.block = {static_cast<unsigned>(x), static_cast<unsigned>(y), static_cast<unsigned>(z)};
    return CUDA_SUCCESS;
  });
}

MUSCOPE_DRIVER_ENTRY(cuFuncSetSharedSize)(CUfunction function, unsigned bytes) {
  return with_old_launch(function, [&](Runtime&, OldLaunch& old) {
    old.shared = bytes;
    return CUDA_SUCCESS;
  });
}

MUSCOPE_DRIVER_ENTRY(cuParamSetSize)(CUfunction function, unsigned bytes) {
  return with_old_launch(function, [&](Runtime&, OldLaunch& old) {
    old.parameters.resize(bytes);
    return CUDA_SUCCESS;
  });
}

MUSCOPE_DRIVER_ENTRY(cuParamSeti)(CUfunction function, int offset, unsigned value) {
  return set_parameter(function, offset, &value, sizeof value);
}

MUSCOPE_DRIVER_ENTRY(cuParamSetf)(CUfunction function, int offset, float value) {
  return set_parameter(function, offset, &value, sizeof value);
}

MUSCOPE_DRIVER_ENTRY(cuParamSetv)(CUfunction function, int offset, void* data, unsigned bytes) {
  return set_parameter(function, offset, data, bytes);
}

MUSCOPE_DRIVER_ENTRY(cuLaunch)(CUfunction function) { return launch_grid(function, 1, 1, nullptr); }

MUSCOPE_DRIVER_ENTRY(cuLaunchGrid)(CUfunction function, int width, int height) {
  return launch_grid(function, width, height, nullptr);
}

MUSCOPE_DRIVER_ENTRY(cuLaunchGridAsync)(CUfunction function, int width, int height, CUstream stream) {
  return launch_grid(function, width, height, stream);
}
