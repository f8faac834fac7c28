// The two half formats as the handlers of PTX and of machine code compute with them. Included by files that are
// compiled once per instruction set level.
#pragma once

#include "exec/half.h"
#include "exec/ops_common.h"

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

/// Nearest, ties to even; 0x7fff for not-a-number. Plain arithmetic, so that loops vectorise.
[[gnu::always_inline]] inline std::uint32_t nearest_half(float v) {
  const std::uint32_t raw = std::bit_cast<std::uint32_t>(v), u = raw & 0x7fffffffu, sign = (raw >> 16) & 0x8000u;
  const std::uint32_t normal = (u - (112u << 23) + 0xfffu + ((u >> 13) & 1u)) >> 13;
  // Below 2^-14 the last bit weighs 2^-24, as it does in a float near 0.5.
  const std::uint32_t small =
      std::bit_cast<std::uint32_t>(std::bit_cast<float>(u) + 0.5f) - std::bit_cast<std::uint32_t>(0.5f);
  std::uint32_t r = u < (113u << 23) ? small : normal;
  r = u >= 0x477ff000u ? 0x7c00u : r;
  return u > 0x7f800000u ? 0x7fffu : r | sign;
}
[[gnu::always_inline]] inline std::uint32_t nearest_bfloat(float v) {
  const std::uint32_t u = std::bit_cast<std::uint32_t>(v);
  return (u & 0x7fffffffu) > 0x7f800000u ? 0x7fffu : (u + 0x7fffu + ((u >> 16) & 1u)) >> 16;
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
