// The few operations that the mathematics here is built from, the same on the device and on the host (where the
// accuracy tests run). Approximate instructions have the error bounds of the PTX ISA manual.
#ifndef MUSCOPE_MATH_BASE_H
#define MUSCOPE_MATH_BASE_H

#include "../../host_defines.h"

#include "begin.h"

#define MUSCOPE_MATH static MUSCOPE_INLINE __host__ __device__

namespace muscope_math {

typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long i64;

MUSCOPE_MATH u32 bits(float x) { return __builtin_bit_cast(u32, x); }
MUSCOPE_MATH u64 bits(double x) { return __builtin_bit_cast(u64, x); }
MUSCOPE_MATH float from_bits(u32 x) { return __builtin_bit_cast(float, x); }
MUSCOPE_MATH double from_bits(u64 x) { return __builtin_bit_cast(double, x); }
MUSCOPE_MATH u32 high_word(double x) { return (u32)(bits(x) >> 32); }

MUSCOPE_MATH float fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
MUSCOPE_MATH double fma(double a, double b, double c) { return __builtin_fma(a, b, c); }
MUSCOPE_MATH float abs(float x) { return __builtin_fabsf(x); }
MUSCOPE_MATH double abs(double x) { return __builtin_fabs(x); }
MUSCOPE_MATH float floor(float x) { return __builtin_floorf(x); }
MUSCOPE_MATH double floor(double x) { return __builtin_floor(x); }
MUSCOPE_MATH float trunc(float x) { return __builtin_truncf(x); }
MUSCOPE_MATH double trunc(double x) { return __builtin_trunc(x); }
MUSCOPE_MATH float nearest(float x) { return __builtin_rintf(x); }
MUSCOPE_MATH double nearest(double x) { return __builtin_rint(x); }
MUSCOPE_MATH float sqrt(float x) { return __builtin_sqrtf(x); }
MUSCOPE_MATH double sqrt(double x) { return __builtin_sqrt(x); }
MUSCOPE_MATH float with_sign(float magnitude, float sign) { return __builtin_copysignf(magnitude, sign); }
MUSCOPE_MATH double with_sign(double magnitude, double sign) { return __builtin_copysign(magnitude, sign); }
MUSCOPE_MATH bool is_nan(float x) { return x != x; }
MUSCOPE_MATH bool is_nan(double x) { return x != x; }

#define MUSCOPE_INF_F (__builtin_inff())
#define MUSCOPE_INF (__builtin_inf())
#define MUSCOPE_NAN_F (__builtin_nanf(""))
#define MUSCOPE_NAN (__builtin_nan(""))

/// High half of a 64 x 64 bit product.
MUSCOPE_MATH u64 multiply_high(u64 a, u64 b) { return (u64)(((unsigned __int128)a * b) >> 64); }

/// 2^n as a number, for n where it is normal.
MUSCOPE_MATH float power_of_two_f(int n) { return from_bits((u32)(n + 127) << 23); }
MUSCOPE_MATH double power_of_two(int n) { return from_bits((u64)(n + 1023) << 52); }

/// x * 2^n for n in [-252, 252]: two exact factors, one rounding at the end.
MUSCOPE_MATH float scale(float x, int n) {
  const int half = n >> 1;
  return x * power_of_two_f(half) * power_of_two_f(n - half);
}
/// x * 2^n for n in [-2044, 2044]. Rounds once provided that x * 2^(n/2) is normal.
MUSCOPE_MATH double scale(double x, int n) {
  const int half = n >> 1;
  return x * power_of_two(half) * power_of_two(n - half);
}

/// 2^x, relative error up to 2^-22; exact for whole x.
MUSCOPE_MATH float exp2_approx(float x) {
#if defined(__CUDA_ARCH__)
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
#else
  return __builtin_exp2f(x);
#endif
}
/// 1/x, error up to 1 ulp.
MUSCOPE_MATH float reciprocal_approx(float x) {
#if defined(__CUDA_ARCH__)
  float y;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
#else
  return 1.f / x;
#endif
}

/// A value as the unevaluated sum of two: hi is the sum rounded.
template <class T>
struct Pair {
  T hi, lo;
};
/// a + b exactly, for |a| >= |b| or a == 0.
template <class T>
MUSCOPE_MATH Pair<T> quick_sum(T a, T b) {
  const T hi = a + b;
  return {hi, b - (hi - a)};
}
/// a + b exactly.
template <class T>
MUSCOPE_MATH Pair<T> two_sum(T a, T b) {
  const T hi = a + b, part = hi - a;
  return {hi, (a - (hi - part)) + (b - part)};
}
/// a * b exactly.
template <class T>
MUSCOPE_MATH Pair<T> two_product(T a, T b) {
  const T hi = a * b;
  return {hi, fma(a, b, -hi)};
}
template <class T>
MUSCOPE_MATH Pair<T> add(Pair<T> a, Pair<T> b) {
  const Pair<T> s = two_sum(a.hi, b.hi), t = two_sum(a.lo, b.lo);
  const Pair<T> u = quick_sum(s.hi, s.lo + t.hi);
  return quick_sum(u.hi, u.lo + t.lo);
}
template <class T>
MUSCOPE_MATH Pair<T> multiply(Pair<T> a, Pair<T> b) {
  const Pair<T> p = two_product(a.hi, b.hi);
  return quick_sum(p.hi, fma(a.hi, b.lo, fma(a.lo, b.hi, p.lo)));
}
template <class T>
MUSCOPE_MATH Pair<T> multiply(Pair<T> a, T b) {
  const Pair<T> p = two_product(a.hi, b);
  return quick_sum(p.hi, fma(a.lo, b, p.lo));
}
/// a / b as a pair.
template <class T>
MUSCOPE_MATH Pair<T> divide(Pair<T> a, Pair<T> b) {
  const T q = a.hi / b.hi;
  const T rest = fma(-q, b.hi, a.hi) + fma(-q, b.lo, a.lo);
  return quick_sum(q, rest / b.hi);
}

/// c[0] + x c[1] + ... by Horner's rule.
template <class T>
MUSCOPE_MATH T polynomial(T, T c0) {
  return c0;
}
template <class T, class... Rest>
MUSCOPE_MATH T polynomial(T x, T c0, Rest... rest) {
  return fma(polynomial(x, rest...), x, c0);
}

}  // namespace muscope_math

#include "end.h"

#endif
