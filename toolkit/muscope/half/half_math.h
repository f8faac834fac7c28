// Functions of half precision arguments: computed in float by the approximate instructions, then rounded.
#ifndef MUSCOPE_HALF_HALF_MATH_H
#define MUSCOPE_HALF_HALF_MATH_H

#include "half2.h"

#if defined(__CUDA__) && defined(__clang__)
#define MUSCOPE_HALF_FUNCTION(name, expression)                                      \
  MUSCOPE_DEVICE __half h##name(__half h) {                                          \
    const float x = h;                                                               \
    return __half((float)(expression));                                              \
  }                                                                                  \
  MUSCOPE_DEVICE __half2 h2##name(__half2 h) { return __half2(h##name(h.x), h##name(h.y)); }
MUSCOPE_HALF_FUNCTION(exp, __expf(x))
MUSCOPE_HALF_FUNCTION(exp2, exp2f(x))
MUSCOPE_HALF_FUNCTION(exp10, __exp10f(x))
MUSCOPE_HALF_FUNCTION(log, logf(x))
MUSCOPE_HALF_FUNCTION(log2, log2f(x))
MUSCOPE_HALF_FUNCTION(log10, log10f(x))
MUSCOPE_HALF_FUNCTION(sin, sinf(x))
MUSCOPE_HALF_FUNCTION(cos, cosf(x))
MUSCOPE_HALF_FUNCTION(tanh, tanhf(x))
MUSCOPE_HALF_FUNCTION(sqrt, sqrtf(x))
MUSCOPE_HALF_FUNCTION(rsqrt, rsqrtf(x))
MUSCOPE_HALF_FUNCTION(rcp, 1.f / x)
MUSCOPE_HALF_FUNCTION(floor, floorf(x))
MUSCOPE_HALF_FUNCTION(ceil, ceilf(x))
MUSCOPE_HALF_FUNCTION(trunc, truncf(x))
MUSCOPE_HALF_FUNCTION(rint, rintf(x))
#undef MUSCOPE_HALF_FUNCTION
#endif

#endif
