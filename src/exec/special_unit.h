// The special function unit (MUFU) to the last bit: what PTX's approximate functions and the machine instruction share.
// Included by files that are compiled once per instruction set level.
//
// The unit (Oberman and Siu, "A high-performance area-efficient multifunction interpolator", ARITH 2005) adds
// start + linear * x + square * x^2, where x is the argument's lower bits and a table, read by its upper bits, gives
// the coefficients. x^2 comes from an array of partial products whose lower columns are missing; the sum is cut off,
// never rounded. Sums are formed here in double, where they are exact: 17 bits of x times at most 21 of a coefficient,
// in units of 2^-17 of the result's last place.
//
// Subnormal arguments and results are zero, except of the hyperbolic tangent. A result that is not a number is
// 0x7fffffff. Held against an H200 for all 2^32 arguments: docs/accuracy.md.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "exec/special_tables.h"

#ifndef MUSCOPE_ISA
#define MUSCOPE_ISA isa_v2
#endif

namespace muscope::exec::MUSCOPE_ISA {
namespace {
namespace special {

using namespace muscope::exec::special;  // the tables
using std::int32_t;
using std::uint32_t;
using std::uint64_t;

constexpr uint32_t kInfinity = 0x7f800000u, kNotANumber = 0x7fffffffu, kSignBit = 0x80000000u, kOne = 0x3f800000u;
constexpr uint32_t kFraction = 0x7fffffu;
/// One unit in the last place of a sum.
constexpr double kUnit = 0x1p17;

[[gnu::always_inline]] inline uint32_t where(bool condition, uint32_t yes, uint32_t no) {
  const uint32_t mask = 0u - static_cast<uint32_t>(condition);
  return (yes & mask) | (no & ~mask);
}

/// x^2 / 2^19 of 17 bits as the unit's array forms it: the products of two bits that weigh less than 2^19 are missing.
[[gnu::always_inline]] inline int32_t upper_square(int32_t x) {
  const int32_t h = x >> 9, l = x & 511;
  int32_t sum = (h * h - (h & 1)) >> 1;
  for (int k = 1; k < 8; ++k) sum += (l >> (9 - k)) & -((h >> k) & 1);
  return sum;
}

/// The polynomial of a segment at x (17 bits), in 2^-17 units; `fraction` is the unit of the segment's start.
[[gnu::always_inline]] inline double sum_at(const Coefficients& c, double fraction, uint32_t lower) {
  const auto x = static_cast<int32_t>(lower);
  return c.start * fraction + static_cast<double>(c.linear) * x + static_cast<double>(c.square) * (2 * upper_square(x));
}

/// The bits of a result between 0.5 and 2, cut off; starts are quarters above the bits of 0.5. `bias` is what the unit
/// adds, known to a few 2^-17 units. The same sum in 32 bits: x is split, and what is below 2^9 units cut off early.
[[gnu::always_inline]] inline int32_t cut(const Coefficients& c, uint32_t lower, int32_t bias) {
  const auto x = static_cast<int32_t>(lower);
  const int32_t fine = c.linear * (x & 511) + c.square * (2 * upper_square(x)) + bias;
  const int32_t coarse = c.linear * (x >> 9) + ((c.start & 3) << 6) + (fine >> 9);
  return 0x3f000000 + (c.start >> 2) + (coarse >> 8);
}

/// The float bits of a positive whole number times 2^-scale, cut off to 24 bits; 0 for 0.
[[gnu::always_inline]] inline uint32_t normalized(double whole, unsigned scale) {
  const auto wide = static_cast<uint32_t>(std::bit_cast<uint64_t>(whole) >> 29);  // the exponent's upper bits fall off
  return where(whole > 0, wide - ((1023u - 127u + scale) << 23), 0);
}

[[gnu::always_inline]] inline uint32_t flushed(int32_t bits) {
  return where(bits > static_cast<int32_t>(kFraction), static_cast<uint32_t>(bits), 0);
}

/// 1 / x.
[[gnu::always_inline]] inline uint32_t reciprocal(uint32_t x) {
  const uint32_t magnitude = x & ~kSignBit, sign = x & kSignBit, m = x & kFraction;
  const auto exponent = static_cast<int32_t>(magnitude >> 23);
  const int32_t near = cut(kReciprocal[m >> 16], (m & 0xffff) << 1, 8094);
  uint32_t r = flushed(near + (127 - exponent) * (1 << 23));
  r = where(exponent == 0, kInfinity, r);
  r = where(magnitude == kInfinity, 0, r) | sign;
  return where(magnitude > kInfinity, kNotANumber, r);
}

/// Half the distance to the exponent of 1, for odd exponent fields; the segment for both.
[[gnu::always_inline]] inline int32_t half_exponent(uint32_t x) { return (static_cast<int32_t>(x >> 23) - 127) >> 1; }
[[gnu::always_inline]] inline uint32_t root_segment(uint32_t x) { return ((x & kFraction) >> 17) | ((~x >> 17) & 64); }
/// A root's result for zero, infinity and what has none; `regular` for the others.
[[gnu::always_inline]] inline uint32_t root_or_special(uint32_t x, uint32_t regular, uint32_t at_zero,
                                                       uint32_t at_infinity) {
  const uint32_t magnitude = x & ~kSignBit, sign = x & kSignBit;
  uint32_t r = where(magnitude == kInfinity, at_infinity, regular);
  r = where(magnitude > kInfinity, kNotANumber, r);
  r = where(sign != 0, kNotANumber, r);
  return where((magnitude >> 23) == 0, at_zero | sign, r);
}

/// 1 / sqrt(x). Powers of 4 are exact: their sum alone would be below them.
[[gnu::always_inline]] inline uint32_t reciprocal_root(uint32_t x) {
  const int32_t sum = cut(kReciprocalRoot[root_segment(x)], x & 0x1ffff, -1);
  const uint32_t near = where((x & 0xffffff) == 0x800000, kOne, static_cast<uint32_t>(sum));
  return root_or_special(x, near - (static_cast<uint32_t>(half_exponent(x)) << 23), kInfinity, 0);
}

/// sqrt(x).
[[gnu::always_inline]] inline uint32_t root(uint32_t x) {
  const auto near = static_cast<uint32_t>(cut(kRoot[root_segment(x)], x & 0x1ffff, -1));
  return root_or_special(x, near + (static_cast<uint32_t>(half_exponent(x)) << 23), 0, kInfinity);
}

/// The whole part of a positive number below 2^31.
[[gnu::always_inline]] inline uint32_t whole(float v) { return static_cast<uint32_t>(static_cast<int32_t>(v)); }

/// 2^x. The magnitude is cut off to 23 bits behind the point; for negative x its bits are inverted, unless those 23 are
/// 0.
[[gnu::always_inline]] inline uint32_t power_of_two(uint32_t x) {
  const uint32_t magnitude = x & ~kSignBit;
  const bool large = magnitude >= 0x43000000u, negative = (x & kSignBit) != 0;  // from 128
  const uint32_t fixed = whole(std::bit_cast<float>(where(large, 0, magnitude)) * 0x1p23f);
  const uint32_t t = where(negative, where((fixed & kFraction) != 0, ~fixed, 0 - fixed), fixed);
  const int32_t near = cut(kPowerOfTwo[(t >> 17) & 63], t & 0x1ffff, -8310);
  uint32_t r = flushed(near + static_cast<int32_t>(t & ~kFraction));
  r = where(large, where(negative, 0, kInfinity), r);
  return where(magnitude > kInfinity, kNotANumber, r);
}

/// log2(x): the fraction's logarithm is cut off to 2^-36; a negative sum's bits are inverted.
[[gnu::always_inline]] inline uint32_t logarithm(uint32_t x) {
  const uint32_t magnitude = x & ~kSignBit;
  const int32_t exponent = static_cast<int32_t>(magnitude >> 23) - 127;
  const double sum = sum_at(kLogarithm[(x & kFraction) >> 17], kUnit / 8, x & 0x1ffff) + 3350;
  const double whole = std::floor(sum * 0x1p-4) + exponent * 0x1p36;
  uint32_t r = normalized(exponent < 0 ? -whole - 1 : whole, 36) | where(exponent < 0, kSignBit, 0);
  r = where(magnitude == kOne, 0, r);
  r = where(magnitude == kInfinity, kInfinity, r);
  r = where((x & kSignBit) != 0 || magnitude > kInfinity, kNotANumber, r);
  return where(exponent == -127, kInfinity | kSignBit, r);
}

/// sin(2 pi x), or cos: the magnitude is cut off to 25 bits behind the point (2 of the quadrant, 23 within it); in odd
/// quadrants the 23 are inverted.
template <bool kCosine>
[[gnu::always_inline]] inline uint32_t sine(uint32_t x) {
  const uint32_t magnitude = x & ~kSignBit;
  const float turns = std::bit_cast<float>(where(magnitude < kInfinity, magnitude, 0));
  const uint32_t t = whole((turns - std::floor(turns)) * 0x1p25f) + (kCosine ? 0x800000u : 0);
  const uint32_t f = where((t & 0x800000u) != 0, ~t, t) & kFraction;
  const double sum = sum_at(kSine[f >> 17], kUnit / 2, f & 0x1ffff);
  const uint32_t sign = ((t << 7) & kSignBit) ^ (kCosine ? 0 : x & kSignBit);
  const uint32_t r = normalized(std::floor(sum * 0x1p-4), 37) | sign;
  return where(magnitude >= kInfinity, kNotANumber, r);
}

/// tanh(x): x itself below 2^-8, 1 from 8.
[[gnu::always_inline]] inline uint32_t tangent(uint32_t x) {
  const uint32_t magnitude = x & ~kSignBit;
  const bool small = magnitude < 0x3b800000u, large = magnitude >= 0x41000000u;
  const uint32_t inside = where(small || large, kOne, magnitude);
  const TangentRange& range = kTangentRanges[(inside >> 23) - 119];
  const uint32_t t = whole(std::bit_cast<float>(inside) * range.unit);
  const Coefficients& c = kTangent[static_cast<int32_t>(t >> 17) + range.first];
  uint32_t r = normalized(std::floor(sum_at(c, kUnit, t & 0x1ffff) * 0x1p-4), 37);
  r = where(small, magnitude, r);
  r = where(large, kOne, r) | (x & kSignBit);
  return where(magnitude > kInfinity, kNotANumber, r);
}

/// A function of the unit as an operation on floats.
template <uint32_t (*kFunction)(uint32_t)>
struct Unit {
  [[gnu::always_inline]] static inline float apply(float a) {
    return std::bit_cast<float>(kFunction(std::bit_cast<uint32_t>(a)));
  }
};

}  // namespace special
}  // namespace
}  // namespace muscope::exec::MUSCOPE_ISA
