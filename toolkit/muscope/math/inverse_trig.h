// Inverse trigonometric functions. Polynomials: minimax for the interval, found with Sollya's fpminimax.
#ifndef MUSCOPE_MATH_INVERSE_TRIG_H
#define MUSCOPE_MATH_INVERSE_TRIG_H

#include "base.h"

#include "begin.h"

namespace muscope_math {

/// atan(t) for |t| <= tan(pi/8), less t itself.
MUSCOPE_MATH float atan_tail(float t) {
  const float s = t * t;
  return t * s * polynomial(s, -0x1.55554ap-2f, 0x1.9991e4p-3f, -0x1.23b9dp-3f, 0x1.b226f2p-4f, -0x1.f2f1b6p-5f);
}
MUSCOPE_MATH double atan_tail(double t) {
  const double s = t * t;
  return t * s *
         polynomial(s, -0x1.5555555555555p-2, 0x1.99999999998c5p-3, -0x1.249249248bea1p-3, 0x1.c71c71c3da31bp-4,
                    -0x1.745d16c306ea3p-4, 0x1.3b13a3ac561b5p-4, -0x1.1110186731402p-4, 0x1.e1c89f2a3befcp-5,
                    -0x1.ae3cd5ddb2eccp-5, 0x1.7ff0ea983407p-5, -0x1.4706b578d220dp-5, 0x1.d0e6c5153b923p-6,
                    -0x1.861a0fa6f294ap-7);
}
template <class T>
struct Angles;
template <>
struct Angles<float> {
  static constexpr float kQuarter = 0x1.921fb6p-1f, kQuarterLow = -0x1.777a5cp-26f;  // pi/4
  static constexpr float kTan = 0x1.a8279ap-2f;                                      // tan(pi/8)
};
template <>
struct Angles<double> {
  static constexpr double kQuarter = 0x1.921fb54442d18p-1, kQuarterLow = 0x1.1a62633145c07p-55;
  static constexpr double kTan = 0x1.a827999fcef32p-2;
};
/// atan(n/d) for 0 <= n <= d, d > 0, as a pair of values that still have to be added.
template <class T>
MUSCOPE_MATH Pair<T> atan_ratio(T n, T d) {
  using A = Angles<T>;
  const bool big = n > d * A::kTan;
  // atan(n/d) = pi/4 + atan((n - d)/(n + d))
  const T num = big ? n - d : n, den = big ? n + d : d;
  const T t = num / den;
  // The division's error, and that of the difference and sum, as a correction of the argument.
  T slack = fma(-t, den, num);
  if (big) {
    const T num_low = (n - (num + d)), den_low = d - (den - n);
    slack += num_low - t * den_low;
  }
  const T low = slack / den + atan_tail(t);
  if (!big) return {t, low};
  const Pair<T> sum = two_sum(A::kQuarter, t);
  return {sum.hi, sum.lo + (A::kQuarterLow + low)};
}
template <class T>
MUSCOPE_MATH T atan(T x) {
  using A = Angles<T>;
  const T a = abs(x);
  if (is_nan(x)) return x;
  const bool invert = a > (T)1;
  Pair<T> p = a == (T)MUSCOPE_INF_F ? Pair<T>{(T)0, (T)0} : invert ? atan_ratio((T)1, a) : atan_ratio(a, (T)1);
  if (invert) {
    const Pair<T> sum = two_sum((T)2 * A::kQuarter, -p.hi);
    p = {sum.hi, sum.lo + ((T)2 * A::kQuarterLow - p.lo)};
  }
  return with_sign(p.hi + p.lo, x);
}
template <class T>
MUSCOPE_MATH T atan2(T y, T x) {
  using A = Angles<T>;
  if (is_nan(x) || is_nan(y)) return x + y;
  T ay = abs(y), ax = abs(x);
  Pair<T> p;
  const bool swap = ay > ax;
  if (ay == (T)0 && ax == (T)0) {
    p = {(T)0, (T)0};
  } else if (ay == ax) {  // also both infinite
    p = {A::kQuarter, A::kQuarterLow};
  } else if (ax == (T)MUSCOPE_INF_F || ay == (T)MUSCOPE_INF_F) {
    p = {(T)0, (T)0};
  } else {
    // A common power of two keeps n + d from overflowing and tiny values exact.
    const T big = swap ? ay : ax;
    const T wide = (T)(sizeof(T) == 4 ? 0x1p60 : 0x1p500);
    const T factor = big > wide ? (T)1 / wide : big < (T)1 / wide ? wide : (T)1;
    ay *= factor;
    ax *= factor;
    p = swap ? atan_ratio(ax, ay) : atan_ratio(ay, ax);
  }
  if (swap) {
    const Pair<T> sum = two_sum((T)2 * A::kQuarter, -p.hi);
    p = {sum.hi, sum.lo + ((T)2 * A::kQuarterLow - p.lo)};
  }
  if (__builtin_signbit(x)) {
    const Pair<T> sum = two_sum((T)4 * A::kQuarter, -p.hi);
    p = {sum.hi, sum.lo + ((T)4 * A::kQuarterLow - p.lo)};
  }
  return with_sign(p.hi + p.lo, y);
}

/// asin(t) for |t| <= 1/2 (a little more does no harm), less t itself, from t and t^2.
MUSCOPE_MATH float asin_tail(float t, float s) {
  return t * s * polynomial(s, 0x1.55554cp-3f, 0x1.33389ep-4f, 0x1.6caab6p-5f, 0x1.04af34p-5f, 0x1.d7924cp-7f, 0x1.33d432p-5f);
}
MUSCOPE_MATH double asin_tail(double t, double s) {
  return t * s *
         polynomial(s, 0x1.5555555555553p-3, 0x1.33333333339e6p-4, 0x1.6db6db6d4c7a8p-5, 0x1.f1c71ca6cd0b1p-6,
                    0x1.6e8b9b1bffdbap-6, 0x1.1c4f82423673bp-6, 0x1.c98136c17fc97p-7, 0x1.7ba10e843fd9cp-7,
                    0x1.36d7ea5fca777p-7, 0x1.47a759088b778p-7, 0x1.77855382626bep-11, 0x1.95935745bc9acp-6,
                    -0x1.aaf6384662cb1p-6, 0x1.133316d3e079ap-5);
}
/// asin(sqrt(z)) for z in [0, 1/4] as a pair.
template <class T>
MUSCOPE_MATH Pair<T> asin_root(T z) {
  const T t = sqrt(z);
  const T low = z == (T)0 ? (T)0 : fma(-t, t, z) / (t + t);
  return {t, low + asin_tail(t, z)};
}
template <class T>
MUSCOPE_MATH T asin(T x) {
  using A = Angles<T>;
  const T a = abs(x);
  if (!(a <= (T)1)) return (T)MUSCOPE_NAN_F;
  if (a <= (T)0.5) return x + asin_tail(x, x * x);
  // pi/2 - 2 asin(sqrt((1 - a)/2))
  const Pair<T> r = asin_root(((T)1 - a) * (T)0.5);
  const Pair<T> sum = two_sum((T)2 * A::kQuarter, (T)-2 * r.hi);
  return with_sign(sum.hi + (sum.lo + ((T)2 * A::kQuarterLow - (T)2 * r.lo)), x);
}
template <class T>
MUSCOPE_MATH T acos(T x) {
  using A = Angles<T>;
  const T a = abs(x);
  if (!(a <= (T)1)) return (T)MUSCOPE_NAN_F;
  if (a <= (T)0.5) {
    const Pair<T> sum = two_sum((T)2 * A::kQuarter, -x);
    return sum.hi + (sum.lo + ((T)2 * A::kQuarterLow - asin_tail(x, x * x)));
  }
  const Pair<T> r = asin_root(((T)1 - a) * (T)0.5);
  if (x > (T)0) return (T)2 * r.hi + (T)2 * r.lo;
  const Pair<T> sum = two_sum((T)4 * A::kQuarter, (T)-2 * r.hi);
  return sum.hi + (sum.lo + ((T)4 * A::kQuarterLow - (T)2 * r.lo));
}

}  // namespace muscope_math

#include "end.h"

#endif
