// Everything that device code has without an include.
#ifndef MUSCOPE_DEVICE_BUILTINS_H
#define MUSCOPE_DEVICE_BUILTINS_H

#include "clang_headers.h"

#include "atomics.h"
#include "integer.h"
#include "math_overloads.h"
#include "memory.h"
#include "nv_atomics.h"
#include "surfaces.h"
#include "textures.h"
#include "warp.h"

#include "../math/libdevice.h"

// threadIdx and its kin as values: declared by clang, defined once the vector types are known.
#define MUSCOPE_INDEX_VALUE(type)                                                                            \
  MUSCOPE_INLINE __device__ __cuda_builtin_##type##_t::operator dim3() const { return dim3(x, y, z); }       \
  MUSCOPE_INLINE __device__ __cuda_builtin_##type##_t::operator uint3() const { return uint3{x, y, z}; }
MUSCOPE_INDEX_VALUE(threadIdx)
MUSCOPE_INDEX_VALUE(blockIdx)
MUSCOPE_INDEX_VALUE(blockDim)
MUSCOPE_INDEX_VALUE(gridDim)
#undef MUSCOPE_INDEX_VALUE

#endif
