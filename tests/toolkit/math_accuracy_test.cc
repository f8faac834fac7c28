// The toolkit's mathematics, compiled for the host, against the C library's long double functions. The bounds are those
// of the CUDA C++ Programming Guide, "Mathematical Functions" (maximum error in units in the last place).
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <random>
#include <string>

#include "muscope/math/bessel.h"
#include "muscope/math/error_function.h"
#include "muscope/math/exp_log.h"
#include "muscope/math/gamma.h"
#include "muscope/math/hyperbolic.h"
#include "muscope/math/inverse_trig.h"
#include "muscope/math/rest.h"
#include "muscope/math/roots.h"
#include "muscope/math/trig.h"

namespace {

namespace ms = muscope_math;

constexpr int kSamples = 20000;

/// Distance of `got` from `want` in units in the last place of T at `want`; subnormal results count absolutely.
template <class T>
double ulps(T got, long double want) {
  if (std::isnan(want)) return std::isnan(got) ? 0.0 : INFINITY;
  const T rounded = static_cast<T>(want);
  if (std::isinf(rounded)) return got == rounded ? 0.0 : (std::isinf(got) ? INFINITY : 1.0);
  if (std::isnan(got) || std::isinf(got)) return std::fabs(want) >= std::numeric_limits<T>::max() ? 1.0 : INFINITY;
  int exponent = 0;
  std::frexp(want, &exponent);
  const int lowest = std::numeric_limits<T>::min_exponent;
  const long double unit = std::ldexp(1.0L, std::max(exponent, lowest) - std::numeric_limits<T>::digits);
  return static_cast<double>(std::fabs(static_cast<long double>(got) - want) / unit);
}

/// Arguments between low and high: half of them evenly spread, half evenly in their bit patterns (when of one sign).
template <class T>
T sample(std::mt19937_64& random, T low, T high) {
  const double u = std::uniform_real_distribution<double>(0, 1)(random);
  if (random() & 1 || (low < 0) != (high < 0)) return static_cast<T>(low + (high - low) * u);
  using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  const Bits a = __builtin_bit_cast(Bits, low), b = __builtin_bit_cast(Bits, high);
  const Bits lower = std::min(a, b), span = std::max(a, b) - lower;
  return __builtin_bit_cast(T, static_cast<Bits>(lower + (span ? random() % (std::uint64_t{span} + 1) : 0)));
}

template <class T>
struct Case {
  const char* name;
  T (*ours)(T);
  long double (*reference)(long double);
  T low, high;
  double bound;
};

template <class T>
void check(const Case<T>& c) {
  std::mt19937_64 random(7);
  double worst = 0;
  T worst_at = 0;
  for (int i = 0; i < kSamples; ++i) {
    const T x = i == 0 ? c.low : i == 1 ? c.high : sample(random, c.low, c.high);
    const double error = ulps(c.ours(x), c.reference(x));
    if (!(error <= worst)) {
      worst = error;
      worst_at = x;
    }
  }
  if (std::getenv("MUSCOPE_SHOW_ULPS")) {
    std::printf("%-14s [%g, %g] %.3f of %.0f at %.17g\n", c.name, double(c.low), double(c.high), worst, c.bound,
                double(worst_at));
  }
  EXPECT_LE(worst, c.bound) << c.name << " at " << std::hexfloat << worst_at << ": " << c.ours(worst_at) << ", not "
                            << c.reference(worst_at);
}

constexpr long double kPi = 3.14159265358979323846264338327950288L;
// Reduced to a quarter turn around a multiple of pi/2, where the difference is exact.
long double sinpi_reference(long double x) {
  const long double n = std::nearbyint(2 * x), r = kPi * (x - n / 2);
  const int quadrant = static_cast<int>(std::fmod(n, 4.0L) + 4) & 3;
  const long double y = quadrant & 1 ? std::cos(r) : std::sin(r);
  return quadrant & 2 ? -y : y;
}
long double cospi_reference(long double x) {
  const long double n = std::nearbyint(2 * x), r = kPi * (x - n / 2);
  const int quadrant = static_cast<int>(std::fmod(n, 4.0L) + 5) & 3;
  const long double y = quadrant & 1 ? std::cos(r) : std::sin(r);
  return quadrant & 2 ? -y : y;
}
long double rsqrt_reference(long double x) { return 1 / std::sqrt(x); }
long double rcbrt_reference(long double x) { return 1 / std::cbrt(x); }
long double exp10_reference(long double x) { return std::pow(10.0L, x); }
long double normcdf_reference(long double x) { return std::erfc(-x * 0.70710678118654752440084436210484904L) / 2; }
long double j0_reference(long double x) { return ::j0l(x); }
long double j1_reference(long double x) { return ::j1l(x); }
long double y0_reference(long double x) { return ::y0l(x); }
long double y1_reference(long double x) { return ::y1l(x); }
long double i0_reference(long double x) { return std::cyl_bessel_i(0.0L, std::fabs(x)); }
long double i1_reference(long double x) { return std::copysign(std::cyl_bessel_i(1.0L, std::fabs(x)), x); }
/// exp(x^2) erfc(x): directly while erfc is normal.
long double erfcx_reference(long double x) { return std::exp(x * x) * std::erfc(x); }

const Case<double> kDouble[] = {
    {"sin", ms::sin, std::sin, -10, 10, 2},
    {"sin", ms::sin, std::sin, 1e-300, 1.7e308, 2},
    {"cos", ms::cos, std::cos, -10, 10, 2},
    {"cos", ms::cos, std::cos, 1e-300, 1.7e308, 2},
    {"tan", ms::tan, std::tan, -10, 10, 2},
    {"tan", ms::tan, std::tan, 1e-300, 1.7e308, 2},
    {"sinpi", ms::sinpi<double>, sinpi_reference, 1e-10, 100, 2},
    {"cospi", ms::cospi<double>, cospi_reference, 1e-10, 100, 2},
    {"exp", ms::exp, std::exp, -745, 709.7, 1},
    {"exp", ms::exp, std::exp, -1, 1, 1},
    {"exp2", ms::exp2, std::exp2, -1074, 1024, 1},
    {"exp10", ms::exp10, exp10_reference, -307, 308.2, 1},
    {"expm1", ms::expm1, std::expm1, -40, 709.7, 1},
    {"expm1", ms::expm1, std::expm1, -1, 1, 1},
    {"log", ms::log, std::log, 0.5, 2, 1},
    {"log", ms::log, std::log, 5e-324, 1.7e308, 1},
    {"log2", ms::log2, std::log2, 0.5, 2, 1},
    {"log2", ms::log2, std::log2, 5e-324, 1.7e308, 1},
    {"log10", ms::log10, std::log10, 0.5, 2, 1},
    {"log10", ms::log10, std::log10, 5e-324, 1.7e308, 1},
    {"log1p", ms::log1p, std::log1p, -0.999, 2, 1},
    {"log1p", ms::log1p, std::log1p, 1e-300, 1.7e308, 1},
    {"rsqrt", ms::rsqrt, rsqrt_reference, 5e-324, 1.7e308, 1},
    {"cbrt", ms::cbrt, std::cbrt, 5e-324, 1.7e308, 1},
    {"rcbrt", ms::rcbrt, rcbrt_reference, 5e-324, 1.7e308, 1},
    {"asin", ms::asin, std::asin, -1, 1, 2},
    {"acos", ms::acos, std::acos, -1, 1, 2},
    {"atan", ms::atan, std::atan, -5, 5, 2},
    {"atan", ms::atan, std::atan, 1e-300, 1.7e308, 2},
    {"sinh", ms::sinh, std::sinh, -10, 10, 2},
    {"sinh", ms::sinh, std::sinh, 1e-10, 710.4, 2},
    {"cosh", ms::cosh, std::cosh, -10, 10, 1},
    {"cosh", ms::cosh, std::cosh, 1e-10, 710.4, 1},
    {"tanh", ms::tanh, std::tanh, -20, 20, 1},
    {"tanh", ms::tanh, std::tanh, 1e-10, 1, 1},
    {"asinh", ms::asinh, std::asinh, -10, 10, 3},
    {"asinh", ms::asinh, std::asinh, 1e-30, 1.7e308, 3},
    {"acosh", ms::acosh, std::acosh, 1, 10, 3},
    {"acosh", ms::acosh, std::acosh, 1, 1.7e308, 3},
    {"atanh", ms::atanh, std::atanh, -1, 1, 2},
    {"atanh", ms::atanh, std::atanh, 1e-30, 1, 2},
    {"erf", ms::erf, std::erf, -6, 6, 2},
    {"erf", ms::erf, std::erf, 1e-30, 1, 2},
    {"erfc", ms::erfc, std::erfc, -6, 27.2, 5},
    {"erfcx", ms::erfcx, erfcx_reference, -26, 26, 4},
    {"normcdf", ms::normcdf, normcdf_reference, -38, 10, 5},
    {"lgamma", ms::lgamma, std::lgamma, 1e-10, 12, 4},
    {"lgamma", ms::lgamma, std::lgamma, 12, 1e305, 4},
    {"lgamma", ms::lgamma, std::lgamma, -2.2, -1e-10, 4},
    {"tgamma", ms::tgamma, std::tgamma, 1e-10, 171.5, 10},
    {"tgamma", ms::tgamma, std::tgamma, -170, -1e-10, 10},
    {"j0", ms::j0, j0_reference, 0, 8, 7},
    {"j1", ms::j1, j1_reference, 1e-10, 8, 7},
    {"y1", ms::y1, y1_reference, 1e-10, 8, 7},
    {"cyl_bessel_i0", ms::cyl_bessel_i0, i0_reference, 0, 100, 6},
    {"cyl_bessel_i1", ms::cyl_bessel_i1, i1_reference, 1e-10, 100, 6},
};

const Case<float> kFloat[] = {
    {"sinf", ms::sin, std::sin, -10, 10, 2},
    {"sinf", ms::sin, std::sin, 1e-30f, 3.4e38f, 2},
    {"cosf", ms::cos, std::cos, -10, 10, 2},
    {"cosf", ms::cos, std::cos, 1e-30f, 3.4e38f, 2},
    {"tanf", ms::tan, std::tan, -10, 10, 4},
    {"tanf", ms::tan, std::tan, 1e-30f, 3.4e38f, 4},
    {"sinpif", ms::sinpi<float>, sinpi_reference, 1e-10f, 100, 1},
    {"cospif", ms::cospi<float>, cospi_reference, 1e-10f, 100, 1},
    {"expf", ms::exp, std::exp, -103, 88.7f, 2},
    {"exp2f", ms::exp2, std::exp2, -149, 128, 2},
    {"exp10f", ms::exp10, exp10_reference, -44.8f, 38.5f, 2},
    {"expm1f", ms::expm1, std::expm1, -20, 88.7f, 1},
    {"expm1f", ms::expm1, std::expm1, -1, 1, 1},
    {"logf", ms::log, std::log, 0.5, 2, 1},
    {"logf", ms::log, std::log, 1.5e-45f, 3.4e38f, 1},
    {"log2f", ms::log2, std::log2, 0.5, 2, 1},
    {"log2f", ms::log2, std::log2, 1.5e-45f, 3.4e38f, 1},
    {"log10f", ms::log10, std::log10, 0.5, 2, 2},
    {"log10f", ms::log10, std::log10, 1.5e-45f, 3.4e38f, 2},
    {"log1pf", ms::log1p, std::log1p, -0.999f, 2, 1},
    {"log1pf", ms::log1p, std::log1p, 1e-30f, 3.4e38f, 1},
    {"cbrtf", ms::cbrt, std::cbrt, 1.5e-45f, 3.4e38f, 1},
    {"rcbrtf", ms::rcbrt, rcbrt_reference, 1.5e-45f, 3.4e38f, 1},
    {"asinf", ms::asin, std::asin, -1, 1, 2},
    {"acosf", ms::acos, std::acos, -1, 1, 2},
    {"atanf", ms::atan, std::atan, -5, 5, 2},
    {"atanf", ms::atan, std::atan, 1e-30f, 3.4e38f, 2},
    {"sinhf", ms::sinh, std::sinh, -10, 10, 3},
    {"sinhf", ms::sinh, std::sinh, 1e-10f, 89.4f, 3},
    {"coshf", ms::cosh, std::cosh, 1e-10f, 89.4f, 2},
    {"tanhf", ms::tanh, std::tanh, -10, 10, 2},
    {"tanhf", ms::tanh, std::tanh, 1e-10f, 1, 2},
    {"asinhf", ms::asinh, std::asinh, 1e-30f, 3.4e38f, 3},
    {"asinhf", ms::asinh, std::asinh, -10, 10, 3},
    {"acoshf", ms::acosh, std::acosh, 1, 10, 4},
    {"acoshf", ms::acosh, std::acosh, 1, 3.4e38f, 4},
    {"atanhf", ms::atanh, std::atanh, -1, 1, 3},
    {"atanhf", ms::atanh, std::atanh, 1e-30f, 1, 3},
    {"erff", ms::erf, std::erf, -5, 5, 2},
    {"erff", ms::erf, std::erf, 1e-30f, 1, 2},
    {"erfcf", ms::erfc, std::erfc, -4, 10, 4},
    {"erfcxf", ms::erfcx, erfcx_reference, -9, 10, 4},
    {"normcdff", ms::normcdf, normcdf_reference, -14, 8, 5},
    {"lgammaf", ms::lgamma, std::lgamma, 1e-10f, 12, 6},
    {"lgammaf", ms::lgamma, std::lgamma, 12, 1e36f, 6},
    {"tgammaf", ms::tgamma, std::tgamma, -30, 35, 5},
    {"j0f", ms::j0, j0_reference, 0, 8, 9},
    {"j1f", ms::j1, j1_reference, 1e-10f, 8, 9},
    {"y0f", ms::y0, y0_reference, 1e-10f, 8, 9},
    {"y1f", ms::y1, y1_reference, 1e-10f, 8, 9},
    {"cyl_bessel_i0f", ms::cyl_bessel_i0, i0_reference, 0, 80, 6},
};

TEST(MathAccuracy, DoublePrecision) {
  for (const Case<double>& c : kDouble) check(c);
}
TEST(MathAccuracy, SinglePrecision) {
  for (const Case<float>& c : kFloat) check(c);
}

}  // namespace
