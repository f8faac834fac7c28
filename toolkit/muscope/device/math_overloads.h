// Mathematics beyond the C library: min and max of every pair of types, CUDA's own functions for the host, and float
// overloads of the names without f.
#ifndef MUSCOPE_DEVICE_MATH_OVERLOADS_H
#define MUSCOPE_DEVICE_MATH_OVERLOADS_H

#include "../../host_defines.h"
#include "../math/bessel.h"
#include "../math/error_function.h"
#include "../math/roots.h"
#include "../math/trig.h"

// min(int, int) and max(int, int) for the device come with clang's headers.
static MUSCOPE_INLINE __host__ int min(int a, int b) { return a < b ? a : b; }
static MUSCOPE_INLINE __host__ int max(int a, int b) { return a > b ? a : b; }
#define MUSCOPE_MIN_MAX(R, A, B)                                                \
  MUSCOPE_HD R min(A a, B b) { return (R)a < (R)b ? (R)a : (R)b; }              \
  MUSCOPE_HD R max(A a, B b) { return (R)a > (R)b ? (R)a : (R)b; }
MUSCOPE_MIN_MAX(unsigned, unsigned, unsigned)
MUSCOPE_MIN_MAX(unsigned, int, unsigned)
MUSCOPE_MIN_MAX(unsigned, unsigned, int)
MUSCOPE_MIN_MAX(long, long, long)
MUSCOPE_MIN_MAX(unsigned long, unsigned long, unsigned long)
MUSCOPE_MIN_MAX(unsigned long, long, unsigned long)
MUSCOPE_MIN_MAX(unsigned long, unsigned long, long)
MUSCOPE_MIN_MAX(long long, long long, long long)
MUSCOPE_MIN_MAX(unsigned long long, unsigned long long, unsigned long long)
MUSCOPE_MIN_MAX(unsigned long long, long long, unsigned long long)
MUSCOPE_MIN_MAX(unsigned long long, unsigned long long, long long)
#undef MUSCOPE_MIN_MAX
// Of a number and a NaN, the number.
#define MUSCOPE_MIN_MAX(R, A, B, f)                                             \
  MUSCOPE_HD R min(A a, B b) { return __builtin_fmin##f((R)a, (R)b); }          \
  MUSCOPE_HD R max(A a, B b) { return __builtin_fmax##f((R)a, (R)b); }
MUSCOPE_MIN_MAX(float, float, float, f)
MUSCOPE_MIN_MAX(double, double, double, )
MUSCOPE_MIN_MAX(double, float, double, )
MUSCOPE_MIN_MAX(double, double, float, )
#undef MUSCOPE_MIN_MAX

#define MUSCOPE_HOST static MUSCOPE_INLINE __host__
MUSCOPE_HOST unsigned umin(unsigned a, unsigned b) { return a < b ? a : b; }
MUSCOPE_HOST unsigned umax(unsigned a, unsigned b) { return a > b ? a : b; }
MUSCOPE_HOST long long llmin(long long a, long long b) { return a < b ? a : b; }
MUSCOPE_HOST long long llmax(long long a, long long b) { return a > b ? a : b; }
MUSCOPE_HOST unsigned long long ullmin(unsigned long long a, unsigned long long b) { return a < b ? a : b; }
MUSCOPE_HOST unsigned long long ullmax(unsigned long long a, unsigned long long b) { return a > b ? a : b; }
MUSCOPE_HOST float fdividef(float a, float b) { return a / b; }
MUSCOPE_HOST double fdivide(double a, double b) { return a / b; }

// Both precisions on the host; the float overload of the plain name on the device, which has the rest already.
#define MUSCOPE_BOTH_SIDES(name, function)                                                 \
  MUSCOPE_HOST double name(double a) { return muscope_math::function(a); }                 \
  MUSCOPE_HOST float name##f(float a) { return muscope_math::function(a); }                \
  MUSCOPE_HD float name(float a) { return muscope_math::function(a); }
MUSCOPE_BOTH_SIDES(rsqrt, rsqrt)
MUSCOPE_BOTH_SIDES(rcbrt, rcbrt)
MUSCOPE_BOTH_SIDES(sinpi, sinpi)
MUSCOPE_BOTH_SIDES(cospi, cospi)
MUSCOPE_BOTH_SIDES(erfinv, erfinv)
MUSCOPE_BOTH_SIDES(erfcinv, erfcinv)
MUSCOPE_BOTH_SIDES(erfcx, erfcx)
MUSCOPE_BOTH_SIDES(normcdf, normcdf)
MUSCOPE_BOTH_SIDES(normcdfinv, normcdfinv)
MUSCOPE_BOTH_SIDES(cyl_bessel_i0, cyl_bessel_i0)
MUSCOPE_BOTH_SIDES(cyl_bessel_i1, cyl_bessel_i1)
#undef MUSCOPE_BOTH_SIDES
MUSCOPE_HOST void sincospi(double a, double* s, double* c) {
  *s = muscope_math::sinpi(a);
  *c = muscope_math::cospi(a);
}
MUSCOPE_HOST void sincospif(float a, float* s, float* c) {
  *s = muscope_math::sinpi(a);
  *c = muscope_math::cospi(a);
}
MUSCOPE_HD void sincospi(float a, float* s, float* c) {
  *s = muscope_math::sinpi(a);
  *c = muscope_math::cospi(a);
}
#define MUSCOPE_HOST_LENGTH(T, f)                                                                                    \
  MUSCOPE_HOST T rhypot##f(T a, T b) { return muscope_math::inverse_length(muscope_math::square_sum(a, b)); }        \
  MUSCOPE_HOST T norm3d##f(T a, T b, T c) { return muscope_math::length(muscope_math::square_sum(a, b, c)); }        \
  MUSCOPE_HOST T rnorm3d##f(T a, T b, T c) { return muscope_math::inverse_length(muscope_math::square_sum(a, b, c)); } \
  MUSCOPE_HOST T norm4d##f(T a, T b, T c, T d) { return muscope_math::length(muscope_math::square_sum(a, b, c, d)); } \
  MUSCOPE_HOST T rnorm4d##f(T a, T b, T c, T d) {                                                                    \
    return muscope_math::inverse_length(muscope_math::square_sum(a, b, c, d));                                       \
  }
MUSCOPE_HOST_LENGTH(double, )
MUSCOPE_HOST_LENGTH(float, f)
#undef MUSCOPE_HOST_LENGTH
#undef MUSCOPE_HOST

// Declared by clang's headers, defined in CUDA's: the float overloads of C++'s names for the device.
#define MUSCOPE_FLOAT1(R, name) \
  MUSCOPE_DEVICE R name(float a) { return ::name##f(a); }
#define MUSCOPE_FLOAT2(name) \
  MUSCOPE_DEVICE float name(float a, float b) { return ::name##f(a, b); }
MUSCOPE_FLOAT1(float, acosh)
MUSCOPE_FLOAT1(float, asinh)
MUSCOPE_FLOAT1(float, atanh)
MUSCOPE_FLOAT1(float, cbrt)
MUSCOPE_FLOAT1(float, erfc)
MUSCOPE_FLOAT1(float, erf)
MUSCOPE_FLOAT1(float, exp2)
MUSCOPE_FLOAT1(float, expm1)
MUSCOPE_FLOAT1(float, lgamma)
MUSCOPE_FLOAT1(float, tgamma)
MUSCOPE_FLOAT1(float, log1p)
MUSCOPE_FLOAT1(float, log2)
MUSCOPE_FLOAT1(float, logb)
MUSCOPE_FLOAT1(float, nearbyint)
MUSCOPE_FLOAT1(float, rint)
MUSCOPE_FLOAT1(float, round)
MUSCOPE_FLOAT1(float, trunc)
MUSCOPE_FLOAT1(int, ilogb)
MUSCOPE_FLOAT1(long, lrint)
MUSCOPE_FLOAT1(long, lround)
MUSCOPE_FLOAT1(long long, llrint)
MUSCOPE_FLOAT1(long long, llround)
MUSCOPE_FLOAT2(copysign)
MUSCOPE_FLOAT2(fdim)
MUSCOPE_FLOAT2(fmax)
MUSCOPE_FLOAT2(fmin)
MUSCOPE_FLOAT2(hypot)
MUSCOPE_FLOAT2(nextafter)
MUSCOPE_FLOAT2(remainder)
#undef MUSCOPE_FLOAT1
#undef MUSCOPE_FLOAT2
MUSCOPE_DEVICE float fma(float a, float b, float c) { return ::fmaf(a, b, c); }
MUSCOPE_DEVICE float remquo(float a, float b, int* q) { return ::remquof(a, b, q); }
MUSCOPE_DEVICE float scalbn(float a, int n) { return ::scalbnf(a, n); }
MUSCOPE_DEVICE float scalbln(float a, long n) { return ::scalblnf(a, n); }
MUSCOPE_DEVICE double nan(const char*) { return __builtin_nan(""); }
MUSCOPE_DEVICE float nanf(const char*) { return __builtin_nanf(""); }
MUSCOPE_DEVICE void sincos(float a, float* s, float* c) { muscope_math::sincos(a, s, c); }
MUSCOPE_DEVICE float exp10(float a) { return muscope_math::exp10(a); }

#endif
