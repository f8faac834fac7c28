// RCP64H and RSQ64H: the special function unit's estimates for the upper word of a double, whose lower word counts as
// 0. The unit works on the upper 20 bits of the fraction as on those of a float, and its 23 bits are cut off to 20
// (held against an H200 by tests/conformance). Subnormal numbers are zero. Included by files that are compiled once per
// instruction set level.
#pragma once

#include <cstdint>

#include "exec/special_unit.h"

namespace muscope::exec::MUSCOPE_ISA {
namespace {

inline constexpr std::uint32_t kUpperSign = 0x80000000u, kUpperInfinity = 0x7ff00000u, kUpperNone = 0x7fffffffu;

/// The upper word with this exponent field and the fraction of a float.
inline std::uint32_t upper_word_of(std::uint32_t sign, std::int32_t exponent, std::uint32_t single) {
  if (exponent <= 0) return sign;
  return sign | static_cast<std::uint32_t>(exponent) << 20 | (single & 0x7fffffu) >> 3;
}

/// 1 / x.
inline std::uint32_t upper_reciprocal(std::uint32_t high) {
  const std::uint32_t sign = high & kUpperSign, magnitude = high & ~kUpperSign;
  if (magnitude > kUpperInfinity) return kUpperNone;
  if (magnitude == kUpperInfinity) return sign;
  const auto exponent = static_cast<std::int32_t>(magnitude >> 20);
  if (exponent == 0) return sign | kUpperInfinity;
  const std::uint32_t r = special::reciprocal(0x3f800000u | (magnitude & 0xfffffu) << 3);
  return upper_word_of(sign, static_cast<std::int32_t>(r >> 23) - 127 + 2046 - exponent, r);
}

/// 1 / sqrt(x).
inline std::uint32_t upper_reciprocal_root(std::uint32_t high) {
  const std::uint32_t sign = high & kUpperSign, magnitude = high & ~kUpperSign;
  if (magnitude > kUpperInfinity) return kUpperNone;
  if (magnitude >> 20 == 0) return sign | kUpperInfinity;
  if (sign != 0) return kUpperNone;
  if (magnitude == kUpperInfinity) return 0;
  const std::int32_t power = static_cast<std::int32_t>(magnitude >> 20) - 1023;
  const std::uint32_t odd = static_cast<std::uint32_t>(power) & 1u;
  const std::uint32_t r = special::reciprocal_root((127u + odd) << 23 | (magnitude & 0xfffffu) << 3);
  return upper_word_of(0, static_cast<std::int32_t>(r >> 23) - 127 + 1023 - (power >> 1), r);
}

}  // namespace
}  // namespace muscope::exec::MUSCOPE_ISA
