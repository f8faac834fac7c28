// f16 and bf16 arithmetic, single and packed, against long double rounded once.
#include <cmath>

#include "exec/test_opcodes.h"

namespace muscope::exec::testing {
namespace {

/// fma exact enough to be rounded once: a sum of long doubles with the error as a sticky bit.
long double fused(double a, double b, double c) {
  const long double p = static_cast<long double>(a) * b;  // exact: at most 22 bits
  const long double s = p + c;
  if (!std::isfinite(s)) return s;
  const long double bp = s - p, error = (p - (s - bp)) + (static_cast<long double>(c) - bp);
  if (error == 0 || s == 0) return s;
  // Moves a result that lost bits off any tie: s has 64 bits, the formats at most 11.
  return error > 0 ? std::nextafter(s, static_cast<long double>(HUGE_VAL))
                   : std::nextafter(s, -static_cast<long double>(HUGE_VAL));
}

template <typename Op>
u16 apply(const SmallFormat& f, u16 a, u16 b, u16 c, bool ftz, bool sat, bool relu, Op op) {
  const auto in = [&](u16 v) {
    const double x = f.value(v);
    return ftz && (v & 0x7fff) < (1 << f.mantissa) ? std::copysign(0.0, x) : x;
  };
  long double r = op(in(a), in(b), in(c));
  if (sat) r = r > 0 ? (r < 1 ? r : 1) : 0;
  if (relu && (r < 0 || (r == 0 && std::signbit(r)))) r = 0;
  u16 out = f.round(r, Round::kNearest);
  // Flushed when 11 bits of any exponent would be below 2^-14: 0x0400 * 0x3bff gives 0, 0x0401 * 0x3bfe 0x0400 (H200).
  if (ftz && std::fabs(r) < 0x1p-14L - 0x1p-26L) out &= 0x8000;
  return out;
}

/// Rows of one operation for a scalar and its packed pair.
template <typename Scalar, typename Pair, typename Op>
void add_binary(std::vector<Row>& r, const std::string& name, const std::string& t, const SmallFormat& f, Op op,
                bool ftz = false, bool sat = false) {
  const auto three = [op](double a, double b, double) -> long double { return op(a, b); };
  r.push_back(row(name + "." + t,
                  [=](Scalar a, Scalar b) -> Scalar { return {apply(f, a.bits, b.bits, 0, ftz, sat, false, three)}; }));
  r.push_back(row(name + "." + t + "x2", [=](Pair a, Pair b) -> Pair {
    const auto h = [](u32 v, int k) { return static_cast<u16>(v >> (16 * k)); };
    const u32 low = apply(f, h(a.bits, 0), h(b.bits, 0), 0, ftz, sat, false, three),
              high = apply(f, h(a.bits, 1), h(b.bits, 1), 0, ftz, sat, false, three);
    return {low | (high << 16)};
  }));
}
template <typename Scalar, typename Pair>
void add_fma(std::vector<Row>& r, const std::string& name, const std::string& t, const SmallFormat& f, bool ftz = false,
             bool sat = false, bool relu = false) {
  r.push_back(row(name + "." + t, [=](Scalar a, Scalar b, Scalar c) -> Scalar {
    return {apply(f, a.bits, b.bits, c.bits, ftz, sat, relu, fused)};
  }));
  r.push_back(row(name + "." + t + "x2", [=](Pair a, Pair b, Pair c) -> Pair {
    const auto h = [](u32 v, int k) { return static_cast<u16>(v >> (16 * k)); };
    const u32 low = apply(f, h(a.bits, 0), h(b.bits, 0), h(c.bits, 0), ftz, sat, relu, fused),
              high = apply(f, h(a.bits, 1), h(b.bits, 1), h(c.bits, 1), ftz, sat, relu, fused);
    return {low | (high << 16)};
  }));
}

u16 flushed_bits(u16 v) { return (v & 0x7fff) < 0x0400 ? v & 0x8000 : v; }

u16 extreme(const SmallFormat& f, u16 a, u16 b, bool larger, bool nan) {
  const double x = f.value(a), y = f.value(b);
  if (x != x || y != y) return nan || (x != x && y != y) ? u16{0x7fff} : x != x ? b : a;
  if (x == y) return larger ? a & b : a | b;
  return (x > y) == larger ? a : b;
}
template <typename Scalar, typename Pair>
void add_extremes(std::vector<Row>& r, const std::string& t, const SmallFormat& f) {
  for (const bool larger : {false, true})
    for (const bool nan : {false, true}) {
      const std::string name = std::string(larger ? "max." : "min.") + (nan ? "NaN." : "") + t;
      r.push_back(row(name, [=](Scalar a, Scalar b) -> Scalar { return {extreme(f, a.bits, b.bits, larger, nan)}; }));
      r.push_back(row(name + "x2", [=](Pair a, Pair b) -> Pair {
        return {
            extreme(f, static_cast<u16>(a.bits), static_cast<u16>(b.bits), larger, nan) |
            (static_cast<u32>(extreme(f, static_cast<u16>(a.bits >> 16), static_cast<u16>(b.bits >> 16), larger, nan))
             << 16)};
      }));
    }
}

std::vector<Row> rows() {
  std::vector<Row> r;
  const auto sum = [](double a, double b) -> long double { return static_cast<long double>(a) + b; };
  const auto difference = [](double a, double b) -> long double { return static_cast<long double>(a) - b; };
  const auto product = [](double a, double b) -> long double { return static_cast<long double>(a) * b; };
  add_binary<Half, Half2>(r, "add", "f16", kHalf, sum);
  add_binary<Half, Half2>(r, "sub", "f16", kHalf, difference);
  add_binary<Half, Half2>(r, "mul", "f16", kHalf, product);
  add_binary<Half, Half2>(r, "add.rn", "f16", kHalf, sum);
  add_binary<Half, Half2>(r, "add.ftz", "f16", kHalf, sum, true);
  add_binary<Half, Half2>(r, "mul.ftz.sat", "f16", kHalf, product, true, true);
  add_binary<Half, Half2>(r, "mul.ftz", "f16", kHalf, product, true);
  add_binary<Half, Half2>(r, "add.sat", "f16", kHalf, sum, false, true);
  add_binary<Brain, Brain2>(r, "add", "bf16", kBrain, sum);
  add_binary<Brain, Brain2>(r, "sub", "bf16", kBrain, difference);
  add_binary<Brain, Brain2>(r, "mul", "bf16", kBrain, product);
  add_fma<Half, Half2>(r, "fma.rn", "f16", kHalf);
  add_fma<Half, Half2>(r, "fma.rn.ftz", "f16", kHalf, true);
  add_fma<Half, Half2>(r, "fma.rn.sat", "f16", kHalf, false, true);
  add_fma<Half, Half2>(r, "fma.rn.relu", "f16", kHalf, false, false, true);
  add_fma<Brain, Brain2>(r, "fma.rn", "bf16", kBrain);
  add_fma<Brain, Brain2>(r, "fma.rn.relu", "bf16", kBrain, false, false, true);
  add_extremes<Half, Half2>(r, "f16", kHalf);
  add_extremes<Brain, Brain2>(r, "bf16", kBrain);
  r.push_back(row("neg.f16", [](Half a) -> Half { return {static_cast<u16>(a.bits ^ 0x8000)}; }));
  r.push_back(row("neg.ftz.f16", [](Half a) -> Half { return {static_cast<u16>(flushed_bits(a.bits) ^ 0x8000)}; }));
  r.push_back(row("abs.ftz.f16", [](Half a) -> Half { return {static_cast<u16>(flushed_bits(a.bits) & 0x7fff)}; }));
  r.push_back(row("min.ftz.f16", [](Half a, Half b) -> Half {
    return {extreme(kHalf, flushed_bits(a.bits), flushed_bits(b.bits), false, false)};
  }));
  r.push_back(row("max.ftz.NaN.f16", [](Half a, Half b) -> Half {
    return {extreme(kHalf, flushed_bits(a.bits), flushed_bits(b.bits), true, true)};
  }));
  r.push_back(row("neg.f16x2", [](Half2 a) -> Half2 { return {a.bits ^ 0x80008000u}; }));
  r.push_back(row("abs.f16", [](Half a) -> Half { return {static_cast<u16>(a.bits & 0x7fff)}; }));
  r.push_back(row("abs.bf16x2", [](Brain2 a) -> Brain2 { return {a.bits & 0x7fff7fffu}; }));
  r.push_back(row("neg.bf16", [](Brain a) -> Brain { return {static_cast<u16>(a.bits ^ 0x8000)}; }));
  return r;
}

MUSCOPE_OPCODE_ROWS(HalfOps, rows());

}  // namespace
}  // namespace muscope::exec::testing
