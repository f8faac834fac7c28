// The CUDA runtime for C++: what nvcc gives a .cu file, and the typed forms of the runtime's calls.
#ifndef MUSCOPE_CUDA_RUNTIME_H
#define MUSCOPE_CUDA_RUNTIME_H

// Programs ask by these names whether the header is in.
#define __CUDA_RUNTIME_H__

#include "cuda_runtime_api.h"
#include "host_defines.h"
#include "vector_functions.h"
#include "vector_types.h"

#include "muscope/runtime/helpers.h"

#if defined(__cplusplus)
#include "muscope/runtime/older_api.h"
#include "muscope/runtime/typed_launch.h"
#include "muscope/runtime/typed_memory.h"
#endif

#endif
