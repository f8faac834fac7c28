// What nvcc adds to every .cu file: the command line puts this header before the user's first line (-include).
// The order matters: clang's own device headers (they come with the compiler, not with CUDA) expect CUDA's types, a few
// macros and the qualifiers to be there already, and std::'s mathematics must be seen after their forward declarations.
#ifndef MUSCOPE_PRELUDE_H
#define MUSCOPE_PRELUDE_H

#if defined(__CUDA__) && defined(__clang__)

#include <__clang_cuda_math_forward_declares.h>

// libstdc++ leaves out __float128, which no GPU has, when it sees __CUDACC__.
#define __CUDACC__ 1
#define __CUDACC_EXTENDED_LAMBDA__ 1
#define __CUDACC_RELAXED_CONSTEXPR__ 1
#define __CUDACC_VER_MAJOR__ 13
#define __CUDACC_VER_MINOR__ 0
#define __CUDACC_VER_BUILD__ 0

#include <limits.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#if defined(__cplusplus)
#include <cmath>
#include <cstdlib>
#include <new>
#endif

#include "../cuda.h"
#include "../host_defines.h"
#include "../vector_types.h"
#include "../vector_functions.h"
#include "../cuda_runtime_api.h"
#include "device/clang_headers.h"
#include "../cuda_runtime.h"

#endif
#endif
