// CUDA_MEMCPY2D and CUDA_MEMCPY3D as the runtime's copies take them.
#pragma once

#include "driver/driver_abi.h"
#include "runtime/copy.h"

namespace muscope::driver {

struct ArrayCopy {
  runtime::Area to, from;
  runtime::Box box;
  cudaMemcpyKind kind = cudaMemcpyDefault;
};

/// CUDA_ERROR_INVALID_VALUE for memory types, pitches or heights that cannot be, and boxes outside an array;
/// CUDA_ERROR_INVALID_HANDLE for what is no array.
CUresult read_copy(runtime::Runtime& runtime, const CUDA_MEMCPY3D& asked, ArrayCopy& copy);

CUDA_MEMCPY3D as_boxes(const CUDA_MEMCPY2D& asked);

}  // namespace muscope::driver
