// Roots, reciprocals and lengths of vectors.
#ifndef MUSCOPE_MATH_ROOTS_H
#define MUSCOPE_MATH_ROOTS_H

#include "base.h"

#include "begin.h"

namespace muscope_math {

MUSCOPE_MATH float rsqrt(float x) {
#if defined(__CUDA_ARCH__)
  float y;
  asm("rsqrt.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
#else
  return (float)(1.0 / __builtin_sqrt((double)x));
#endif
}
MUSCOPE_MATH double rsqrt(double x) {
  const double y = 1.0 / sqrt(x);
  if (!(x > 0.0) || x == MUSCOPE_INF) return y;
  // One Newton step on the residual, its square root's error included; scaled so that x y y stays normal.
  const bool tiny = x < 0x1p-900, huge = x > 0x1p900;
  const double s = tiny ? x * 0x1p200 : huge ? x * 0x1p-200 : x, t = tiny ? y * 0x1p-100 : huge ? y * 0x1p100 : y;
  const Pair<double> square = two_product(t, t);
  const double e = fma(-square.hi, s, 1.0) - square.lo * s;
  return fma(0.5 * y, e, y);
}

/// x^(-1/3) to about 2^-18 for x in [1/8, 8): a line as first guess on the exponent and mantissa, then two steps.
MUSCOPE_MATH float inverse_cube_root_guess(float x) {
  float y = from_bits(0x54a2fa8cu - bits(x) / 3u);
  float e = fma(-x * y, y * y, 1.f);
  y = fma(y * e, fma(e, 0x1.c71c72p-3f, 0x1.555556p-2f), y);
  e = fma(-x * y, y * y, 1.f);
  return fma(y * e, fma(e, 0x1.c71c72p-3f, 0x1.555556p-2f), y);
}
/// |x| = m 8^k with m in [1, 8); x not zero, finite.
template <class T>
struct CubeSplit {
  T m;
  int k;
};
MUSCOPE_MATH CubeSplit<float> cube_split(float a) {
  int bias = 0;
  if (a < 0x1p-126f) {
    a *= 0x1p24f;
    bias = -8;
  }
  const int e = (int)(bits(a) >> 23) - 127 + 129;
  const int k = e / 3 - 43;
  return {from_bits(bits(a) - ((u32)(3 * k) << 23)), k + bias};
}
MUSCOPE_MATH CubeSplit<double> cube_split(double a) {
  int bias = 0;
  if (a < 0x1p-1022) {
    a *= 0x1p54;
    bias = -18;
  }
  const int e = (int)(bits(a) >> 52) - 1023 + 1026;
  const int k = e / 3 - 342;
  return {from_bits(bits(a) - ((u64)(i64)(3 * k) << 52)), k + bias};
}
MUSCOPE_MATH float cbrt(float x) {
  const float a = abs(x);
  if (a == 0.f || !(a < MUSCOPE_INF_F)) return x + x;
  const CubeSplit<float> s = cube_split(a);
  const float r = inverse_cube_root_guess(s.m);
  const float y = s.m * r * r;
  const Pair<float> square = two_product(y, y);
  const float e = fma(-square.hi, y, s.m) - square.lo * y;  // m - y^3
  return with_sign(fma(e * (r * r), 0x1.555556p-2f, y) * power_of_two_f(s.k), x);
}
MUSCOPE_MATH float rcbrt(float x) {
  const float a = abs(x);
  if (a == 0.f) return with_sign(MUSCOPE_INF_F, x);
  if (!(a < MUSCOPE_INF_F)) return is_nan(x) ? x : with_sign(0.f, x);
  const CubeSplit<float> s = cube_split(a);
  const float r = inverse_cube_root_guess(s.m);
  const Pair<float> square = two_product(r, r);
  const Pair<float> t = two_product(square.hi, s.m);
  const float e = fma(-t.hi, r, 1.f) - r * fma(square.lo, s.m, t.lo);  // 1 - m r^3
  return with_sign(fma(r * e, 0x1.555556p-2f, r) * power_of_two_f(-s.k), x);
}
MUSCOPE_MATH double cube_root_inverse(double m) {
  double r = (double)inverse_cube_root_guess((float)m);
  for (int i = 0; i < 2; ++i) {
    const double e = fma(-m * r, r * r, 1.0);
    r = fma(r * e, fma(e, 2.0 / 9.0, 1.0 / 3.0), r);
  }
  return r;
}
MUSCOPE_MATH double cbrt(double x) {
  const double a = abs(x);
  if (a == 0.0 || !(a < MUSCOPE_INF)) return x + x;
  const CubeSplit<double> s = cube_split(a);
  const double r = cube_root_inverse(s.m), y = s.m * r * r;
  const Pair<double> square = two_product(y, y);
  const double e = fma(-square.hi, y, s.m) - square.lo * y;
  return with_sign(fma(e * (r * r), 1.0 / 3.0, y) * power_of_two(s.k), x);
}
MUSCOPE_MATH double rcbrt(double x) {
  const double a = abs(x);
  if (a == 0.0) return with_sign(MUSCOPE_INF, x);
  if (!(a < MUSCOPE_INF)) return is_nan(x) ? x : with_sign(0.0, x);
  const CubeSplit<double> s = cube_split(a);
  const double r = cube_root_inverse(s.m);
  const Pair<double> square = two_product(r, r);
  const Pair<double> t = two_product(square.hi, s.m);
  const double e = fma(-t.hi, r, 1.0) - r * fma(square.lo, s.m, t.lo);
  return with_sign(fma(r * e, 1.0 / 3.0, r) * power_of_two(-s.k), x);
}

// ---- lengths: components are scaled by a power of two so that squares neither overflow nor vanish
MUSCOPE_MATH float max_abs(float a, float b) { return __builtin_fmaxf(abs(a), abs(b)); }
MUSCOPE_MATH double max_abs(double a, double b) { return __builtin_fmax(abs(a), abs(b)); }
MUSCOPE_MATH float length_scale(float largest) {
  const u32 e = bits(largest) & 0x7f800000u;
  const u32 limited = e > 0x7e000000u ? 0x7e000000u : e < 0x01800000u ? 0x01800000u : e;
  return from_bits(0x7f000000u - limited);  // 1 / 2^exponent
}
MUSCOPE_MATH double length_scale(double largest) {
  const u64 e = bits(largest) & 0x7ff0000000000000ull;
  const u64 limited = e > 0x7fc0000000000000ull   ? 0x7fc0000000000000ull
                      : e < 0x0030000000000000ull ? 0x0030000000000000ull
                                                  : e;
  return from_bits(0x7fe0000000000000ull - limited);
}
template <class T>
struct SquareSum {
  T sum, scale, largest;
  bool infinite;
};
/// The sum of squares of the components times scale^2.
template <class T, class... Parts>
MUSCOPE_MATH SquareSum<T> square_sum(T a, Parts... rest) {
  const T parts[] = {a, rest...};
  T largest = (T)0;
  bool infinite = false;
  for (T p : parts) {
    largest = max_abs(largest, p);
    infinite |= abs(p) == (T)MUSCOPE_INF_F;
  }
  const T s = length_scale(largest);
  Pair<T> sum = {(T)0, (T)0};
  for (T p : parts) {
    const Pair<T> square = two_product(p * s, p * s);
    const Pair<T> next = two_sum(sum.hi, square.hi);
    sum = {next.hi, sum.lo + (next.lo + square.lo)};
  }
  return {sum.hi + sum.lo, s, largest, infinite};
}
template <class T>
MUSCOPE_MATH T length(SquareSum<T> s) {
  if (s.infinite) return (T)MUSCOPE_INF_F;
  return sqrt(s.sum) / s.scale;
}
template <class T>
MUSCOPE_MATH T inverse_length(SquareSum<T> s) {
  if (s.infinite) return (T)0;
  return rsqrt(s.sum) * s.scale;
}
template <class T>
MUSCOPE_MATH SquareSum<T> square_sum_of(int count, const T* parts) {
  T largest = (T)0;
  bool infinite = false;
  for (int i = 0; i < count; ++i) {
    largest = max_abs(largest, parts[i]);
    infinite |= abs(parts[i]) == (T)MUSCOPE_INF_F;
  }
  const T s = length_scale(largest);
  T sum = (T)0;
  for (int i = 0; i < count; ++i) sum = fma(parts[i] * s, parts[i] * s, sum);
  return {sum, s, largest, infinite};
}

}  // namespace muscope_math

#include "end.h"

#endif
