// The gamma function and its logarithm. Chebyshev interpolation near the zeros at 1 and 2, Stirling's series from 10 on.
#ifndef MUSCOPE_MATH_GAMMA_H
#define MUSCOPE_MATH_GAMMA_H

#include "exp_log.h"
#include "trig.h"

#include "begin.h"

namespace muscope_math {

/// log(gamma(x)) for x >= 10.
MUSCOPE_MATH Pair<double> lgamma_stirling(double x) {
  const double r = 1.0 / x;
  const double series = r * polynomial(r * r, 1.0 / 12, -1.0 / 360, 1.0 / 1260, -1.0 / 1680, 1.0 / 1188, -691.0 / 360360,
                                       1.0 / 156, -3617.0 / 122400);
  const Pair<double> l = log_fine(x);
  const Pair<double> half_log_2pi = {0x1.d67f1c864beb5p-1, -0x1.65b5a1b7ff5dfp-55};
  Pair<double> s = multiply(l, x - 0.5);
  s = add(s, half_log_2pi);
  s = add(s, Pair<double>{-x, 0.0});
  return add(s, Pair<double>{series, 0.0});
}
/// log(gamma(1 + u)) for u in [0, 2]; v is u - 1, given apart because both differences must be exact.
MUSCOPE_MATH double lgamma_middle(double u, double v) {
  const bool below = u < 1.0;
  const double t = below ? u - 0.5 : u - 1.5;
  const double p =
      below ? polynomial(t, 0x1.eeb95b094c191p-2, -0x1.2aed059bd6085p-3, 0x1.01af62a2929e1p-4,
                    -0x1.007aa83cef9abp-5, 0x1.133423527ae27p-6, -0x1.34dbda128eee5p-7, 0x1.64f0664fb6518p-8,
                    -0x1.a5035375acabep-9, 0x1.f814b951d538bp-10, -0x1.313e5323120b7p-10, 0x1.750aa27fe4301p-11,
                    -0x1.cb502b140a127p-12, 0x1.1c7b46046a59cp-12, -0x1.61854b057e6e9p-13, 0x1.ba26ce28a34b0p-14,
                    -0x1.1cf3272629995p-14, 0x1.672b94917149fp-15, -0x1.6880fac68f031p-16, 0x1.c7d009a4fae3ap-17,
                    -0x1.36d84fee907ffp-16, 0x1.8ca55ab6b8718p-17)
              : polynomial(t, 0x1.84afe00cddfdfp-2, -0x1.31d26e9323010p-4, 0x1.462044b0af667p-6,
                    -0x1.8a722dfc5d7efp-8, 0x1.feef08b136431p-10, -0x1.59512000e75a8p-11, 0x1.e05c3c368e7b5p-13,
                    -0x1.5501aafb06c5fp-14, 0x1.eb8f77c97c52cp-16, -0x1.667082a03af13p-17, 0x1.07c6c7a6cae03p-18,
                    -0x1.871dd64f13021p-20, 0x1.23df937961832p-21, -0x1.b5a84b36743e2p-23, 0x1.454b1adbc86b7p-24,
                    -0x1.eba7f1c3d9760p-26, 0x1.bd89faea6be05p-27, -0x1.5318fc433f2f5p-28);
  return u * v * p;
}
/// log(gamma(x)) for x > 0.
MUSCOPE_MATH double lgamma_positive(double x) {
  if (x >= 10.0) {
    if (x > 1e17) return x * (log(x) - 1.0);
    const Pair<double> s = lgamma_stirling(x);
    return s.hi + s.lo;
  }
  if (x < 1.0) return lgamma_middle(x, x - 1.0) - log(x);
  double product = 1.0;
  while (x > 3.0) {
    x -= 1.0;
    product *= x;
  }
  return lgamma_middle(x - 1.0, x - 2.0) + (product == 1.0 ? 0.0 : log(product));
}
MUSCOPE_MATH double lgamma(double x) {
  if (is_nan(x)) return x;
  const double a = abs(x);
  if (a == MUSCOPE_INF) return MUSCOPE_INF;
  if (x > 0.0) return lgamma_positive(x);
  if (x == trunc(x)) return MUSCOPE_INF;
  if (a < 0x1p-60) return -log(a);
  // gamma(x) gamma(-x) = -pi / (x sin(pi x))
  return log(0x1.921fb54442d18p+1 / abs(x * sinpi(x))) - lgamma_positive(a);
}
MUSCOPE_MATH double tgamma(double x) {
  if (is_nan(x) || x == MUSCOPE_INF) return x;
  if (x == 0.0) return with_sign(MUSCOPE_INF, x);
  if (x == trunc(x) && x < 0.0) return MUSCOPE_NAN;
  const double a = abs(x);
  if (a < 0x1p-60) return 1.0 / x;
  if (x > 172.0) return MUSCOPE_INF;
  if (x < -190.0) return trunc(x * 0.5) * 2.0 == trunc(x) ? -0.0 : 0.0;
  // gamma(a) = gamma(a + n) / (a (a + 1) ... (a + n - 1)), the sums and the product as pairs.
  Pair<double> product = {1.0, 0.0}, shifted = {a, 0.0};
  for (double k = 1.0; shifted.hi < 10.0; k += 1.0) {
    product = multiply(product, shifted);
    shifted = two_sum(a, k);
  }
  Pair<double> s = lgamma_stirling(shifted.hi);
  s.lo = fma(shifted.lo, log(shifted.hi), s.lo);
  if (x > 0.0) {
    const double q = exp(s) / product.hi;
    return fma(-q, product.lo / product.hi, q);
  }
  const double reflected = -0x1.921fb54442d18p+1 / (x * sinpi(x));
  return exp(Pair<double>{-s.hi, -s.lo}) * reflected * product.hi;
}
MUSCOPE_MATH float lgamma(float x) { return (float)lgamma((double)x); }
MUSCOPE_MATH float tgamma(float x) { return (float)tgamma((double)x); }

}  // namespace muscope_math

#include "end.h"

#endif
