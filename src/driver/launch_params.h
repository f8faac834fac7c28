// Where a launch's parameters lie.
#pragma once

#include <vector>

#include "driver/driver_abi.h"
#include "runtime/modules.h"

namespace muscope::driver {

/// A pointer to each parameter: `params` has them, or `extra` has a block of bytes laid out as the kernel reads it.
/// CUDA_ERROR_INVALID_VALUE when both are given or neither, for null pointers, and for blocks that are too small.
/// Throws Error when the kernel cannot be loaded.
CUresult find_parameters(runtime::Runtime& runtime, runtime::KernelEntry& kernel, void** params, void** extra,
                         std::vector<void*>& pointers);

}  // namespace muscope::driver
