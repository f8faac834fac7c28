// cvt between every pair of types, computed with wide integers and doubles.
#include <bit>
#include <cfenv>
#include <cmath>
#include <limits>

#include "exec/test_opcodes.h"

namespace muscope::exec::testing {
namespace {

using s128 = __int128;

struct Mode {
  const char* integer;
  const char* floating;
  Round round;
  int host;
};
constexpr Mode kModes[] = {{"rni", "rn", Round::kNearest, FE_TONEAREST},
                           {"rzi", "rz", Round::kZero, FE_TOWARDZERO},
                           {"rmi", "rm", Round::kDown, FE_DOWNWARD},
                           {"rpi", "rp", Round::kUp, FE_UPWARD}};

double integral(double v, Round r) {
  if (!std::isfinite(v) || std::fabs(v) >= 0x1p53) return v;
  const double down = std::floor(v), part = v - down;
  double result = down;
  switch (r) {
    case Round::kNearest:
      result = part > 0.5 || (part == 0.5 && std::fmod(down, 2.0) != 0) ? down + 1 : down;
      break;
    case Round::kZero:
      result = v < 0 && part > 0 ? down + 1 : down;
      break;
    case Round::kDown:
      break;
    case Round::kUp:
      result = part > 0 ? down + 1 : down;
      break;
  }
  return std::copysign(std::fabs(result), result != 0 ? result : v);
}

/// Float to integer: saturates. Not-a-number gives 0 from f32 and f16 to at most 32 bits, else the sign bit alone
/// (H200).
template <typename D>
D to_integer(double v, Round r, bool from_double) {
  if (v != v) return sizeof(D) == 8 || from_double ? static_cast<D>(u64{1} << (sizeof(D) * 8 - 1)) : D{0};
  v = integral(v, r);
  const double low = static_cast<double>(std::numeric_limits<D>::min()),
               high = std::ldexp(1.0, std::numeric_limits<D>::digits);
  return v < low ? std::numeric_limits<D>::min() : v >= high ? std::numeric_limits<D>::max() : static_cast<D>(v);
}

template <typename D>
void add_from_floats(std::vector<Row>& r, const std::string& d) {
  for (const Mode& m : kModes) {
    const Round round = m.round;
    const std::string name = std::string("cvt.") + m.integer;
    r.push_back(row(name + "." + d + ".f32",
                    [round](float a) -> D { return to_integer<D>(static_cast<double>(a), round, false); }));
    r.push_back(row(name + ".ftz." + d + ".f32",
                    [round](float a) -> D { return to_integer<D>(static_cast<double>(flushed(a)), round, false); }));
    r.push_back(row(name + "." + d + ".f64", [round](double a) -> D { return to_integer<D>(a, round, true); }));
    r.push_back(row(name + "." + d + ".f16",
                    [round](Half a) -> D { return to_integer<D>(kHalf.value(a.bits), round, false); }));
  }
}

template <typename S>
void add_to_floats(std::vector<Row>& r, const std::string& s) {
  for (const Mode& m : kModes) {
    const int mode = m.host;
    const Round round = m.round;
    const std::string name = std::string("cvt.") + m.floating;
    r.push_back(row(name + ".f32." + s, [mode](S a) -> float {
      const int before = std::fegetround();
      std::fesetround(mode);
      volatile S v = a;
      volatile float f = static_cast<float>(v);
      std::fesetround(before);
      return f;
    }));
    r.push_back(row(name + ".f64." + s, [mode](S a) -> double {
      const int before = std::fegetround();
      std::fesetround(mode);
      volatile S v = a;
      volatile double f = static_cast<double>(v);
      std::fesetround(before);
      return f;
    }));
    r.push_back(
        row(name + ".f16." + s, [round](S a) -> Half { return {kHalf.round(static_cast<long double>(a), round)}; }));
  }
}

/// Integer to integer: truncation or extension by the source's sign; .sat clamps.
template <typename D, typename S>
void add_integers(std::vector<Row>& r, const std::string& d, const std::string& s) {
  r.push_back(row("cvt." + d + "." + s, [](S a) -> D { return static_cast<D>(a); }));
  // .sat is legal where the source has values outside of the destination's range.
  const s128 inside_low = std::numeric_limits<S>::min(), inside_high = std::numeric_limits<S>::max();
  if (inside_low >= std::numeric_limits<D>::min() && inside_high <= std::numeric_limits<D>::max()) return;
  r.push_back(row("cvt.sat." + d + "." + s, [](S a) -> D {
    const s128 v = a, low = std::numeric_limits<D>::min(), high = std::numeric_limits<D>::max();
    return static_cast<D>(v < low ? low : v > high ? high : v);
  }));
}
template <typename D>
void add_integers_to(std::vector<Row>& r, const std::string& d) {
  add_integers<D, u8>(r, d, "u8");
  add_integers<D, s8>(r, d, "s8");
  add_integers<D, u16>(r, d, "u16");
  add_integers<D, s16>(r, d, "s16");
  add_integers<D, u32>(r, d, "u32");
  add_integers<D, s32>(r, d, "s32");
  add_integers<D, u64>(r, d, "u64");
  add_integers<D, s64>(r, d, "s64");
}

float narrowed(double v, int mode) {
  const int before = std::fegetround();
  std::fesetround(mode);
  volatile double x = v;
  volatile float f = static_cast<float>(x);
  std::fesetround(before);
  return f;
}

std::vector<Row> integer_rows() {
  std::vector<Row> r;
  add_integers_to<u8>(r, "u8");
  add_integers_to<s8>(r, "s8");
  add_integers_to<u16>(r, "u16");
  add_integers_to<s16>(r, "s16");
  add_integers_to<u32>(r, "u32");
  add_integers_to<s32>(r, "s32");
  add_integers_to<u64>(r, "u64");
  add_integers_to<s64>(r, "s64");
  // Sources and destinations in wider registers.
  r.push_back(row("cvt.s32.s8", [](s32 a) -> s32 { return static_cast<s8>(a); }));
  r.push_back(row("cvt.s64.s8", [](s64 a) -> s64 { return static_cast<s8>(a); }));
  r.push_back(row("cvt.u32.u8", [](u32 a) -> u32 { return static_cast<u8>(a); }));
  r.push_back(row("cvt.u64.u16", [](u32 a) -> u64 { return static_cast<u16>(a); }));
  r.push_back(row("cvt.s16.s8", [](u32 a) -> s16 { return static_cast<s8>(a); }));
  r.push_back(row("cvt.u8.u32", [](u32 a) -> u32 { return static_cast<u8>(a); }));
  r.push_back(row("cvt.s8.s32", [](s32 a) -> s32 { return static_cast<s8>(a); }));
  r.push_back(row("cvt.s16.u64", [](u64 a) -> s32 { return static_cast<s16>(a); }));
  r.push_back(row("cvt.u32.u64 %d, 0x123456789", []() -> u32 { return 0x23456789; }));
  return r;
}

std::vector<Row> float_integer_rows() {
  std::vector<Row> r;
  add_from_floats<u8>(r, "u8");
  add_from_floats<s8>(r, "s8");
  add_from_floats<u16>(r, "u16");
  add_from_floats<s16>(r, "s16");
  add_from_floats<u32>(r, "u32");
  add_from_floats<s32>(r, "s32");
  add_from_floats<u64>(r, "u64");
  add_from_floats<s64>(r, "s64");
  add_to_floats<u8>(r, "u8");
  add_to_floats<s8>(r, "s8");
  add_to_floats<u16>(r, "u16");
  add_to_floats<s16>(r, "s16");
  add_to_floats<u32>(r, "u32");
  add_to_floats<s32>(r, "s32");
  add_to_floats<u64>(r, "u64");
  add_to_floats<s64>(r, "s64");
  r.push_back(row("cvt.rn.bf16.u64",
                  [](u64 a) -> Brain { return {kBrain.round(static_cast<long double>(a), Round::kNearest)}; }));
  r.push_back(row("cvt.rn.bf16.s32",
                  [](s32 a) -> Brain { return {kBrain.round(static_cast<long double>(a), Round::kNearest)}; }));
  r.push_back(
      row("cvt.rz.bf16.s64", [](s64 a) -> Brain { return {kBrain.round(static_cast<long double>(a), Round::kZero)}; }));
  r.push_back(row("cvt.rni.s32.bf16",
                  [](Brain a) -> s32 { return to_integer<s32>(kBrain.value(a.bits), Round::kNearest, false); }));
  r.push_back(row("cvt.rn.sat.f32.s32", [](s32 a) -> float { return a > 0 ? 1.0f : 0.0f; }));
  return r;
}

std::vector<Row> float_rows() {
  std::vector<Row> r;
  for (const Mode& m : kModes) {
    const int mode = m.host;
    const Round round = m.round;
    const std::string floating = std::string("cvt.") + m.floating, whole = std::string("cvt.") + m.integer;
    r.push_back(row(floating + ".f32.f64", [mode](double a) -> float { return narrowed(a, mode); }));
    r.push_back(row(floating + ".ftz.f32.f64", [mode, round](double a) -> float {
      // Flushed when 24 bits of any exponent would be below 2^-126 (H200): the last such number is 2^-126 - 2^-150.
      const bool away = a < 0 ? round == Round::kDown : round == Round::kUp;
      const double x = std::fabs(a);
      const bool tiny = round == Round::kNearest ? x < 0x1p-126 - 0x1p-151
                        : away                   ? x <= 0x1p-126 - 0x1p-150
                                                 : x < 0x1p-126;
      return tiny ? static_cast<float>(std::copysign(0.0, a)) : narrowed(a, mode);
    }));
    r.push_back(row(floating + ".f16.f32",
                    [round](float a) -> Half { return {kHalf.round(static_cast<long double>(a), round)}; }));
    r.push_back(row(floating + ".f16.f64",
                    [round](double a) -> Half { return {kHalf.round(static_cast<long double>(a), round)}; }));
    r.push_back(row(whole + ".f32.f32",
                    [round](float a) -> float { return static_cast<float>(integral(static_cast<double>(a), round)); }));
    r.push_back(row(whole + ".ftz.f32.f32", [round](float a) -> float {
      return static_cast<float>(integral(static_cast<double>(flushed(a)), round));
    }));
    r.push_back(row(whole + ".f64.f64", [round](double a) -> double { return integral(a, round); }));
    r.push_back(row(whole + ".f16.f16", [round](Half a) -> Half {
      return {kHalf.round(integral(kHalf.value(a.bits), round), Round::kNearest)};
    }));
  }
  for (const Mode& m : {kModes[0], kModes[1]}) {
    const Round round = m.round;
    const std::string name = std::string("cvt.") + m.floating;
    r.push_back(row(name + ".bf16.f32",
                    [round](float a) -> Brain { return {kBrain.round(static_cast<long double>(a), round)}; }));
    r.push_back(row(name + ".f16x2.f32", [round](float a, float b) -> Half2 {
      return {static_cast<u32>(kHalf.round(a, round)) << 16 | kHalf.round(b, round)};
    }));
    r.push_back(row(name + ".bf16x2.f32", [round](float a, float b) -> Brain2 {
      return {static_cast<u32>(kBrain.round(a, round)) << 16 | kBrain.round(b, round)};
    }));
    const auto relu = [](float a) { return a < 0 || (a == 0 && std::signbit(a)) ? 0.0f : a; };
    r.push_back(row(name + ".relu.f16.f32", [round, relu](float a) -> Half { return {kHalf.round(relu(a), round)}; }));
    r.push_back(row(name + ".relu.bf16x2.f32", [round, relu](float a, float b) -> Brain2 {
      return {static_cast<u32>(kBrain.round(relu(a), round)) << 16 | kBrain.round(relu(b), round)};
    }));
  }
  r.push_back(row("cvt.f64.f32", [](float a) -> double { return static_cast<double>(a); }));
  r.push_back(row("cvt.ftz.f64.f32", [](float a) -> double { return static_cast<double>(flushed(a)); }));
  r.push_back(row("cvt.f32.f16", [](Half a) -> float { return static_cast<float>(kHalf.value(a.bits)); }));
  r.push_back(row("cvt.f64.f16", [](Half a) -> double { return kHalf.value(a.bits); }));
  r.push_back(row("cvt.f32.bf16", [](Brain a) -> float { return static_cast<float>(kBrain.value(a.bits)); }));
  r.push_back(row("cvt.sat.f32.f32", [](float a) -> float { return a > 0 ? (a < 1 ? a : 1) : 0; }));
  r.push_back(row("cvt.ftz.sat.f32.f32", [](float a) -> float { return flushed(a) > 0 ? (a < 1 ? a : 1) : 0; }));
  r.push_back(row("cvt.sat.f64.f64", [](double a) -> double { return a > 0 ? (a < 1 ? a : 1) : 0; }));
  r.push_back(row("cvt.ftz.f32.f32", [](float a) -> float { return flushed(a); }));
  // Ten bits of mantissa: the nearest of the two neighbours, ties away from zero or to even.
  const auto tf32 = [](float a, char how) -> u32 {
    const u32 bits = std::bit_cast<u32>(a);
    if (!std::isfinite(a)) return a == a ? bits : how == 'a' ? bits & 0xffffe000u : 0x7fffe000u;
    const u32 low = bits & 0xffffe000u, high = low + 0x2000u, rest = bits - low;
    const bool up = how != 'z' && (rest > 0x1000u || (rest == 0x1000u && (how == 'a' || (low & 0x2000u))));
    return up ? high : low;
  };
  r.push_back(row("cvt.rna.tf32.f32 %d, %a", [tf32](float a) -> u32 { return tf32(a, 'a'); }));
  r.push_back(row("cvt.rn.tf32.f32 %d, %a", [tf32](float a) -> u32 { return tf32(a, 'n'); }));
  r.push_back(row("cvt.rz.tf32.f32 %d, %a", [tf32](float a) -> u32 { return tf32(a, 'z'); }));
  r.push_back(row("cvt.rz.relu.tf32.f32 %d, %a",
                  [tf32](float a) -> u32 { return a == a && std::signbit(a) ? 0 : tf32(a, 'z'); }));
  return r;
}

MUSCOPE_OPCODE_ROWS(ConvertIntegers, integer_rows());
MUSCOPE_OPCODE_ROWS(ConvertFloatsAndIntegers, float_integer_rows());
MUSCOPE_OPCODE_ROWS(ConvertFloats, float_rows());

}  // namespace
}  // namespace muscope::exec::testing
