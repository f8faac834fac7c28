// Exponentials, logarithms and powers. Polynomials: minimax for the interval, found with Sollya's fpminimax.
#ifndef MUSCOPE_MATH_EXP_LOG_H
#define MUSCOPE_MATH_EXP_LOG_H

#include "base.h"

#include "begin.h"

namespace muscope_math {

// ---- single precision exponentials: one ex2.approx after an exact split of the exponent, as nvcc's own code does

/// 2^(n + f) for whole n in [-160, 160].
MUSCOPE_MATH float exp2_parts(float n, float f) { return scale(exp2_approx(f), (int)n); }

MUSCOPE_MATH float clamp(float x, float low, float high) { return x < low ? low : x > high ? high : x; }

MUSCOPE_MATH float exp(float x) {
  const float c = clamp(x, -105.f, 89.f);
  const float n = nearest(c * 0x1.715476p+0f);
  // log2(e) in two parts: what is left of x log2(e) after n.
  const float f = fma(c, 0x1.4ae0cp-26f, fma(c, 0x1.715476p+0f, -n));
  return is_nan(x) ? x : exp2_parts(n, f);
}
MUSCOPE_MATH float exp2(float x) {
  const float c = clamp(x, -151.f, 129.f);
  const float n = nearest(c);
  return is_nan(x) ? x : exp2_parts(n, c - n);
}
MUSCOPE_MATH float exp10(float x) {
  const float c = clamp(x, -46.f, 39.f);
  const float n = nearest(c * 0x1.a934fp+1f);
  const float f = fma(c, 0x1.2f346ep-24f, fma(c, 0x1.a934fp+1f, -n));
  return is_nan(x) ? x : exp2_parts(n, f);
}
MUSCOPE_MATH float expm1(float x) {
  const float c = clamp(x, -18.f, 89.f);
  float n = nearest(c * 0x1.715476p+0f);
  if (abs(x) < 0.41f) n = 0.f;
  const float first = fma(n, -0x1.62e43p-1f, c);  // exact
  const Pair<float> s = quick_sum(first, n * 0x1.05c61p-29f);
  const float r = s.hi;
  const float p = polynomial(r, 0.5f, 0x1.555556p-3f, 0x1.555556p-5f, 0x1.110ffap-7f, 0x1.6c15p-10f, 0x1.a253a8p-13f,
                             0x1.a2c766p-16f);
  const Pair<float> e = quick_sum(r, fma(r * r, p, s.lo));  // exp(r) - 1
  const bool top = n == 128.f;
  const float t = power_of_two_f((int)(top ? n - 1.f : n));
  const Pair<float> base = two_sum(t, top ? -0.5f : -1.f), sum = two_sum(base.hi, t * e.hi);
  float y = sum.hi + (sum.lo + (base.lo + t * e.lo));
  if (top) y += y;
  if (x > 88.8f) y = MUSCOPE_INF_F;
  return is_nan(x) || x == 0.f ? x : y;
}

// ---- double precision exponentials

/// exp(r) = 1 + r + result for |r| <= 0.35.
MUSCOPE_MATH double exp_tail(double r) {
  return r * r *
         polynomial(r, 0.5, 0x1.5555555555559p-3, 0x1.5555555555547p-5, 0x1.111111110f5bp-7, 0x1.6c16c16c1d62p-10,
                    0x1.a01a01b073f5ap-13, 0x1.a01a0180e1a96p-16, 0x1.71ddf695e4a1fp-19, 0x1.27e52dcf66a92p-22,
                    0x1.af6247a46261ep-26, 0x1.1ef44894b7125p-29);
}
/// exp(hi + lo) as a pair, |hi| <= 0.35, |lo| under half a unit in the last place of hi.
MUSCOPE_MATH Pair<double> exp_pair(double hi, double lo) {
  const Pair<double> s = quick_sum(1.0, hi);
  return quick_sum(s.hi, s.lo + (exp_tail(hi) + fma(hi, lo, lo)));
}
/// exp(hi + lo) 2^n.
MUSCOPE_MATH double exp_parts(double hi, double lo, int n) {
  const Pair<double> s = quick_sum(1.0, hi);
  return scale(s.hi + (s.lo + (exp_tail(hi) + fma(hi, lo, lo))), n);
}
/// x = n log(2) + hi + lo for |x| <= 1100.
struct ExpSplit {
  double hi, lo;
  int n;
};
MUSCOPE_MATH ExpSplit exp_split(double x) {
  const double n = nearest(x * 0x1.71547652b82fep+0);
  const double r = fma(n, -0x1.62e42fefa39efp-1, x);  // exact
  const Pair<double> s = quick_sum(r, n * -0x1.abc9e3b39803fp-56);
  return {s.hi, s.lo, (int)n};
}
MUSCOPE_MATH double clamp(double x, double low, double high) { return x < low ? low : x > high ? high : x; }

MUSCOPE_MATH double exp(double x) {
  const ExpSplit s = exp_split(clamp(x, -750.0, 711.0));
  return is_nan(x) ? x : exp_parts(s.hi, s.lo, s.n);
}
/// exp(hi + lo) for the general pair: pow, erfc and the hyperbolic functions.
MUSCOPE_MATH double exp(Pair<double> x) {
  const double c = clamp(x.hi, -750.0, 711.0);
  const double n = nearest(c * 0x1.71547652b82fep+0);
  const double r = fma(n, -0x1.62e42fefa39efp-1, c);
  const double lo = fma(n, -0x1.abc9e3b39803fp-56, c == x.hi ? x.lo : 0.0);
  const Pair<double> s = quick_sum(r, lo);
  return is_nan(x.hi) ? x.hi : exp_parts(s.hi, s.lo, (int)n);
}
MUSCOPE_MATH double exp2(double x) {
  const double c = clamp(x, -1080.0, 1025.0);
  const double n = nearest(c);
  const Pair<double> r = multiply(Pair<double>{0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56}, c - n);
  return is_nan(x) ? x : exp_parts(r.hi, r.lo, (int)n);
}
MUSCOPE_MATH double exp10(double x) {
  const double c = clamp(x, -330.0, 310.0);
  const double n = nearest(c * 0x1.a934f0979a371p+1);
  // c - n log10(2), times ln(10)
  const double a = fma(n, -0x1.34413509f79ffp-2, c);
  const Pair<double> rest = two_sum(a, n * 0x1.9dc1da994fd21p-59);
  const Pair<double> r = multiply(Pair<double>{rest.hi, rest.lo}, Pair<double>{0x1.26bb1bbb55516p+1, -0x1.f48ad494ea3e9p-53});
  return is_nan(x) ? x : exp_parts(r.hi, r.lo, (int)n);
}
MUSCOPE_MATH double expm1(double x) {
  ExpSplit s = exp_split(clamp(x, -56.0, 711.0));
  if (abs(x) < 0.35) s = {x, 0.0, 0};
  const Pair<double> e = quick_sum(s.hi, exp_tail(s.hi) + fma(s.hi, s.lo, s.lo));  // exp - 1
  const bool top = s.n > 1023;
  const double t = power_of_two(top ? s.n - 1 : s.n), one = top ? 0.5 : 1.0;
  // t (1 + e) - one
  const Pair<double> base = two_sum(t, -one), sum = two_sum(base.hi, t * e.hi);
  double y = sum.hi + (sum.lo + (base.lo + t * e.lo));
  if (top) y += y;
  return is_nan(x) || x == 0.0 ? x : y;
}

// ---- single precision logarithms

/// x = 2^e (1 + f), f in [-1/3, 1/3]; x positive and finite.
struct SplitF {
  float f, e;
};
MUSCOPE_MATH SplitF split(float x) {
  float e = 0.f;
  if (x < 0x1p-126f) {
    x *= 0x1p23f;
    e = -23.f;
  }
  const int k = (int)(bits(x) - 0x3f2aaaabu) & (int)0xff800000u;  // 2/3 starts the interval
  return {from_bits(bits(x) - (u32)k) - 1.f, e + (float)(k >> 23)};
}
/// log(1 + f) for f in [-1/3, 1/3] as f plus the result.
MUSCOPE_MATH float log1p_tail(float f) {
  return f * f *
         polynomial(f, -0.5f, 0x1.555506p-2f, -0x1.fffefp-3f, 0x1.99d064p-3f, -0x1.559de8p-3f, 0x1.1ed37ep-3f,
                    -0x1.f30d5ep-4f, 0x1.1e77d6p-3f, -0x1.080f4ep-3f);
}
/// The value for zero, negative, infinite or not-a-number arguments, otherwise y.
template <class T>
MUSCOPE_MATH T log_special(T x, T y, T infinity) {
  if (x == (T)0) y = -infinity;
  if (x == infinity || is_nan(x)) y = x;
  if (x < (T)0) y = MUSCOPE_NAN_F;
  return y;
}
MUSCOPE_MATH float log(float x) {
  const SplitF s = split(x);
  const float y = fma(s.e, 0x1.62e43p-1f, fma(s.e, -0x1.05c61p-29f, log1p_tail(s.f)) + s.f);
  return log_special(x, y, MUSCOPE_INF_F);
}
MUSCOPE_MATH float log2(float x) {
  const SplitF s = split(x);
  const float t = log1p_tail(s.f);
  // (f + t) log2(e) with f's product in two parts
  const float high = s.f * 0x1.715476p+0f, low = fma(s.f, 0x1.715476p+0f, -high);
  const float rest = fma(t, 0x1.715476p+0f, fma(s.f, 0x1.4ae0cp-26f, low));
  const Pair<float> sum = two_sum(s.e, high);
  return log_special(x, sum.hi + (sum.lo + rest), MUSCOPE_INF_F);
}
MUSCOPE_MATH float log10(float x) {
  const SplitF s = split(x);
  const float t = log1p_tail(s.f);
  const float high = s.f * 0x1.bcb7b2p-2f, low = fma(s.f, 0x1.bcb7b2p-2f, -high);
  const float rest = fma(t, 0x1.bcb7b2p-2f, fma(s.f, -0x1.5b235ep-27f, low));
  const Pair<float> whole = two_product(s.e, 0x1.344136p-2f);
  const Pair<float> sum = two_sum(whole.hi, high);
  return log_special(x, sum.hi + (sum.lo + rest + fma(s.e, -0x1.ec10cp-27f, whole.lo)), MUSCOPE_INF_F);
}
MUSCOPE_MATH float log1p(float x) {
  const float u = 1.f + x;
  const SplitF s = split(u);
  // x = u - 1 + c; the part lost in u comes back relative to u.
  const float lost = x >= 1.f ? 1.f - (u - x) : x - (u - 1.f);
  const float correction = u < 0x1p60f ? lost / u : 0.f;
  float y = fma(s.e, 0x1.62e43p-1f, fma(s.e, -0x1.05c61p-29f, log1p_tail(s.f) + correction) + s.f);
  if (x > -0.25f && x < 0.33f) y = x + log1p_tail(x);
  if (x == -1.f) y = -MUSCOPE_INF_F;
  if (x < -1.f) y = MUSCOPE_NAN_F;
  return x == MUSCOPE_INF_F || is_nan(x) || x == 0.f ? x : y;
}

// ---- double precision logarithms

/// x = 2^e (1 + f), f in [1/sqrt(2) - 1, sqrt(2) - 1]; x positive and finite.
struct Split {
  double f;
  int e;
};
MUSCOPE_MATH Split split(double x) {
  int e = 0;
  if (x < 0x1p-1022) {
    x *= 0x1p54;
    e = -54;
  }
  const i64 k = (i64)(bits(x) - 0x3fe6a09e667f3bcdull) >> 52;  // 1/sqrt(2) starts the interval
  return {from_bits(bits(x) - ((u64)k << 52)) - 1.0, e + (int)k};
}
/// log((2 + u)/(2 - u)) - u for |u| <= 0.3432, u = 2 f / (2 + f).
MUSCOPE_MATH double log_tail(double u) {
  const double s = u * u;
  return u * s *
         polynomial(s, 0x1.5555555555555p-4, 0x1.9999999999d0dp-7, 0x1.2492492439e63p-9, 0x1.c71c724ae8c6cp-12,
                    0x1.745ce1ef71f1bp-14, 0x1.3b201e2f4829cp-16, 0x1.0f67cb02b1ca3p-18, 0x1.0f095098a4f7bp-20);
}
/// log(1 + f + extra) as a pair, extra tiny against 1 + f; error about 2^-58 relative.
MUSCOPE_MATH Pair<double> log1p_pair(double f, double extra) {
  const Pair<double> numerator = quick_sum(f + f, extra + extra);
  const Pair<double> d = quick_sum(2.0, f);
  const Pair<double> u = divide(numerator, Pair<double>{d.hi, d.lo + extra});
  return quick_sum(u.hi, u.lo + log_tail(u.hi));
}
MUSCOPE_MATH Pair<double> log_pair(double x) {
  const Split s = split(x);
  const Pair<double> m = log1p_pair(s.f, 0.0);
  const double e = (double)s.e;
  const Pair<double> whole = two_product(e, 0x1.62e42fefa39efp-1);
  const Pair<double> sum = two_sum(whole.hi, m.hi);
  return quick_sum(sum.hi, sum.lo + (fma(e, 0x1.abc9e3b39803fp-56, whole.lo) + m.lo));
}
MUSCOPE_MATH double log(double x) {
  const Pair<double> y = log_pair(x);
  return log_special(x, y.hi + y.lo, MUSCOPE_INF);
}
MUSCOPE_MATH double log2(double x) {
  const Split s = split(x);
  const Pair<double> m = multiply(log1p_pair(s.f, 0.0), Pair<double>{0x1.71547652b82fep+0, 0x1.777d0ffda0d24p-56});
  const Pair<double> sum = two_sum((double)s.e, m.hi);
  return log_special(x, sum.hi + (sum.lo + m.lo), MUSCOPE_INF);
}
MUSCOPE_MATH double log10(double x) {
  const Pair<double> y = multiply(log_pair(x), Pair<double>{0x1.bcb7b1526e50ep-2, 0x1.95355baaafad3p-57});
  return log_special(x, y.hi + y.lo, MUSCOPE_INF);
}
MUSCOPE_MATH double log1p(double x) {
  const Pair<double> u = two_sum(1.0, x);
  const Split s = split(u.hi);
  const double extra = scale(u.lo, -s.e);
  const Pair<double> m = log1p_pair(s.f, s.e > 200 ? 0.0 : extra);
  const double e = (double)s.e;
  const Pair<double> whole = two_product(e, 0x1.62e42fefa39efp-1);
  const Pair<double> sum = two_sum(whole.hi, m.hi);
  double y = sum.hi + (sum.lo + (fma(e, 0x1.abc9e3b39803fp-56, whole.lo) + m.lo));
  if (abs(x) < 0x1p-54) y = x;
  if (x == -1.0) y = -MUSCOPE_INF;
  if (x < -1.0) y = MUSCOPE_NAN;
  return x == MUSCOPE_INF || is_nan(x) ? x : y;
}

// ---- powers

/// log with about 2^-65 relative error: the cubic term of the series is kept as a pair too.
MUSCOPE_MATH Pair<double> log_fine(double x) {
  const Split s = split(x);
  const Pair<double> d = quick_sum(2.0, s.f);
  const Pair<double> u = divide(Pair<double>{s.f + s.f, 0.0}, d);
  // divide() leaves an error of a few units in the last place of lo: about 2^-104 relative, fine.
  const Pair<double> square = multiply(u, u);
  const double s2 = square.hi;
  const double tail = s2 * polynomial(s2, 0x1.9999999999996p-7, 0x1.2492492492f4cp-9, 0x1.c71c71c597639p-12,
                                      0x1.745d1828e749ep-14, 0x1.3b1364e71b3e8p-16, 0x1.11206ad8481cfp-18,
                                      0x1.de3e17473b062p-21, 0x1.eac0abbd6658dp-23);
  const Pair<double> p = quick_sum(0x1.5555555555555p-4, tail + 0x1.5555555555555p-58);
  const Pair<double> m = add(u, multiply(multiply(u, square), p));
  const double e = (double)s.e;
  const Pair<double> whole = two_product(e, 0x1.62e42fefa39efp-1);
  return add(quick_sum(whole.hi, fma(e, 0x1.abc9e3b39803fp-56, whole.lo)), m);
}
/// C's pow for every special case: `finite` is |x|^y where x and y are finite and x is not zero.
template <class T>
MUSCOPE_MATH T pow_special(T x, T y, T finite, T infinity) {
  const bool whole = trunc(y) == y;
  const bool odd = whole && abs(y - (T)2 * trunc(y * (T)0.5)) == (T)1;
  if (y == (T)0 || x == (T)1) return (T)1;
  if (is_nan(x) || is_nan(y)) return x + y;
  const T ax = abs(x);
  T result = finite;
  if (ax == (T)0 || ax == infinity) {
    result = (ax == (T)0) == (y < (T)0) ? infinity : (T)0;
    return odd ? with_sign(result, x) : result;
  }
  if (abs(y) == infinity) {
    if (ax == (T)1) return (T)1;
    return (ax > (T)1) == (y > (T)0) ? infinity : (T)0;
  }
  if (x < (T)0) {
    if (!whole) return (T)MUSCOPE_NAN_F;
    if (odd) result = -result;
  }
  return result;
}
MUSCOPE_MATH double pow(double x, double y) {
  const Pair<double> l = log_fine(abs(x));
  const double yc = clamp(y, -0x1p70, 0x1p70);
  Pair<double> t = two_product(l.hi, yc);
  t.lo = fma(l.lo, yc, t.lo);
  return pow_special(x, y, exp(t), MUSCOPE_INF);
}
/// Single precision throughout: log2 as a pair of floats (about 2^-36), then 2^(y log2 x) with the low part folded in.
MUSCOPE_MATH float pow(float x, float y) {
  const SplitF s = split(abs(x));
  const Pair<float> d = quick_sum(2.f, s.f);
  const Pair<float> u = divide(Pair<float>{s.f + s.f, 0.f}, d);
  const float s2 = u.hi * u.hi;
  const float tail = u.hi * s2 * polynomial(s2, 0x1.555554p-4f, 0x1.999bfep-7f, 0x1.23e47p-9f, 0x1.ee0a6p-12f);
  const Pair<float> m = multiply(quick_sum(u.hi, u.lo + tail), Pair<float>{0x1.715476p+0f, 0x1.4ae0cp-26f});
  const Pair<float> sum = two_sum(s.e, m.hi);
  const Pair<float> l = quick_sum(sum.hi, sum.lo + m.lo);
  const float yc = clamp(y, -0x1p40f, 0x1p40f);
  const Pair<float> t = two_product(l.hi, yc);
  const float low = fma(l.lo, yc, t.lo);
  const float c = clamp(t.hi, -160.f, 160.f);
  const float n = nearest(c);
  const float f = (c - n) + (c == t.hi ? low : 0.f);
  return pow_special(x, y, exp2_parts(n, f), MUSCOPE_INF_F);
}
MUSCOPE_MATH double powi(double x, int n) {
  u32 k = n < 0 ? 0u - (u32)n : (u32)n;
  double base = x, result = 1.0;
  while (k) {
    if (k & 1) result *= base;
    base *= base;
    k >>= 1;
  }
  return n < 0 ? 1.0 / result : result;
}
MUSCOPE_MATH float powi(float x, int n) {
  u32 k = n < 0 ? 0u - (u32)n : (u32)n;
  float base = x, result = 1.f;
  while (k) {
    if (k & 1) result *= base;
    base *= base;
    k >>= 1;
  }
  return n < 0 ? 1.f / result : result;
}

}  // namespace muscope_math

#include "end.h"

#endif
