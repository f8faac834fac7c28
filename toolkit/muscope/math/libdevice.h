// Bodies for the functions that clang's device headers call: __nv_sinf and so on, which NVIDIA ships as bitcode.
// All are inlined, so that none is left for the assembler to resolve.
#ifndef MUSCOPE_MATH_LIBDEVICE_H
#define MUSCOPE_MATH_LIBDEVICE_H

#include "../../host_defines.h"

#include "bessel.h"
#include "error_function.h"
#include "exp_log.h"
#include "gamma.h"
#include "hyperbolic.h"
#include "inverse_trig.h"
#include "rest.h"
#include "roots.h"
#include "trig.h"

#define MUSCOPE_NV extern "C" MUSCOPE_INLINE __device__

#include "libdevice_exact.h"
#include "libdevice_integer.h"
#include "libdevice_math.h"
#include "libdevice_simd.h"

#endif
