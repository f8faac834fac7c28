// Hyperbolic functions and their inverses.
#ifndef MUSCOPE_MATH_HYPERBOLIC_H
#define MUSCOPE_MATH_HYPERBOLIC_H

#include "exp_log.h"
#include "roots.h"

#include "begin.h"

namespace muscope_math {

// exp(x)/2 overflows later than exp(x): both halves of the exponent are applied apart.
MUSCOPE_MATH float half_exp(float x) {
  const float c = clamp(x, -105.f, 91.f);
  const float n = nearest(c * 0x1.715476p+0f);
  const float f = fma(c, 0x1.4ae0cp-26f, fma(c, 0x1.715476p+0f, -n));
  return is_nan(x) ? x : exp2_parts(n - 1.f, f);
}
MUSCOPE_MATH double half_exp(double x) {
  const ExpSplit s = exp_split(clamp(x, -750.0, 712.0));
  return is_nan(x) ? x : exp_parts(s.hi, s.lo, s.n - 1);
}
/// exp(x) as a pair for |x| <= 50.
MUSCOPE_MATH Pair<double> exp_moderate(double x) {
  const ExpSplit s = exp_split(x);
  const Pair<double> e = exp_pair(s.hi, s.lo);
  const double t = power_of_two(s.n);
  return {e.hi * t, e.lo * t};
}
MUSCOPE_MATH float sinh(float x) {
  const float a = abs(x);
  if (a < 1.f) {
    const float s = x * x;
    return fma(x * s, polynomial(s, 0x1.555556p-3f, 0x1.1110eap-7f, 0x1.a01c22p-13f, 0x1.76771ep-19f), x);
  }
  const float h = half_exp(a);
  return with_sign(h - (a < 20.f ? 0.25f / h : 0.f), x);
}
MUSCOPE_MATH float cosh(float x) {
  const float a = abs(x), h = half_exp(a);
  return h + (a < 20.f ? 0.25f / h : 0.f);
}
MUSCOPE_MATH float tanh(float x) {
  const float a = abs(x);
  if (a < 0.6f) {
    const float s = x * x;
    return fma(x * s,
               polynomial(s, -0x1.555554p-2f, 0x1.11108p-3f, -0x1.b9f36p-5f, 0x1.63be5cp-6f, -0x1.0cecbap-7f,
                          0x1.1c6566p-9f),
               x);
  }
  const float t = clamp(a, 0.f, 10.f);
  const float e = exp2_approx(t * 0x1.715476p+1f);
  const float y = fma(-2.f, reciprocal_approx(e + 1.f), 1.f);
  return is_nan(x) ? x : with_sign(y, x);
}
MUSCOPE_MATH double sinh(double x) {
  const double a = abs(x);
  if (a < 1.0) {
    const double s = x * x;
    return fma(x * s,
               polynomial(s, 0x1.5555555555555p-3, 0x1.111111111117cp-7, 0x1.a01a01a00db3ap-13, 0x1.71de3a60a9f7dp-19,
                          0x1.ae644b32db998p-26, 0x1.612abe6b5d71ep-33, 0x1.aab9951a7065bp-41, 0x1.409579384599ap-48),
               x);
  }
  if (a > 20.0) return is_nan(x) ? x : with_sign(half_exp(a), x);
  const Pair<double> e = exp_moderate(a);
  const Pair<double> sum = two_sum(e.hi, -1.0 / e.hi);
  return with_sign(0.5 * (sum.hi + (sum.lo + e.lo)), x);
}
MUSCOPE_MATH double cosh(double x) {
  const double a = abs(x);
  if (!(a <= 20.0)) return half_exp(a);
  const Pair<double> e = exp_moderate(a), inverse = divide(Pair<double>{1.0, 0.0}, e), sum = add(e, inverse);
  return 0.5 * (sum.hi + sum.lo);
}
MUSCOPE_MATH double tanh(double x) {
  const double a = abs(x);
  if (is_nan(x) || a < 0x1p-28) return x;
  if (a > 22.0) return with_sign(1.0, x);
  if (a < 0.55) {
    const double s = x * x;
    return fma(x * s,
               polynomial(s, -0x1.5555555555555p-2, 0x1.11111111110ap-3, -0x1.ba1ba1ba14779p-5, 0x1.664f4880d4a5p-6,
                          -0x1.226e350e0d371p-7, 0x1.d6d3bfb4ffe1bp-9, -0x1.7da223ab5a5d3p-10, 0x1.3547d1541d305p-11,
                          -0x1.f4524e572c501p-13, 0x1.8f0425a2961efp-14, -0x1.28d3ef7c4c693p-15, 0x1.5b1d2839278e4p-17,
                          -0x1.98f62df1747cdp-20),
               x);
  }
  const Pair<double> e = exp_moderate(2.0 * a);  // 1 - 2/(e + 1)
  const Pair<double> d = two_sum(e.hi, 1.0);
  const Pair<double> q = divide(Pair<double>{2.0, 0.0}, Pair<double>{d.hi, d.lo + e.lo});
  const Pair<double> y = two_sum(1.0, -q.hi);
  return with_sign(y.hi + (y.lo - q.lo), x);
}

MUSCOPE_MATH float atanh(float x) {
  const float a = abs(x);
  if (a < 0.4f) {
    const float s = x * x;
    return fma(x * s,
               polynomial(s, 0x1.555554p-2f, 0x1.999acp-3f, 0x1.2466cep-3f, 0x1.cd0d44p-4f, 0x1.406b9cp-4f,
                          0x1.0845dap-3f),
               x);
  }
  return with_sign(0.5f * log1p(2.f * a / (1.f - a)), x);
}
MUSCOPE_MATH float asinh(float x) {
  const float a = abs(x);
  if (a > 0x1p30f) return is_nan(x) ? x : with_sign(log(a) + 0x1.62e43p-1f, x);
  return with_sign(log1p(a + a * a / (1.f + sqrt(fma(a, a, 1.f)))), x);
}
MUSCOPE_MATH float acosh(float x) {
  if (!(x >= 1.f)) return MUSCOPE_NAN_F;
  if (x > 0x1p30f) return log(x) + 0x1.62e43p-1f;
  const float t = x - 1.f;
  return log1p(t + sqrt(fma(t, t, 2.f * t)));
}
MUSCOPE_MATH double atanh(double x) {
  const double a = abs(x);
  if (a < 0x1p-28) return x;
  // log((1 + a)/(1 - a))/2 as log1p of a pair
  const Pair<double> d = two_sum(1.0, -a);
  const Pair<double> q = divide(Pair<double>{2.0 * a, 0.0}, d);
  return with_sign(0.5 * (a < 0.3 ? log1p(q.hi) + q.lo / (1.0 + q.hi) : log1p(q.hi)), x);
}
MUSCOPE_MATH double asinh(double x) {
  const double a = abs(x);
  if (is_nan(x) || a < 0x1p-28) return x;
  if (a > 0x1p30) return with_sign(log(a) + 0x1.62e42fefa39efp-1, x);
  return with_sign(log1p(a + a * a / (1.0 + sqrt(fma(a, a, 1.0)))), x);
}
MUSCOPE_MATH double acosh(double x) {
  if (!(x >= 1.0)) return MUSCOPE_NAN;
  if (x > 0x1p30) return log(x) + 0x1.62e42fefa39efp-1;
  const double t = x - 1.0;
  return log1p(t + sqrt(fma(t, t, 2.0 * t)));
}

}  // namespace muscope_math

#include "end.h"

#endif
