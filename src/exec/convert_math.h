// Conversions that the handlers of PTX and of machine code share. Included by files that are compiled once per
// instruction set level.
#pragma once

#include <bit>

#include "exec/half.h"
#include "exec/ops_common.h"

namespace muscope::exec::MUSCOPE_ISA {
namespace {

/// An integer to double with lost bits kept as a sticky last bit: for formats that are rounded to from there.
inline double integer_to_sticky(std::uint64_t magnitude, bool negative) {
  constexpr unsigned kSpare = 11;  // 64 bits less the mantissa
  const std::uint64_t lost = magnitude & ((1u << kSpare) - 1);
  const double d = magnitude >> 53 ? std::ldexp(static_cast<double>(magnitude >> kSpare | (lost != 0)), kSpare)
                                   : static_cast<double>(magnitude);
  return negative ? -d : d;
}

/// A whole number to an integer of `bits` bits, saturated; `not_a_number` in place of what is none.
inline std::uint64_t saturate_to_integer(double v, bool is_signed, unsigned bits, std::uint64_t not_a_number) {
  if (v != v) return not_a_number;
  if (is_signed) {
    const double high = std::ldexp(1.0, static_cast<int>(bits) - 1);
    if (v >= high) return (std::uint64_t{1} << (bits - 1)) - 1;
    if (v < -high) return static_cast<std::uint64_t>(-1) << (bits - 1);
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(v));
  }
  if (v <= 0) return 0;
  if (v >= std::ldexp(1.0, static_cast<int>(bits)))
    return bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
  return static_cast<std::uint64_t>(v);
}

/// A double that is not a number in a format of 16 bits: sign and upper payload kept, quiet (H200).
template <int kMantissa>
inline std::uint16_t narrow_nan(double v) {
  const std::uint64_t raw = std::bit_cast<std::uint64_t>(v) | 0x0008000000000000ull;
  const std::uint64_t exponent = 0x7fffu & ~((1u << kMantissa) - 1);
  return static_cast<std::uint16_t>((raw >> 48 & 0x8000u) | exponent |
                                    (raw >> (52 - kMantissa) & ((1u << kMantissa) - 1)));
}

/// A float to int32_t or uint32_t towards zero, saturated; 0 for not-a-number.
template <typename D>
struct Truncate {
  static D apply(float a) {
    // In range by construction: clamped first, not-a-number becomes 0.
    if constexpr (std::is_signed_v<D>) {
      const float c = a < 2147483648.0f ? (a > -2147483648.0f ? a : -2147483648.0f) : 2147483520.0f;
      const D r = static_cast<D>(c == c ? c : 0.0f);
      return a != a ? 0 : a >= 2147483648.0f ? std::numeric_limits<D>::max() : r;
    } else {
      const float c = a > 0.0f ? (a < 4294967296.0f ? a : 4294967040.0f) : 0.0f;
      return a >= 4294967296.0f ? std::numeric_limits<D>::max() : static_cast<D>(c);
    }
  }
};

/// f16 to float; not-a-number becomes canonical.
struct HalfToFloat {
  static float apply(std::uint16_t a) {
    const float f = half_to_float(a);
    return f == f ? f : std::bit_cast<float>(0x7fffffffu);
  }
};

}  // namespace
}  // namespace muscope::exec::MUSCOPE_ISA
