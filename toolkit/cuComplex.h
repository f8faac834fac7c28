// Complex numbers as CUDA's libraries spell them.
#ifndef MUSCOPE_CUCOMPLEX_H
#define MUSCOPE_CUCOMPLEX_H

#include <math.h>

#include "cuda_runtime.h"

typedef float2 cuFloatComplex;
typedef double2 cuDoubleComplex;
typedef cuFloatComplex cuComplex;

#if defined(__cplusplus)
// T: the component, C: the complex type, s: the infix of its functions ("f" for single precision), f: the suffix of the
// C library's functions.
#define MUSCOPE_COMPLEX(T, C, s, f, make)                                                                      \
  MUSCOPE_HD C make(T real, T imaginary) { return C{real, imaginary}; }                                        \
  MUSCOPE_HD T cuCreal##s(C z) { return z.x; }                                                                 \
  MUSCOPE_HD T cuCimag##s(C z) { return z.y; }                                                                 \
  MUSCOPE_HD C cuConj##s(C z) { return C{z.x, -z.y}; }                                                         \
  MUSCOPE_HD C cuCadd##s(C a, C b) { return C{a.x + b.x, a.y + b.y}; }                                         \
  MUSCOPE_HD C cuCsub##s(C a, C b) { return C{a.x - b.x, a.y - b.y}; }                                         \
  MUSCOPE_HD C cuCmul##s(C a, C b) { return C{a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x}; }                 \
  MUSCOPE_HD C cuCdiv##s(C a, C b) {                                                                           \
    const T scale = 1 / (fabs##f(b.x) + fabs##f(b.y));                                                         \
    const T ax = a.x * scale, ay = a.y * scale, bx = b.x * scale, by = b.y * scale;                            \
    const T inverse = 1 / (bx * bx + by * by);                                                                 \
    return C{(ax * bx + ay * by) * inverse, (ay * bx - ax * by) * inverse};                                    \
  }                                                                                                            \
  MUSCOPE_HD T cuCabs##s(C z) { return hypot##f(z.x, z.y); }                                                   \
  MUSCOPE_HD C cuCfma##s(C a, C b, C c) {                                                                      \
    return C{a.x * b.x + c.x - a.y * b.y, a.x * b.y + c.y + a.y * b.x};                                        \
  }
MUSCOPE_COMPLEX(float, cuFloatComplex, f, f, make_cuFloatComplex)
MUSCOPE_COMPLEX(double, cuDoubleComplex, , , make_cuDoubleComplex)
#undef MUSCOPE_COMPLEX
MUSCOPE_HD cuComplex make_cuComplex(float x, float y) { return make_cuFloatComplex(x, y); }
MUSCOPE_HD cuDoubleComplex cuComplexFloatToDouble(cuFloatComplex z) { return make_cuDoubleComplex(z.x, z.y); }
MUSCOPE_HD cuFloatComplex cuComplexDoubleToFloat(cuDoubleComplex z) {
  return make_cuFloatComplex((float)z.x, (float)z.y);
}
#endif

#endif
