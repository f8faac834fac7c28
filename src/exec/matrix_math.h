// The arithmetic of the tensor cores: D = A B + C for one small tile. Included by files that are compiled once per
// instruction set level.
//
// Integers: exact sums of exact products, then c is added and the result wraps or saturates. Doubles: one fused
// multiply-add after the other, k ascending. F16, BF16 and TF32: what published studies found for compute
// capability 9.0 (Khattak and Mikaitis, "Accurate Models of NVIDIA Tensor Cores", arXiv 2512.07004; Xie et al.,
// "MMA-Sim", arXiv 2511.10909), both bit for bit against an H100:
//
//   - products are exact and not normalised: their exponent is the sum of the factors' exponents;
//   - all k products and c are added at once: each is shifted to the largest exponent among them and cut off (towards
//     zero) behind 25 fraction bits; the sum of those is exact;
//   - a sum of F32 is cut off to 24 bits, one of F16 is rounded to nearest even; subnormal numbers count, as factors
//     too; zeros as a factor have the exponent -126;
//   - not-a-number is 0x7fffffff (0x7fff), a zero sum is +0. TF32 factors are cut off to 11 bits.
#pragma once

#include <bit>
#include <cmath>

#include "exec/half_math.h"
#include "exec/matrix_layout.h"

namespace muscope::exec::MUSCOPE_ISA {
namespace {

inline constexpr unsigned kRows = 16, kColumns = 8;  ///< of a tile; fewer rows may be used
inline constexpr unsigned kMostFloats = 16;          ///< k of floating-point tiles
inline constexpr int kFractionBits = 25;
inline constexpr std::int32_t kZeroExponent = -126;

template <Factor kFactor>
struct FloatFactor;
template <>
struct FloatFactor<Factor::kF16> {
  static constexpr int kFraction = 10, kExponentBits = 5, kDrop = 0;
};
template <>
struct FloatFactor<Factor::kBf16> {
  static constexpr int kFraction = 7, kExponentBits = 8, kDrop = 0;
};
template <>
struct FloatFactor<Factor::kTf32> {
  static constexpr int kFraction = 10, kExponentBits = 8, kDrop = 13;
};

/// raw's value = significand * 2^(exponent - fraction bits); true when it is an infinity or not a number.
template <Factor kFactor>
[[gnu::always_inline]] inline bool take_apart(std::uint32_t raw, std::int32_t& significand, std::int32_t& exponent) {
  using Format = FloatFactor<kFactor>;
  constexpr std::int32_t kTop = (1 << Format::kExponentBits) - 1, kBias = kTop / 2;
  const std::uint32_t bits = raw >> Format::kDrop;
  const auto fraction = static_cast<std::int32_t>(bits & ((1u << Format::kFraction) - 1));
  const auto biased = static_cast<std::int32_t>(bits >> Format::kFraction) & kTop;
  const bool negative = (bits >> (Format::kFraction + Format::kExponentBits) & 1) != 0;
  const std::int32_t magnitude = fraction | (biased != 0 ? 1 << Format::kFraction : 0);
  significand = negative ? -magnitude : magnitude;
  exponent = magnitude == 0 ? kZeroExponent : (biased != 0 ? biased : 1) - kBias;
  return biased == kTop;
}

/// The float that `value` cut off towards zero gives; too large values are infinite.
[[gnu::always_inline]] inline std::uint32_t cut_to_float(double value) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const auto sign = static_cast<std::uint32_t>(bits >> 63) << 31;
  const int exponent = static_cast<int>(bits >> 52 & 0x7ff) - 1023;
  if (value == 0) return 0;
  if (exponent > 127) return sign | 0x7f800000u;
  const auto fraction = static_cast<std::uint32_t>(bits >> 29 & 0x7fffffu);
  if (exponent >= -126) return sign | static_cast<std::uint32_t>(exponent + 127) << 23 | fraction;
  const int shift = -126 - exponent;
  const std::uint32_t cut = shift > 23 ? 0 : (fraction | 0x800000u) >> shift;
  return cut == 0 ? 0 : sign | cut;
}

/// value * 2^exponent, exact: |value| < 2^53, the exponent within that of doubles.
[[gnu::always_inline]] inline double scaled(std::int64_t value, int exponent) {
  return static_cast<double>(value) * std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52);
}

/// A factor of k rows or columns taken apart: B as [k][column], A as [row][k].
struct Significands {
  alignas(64) std::int32_t value[kRows * kMostFloats];
  alignas(64) std::int32_t exponent[kRows * kMostFloats];
};

