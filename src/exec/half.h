// Half-precision conversions that do not need hardware support. Always inlined, so that each instruction set level has
// its own copy.
#pragma once

#include <bit>
#include <cstdint>

namespace muscope::exec {

/// IEEE binary16 bits to float, exact.
[[gnu::always_inline]] inline float half_to_float(std::uint16_t h) {
  const std::uint32_t sign = std::uint32_t{h & 0x8000u} << 16, rest = h & 0x7fffu;
  // Normal numbers move their exponent by 112; subnormals are scaled by 2^-24; infinities and NaNs keep all ones.
  const float normal = std::bit_cast<float>((rest << 13) + (112u << 23));
  const float subnormal = static_cast<float>(rest) * 0x1p-24f;
  const std::uint32_t special = 0x7f800000u | (rest << 13);
  const std::uint32_t magnitude = rest >= 0x7c00u ? special
                                  : rest < 0x400u ? std::bit_cast<std::uint32_t>(subnormal)
                                                  : std::bit_cast<std::uint32_t>(normal);
  return std::bit_cast<float>(sign | magnitude);
}

enum class HalfRounding : std::uint8_t { kNearest, kZero, kDown, kUp };

/// A double to a float format of kMantissa stored mantissa bits and kExponent exponent bits, rounded once.
/// NaN gives the canonical 0x7fff pattern of the format (PTX: cvt to f16 and bf16).
template <int kMantissa, int kExponent>
[[gnu::always_inline]] inline std::uint16_t double_to_small(double v, HalfRounding rounding) {
  const std::uint64_t bits = std::bit_cast<std::uint64_t>(v);
  const std::uint32_t sign = static_cast<std::uint32_t>(bits >> 63) << (kMantissa + kExponent);
  const std::uint64_t magnitude = bits & 0x7fffffffffffffffull;
  constexpr std::uint32_t kInfinity = ((1u << kExponent) - 1) << kMantissa;
  if (magnitude > 0x7ff0000000000000ull) return static_cast<std::uint16_t>((1u << (kMantissa + kExponent)) - 1);
  if (magnitude == 0x7ff0000000000000ull) return static_cast<std::uint16_t>(sign | kInfinity);
  if (magnitude == 0) return static_cast<std::uint16_t>(sign);
  constexpr int kBias = (1 << (kExponent - 1)) - 1;
  int exponent = static_cast<int>(magnitude >> 52) - 1023;
  std::uint64_t fraction = magnitude & 0xfffffffffffffull;
  if (magnitude >> 52)
    fraction |= std::uint64_t{1} << 52;
  else
    exponent = -1022;
  int drop = 52 - kMantissa;
  if (exponent < 1 - kBias) drop += 1 - kBias - exponent;
  std::uint32_t result;
  const bool negative = sign != 0;
  const bool away = rounding == HalfRounding::kUp ? !negative : rounding == HalfRounding::kDown ? negative : false;
  if (drop > 54) {
    result = away ? 1 : 0;
  } else {
    const std::uint64_t kept = fraction >> drop, rest = fraction & ((std::uint64_t{1} << drop) - 1),
                        half = std::uint64_t{1} << (drop - 1);
    std::uint64_t rounded = kept;
    if (rounding == HalfRounding::kNearest)
      rounded += rest > half || (rest == half && (kept & 1));
    else if (away)
      rounded += rest != 0;
    const std::uint32_t biased =
        exponent < 1 - kBias ? 0u : static_cast<std::uint32_t>(exponent + kBias - 1) << kMantissa;
    result = biased + static_cast<std::uint32_t>(rounded);
  }
  if (exponent > kBias || result >= kInfinity) {
    // Overflow: infinity, or the largest finite number when rounding towards it.
    const bool to_infinity = rounding == HalfRounding::kNearest || away;
    result = to_infinity ? kInfinity : kInfinity - 1;
  }
  return static_cast<std::uint16_t>(sign | result);
}

[[gnu::always_inline]] inline std::uint16_t to_half(double v, HalfRounding rounding = HalfRounding::kNearest) {
  return double_to_small<10, 5>(v, rounding);
}
[[gnu::always_inline]] inline std::uint16_t to_bfloat(double v, HalfRounding rounding = HalfRounding::kNearest) {
  return double_to_small<7, 8>(v, rounding);
}
[[gnu::always_inline]] inline float bfloat_to_float(std::uint16_t b) {
  return std::bit_cast<float>(std::uint32_t{b} << 16);
}

}  // namespace muscope::exec
