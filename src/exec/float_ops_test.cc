// f32 and f64 arithmetic against the host's own, in every rounding mode.
#include <bit>
#include <cfenv>
#include <limits>

#include "exec/special_unit.h"
#include "exec/test_opcodes.h"

namespace muscope::exec::testing {
namespace {

/// Evaluates f under a rounding mode of the host; f must read its inputs through volatile copies.
template <typename F>
auto rounded(int mode, F f) {
  const int before = std::fegetround();
  std::fesetround(mode);
  volatile auto r = f();
  std::fesetround(before);
  return r;
}

struct Mode {
  const char* name;
  int host;
};
constexpr Mode kModes[] = {{"rn", FE_TONEAREST}, {"rz", FE_TOWARDZERO}, {"rm", FE_DOWNWARD}, {"rp", FE_UPWARD}};

template <typename T>
T saturated(T v) {
  return v > 0 ? (v < 1 ? v : T{1}) : T{0};
}

/// minimumNumber and maximumNumber of IEEE 754-2019, with -0 below +0.
template <typename T>
T smaller(T a, T b) {
  if (a != a) return b;
  if (b != b) return a;
  if (a == 0 && b == 0) return std::signbit(a) ? a : b;
  return a < b ? a : b;
}
template <typename T>
T larger(T a, T b) {
  if (a != a) return b;
  if (b != b) return a;
  if (a == 0 && b == 0) return std::signbit(a) ? b : a;
  return a > b ? a : b;
}

/// What .ftz and .sat do around an operation.
struct Around {
  bool ftz = false, sat = false;
  template <typename T>
  T before(T v) const {
    return ftz && std::fabs(v) < std::numeric_limits<T>::min() ? std::copysign(T{0}, v) : v;
  }
  /// Tiny is what is below the smallest normal number after rounding with an unbounded exponent (H200): `scaled` is the
  /// result of the same operation 2^64 times larger.
  template <typename T>
  T after(T v, T scaled) const {
    constexpr T kMin = std::numeric_limits<T>::min();
    if (ftz && (std::fabs(v) < kMin || (std::fabs(v) == kMin && std::fabs(scaled) < kMin * T(0x1p64))))
      v = std::copysign(T{0}, v);
    return sat ? saturated(v) : v;
  }
};

template <typename T>
void add_arithmetic(std::vector<Row>& r, const std::string& suffix, Around around) {
  for (const Mode& m : kModes) {
    const int mode = m.host;
    const std::string dot = std::string(".") + m.name + suffix;
    // f computes its result times `by`.
    const auto run = [=](auto f, T a, T b, T c) {
      volatile T x = around.before(a), y = around.before(b), z = around.before(c), by = T{1};
      const T plain = rounded(mode, [&] { return f(T{x}, T{y}, T{z}, T{by}); });
      by = T(0x1p64);
      return around.after(plain, rounded(mode, [&] { return f(T{x}, T{y}, T{z}, T{by}); }));
    };
    const auto unary = [&](const std::string& name, auto f) {
      r.push_back(row(name + dot, [=](T a) -> T { return run(f, a, a, a); }));
    };
    const auto binary = [&](const std::string& name, auto f) {
      r.push_back(row(name + dot, [=](T a, T b) -> T { return run(f, a, b, b); }));
    };
    const auto ternary = [&](const std::string& name, auto f) {
      r.push_back(row(name + dot, [=](T a, T b, T c) -> T { return run(f, a, b, c); }));
    };
    binary("add", [](T x, T y, T, T by) -> T { return x * by + y * by; });
    binary("sub", [](T x, T y, T, T by) -> T { return x * by - y * by; });
    binary("mul", [](T x, T y, T, T by) -> T { return x * by * y; });
    ternary("fma", [](T x, T y, T z, T by) -> T { return std::fma(x * by, y, z * by); });
    if (around.sat) continue;
    binary("div", [](T x, T y, T, T by) -> T { return x * by / y; });
    unary("rcp", [](T x, T, T, T by) -> T { return by / x; });
    unary("sqrt", [](T x, T, T, T by) -> T { return std::sqrt(x) * by; });
  }
}

std::vector<Row> arithmetic_rows() {
  std::vector<Row> r;
  add_arithmetic<float>(r, ".f32", {});
  add_arithmetic<float>(r, ".ftz.f32", {.ftz = true});
  add_arithmetic<float>(r, ".sat.f32", {.sat = true});
  add_arithmetic<float>(r, ".ftz.sat.f32", {.ftz = true, .sat = true});
  add_arithmetic<double>(r, ".f64", {});
  // Without a mode: to nearest.
  r.push_back(row("add.f32", [](float a, float b) -> float { return a + b; }));
  r.push_back(row("sub.f32", [](float a, float b) -> float { return a - b; }));
  r.push_back(row("mul.f32", [](float a, float b) -> float { return a * b; }));
  r.push_back(row("add.ftz.f32", [](float a, float b) -> float { return flushed(flushed(a) + flushed(b)); }));
  r.push_back(row("mul.ftz.f32", [](float a, float b) -> float {
    const Around around{.ftz = true};
    const float x = around.before(a), y = around.before(b);
    return around.after(x * y, x * 0x1p64f * y);
  }));
  r.push_back(row("mul.sat.f32", [](float a, float b) -> float { return saturated(a * b); }));
  r.push_back(row("add.f64", [](double a, double b) -> double { return a + b; }));
  r.push_back(row("sub.f64", [](double a, double b) -> double { return a - b; }));
  r.push_back(row("mul.f64", [](double a, double b) -> double { return a * b; }));
  r.push_back(row("mad.rn.f32", [](float a, float b, float c) -> float { return std::fma(a, b, c); }));
  r.push_back(row("mad.rn.f64", [](double a, double b, double c) -> double { return std::fma(a, b, c); }));
  r.push_back(row("add.f32 %d, %a, 0f3FC00000", [](float a) -> float { return a + 1.5f; }));
  r.push_back(row("mul.f64 %d, %a, 0dC000000000000000", [](double a) -> double { return a * -2.0; }));
  r.push_back(
      row("fma.rn.f32 %d, %a, 0f40000000, 0fBF800000", [](float a) -> float { return std::fma(a, 2.0f, -1.0f); }));
  r.push_back(row("mov.f32 %d, 0f7F800000; sub.f32 %d, %d, %a", [](float a) -> float { return HUGE_VALF - a; }));
  return r;
}

template <typename T>
void add_signs(std::vector<Row>& r, const std::string& t) {
  using U = std::conditional_t<sizeof(T) == 4, u32, u64>;
  constexpr U kTop = U{1} << (sizeof(T) * 8 - 1);
  // A not-a-number may lose its sign and payload: compared as such.
  r.push_back(row("abs." + t, [](T a) -> T { return std::fabs(a); }));
  r.push_back(row("neg." + t, [](T a) -> T { return -a; }));
  r.push_back(row("copysign." + t, [](T a, T b) -> T {
    return std::bit_cast<T>((std::bit_cast<U>(a) & kTop) | (std::bit_cast<U>(b) & ~kTop));
  }));
  r.push_back(row("min." + t, [](T a, T b) -> T { return smaller(a, b); }));
  r.push_back(row("max." + t, [](T a, T b) -> T { return larger(a, b); }));
  r.push_back(row("testp.finite." + t, [](T a) -> bool { return std::isfinite(a); }));
  r.push_back(row("testp.infinite." + t, [](T a) -> bool { return std::isinf(a); }));
  r.push_back(row("testp.number." + t, [](T a) -> bool { return !std::isnan(a); }));
  r.push_back(row("testp.notanumber." + t, [](T a) -> bool { return std::isnan(a); }));
  r.push_back(row("testp.normal." + t, [](T a) -> bool { return std::isnormal(a) || a == 0; }));
  r.push_back(row("testp.subnormal." + t, [](T a) -> bool { return std::fpclassify(a) == FP_SUBNORMAL; }));
}

std::vector<Row> sign_rows() {
  std::vector<Row> r;
  add_signs<float>(r, "f32");
  add_signs<double>(r, "f64");
  const float nan = std::numeric_limits<float>::quiet_NaN();
  r.push_back(row("abs.ftz.f32", [](float a) -> float { return std::fabs(flushed(a)); }));
  r.push_back(row("neg.ftz.f32", [](float a) -> float { return -flushed(a); }));
  r.push_back(row("min.ftz.f32", [](float a, float b) -> float { return smaller(flushed(a), flushed(b)); }));
  r.push_back(row("max.ftz.f32", [](float a, float b) -> float { return larger(flushed(a), flushed(b)); }));
  r.push_back(row("min.NaN.f32", [nan](float a, float b) -> float { return a != a || b != b ? nan : smaller(a, b); }));
  r.push_back(row("max.NaN.f32", [nan](float a, float b) -> float { return a != a || b != b ? nan : larger(a, b); }));
  r.push_back(row("max.ftz.NaN.f32", [nan](float a, float b) -> float {
    return a != a || b != b ? nan : larger(flushed(a), flushed(b));
  }));
  const auto signed_by = [](float m, float a, float b) {
    return std::bit_cast<float>((std::bit_cast<u32>(m) & 0x7fffffffu) |
                                ((std::bit_cast<u32>(a) ^ std::bit_cast<u32>(b)) & 0x80000000u));
  };
  r.push_back(row("min.xorsign.abs.f32", [signed_by](float a, float b) -> float {
    return signed_by(smaller(std::fabs(a), std::fabs(b)), a, b);
  }));
  r.push_back(row("max.xorsign.abs.f32", [signed_by](float a, float b) -> float {
    return signed_by(larger(std::fabs(a), std::fabs(b)), a, b);
  }));
  return r;
}

/// Bounds of the PTX ISA's tables for the approximate functions.
std::vector<Row> approximate_rows() {
  std::vector<Row> r;
  r.push_back(near("div.approx.f32", 0x1p-22, 0x1p-148, [](float a, float b) -> float {
    const float m = std::fabs(b);
    if (m > 0x1p126f && !std::isinf(m))
      return std::isinf(a)   ? std::numeric_limits<float>::quiet_NaN()
             : std::isnan(a) ? a
                             : std::copysign(0.0f, a) * std::copysign(1.0f, b);
    return a / b;
  }));
  r.push_back(near("div.full.f32", 0x1p-22, 0x1p-148, [](float a, float b) -> float { return a / b; }));
  r.push_back(near("div.approx.ftz.f32", 0x1p-22, 0x1p-126, [](float x, float y) -> float {
    const float a = flushed(x), b = flushed(y), m = std::fabs(b);
    if (m > 0x1p126f && !std::isinf(m))
      return std::isinf(a)   ? std::numeric_limits<float>::quiet_NaN()
             : std::isnan(a) ? a
                             : std::copysign(0.0f, a) * std::copysign(1.0f, b);
    return flushed(a / b);
  }));
  r.push_back(near("rcp.approx.f32", 0x1p-23, 0x1p-149, [](float a) -> float { return 1.0f / a; }));
  r.push_back(near("rcp.approx.ftz.f32", 0x1p-23, 0, [](float a) -> float { return flushed(1.0f / flushed(a)); }));
  r.push_back(near("sqrt.approx.f32", 0x1p-23, 0, [](float a) -> float { return std::sqrt(a); }));
  r.push_back(near("sqrt.approx.ftz.f32", 0x1p-23, 0, [](float a) -> float { return std::sqrt(flushed(a)); }));
  r.push_back(near("rsqrt.approx.f32", 0x1p-22, 0,
                   [](float a) -> float { return static_cast<float>(1.0 / std::sqrt(static_cast<double>(a))); }));
  r.push_back(near("rsqrt.approx.ftz.f32", 0x1p-22, 0, [](float a) -> float {
    return static_cast<float>(1.0 / std::sqrt(static_cast<double>(flushed(a))));
  }));
  r.push_back(near("rsqrt.approx.f64", 0x1p-50, 0, [](double a) -> double { return 1.0 / std::sqrt(a); }));
  r.push_back(near("ex2.approx.f32", 0x1p-22, 0x1p-149,
                   [](float a) -> float { return static_cast<float>(std::exp2(static_cast<double>(a))); }));
  r.push_back(near("ex2.approx.ftz.f32", 0x1p-22, 0x1p-126, [](float a) -> float {
    return flushed(static_cast<float>(std::exp2(static_cast<double>(flushed(a)))));
  }));
  r.push_back(near("lg2.approx.f32", 0x1p-22, 0x1p-22,
                   [](float a) -> float { return static_cast<float>(std::log2(static_cast<double>(a))); }));
  r.push_back(near("lg2.approx.ftz.f32", 0x1p-22, 0x1p-22,
                   [](float a) -> float { return static_cast<float>(std::log2(static_cast<double>(flushed(a)))); }));
  r.push_back(near("tanh.approx.f32", 0x1p-11, 0, [](float a) -> float { return std::tanh(a); }));
  // sin and cos: 2^-20.5 absolute in [-2 pi, 2 pi]; larger angles have no bound.
  r.push_back(near("abs.f32 %d, %a; min.f32 %d, %d, 0f40C90FDB; sin.approx.f32 %d, %d", 0, 0x1p-20,
                   [](float a) -> float { return std::sin(smaller(std::fabs(a), 6.2831855f)); }));
  r.push_back(near("abs.f32 %d, %a; min.f32 %d, %d, 0f40C90FDB; cos.approx.ftz.f32 %d, %d", 0, 0x1p-20,
                   [](float a) -> float { return std::cos(smaller(std::fabs(a), 6.2831855f)); }));
  // With .ftz they are the unit's results, which special_unit_test.cc proves; sin and cos are given the argument
  // divided by 2 pi and cut off.
  using namespace MUSCOPE_ISA::special;
  const auto exact = [&r](const char* form, float (*f)(float)) {
    r.push_back(row(form, [f](float a) -> float { return f(a); }));
  };
  exact("rcp.approx.ftz.f32", Unit<reciprocal>::apply);
  exact("rsqrt.approx.ftz.f32", Unit<reciprocal_root>::apply);
  exact("sqrt.approx.ftz.f32", Unit<root>::apply);
  exact("ex2.approx.ftz.f32", Unit<power_of_two>::apply);
  exact("lg2.approx.ftz.f32", Unit<logarithm>::apply);
  exact("tanh.approx.f32", Unit<tangent>::apply);
  const auto revolutions = [](float a) {
    volatile float radians = a, per_radian = 0.15915494f;
    return rounded(FE_TOWARDZERO, [&] { return radians * per_radian; });
  };
  r.push_back(row("sin.approx.ftz.f32", [=](float a) -> float { return Unit<sine<false>>::apply(revolutions(a)); }));
  r.push_back(row("cos.approx.f32", [=](float a) -> float { return Unit<sine<true>>::apply(revolutions(a)); }));
  r.push_back(row("div.approx.ftz.f32", [](float a, float b) -> float {
    const float x = flushed(a), y = Unit<reciprocal>::apply(b);
    return Around{.ftz = true}.after(x * y, static_cast<float>(static_cast<double>(x) * y * 0x1p64));
  }));
  // The f64 forms keep the upper half: 20 bits of mantissa, subnormals are zero (PTX ISA, "rcp.approx.ftz.f64").
  const auto flushed64 = [](double v) { return std::fpclassify(v) == FP_SUBNORMAL ? std::copysign(0.0, v) : v; };
  r.push_back(near("rcp.approx.ftz.f64", 0x1p-19, 0x1p-1022,
                   [flushed64](double a) -> double { return flushed64(1.0 / flushed64(a)); }));
  r.push_back(near("rsqrt.approx.ftz.f64", 0x1p-19, 0,
                   [flushed64](double a) -> double { return 1.0 / std::sqrt(flushed64(a)); }));
  return r;
}

MUSCOPE_OPCODE_ROWS(FloatArithmetic, arithmetic_rows());
MUSCOPE_OPCODE_ROWS(FloatSigns, sign_rows());
MUSCOPE_OPCODE_ROWS(FloatApproximations, approximate_rows());

}  // namespace
}  // namespace muscope::exec::testing
