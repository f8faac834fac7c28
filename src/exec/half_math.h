// The two half formats as the handlers of PTX and of machine code compute with them. Included by files that are
// compiled once per instruction set level.
#pragma once

#include "exec/half.h"
#include "exec/ops_common.h"
#if defined(__F16C__)
#include <immintrin.h>
#endif

namespace muscope::exec::MUSCOPE_ISA {
namespace {

struct F16 {
  static float in(std::uint16_t v) { return half_to_float(v); }
  static std::uint16_t out(double v) { return to_half(v); }
  static constexpr std::uint16_t kNan = 0x7fff;
  static constexpr float kMinNormal = 0x1p-14f;
};
struct BF16 {
  static float in(std::uint16_t v) { return bfloat_to_float(v); }
  static std::uint16_t out(double v) { return to_bfloat(v); }
  static constexpr std::uint16_t kNan = 0x7fff;
  static constexpr float kMinNormal = 0x1p-126f;
};

/// The value of the lower 16 bits as binary16, exact; for loops that must vectorise. Multiplying by 2^112 moves the
/// exponents of normal and subnormal numbers alike.
[[gnu::always_inline]] inline float half_value(std::uint32_t h) {
  const std::uint32_t rest = h & 0x7fffu;
  const float scaled = std::bit_cast<float>(rest << 13) * 0x1p112f;
  const std::uint32_t special = (0u - static_cast<std::uint32_t>(rest >= 0x7c00u)) & 0x7f800000u;
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(scaled) | special | (h & 0x8000u) << 16);
}

/// Nearest, ties to even; 0x7fff for not-a-number. Plain arithmetic, so that loops vectorise.
[[gnu::always_inline]] inline std::uint32_t nearest_half(float v) {
  const std::uint32_t raw = std::bit_cast<std::uint32_t>(v), u = raw & 0x7fffffffu, sign = (raw >> 16) & 0x8000u;
  const std::uint32_t normal = (u - (112u << 23) + 0xfffu + ((u >> 13) & 1u)) >> 13;
  // Below 2^-14 the last bit weighs 2^-24, as it does in a float near 0.5.
  const std::uint32_t small =
      std::bit_cast<std::uint32_t>(std::bit_cast<float>(u) + 0.5f) - std::bit_cast<std::uint32_t>(0.5f);
  const std::uint32_t is_small = 0u - static_cast<std::uint32_t>(u < (113u << 23));
  const std::uint32_t is_large = 0u - static_cast<std::uint32_t>(u >= 0x477ff000u);
  const std::uint32_t is_none = 0u - static_cast<std::uint32_t>(u > 0x7f800000u);
  std::uint32_t r = (small & is_small) | (normal & ~is_small);
  r = (0x7c00u & is_large) | (r & ~is_large);
  return (0x7fffu & is_none) | ((r | sign) & ~is_none);
}
[[gnu::always_inline]] inline std::uint32_t nearest_bfloat(float v) {
  const std::uint32_t u = std::bit_cast<std::uint32_t>(v);
  return (u & 0x7fffffffu) > 0x7f800000u ? 0x7fffu : (u + 0x7fffu + ((u >> 16) & 1u)) >> 16;
}

/// The halves of 32 registers as floats.
inline void widen_halves(const std::uint32_t* in, float* low, float* high) {
#if defined(__F16C__)
  for (unsigned l = 0; l < kGroupLanes; l += 8) {
    const __m256i v = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(in + l));
    const __m256i parts = _mm256_permute4x64_epi64(
        _mm256_packus_epi32(_mm256_and_si256(v, _mm256_set1_epi32(0xffff)), _mm256_srli_epi32(v, 16)), 0xd8);
    _mm256_storeu_ps(low + l, _mm256_cvtph_ps(_mm256_castsi256_si128(parts)));
    _mm256_storeu_ps(high + l, _mm256_cvtph_ps(_mm256_extracti128_si256(parts, 1)));
  }
#else
  for (unsigned l = 0; l < kGroupLanes; ++l) low[l] = half_value(in[l]), high[l] = half_value(in[l] >> 16);
#endif
}
inline void widen_bfloats(const std::uint32_t* in, float* low, float* high) {
  for (unsigned l = 0; l < kGroupLanes; ++l) {
    low[l] = std::bit_cast<float>(in[l] << 16);
    high[l] = std::bit_cast<float>(in[l] & 0xffff0000u);
  }
}

/// x * y + z with lost bits kept as a sticky last bit, so that rounding once more is right (bf16 spans 266 binades).
[[gnu::always_inline]] inline double fused(double x, double y, double z) {
  const double p = x * y;  // exact
  const double s = p + z, t = s - p, lost = (p - (s - t)) + (z - t);
  const std::uint64_t bits = std::bit_cast<std::uint64_t>(s);
  const bool inexact = lost != 0 && lost == lost && s - s == 0;
  // Towards the true value when it is nearer to zero, then odd.
  const std::uint64_t toward = inexact && (lost < 0) != (s < 0) ? bits - 1 : bits;
  return std::bit_cast<double>(inexact ? toward | 1 : bits);
}

}  // namespace
}  // namespace muscope::exec::MUSCOPE_ISA
