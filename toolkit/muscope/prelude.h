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

// Before <cstdlib>, which takes malloc, free and printf into std, and <new>, whose device operators call them.
#include "../host_defines.h"
#include "device/system_calls.h"

#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmath>
#include <cstdlib>
#include <new>
#include <utility>

#include "../cuda.h"
#include "../cuda_runtime.h"
#include "device/builtins.h"
#include "device/launch.h"

#endif
#endif
