// __nv_*: mathematical functions, single and double precision.
#ifndef MUSCOPE_MATH_LIBDEVICE_MATH_H
#define MUSCOPE_MATH_LIBDEVICE_MATH_H

#include "libdevice.h"

#include "begin.h"

// name, name f: both precisions through one overloaded function.
#define MUSCOPE_NV_1(name, function)                                                      \
  MUSCOPE_NV double __nv_##name(double a) { return muscope_math::function(a); }           \
  MUSCOPE_NV float __nv_##name##f(float a) { return muscope_math::function(a); }
#define MUSCOPE_NV_2(name, function)                                                      \
  MUSCOPE_NV double __nv_##name(double a, double b) { return muscope_math::function(a, b); } \
  MUSCOPE_NV float __nv_##name##f(float a, float b) { return muscope_math::function(a, b); }

MUSCOPE_NV_1(sin, sin)
MUSCOPE_NV_1(cos, cos)
MUSCOPE_NV_1(tan, tan)
MUSCOPE_NV_1(sinpi, sinpi)
MUSCOPE_NV_1(cospi, cospi)
MUSCOPE_NV_1(asin, asin)
MUSCOPE_NV_1(acos, acos)
MUSCOPE_NV_1(atan, atan)
MUSCOPE_NV_2(atan2, atan2)
MUSCOPE_NV_1(sinh, sinh)
MUSCOPE_NV_1(cosh, cosh)
MUSCOPE_NV_1(tanh, tanh)
MUSCOPE_NV_1(asinh, asinh)
MUSCOPE_NV_1(acosh, acosh)
MUSCOPE_NV_1(atanh, atanh)
MUSCOPE_NV_1(exp, exp)
MUSCOPE_NV_1(exp2, exp2)
MUSCOPE_NV_1(exp10, exp10)
MUSCOPE_NV_1(expm1, expm1)
MUSCOPE_NV_1(log, log)
MUSCOPE_NV_1(log2, log2)
MUSCOPE_NV_1(log10, log10)
MUSCOPE_NV_1(log1p, log1p)
MUSCOPE_NV_2(pow, pow)
MUSCOPE_NV_1(rsqrt, rsqrt)
MUSCOPE_NV_1(cbrt, cbrt)
MUSCOPE_NV_1(rcbrt, rcbrt)
MUSCOPE_NV_1(sqrt, sqrt)
MUSCOPE_NV_1(erf, erf)
MUSCOPE_NV_1(erfc, erfc)
MUSCOPE_NV_1(erfcx, erfcx)
MUSCOPE_NV_1(erfinv, erfinv)
MUSCOPE_NV_1(erfcinv, erfcinv)
MUSCOPE_NV_1(normcdf, normcdf)
MUSCOPE_NV_1(normcdfinv, normcdfinv)
MUSCOPE_NV_1(lgamma, lgamma)
MUSCOPE_NV_1(tgamma, tgamma)
MUSCOPE_NV_1(j0, j0)
MUSCOPE_NV_1(j1, j1)
MUSCOPE_NV_1(y0, y0)
MUSCOPE_NV_1(y1, y1)
MUSCOPE_NV_1(cyl_bessel_i0, cyl_bessel_i0)
MUSCOPE_NV_1(cyl_bessel_i1, cyl_bessel_i1)
MUSCOPE_NV_1(fabs, abs)
MUSCOPE_NV_1(floor, floor)
MUSCOPE_NV_1(trunc, trunc)
MUSCOPE_NV_1(rint, nearest)
MUSCOPE_NV_1(nearbyint, nearest)
MUSCOPE_NV_1(round, round)
MUSCOPE_NV_1(logb, logb)
MUSCOPE_NV_2(fmod, fmod)
MUSCOPE_NV_2(remainder, remainder)
MUSCOPE_NV_2(nextafter, nextafter)
MUSCOPE_NV_2(fdim, fdim)
MUSCOPE_NV_2(copysign, with_sign)

