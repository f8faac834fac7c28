// Functions of two arguments and the exact ones, against the C library.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>

#include "muscope/math/bessel.h"
#include "muscope/math/error_function.h"
#include "muscope/math/exp_log.h"
#include "muscope/math/inverse_trig.h"
#include "muscope/math/rest.h"
#include "muscope/math/roots.h"

namespace {

namespace ms = muscope_math;

template <class T>
double ulps(T got, long double want) {
  if (std::isnan(want)) return std::isnan(got) ? 0.0 : INFINITY;
  const T rounded = static_cast<T>(want);
  if (std::isinf(rounded) && got == rounded) return 0.0;
  if (std::isinf(rounded)) return std::fabs(got) == std::numeric_limits<T>::max() ? 1.0 : 1e9;
  if (std::isinf(got)) return 1e9;
  int exponent = 0;
  std::frexp(want, &exponent);
  const long double unit =
      std::ldexp(1.0L, std::max(exponent, std::numeric_limits<T>::min_exponent) - std::numeric_limits<T>::digits);
  return static_cast<double>(std::fabs(static_cast<long double>(got) - want) / unit);
}

/// Numbers of every size and sign, whole ones and specials among them.
template <class T>
T any_number(std::mt19937_64& random) {
  constexpr T kSpecial[] = {0,
                            -T(0),
                            1,
                            -1,
                            T(0.5),
                            2,
                            3,
                            -3,
                            std::numeric_limits<T>::infinity(),
                            -std::numeric_limits<T>::infinity(),
                            std::numeric_limits<T>::quiet_NaN(),
                            std::numeric_limits<T>::max(),
                            std::numeric_limits<T>::min(),
                            std::numeric_limits<T>::denorm_min()};
  switch (random() % 8) {
    case 0:
      return kSpecial[random() % std::size(kSpecial)];
    case 1:
      return static_cast<T>(static_cast<int>(random() % 201) - 100);
    case 2:
    case 3:
      return static_cast<T>(std::ldexp(static_cast<double>(random() >> 11), -50) * (random() & 1 ? 1 : -1));
    default: {
      using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
      return __builtin_bit_cast(T, static_cast<Bits>(random()));
    }
  }
}

template <class T, class Ours, class Reference>
void expect_within(double bound, Ours ours, Reference reference, const char* name) {
  std::mt19937_64 random(3);
  for (int i = 0; i < 40000; ++i) {
    const T x = any_number<T>(random), y = any_number<T>(random);
    const T got = ours(x, y);
    const long double want = reference(x, y);
    ASSERT_LE(ulps(got, want), bound) << name << "(" << std::hexfloat << x << ", " << y << ") = " << got << ", not "
                                      << want;
    if (want == 0) {
      ASSERT_EQ(std::signbit(got), std::signbit(want)) << name << "(" << x << ", " << y << ")";
    }
  }
}

using L = long double;
#define PAIR(T, ours, reference) \
  [](T x, T y) { return ours(x, y); }, [](T x, T y) -> long double { return reference(x, y); }

// Bounds: CUDA C++ Programming Guide, "Mathematical Functions".
TEST(MathPairs, Pow) {
  expect_within<double>(2, PAIR(double, ms::pow, std::pow<L>), "pow");
  expect_within<float>(4, PAIR(float, ms::pow, std::pow<L>), "powf");
}
TEST(MathPairs, PowOfModerateNumbers) {
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> base(0.5, 2.0), exponent(-500, 500);
  for (int i = 0; i < 40000; ++i) {
    const double x = base(random), y = exponent(random);
    ASSERT_LE(ulps(ms::pow(x, y), std::pow<L>(x, y)), 2.0) << x << " " << y;
    const float xf = static_cast<float>(x), yf = static_cast<float>(y / 4);
    ASSERT_LE(ulps(ms::pow(xf, yf), std::pow<L>(xf, yf)), 4.0) << xf << " " << yf;
  }
}
TEST(MathPairs, Atan2) {
  expect_within<double>(2, PAIR(double, ms::atan2, std::atan2<L>), "atan2");
  expect_within<float>(3, PAIR(float, ms::atan2, std::atan2<L>), "atan2f");
}
template <class T>
T hypot_of(T x, T y) {
  return ms::length(ms::square_sum(x, y));
}
template <class T>
T rhypot_of(T x, T y) {
  return ms::inverse_length(ms::square_sum(x, y));
}
long double rhypot_reference(long double x, long double y) { return 1 / std::hypot(x, y); }
TEST(MathPairs, Lengths) {
  expect_within<double>(2, PAIR(double, hypot_of, std::hypot<L>), "hypot");
  expect_within<float>(3, PAIR(float, hypot_of, std::hypot<L>), "hypotf");
  std::mt19937_64 random(11);
  for (int i = 0; i < 10000; ++i) {
    const double x = std::ldexp(double(random() >> 11), int(random() % 1800) - 950),
                 y = x * std::ldexp(double(random() >> 11), -50);
    if (!std::isfinite(y)) continue;
    ASSERT_LE(ulps(rhypot_of(x, y), rhypot_reference(x, y)), 2.0) << x << " " << y;
  }
}
TEST(MathPairs, RemaindersAreExact) {
  expect_within<double>(0, PAIR(double, ms::fmod, std::fmod<L>), "fmod");
  expect_within<float>(0, PAIR(float, ms::fmod, std::fmod<L>), "fmodf");
  expect_within<double>(0, PAIR(double, ms::remainder, std::remainder<L>), "remainder");
  expect_within<float>(0, PAIR(float, ms::remainder, std::remainder<L>), "remainderf");
}
TEST(MathPairs, RemquoGivesTheLowBitsOfTheQuotient) {
  std::mt19937_64 random(9);
  for (int i = 0; i < 40000; ++i) {
    const double x = std::ldexp(double(random() >> 11), -40), y = std::ldexp(double(random() >> 11) + 1, -45);
    int ours = 0, theirs = 0;
    ASSERT_EQ(ms::remquo(x, -y, &ours), std::remquo(x, -y, &theirs));
    ASSERT_EQ(ours & 7, theirs & 7) << x << " " << y;
  }
}
TEST(MathPairs, NextAfterAndDifference) {
  expect_within<double>(
      0, [](double x, double y) { return ms::nextafter(x, y); },
      [](double x, double y) -> L { return std::nextafter(x, y); }, "nextafter");
  expect_within<float>(
      0, [](float x, float y) { return ms::nextafter(x, y); },
      [](float x, float y) -> L { return std::nextafter(x, y); }, "nextafterf");
  expect_within<double>(
      0, [](double x, double y) { return ms::fdim(x, y); }, [](double x, double y) -> L { return std::fdim(x, y); },
      "fdim");
}

template <class T>
void check_parts() {
  std::mt19937_64 random(21);
  for (int i = 0; i < 40000; ++i) {
    const T x = any_number<T>(random);
    const int n = int(random() % 5000) - 2500;
    const T scaled = ms::ldexp(x, n);
    ASSERT_TRUE(scaled == std::ldexp(x, n) || std::isnan(x)) << x << " " << n;
    int ours = 0, theirs = 0;
    if (std::isfinite(x)) {
      ASSERT_EQ(ms::frexp(x, &ours), std::frexp(x, &theirs));
      ASSERT_EQ(ours, theirs) << x;
      if (x != 0) {
        ASSERT_EQ(ms::ilogb(x), std::ilogb(x));
      }
      ASSERT_EQ(ms::logb(x), std::logb(x));
      ASSERT_EQ(ms::round(x), std::round(x));
    }
    T whole = 0, reference = 0;
    const T fraction = ms::modf(x, &whole), expected = std::modf(x, &reference);
    ASSERT_TRUE((fraction == expected && whole == reference) || std::isnan(x)) << x;
  }
}
TEST(MathParts, DoublePrecision) { check_parts<double>(); }
TEST(MathParts, SinglePrecision) { check_parts<float>(); }

// The inverses have no counterpart in the C library: they are held against the functions that they invert. `slope` is
// the derivative of the inverse: the error of going back and forth, divided by it, is that of the inverse.
TEST(MathInverses, ErrorFunction) {
  for (int i = 1; i < 2000; ++i) {
    const double y = i / 2000.0;
    const L x = ms::erfinv(y), back = std::erf(x);
    const L slope = std::sqrt(3.14159265358979323846L) / 2 * std::exp(x * x);
    ASSERT_LE(ulps(static_cast<double>(x), x - (back - y) * slope), 5.0) << y;
    ASSERT_EQ(ms::erfinv(-y), -static_cast<double>(x));
  }
  for (int e = 2; e < 1020; ++e) {
    const double z = std::ldexp(1.37, -e);
    const L x = ms::erfcinv(z), slope = -std::sqrt(3.14159265358979323846L) / 2 * std::exp(x * x);
    ASSERT_LE(ulps(static_cast<double>(x), x - (std::erfc(x) - z) * slope), 6.0) << z;
    const L n = ms::normcdfinv(z), back = std::erfc(-n * 0.70710678118654752440084436210484904L) / 2;
    const L density = std::exp(-n * n / 2) / std::sqrt(2 * 3.14159265358979323846L);
    ASSERT_LE(ulps(static_cast<double>(n), n - (back - z) / density), 8.0) << z;
  }
}
// Orders beyond 1, in absolute terms: the recurrences lose relative accuracy next to zeros.
TEST(MathBessel, HigherOrders) {
  for (int n : {2, 3, 5, 10, 40, 128}) {
    for (double x = 0.3; x < 300; x *= 1.37) {
      ASSERT_NEAR(ms::jn(n, x), double(::jnl(n, x)), 1e-13) << n << " " << x;
      const double y = double(::ynl(n, x));
      if (std::isfinite(y)) {
        ASSERT_NEAR(ms::yn(n, x) / std::max(1.0, std::fabs(y)), y / std::max(1.0, std::fabs(y)), 1e-12)
            << n << " " << x;
      }
    }
  }
  for (double x = 8; x < 1e5; x *= 1.31) {
    ASSERT_NEAR(ms::j0(x), double(::j0l(x)), 5e-12);
    ASSERT_NEAR(ms::j1(x), double(::j1l(x)), 5e-12);
    ASSERT_NEAR(ms::y0(x), double(::y0l(x)), 5e-12);
    ASSERT_NEAR(ms::y1(x), double(::y1l(x)), 5e-12);
  }
}

}  // namespace
