// sin, cos, tan of any argument. Reduction to [-pi/4, pi/4]: three products with parts of pi/2 for moderate arguments
// (each difference is exact or correctly rounded thanks to fma), multiplication with the needed bits of 2/pi for large
// ones (Payne and Hanek's method). Polynomials: minimax for the interval, coefficients found with Sollya's fpminimax.
#ifndef MUSCOPE_MATH_TRIG_H
#define MUSCOPE_MATH_TRIG_H

#include "base.h"

#include "begin.h"

namespace muscope_math {

// 2/pi in binary, after a word of zeros: the first bit of the table has weight 2^63.
#if defined(__CUDA_ARCH__)
static __device__ const u64 kTwoOverPi[] = {
#else
static const u64 kTwoOverPi[] = {
#endif
    0x0000000000000000ull, 0xa2f9836e4e441529ull, 0xfc2757d1f534ddc0ull, 0xdb6295993c439041ull,
    0xfe5163abdebbc561ull, 0xb7246e3a424dd2e0ull, 0x06492eea09d1921cull, 0xfe1deb1cb129a73eull,
    0xe88235f52ebb4484ull, 0xe99c7026b45f7e41ull, 0x3991d639835339f4ull, 0x9c845f8bbdf9283bull,
    0x1ff897ffde05980full, 0xef2f118b5a0a6d1full, 0x6d367ecf27cb09b7ull, 0x4f463f669e5fea2dull,
    0x7527bac7ebe5f17bull, 0x3d0739f78a5292eaull, 0x6bfb5fb11f8d5d08ull, 0x56033046fc7b6babull,
};

/// x = quadrant * pi/2 + (hi + lo), |hi| <= pi/4.
struct ReducedF {
  float value, lo;
  int quadrant;
};
struct Reduced {
  double hi, lo;
  int quadrant;
};

/// 64 bits of 2/pi: those of weight 2^-first to 2^-(first + 63); first >= -62.
MUSCOPE_MATH u64 two_over_pi(int first) {
  const int position = first + 63;  // the table starts with the bit of weight 2^63
  const int word = position >> 6, shift = position & 63;
  const u64 high = kTwoOverPi[word], low = kTwoOverPi[word + 1];
  return shift ? (high << shift) | (low >> (64 - shift)) : high;
}

/// Any finite |x| >= 1.
MUSCOPE_MATH ReducedF reduce_large(float x) {
  const u32 u = bits(x);
  const int k = (int)((u >> 23) & 0xff) - 150;  // |x| = m 2^k
  const u64 m = (u & 0x7fffffu) | 0x800000u;
  // m times the 96 bits of 2/pi from weight 2^-(k-1) on, modulo 2^96: units of 2^-94, whole multiples of 4 drop out.
  const u64 w_high = two_over_pi(k - 1), w_low = two_over_pi(k + 63) >> 32;
  const u64 low = m * w_low;                     // weight 2^0, under 2^56
  const u64 top = m * w_high + (low >> 32);      // weight 2^32, modulo 2^64
  i64 fraction = (i64)(top << 2);                // of a quarter turn, as a signed fraction in units of 2^-64
  int quadrant = (int)(top >> 62) + (int)((top >> 61) & 1);
  float value = (float)((double)fraction * 0x1.921fb54442d18p-64);
  if (u >> 31) {
    value = -value;
    quadrant = -quadrant;
  }
  return {value, 0.f, quadrant};
}

MUSCOPE_MATH ReducedF reduce(float x) {
  if (abs(x) > 105615.f) {
    if (abs(x) == MUSCOPE_INF_F) return {MUSCOPE_NAN_F, 0.f, 0};
    if (x == x) return reduce_large(x);
  }
  const float n = nearest(x * 0x1.45f306p-1f);
  float r = fma(n, -0x1.921fb6p+0f, x);
  r = fma(n, 0x1.777a5cp-25f, r);
  r = fma(n, 0x1.ee59dap-50f, r);
  return {r, 0.f, (int)n};
}

MUSCOPE_MATH float sin_kernel(float r, float lo) {
  const float s = r * r;
  return r + fma(r * s, polynomial(s, -0x1.555546p-3f, 0x1.110776p-7f, -0x1.9952c6p-13f), lo);
}
MUSCOPE_MATH float cos_kernel(float r, float lo) {
  const float s = r * r;
  return 1.f + fma(s, polynomial(s, -0.5f, 0x1.55554ap-5f, -0x1.6c0c2cp-10f, 0x1.99e9ccp-16f), -r * lo);
}
MUSCOPE_MATH float sin_of(ReducedF r) {
  const float y = r.quadrant & 1 ? cos_kernel(r.value, r.lo) : sin_kernel(r.value, r.lo);
  return r.quadrant & 2 ? -y : y;
}
MUSCOPE_MATH float cos_of(ReducedF r) { return sin_of(ReducedF{r.value, r.lo, r.quadrant + 1}); }

MUSCOPE_MATH float sin(float x) { return x == 0.f ? x : sin_of(reduce(x)); }
MUSCOPE_MATH float cos(float x) { return cos_of(reduce(x)); }
MUSCOPE_MATH void sincos(float x, float* s, float* c) {
  const ReducedF r = reduce(x);
  *s = x == 0.f ? x : sin_of(r);
  *c = cos_of(r);
}
MUSCOPE_MATH float tan(float x) {
  if (x == 0.f) return x;
  const ReducedF r = reduce(x);
  const float s = r.value * r.value;
  const float t = fma(r.value * s,
                      polynomial(s, 0x1.5554dcp-2f, 0x1.112e48p-3f, 0x1.b5799p-5f, 0x1.90c2bep-6f, 0x1.929182p-9f,
                                 0x1.347bf8p-7f),
                      r.value);
  return r.quadrant & 1 ? -1.f / t : t;
}

/// Any finite |x| >= 1.
MUSCOPE_MATH Reduced reduce_large(double x) {
  const u64 u = bits(x);
  const int k = (int)((u >> 52) & 0x7ff) - 1075;  // |x| = m 2^k
  const u64 m = (u & 0xfffffffffffffull) | 0x10000000000000ull;
  // m times the 192 bits of 2/pi from weight 2^-(k-1) on, modulo 2^192: units of 2^-190.
  const u64 w0 = two_over_pi(k - 1), w1 = two_over_pi(k + 63), w2 = two_over_pi(k + 127);
  const u64 low_part = multiply_high(m, w2);
  u64 middle = m * w1;
  u64 top = m * w0 + multiply_high(m, w1);
  middle += low_part;
  top += middle < low_part;
  int quadrant = (int)(top >> 62);
  u64 hi = (top << 2) | (middle >> 62), lo = middle << 2;  // the fraction, 128 bits
  const bool negative = hi >> 63;
  if (negative) {  // the distance to the next quadrant is the shorter one
    quadrant += 1;
    lo = ~lo + 1;
    hi = ~hi + (lo == 0);
  }
  const int zeros = hi ? __builtin_clzll(hi) : 64;
  if (zeros == 64) {
    hi = lo;
    lo = 0;
  } else if (zeros) {
    hi = (hi << zeros) | (lo >> (64 - zeros));
    lo <<= zeros;
  }
  // 53 and 53 more bits of the fraction, then times pi/2 as a pair.
  const double unit = from_bits((u64)(1023 - 64 - zeros) << 52);
  const Pair<double> fraction = quick_sum((double)(hi & ~0x7ffull) * unit,
                                          ((double)(hi & 0x7ffull) + (double)(lo >> 11) * 0x1p-53) * unit);
  const Pair<double> half_pi = {0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54};
  Pair<double> r = multiply(fraction, half_pi);
  const bool flip = negative != (bool)(u >> 63);
  if (flip) r = {-r.hi, -r.lo};
  return {r.hi, r.lo, u >> 63 ? -quadrant : quadrant};
}

MUSCOPE_MATH Reduced reduce(double x) {
  if (abs(x) > 0x1p30) {
    if (abs(x) == MUSCOPE_INF) return {MUSCOPE_NAN, 0, 0};
    if (x == x) return reduce_large(x);
  }
  const double n = nearest(x * 0x1.45f306dc9c883p-1);
  const double first = fma(n, -0x1.921fb54442d18p+0, x);
  const Pair<double> second = two_product(n, -0x1.1a62633145c07p-54);
  const Pair<double> sum = two_sum(first, second.hi);
  const double rest = sum.lo + fma(n, 0x1.f1976b7ed8fbcp-110, second.lo);
  const Pair<double> r = quick_sum(sum.hi, rest);
  return {r.hi, r.lo, (int)n};
}

/// The kernels give two parts of which the second is much smaller: sin and cos add them, tan divides the pairs.
MUSCOPE_MATH Pair<double> sin_kernel(double r, double lo) {
  const double s = r * r;
  const double p = polynomial(s, 0x1.111111110f747p-7, -0x1.a01a019bedba9p-13, 0x1.71de355a31aa7p-19,
                              -0x1.ae5e50109e278p-26, 0x1.5d8ccbe424be3p-33);
  // r + lo - r^3/6 + ...; the low part also multiplies the cosine, 1 - s/2.
  const double cube = r * s;
  return {r, fma(cube, fma(s, p, -0x1.5555555555548p-3), fma(-0.5 * s, lo, lo))};
}
MUSCOPE_MATH Pair<double> cos_kernel(double r, double lo) {
  const double s = r * r, half = 0.5 * s, one_less = 1.0 - half;
  const double p = polynomial(s, 0x1.555555555554cp-5, -0x1.6c16c16c1521p-10, 0x1.a01a019cbcc16p-16,
                              -0x1.27e4f8101d1fap-22, 0x1.1ee9ef262c1ebp-29, -0x1.8fafe1a6984a3p-37);
  return {one_less, ((1.0 - one_less) - half) + fma(s * s, p, -r * lo)};
}
MUSCOPE_MATH double sin_of(Reduced r) {
  const Pair<double> p = r.quadrant & 1 ? cos_kernel(r.hi, r.lo) : sin_kernel(r.hi, r.lo);
  const double y = p.hi + p.lo;
  return r.quadrant & 2 ? -y : y;
}
MUSCOPE_MATH double cos_of(Reduced r) { return sin_of(Reduced{r.hi, r.lo, r.quadrant + 1}); }

MUSCOPE_MATH double sin(double x) { return x == 0.0 ? x : sin_of(reduce(x)); }
MUSCOPE_MATH double cos(double x) { return cos_of(reduce(x)); }
MUSCOPE_MATH void sincos(double x, double* s, double* c) {
  const Reduced r = reduce(x);
  *s = x == 0.0 ? x : sin_of(r);
  *c = cos_of(r);
}
MUSCOPE_MATH double tan(double x) {
  if (x == 0.0) return x;
  const Reduced r = reduce(x);
  const Pair<double> s = sin_kernel(r.hi, r.lo), c = cos_kernel(r.hi, r.lo);
  const Pair<double> sine = quick_sum(s.hi, s.lo), cosine = quick_sum(c.hi, c.lo);
  const bool odd = r.quadrant & 1;
  const Pair<double> q = divide(odd ? cosine : sine, odd ? sine : cosine);
  return odd ? -q.hi : q.hi;
}

// ---- arguments in half turns: the reduction is exact
MUSCOPE_MATH ReducedF reduce_pi(float x) {
  const float n = nearest(x + x);
  const float r = fma(n, -0.5f, x);
  const float q = nearest(fma(nearest(n * 0.25f), -4.f, n));  // n modulo 4, so that huge n stay exact
  const float value = r * 0x1.921fb6p+1f;
  return {value, fma(r, 0x1.921fb6p+1f, -value) + r * -0x1.777a5cp-24f, (int)q};
}
MUSCOPE_MATH Reduced reduce_pi(double x) {
  const double n = nearest(x + x);
  const double r = fma(n, -0.5, x);
  const double q = nearest(fma(nearest(n * 0.25), -4.0, n));
  const Pair<double> p = multiply(Pair<double>{0x1.921fb54442d18p+1, 0x1.1a62633145c07p-53}, r);
  return {p.hi, p.lo, (int)q};
}
template <class T>
MUSCOPE_MATH T sinpi(T x) {
  if (x - x != (T)0) return x - x;  // infinite or not a number
  if (x == trunc(x)) return with_sign((T)0, x);
  return sin_of(reduce_pi(x));
}
template <class T>
MUSCOPE_MATH T cospi(T x) {
  if (x - x != (T)0) return x - x;  // infinite or not a number
  return cos_of(reduce_pi(x)) + (T)0;
}

}  // namespace muscope_math

#include "end.h"

#endif