MUSCOPE_NV double __nv_jn(int n, double a) { return muscope_math::jn(n, a); }
MUSCOPE_NV float __nv_jnf(int n, float a) { return muscope_math::jn(n, a); }
MUSCOPE_NV double __nv_yn(int n, double a) { return muscope_math::yn(n, a); }
MUSCOPE_NV float __nv_ynf(int n, float a) { return muscope_math::yn(n, a); }
MUSCOPE_NV double __nv_powi(double a, int n) { return muscope_math::powi(a, n); }
MUSCOPE_NV float __nv_powif(float a, int n) { return muscope_math::powi(a, n); }
MUSCOPE_NV void __nv_sincos(double a, double* s, double* c) { muscope_math::sincos(a, s, c); }
MUSCOPE_NV void __nv_sincosf(float a, float* s, float* c) { muscope_math::sincos(a, s, c); }
MUSCOPE_NV void __nv_sincospi(double a, double* s, double* c) {
  *s = muscope_math::sinpi(a);
  *c = muscope_math::cospi(a);
}
MUSCOPE_NV void __nv_sincospif(float a, float* s, float* c) {
  *s = muscope_math::sinpi(a);
  *c = muscope_math::cospi(a);
}

MUSCOPE_NV double __nv_ceil(double a) { return __builtin_ceil(a); }
MUSCOPE_NV float __nv_ceilf(float a) { return __builtin_ceilf(a); }
MUSCOPE_NV double __nv_fmax(double a, double b) { return __builtin_fmax(a, b); }
MUSCOPE_NV float __nv_fmaxf(float a, float b) { return __builtin_fmaxf(a, b); }
MUSCOPE_NV double __nv_fmin(double a, double b) { return __builtin_fmin(a, b); }
MUSCOPE_NV float __nv_fminf(float a, float b) { return __builtin_fminf(a, b); }
MUSCOPE_NV double __nv_fma(double a, double b, double c) { return __builtin_fma(a, b, c); }
MUSCOPE_NV float __nv_fmaf(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
MUSCOPE_NV double __nv_frexp(double a, int* b) { return muscope_math::frexp(a, b); }
MUSCOPE_NV float __nv_frexpf(float a, int* b) { return muscope_math::frexp(a, b); }
MUSCOPE_NV double __nv_modf(double a, double* b) { return muscope_math::modf(a, b); }
MUSCOPE_NV float __nv_modff(float a, float* b) { return muscope_math::modf(a, b); }
MUSCOPE_NV double __nv_ldexp(double a, int b) { return muscope_math::ldexp(a, b); }
MUSCOPE_NV float __nv_ldexpf(float a, int b) { return muscope_math::ldexp(a, b); }
MUSCOPE_NV double __nv_scalbn(double a, int b) { return muscope_math::ldexp(a, b); }
MUSCOPE_NV float __nv_scalbnf(float a, int b) { return muscope_math::ldexp(a, b); }
MUSCOPE_NV int __nv_ilogb(double a) { return muscope_math::ilogb(a); }
MUSCOPE_NV int __nv_ilogbf(float a) { return muscope_math::ilogb(a); }
MUSCOPE_NV double __nv_remquo(double a, double b, int* q) { return muscope_math::remquo(a, b, q); }
MUSCOPE_NV float __nv_remquof(float a, float b, int* q) { return muscope_math::remquo(a, b, q); }
MUSCOPE_NV double __nv_nan(const signed char*) { return MUSCOPE_NAN; }
MUSCOPE_NV float __nv_nanf(const signed char*) { return MUSCOPE_NAN_F; }

// Lengths.
#define MUSCOPE_NV_LENGTH(T, f)                                                                                     \
  MUSCOPE_NV T __nv_hypot##f(T a, T b) { return muscope_math::length(muscope_math::square_sum(a, b)); }             \
  MUSCOPE_NV T __nv_rhypot##f(T a, T b) { return muscope_math::inverse_length(muscope_math::square_sum(a, b)); }    \
  MUSCOPE_NV T __nv_norm3d##f(T a, T b, T c) { return muscope_math::length(muscope_math::square_sum(a, b, c)); }    \
  MUSCOPE_NV T __nv_rnorm3d##f(T a, T b, T c) {                                                                     \
    return muscope_math::inverse_length(muscope_math::square_sum(a, b, c));                                         \
  }                                                                                                                 \
  MUSCOPE_NV T __nv_norm4d##f(T a, T b, T c, T d) {                                                                 \
    return muscope_math::length(muscope_math::square_sum(a, b, c, d));                                              \
  }                                                                                                                 \
  MUSCOPE_NV T __nv_rnorm4d##f(T a, T b, T c, T d) {                                                                \
    return muscope_math::inverse_length(muscope_math::square_sum(a, b, c, d));                                      \
  }                                                                                                                 \
  MUSCOPE_NV T __nv_norm##f(int n, const T* a) { return muscope_math::length(muscope_math::square_sum_of(n, a)); }  \
  MUSCOPE_NV T __nv_rnorm##f(int n, const T* a) {                                                                   \
    return muscope_math::inverse_length(muscope_math::square_sum_of(n, a));                                         \
  }
