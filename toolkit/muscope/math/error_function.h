// The error function and its relatives, and the inverses. Chebyshev interpolation, coefficients computed to 200 bits.
#ifndef MUSCOPE_MATH_ERROR_FUNCTION_H
#define MUSCOPE_MATH_ERROR_FUNCTION_H

#include "exp_log.h"

#include "begin.h"

namespace muscope_math {

/// erf(x) for |x| <= 1.
MUSCOPE_MATH double erf_small(double x) {
  const double p = polynomial(x * x, 0x1.06eba8214db69p-3, -0x1.812746b0379e6p-2, 0x1.ce2f21a042b30p-4, -0x1.b82ce31284e00p-6,
        0x1.565bcd0dbaa38p-8, -0x1.c02db3dac435fp-11, 0x1.f9a321d5b8e1ep-14, -0x1.f4d1e3183f7aep-17,
        0x1.b9df224ca4b97p-20, -0x1.5f1ecb6f0764cp-23, 0x1.f7b4bf3b13964p-27, -0x1.389d4f2641625p-30,
        0x1.05ffd737fb32ep-34);
  return fma(x, p, x);
}
/// exp(x^2) erfc(x) for x >= 0.
MUSCOPE_MATH double erfcx_positive(double x) {
  const double root_pi = 0x1.20dd750429b6dp-1;  // 1/sqrt(pi)
  if (x > 28.0) {  // the asymptotic series
    if (x > 1e8) return root_pi / x;
    const double s = 1.0 / (x * x);
    return root_pi / x * polynomial(s, 1.0, -0.5, 0.75, -1.875, 6.5625);
  }
  const double t = (x - 4.0) / (x + 4.0) + 0.125;
  const double p = polynomial(t, 0x1.40228e025e390p+0, -0x1.1d67329e9db7ap-3, -0x1.63ff9b97196eap-6, 0x1.16f02f0224d8cp-3,
        -0x1.6c8e47a8a047dp-3, 0x1.42c800b3fea42p-3, -0x1.b57364b3a83fcp-4, 0x1.cda5dc61a8da6p-5,
        -0x1.6d7fb62e6757fp-6, 0x1.78293e5e30a18p-8, -0x1.4d89b2fe6e501p-12, -0x1.d2bf3c65fc4f2p-12,
        0x1.63873addf5a22p-13, 0x1.fe48b5069e027p-19, -0x1.54023c1faa336p-16, 0x1.c1b774b54c9e7p-19,
        0x1.0d4f6366db313p-19, -0x1.675ff7694328cp-21, -0x1.b18f1df28ab6dp-23, 0x1.991f30fc65c73p-24,
        0x1.731455f9dc067p-26, -0x1.29b419c85f976p-27, -0x1.f47207b168acdp-30);
  return p / fma(2.0, x, 1.0);
}
/// exp(-x^2).
MUSCOPE_MATH double exp_minus_square(double x) {
  const Pair<double> s = two_product(x, x);
  return exp(Pair<double>{-s.hi, -s.lo});
}
MUSCOPE_MATH double erfc(double x) {
  if (is_nan(x)) return x;
  const double a = abs(x);
  if (a < 0.5) return 1.0 - erf_small(x);
  const double y = a > 28.0 ? 0.0 : exp_minus_square(a) * erfcx_positive(a);
  return x < 0.0 ? 2.0 - y : y;
}
MUSCOPE_MATH double erf(double x) {
  const double a = abs(x);
  if (is_nan(x)) return x;
  if (a <= 1.0) return erf_small(x);
  return with_sign(a > 6.0 ? 1.0 : 1.0 - exp_minus_square(a) * erfcx_positive(a), x);
}
MUSCOPE_MATH double erfcx(double x) {
  if (is_nan(x)) return x;
  if (x >= 0.0) return erfcx_positive(x);
  const Pair<double> s = two_product(x, x);
  return 2.0 * exp(s) - (x > -28.0 ? erfcx_positive(-x) : 0.0);
}
/// Probability that a standard normal variable is below x.
MUSCOPE_MATH double normcdf(double x) {
  const double t = x * 0x1.6a09e667f3bcdp-1;
  if (is_nan(x)) return x;
  if (abs(t) < 0.5) return 0.5 + 0.5 * erf_small(t);
  const double a = abs(t);
  if (a > 28.0) return x < 0.0 ? 0.0 : 1.0;
  const Pair<double> s = two_product(x, x);
  const double y = 0.5 * exp(Pair<double>{-0.5 * s.hi, -0.5 * s.lo}) * erfcx_positive(a);
  return x < 0.0 ? y : 1.0 - y;
}

/// The x with erf(x) = y, for |y| <= 0.5: a quotient as first guess, then Halley's method.
MUSCOPE_MATH double erfinv_small(double y) {
  const double half_root_pi = 0x1.c5bf891b4ef6bp-1;
  double x = y * half_root_pi * fma(0.26179938779914943654 * y, y, 1.0);
  for (int i = 0; i < 3; ++i) {
    const double step = (y - erf_small(x)) * half_root_pi * exp(x * x);
    x += step / (1.0 - x * step);
  }
  return x;
}
/// The x > 0 with erfc(x) = z, for z in (0, 0.5].
MUSCOPE_MATH double erfcinv_small(double z) {
  const double half_root_pi = 0x1.c5bf891b4ef6bp-1;
  const Pair<double> log_z = log_pair(z);
  // erfc(x) behaves like exp(-x^2)/(x sqrt(pi)): one substitution gives the first guess.
  const double r = -log_z.hi;
  double x = sqrt(r > 1.0 ? r - 0.5 * log(r * 3.14159265358979323846 * 0.8) : 0.3 * r);
  for (int i = 0; i < 5; ++i) {
    const Pair<double> s = two_product(x, x);
    const double scaled = exp(add(s, log_z));  // z exp(x^2)
    const double step = (erfcx_positive(x) - scaled) * half_root_pi;
    x += step / (1.0 - x * step);
    if (abs(step) < 1e-12 * x) break;
  }
  return x;
}
MUSCOPE_MATH double erfinv(double y) {
  const double a = abs(y);
  if (!(a <= 1.0)) return MUSCOPE_NAN;
  if (a == 1.0) return with_sign(MUSCOPE_INF, y);
  if (a <= 0.5) return erfinv_small(y);
  return with_sign(erfcinv_small(1.0 - a), y);
}
MUSCOPE_MATH double erfcinv(double z) {
  if (!(z >= 0.0 && z <= 2.0)) return MUSCOPE_NAN;
  if (z == 0.0) return MUSCOPE_INF;
  if (z == 2.0) return -MUSCOPE_INF;
  if (z >= 0.5 && z <= 1.5) return erfinv_small(1.0 - z);
  return z < 0.5 ? erfcinv_small(z) : -erfcinv_small(2.0 - z);
}
MUSCOPE_MATH double normcdfinv(double p) {
  if (!(p >= 0.0 && p <= 1.0)) return MUSCOPE_NAN;
  const double x = erfcinv(2.0 * p);
  const Pair<double> root = {0x1.6a09e667f3bcdp+0, -0x1.bdd3413b26456p-54};
  return -(fma(root.hi, x, root.lo * x));
}

// Single precision: erf and erfc in their own arithmetic, the rest rounds the double precision result.
MUSCOPE_MATH float erf(float x) {
  const float a = abs(x);
  if (is_nan(x)) return x;
  if (a < 1.f) {
    const float s = x * x;
    const float p = polynomial(s, 0x1.06eba8p-3f, -0x1.812744p-2f, 0x1.ce2ea2p-4f, -0x1.b82232p-6f, 0x1.55e0eep-8f,
                               -0x1.b9d556p-11f, 0x1.c8c8bp-14f, -0x1.2307bcp-17f);
    return fma(x, p, x);
  }
  return with_sign(a > 4.f ? 1.f : (float)(1.0 - exp_minus_square(a) * erfcx_positive(a)), x);
}
MUSCOPE_MATH float erfc(float x) { return (float)erfc((double)x); }
MUSCOPE_MATH float erfcx(float x) { return (float)erfcx((double)x); }
MUSCOPE_MATH float erfinv(float x) { return (float)erfinv((double)x); }
MUSCOPE_MATH float erfcinv(float x) { return (float)erfcinv((double)x); }
MUSCOPE_MATH float normcdf(float x) { return (float)normcdf((double)x); }
MUSCOPE_MATH float normcdfinv(float x) { return (float)normcdfinv((double)x); }

}  // namespace muscope_math

#include "end.h"

#endif
