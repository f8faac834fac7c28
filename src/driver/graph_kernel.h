// Kernel nodes of graphs, in the runtime's words.
#pragma once

#include <utility>
#include <vector>

#include "driver/entry.h"
#include "driver/launch_params.h"
#include "driver/module.h"

namespace muscope::driver {

/// Calls `use` with the runtime's description of the launch, which lives as long as the call.
template <typename Use>
CUresult with_kernel_params(const CUDA_KERNEL_NODE_PARAMS* asked, Use&& use) {
  return enter([&](Runtime& runtime) -> CUresult {
    if (asked == nullptr) return CUDA_ERROR_INVALID_VALUE;
    void* const function = asked->func != nullptr ? static_cast<void*>(asked->func) : static_cast<void*>(asked->kern);
    runtime::KernelEntry* kernel = nullptr;
    if (const CUresult result = find_function(runtime, function, kernel)) return result;
    std::vector<void*> pointers;
    if (const CUresult result = find_parameters(runtime, *kernel, asked->kernelParams, asked->extra, pointers))
      return result;
    const cudaKernelNodeParams params{function,
                                      {asked->gridDimX, asked->gridDimY, asked->gridDimZ},
                                      {asked->blockDimX, asked->blockDimY, asked->blockDimZ},
                                      asked->sharedMemBytes,
                                      pointers.data(),
                                      nullptr};
    return result_of(use(&params));
  });
}

}  // namespace muscope::driver
