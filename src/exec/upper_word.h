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

/// The upper word with this exponent field and the fraction of a float. Without branches, as all of these: 32 lanes at
/// a time.
[[gnu::always_inline]] inline std::uint32_t upper_word_of(std::uint32_t sign, std::int32_t exponent,
                                                          std::uint32_t single) {
  const std::uint32_t word = static_cast<std::uint32_t>(exponent) << 20 | (single & special::kFraction) >> 3;
  return special::where(exponent <= 0, 0, word) | sign;
}

/// 1 / x.
[[gnu::always_inline]] inline std::uint32_t upper_reciprocal(std::uint32_t high) {
  const std::uint32_t sign = high & kUpperSign, magnitude = high & ~kUpperSign;
  const auto exponent = static_cast<std::int32_t>(magnitude >> 20);
  const std::uint32_t r = special::reciprocal(special::kOne | (magnitude & 0xfffffu) << 3);
  std::uint32_t word = upper_word_of(sign, static_cast<std::int32_t>(r >> 23) - 127 + 2046 - exponent, r);
  word = special::where(exponent == 0, sign | kUpperInfinity, word);
  word = special::where(magnitude == kUpperInfinity, sign, word);
  return special::where(magnitude > kUpperInfinity, kUpperNone, word);
}

/// 1 / sqrt(x).
[[gnu::always_inline]] inline std::uint32_t upper_reciprocal_root(std::uint32_t high) {
  const std::uint32_t sign = high & kUpperSign, magnitude = high & ~kUpperSign;
  const std::int32_t power = static_cast<std::int32_t>(magnitude >> 20) - 1023;
  const std::uint32_t odd = static_cast<std::uint32_t>(power) & 1u;
  const std::uint32_t r = special::reciprocal_root((127u + odd) << 23 | (magnitude & 0xfffffu) << 3);
  std::uint32_t word = upper_word_of(0, static_cast<std::int32_t>(r >> 23) - 127 + 1023 - (power >> 1), r);
  word = special::where(magnitude == kUpperInfinity, 0, word);
  word = special::where(sign != 0, kUpperNone, word);
  word = special::where(magnitude >> 20 == 0, sign | kUpperInfinity, word);
  return special::where(magnitude > kUpperInfinity, kUpperNone, word);
}

}  // namespace
}  // namespace muscope::exec::MUSCOPE_ISA