MUSCOPE_NV_LENGTH(double, )
MUSCOPE_NV_LENGTH(float, f)

// Classification.
MUSCOPE_NV int __nv_isfinited(double a) { return __builtin_fabs(a) < MUSCOPE_INF; }
MUSCOPE_NV int __nv_finitef(float a) { return __builtin_fabsf(a) < MUSCOPE_INF_F; }
MUSCOPE_NV int __nv_isinfd(double a) { return __builtin_fabs(a) == MUSCOPE_INF; }
MUSCOPE_NV int __nv_isinff(float a) { return __builtin_fabsf(a) == MUSCOPE_INF_F; }
MUSCOPE_NV int __nv_isnand(double a) { return a != a; }
MUSCOPE_NV int __nv_isnanf(float a) { return a != a; }
MUSCOPE_NV int __nv_signbitd(double a) { return (int)(muscope_math::bits(a) >> 63); }
MUSCOPE_NV int __nv_signbitf(float a) { return (int)(muscope_math::bits(a) >> 31); }

// To whole numbers.
MUSCOPE_NV long long __nv_double2ll_rn(double a);
MUSCOPE_NV long long __nv_float2ll_rn(float a);
MUSCOPE_NV long long __nv_double2ll_rz(double a);
MUSCOPE_NV long long __nv_float2ll_rz(float a);
MUSCOPE_NV long long __nv_llrint(double a) { return __nv_double2ll_rn(a); }
MUSCOPE_NV long long __nv_llrintf(float a) { return __nv_float2ll_rn(a); }
MUSCOPE_NV long long __nv_llround(double a) { return __nv_double2ll_rz(muscope_math::round(a)); }
MUSCOPE_NV long long __nv_llroundf(float a) { return __nv_float2ll_rz(muscope_math::round(a)); }

// Fast, less accurate: what nvcc's __sinf and its kin become.
#define MUSCOPE_NV_APPROX(name, op)                              \
  MUSCOPE_NV float name(float a) {                               \
    float y;                                                     \
    asm(op " %0, %1;" : "=f"(y) : "f"(a));                       \
    return y;                                                    \
  }
MUSCOPE_NV_APPROX(__nv_fast_sinf, "sin.approx.f32")
MUSCOPE_NV_APPROX(__nv_fast_cosf, "cos.approx.f32")
MUSCOPE_NV_APPROX(__nv_fast_log2f, "lg2.approx.f32")
MUSCOPE_NV_APPROX(__muscope_exp2_approx, "ex2.approx.f32")
#undef MUSCOPE_NV_APPROX
MUSCOPE_NV float __nv_fast_fdividef(float a, float b) {
  float y;
  asm("div.approx.f32 %0, %1, %2;" : "=f"(y) : "f"(a), "f"(b));
  return y;
}
MUSCOPE_NV float __nv_fast_expf(float a) { return __muscope_exp2_approx(a * 0x1.715476p+0f); }
MUSCOPE_NV float __nv_fast_exp10f(float a) { return __muscope_exp2_approx(a * 0x1.a934fp+1f); }
MUSCOPE_NV float __nv_fast_logf(float a) { return __nv_fast_log2f(a) * 0x1.62e43p-1f; }
MUSCOPE_NV float __nv_fast_log10f(float a) { return __nv_fast_log2f(a) * 0x1.344136p-2f; }
MUSCOPE_NV float __nv_fast_powf(float a, float b) { return __muscope_exp2_approx(b * __nv_fast_log2f(a)); }
MUSCOPE_NV float __nv_fast_tanf(float a) { return __nv_fast_fdividef(__nv_fast_sinf(a), __nv_fast_cosf(a)); }
MUSCOPE_NV void __nv_fast_sincosf(float a, float* s, float* c) {
  *s = __nv_fast_sinf(a);
  *c = __nv_fast_cosf(a);
}

#undef MUSCOPE_NV_1
#undef MUSCOPE_NV_2
#undef MUSCOPE_NV_LENGTH

#include "end.h"

#endif