/// One row at a time, as vectors: the compiler makes too little of loops here.
using Row = std::int32_t __attribute__((vector_size(4 * kColumns)));
using UnsignedRow = std::uint32_t __attribute__((vector_size(4 * kColumns)));

template <typename T>
[[gnu::always_inline]] inline void load_row(const void* from, T& row) {
  std::memcpy(&row, from, sizeof row);
}

/// `value` << up, moved right by `away` bits and cut off towards zero.
[[gnu::always_inline]] inline void cut_off(Row& value, int up, const Row& away) {
  const Row sign = value >> 31;
  const auto magnitude = reinterpret_cast<UnsignedRow>((value ^ sign) - sign) << up;
  const auto cut = reinterpret_cast<Row>(magnitude >> reinterpret_cast<UnsignedRow>(away < 31 ? away : Row{} + 31));
  value = (cut ^ sign) - sign;
}

/// One row of the result. `c` and `d` are bits of floats, or of halves when kHalf.
template <Factor kFactor, bool kHalf>
inline void float_row(const std::int32_t* a, const std::int32_t* a_exponent, const Significands& b, unsigned k_size,
                      const std::uint32_t* c, std::uint32_t* d) {
  constexpr int kProductFraction = 2 * FloatFactor<kFactor>::kFraction, kSumFraction = kHalf ? 10 : 23;
  constexpr std::int32_t kTop = kHalf ? 31 : 255;
  UnsignedRow bits;
  load_row(c, bits);
  const Row biased = reinterpret_cast<Row>(bits >> kSumFraction) & kTop;
  const Row magnitude =
      (reinterpret_cast<Row>(bits) & ((1 << kSumFraction) - 1)) | (biased != 0 ? Row{} + (1 << kSumFraction) : Row{});
  const Row negative = Row{} - (reinterpret_cast<Row>(bits >> (kHalf ? 15 : 31)) & 1);
  Row c_value = (magnitude ^ negative) - negative;
  const Row c_exponent = magnitude == 0 ? Row{} + kZeroExponent : (biased != 0 ? biased : Row{} + 1) - kTop / 2;
  Row most = c_exponent;
  for (unsigned k = 0; k < k_size; ++k) {
    Row exponent;
    load_row(b.exponent + k * kColumns, exponent);
    exponent += a_exponent[k];
    most = exponent > most ? exponent : most;
  }
  // 16 products of less than 2^27 in 25 fraction bits stay below 2^31.
  Row sum{};
  for (unsigned k = 0; k < k_size; ++k) {
    Row exponent, product;
    load_row(b.exponent + k * kColumns, exponent);
    load_row(b.value + k * kColumns, product);
    product *= a[k];
    cut_off(product, kFractionBits - kProductFraction, most - a_exponent[k] - exponent);
    sum += product;
  }
  cut_off(c_value, kFractionBits - kSumFraction, most - c_exponent);
  for (unsigned n = 0; n < kColumns; ++n) {
    const std::int64_t total = std::int64_t{sum[n]} + c_value[n];
    const double value = scaled(total, most[n] - kFractionBits);
    d[n] = kHalf ? (total == 0 ? 0u : to_half(value)) : cut_to_float(value);
  }
}

/// What one element is when infinities or not-a-numbers take part; false when they do not decide it.
inline bool special_sum(double sum, bool half, std::uint32_t& out) {
  if (sum != sum) {
    out = half ? 0x7fffu : 0x7fffffffu;
    return true;
  }
  if (std::fabs(sum) != std::numeric_limits<double>::infinity()) return false;
  out = (half ? 0x7c00u : 0x7f800000u) | (sum < 0 ? (half ? 0x8000u : 0x80000000u) : 0u);
  return true;
}

/// Integer result: c plus the exact sum, wrapped or saturated.
[[gnu::always_inline]] inline std::uint32_t integer_sum(std::int64_t products, std::uint32_t c, bool saturate) {
  const std::int64_t sum = products + static_cast<std::int32_t>(c);
  if (!saturate) return static_cast<std::uint32_t>(sum);
  constexpr std::int64_t kLow = std::numeric_limits<std::int32_t>::min(),
                         kHigh = std::numeric_limits<std::int32_t>::max();
  return static_cast<std::uint32_t>(sum < kLow ? kLow : sum > kHigh ? kHigh : sum);
}

}  // namespace
}  // namespace muscope::exec::MUSCOPE_ISA
