// The floating formats of 8 bits, and integers packed in a register, as the conversions of PTX and of machine code make
// them. Included by files that are compiled once per instruction set level.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "exec/ops_common.h"

namespace muscope::exec::MUSCOPE_ISA {
namespace {

/// A format of 8 bits (PTX ISA, "Alternate Floating-Point Data Formats").
struct Small {
  int mantissa, bias;
  std::uint32_t largest;  ///< bits of the largest finite number
  double largest_value;
  bool has_infinity;
};
constexpr Small kSmallE4m3{3, 7, 0x7e, 448.0, false};
constexpr Small kSmallE5m2{2, 15, 0x7b, 57344.0, true};

inline float relu_of(float v, bool relu) { return relu && v <= 0 ? 0.0f : v; }

/// Nearest, ties to even; what is too large becomes the largest finite number, what is none 0x7f (.satfinite).
inline std::uint32_t to_small(double v, const Small& f) {
  if (v != v) return 0x7f;
  const std::uint32_t sign = std::signbit(v) ? 0x80u : 0;
  const double m = std::fabs(v);
  if (m >= f.largest_value) return sign | f.largest;
  int exponent = m > 0 ? std::ilogb(m) : 1 - f.bias;
  exponent = exponent < 1 - f.bias ? 1 - f.bias : exponent;
  // Units of the last place; the carry into the exponent comes by itself.
  const auto units = static_cast<std::uint32_t>(std::nearbyint(std::ldexp(m, f.mantissa - exponent)));
  const std::uint32_t r = (static_cast<std::uint32_t>(exponent + f.bias - 1) << f.mantissa) + units;
  return sign | (r > f.largest ? f.largest : r);
}

inline float from_small(std::uint32_t v, const Small& f) {
  const std::uint32_t magnitude = v & 0x7fu, one = 1u << f.mantissa, fraction = magnitude & (one - 1);
  const int exponent = static_cast<int>(magnitude >> f.mantissa);
  float r = exponent == 0 ? std::ldexp(static_cast<float>(fraction), 1 - f.bias - f.mantissa)
                          : std::ldexp(static_cast<float>(one + fraction), exponent - f.bias - f.mantissa);
  if (magnitude == 0x7f || (f.has_infinity && magnitude > 0x7c)) r = std::numeric_limits<float>::quiet_NaN();
  if (f.has_infinity && magnitude == 0x7c) r = std::numeric_limits<float>::infinity();
  return v & 0x80u ? -r : r;
}

/// Clamps a signed word to an integer of `bits` bits.
struct SmallInteger {
  std::int64_t low, high;
  SmallInteger(unsigned bits, bool is_signed)
      : low(is_signed ? -(std::int64_t{1} << (bits - 1)) : 0),
        high(is_signed ? (std::int64_t{1} << (bits - 1)) - 1 : (std::int64_t{1} << bits) - 1) {}
  std::uint32_t operator()(std::int32_t v) const {
    return static_cast<std::uint32_t>(v < low ? low : v > high ? high : std::int64_t{v});
  }
};

/// c moved up by two values, then a, then b lowest (PTX ISA, "cvt.pack"); halves fill the register.
inline std::uint32_t packed_integers(const SmallInteger& to, unsigned bits, std::int32_t a, std::int32_t b,
                                     std::uint32_t c) {
  const std::uint32_t mask = (1u << bits) - 1, rest = bits == 16 ? 0 : c << (2 * bits);
  return rest | (to(a) & mask) << bits | (to(b) & mask);
}

}  // namespace
}  // namespace muscope::exec::MUSCOPE_ISA
