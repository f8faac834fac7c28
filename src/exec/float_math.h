// Floating-point arithmetic that the handlers of PTX and of machine code share. Included by files that are compiled
// once per instruction set level.
//
// Ordinary arithmetic is correctly rounded in the mode that the instruction names; .ftz flushes subnormal inputs and
// results as the SSE control register does. An f32 result that is not a number is the canonical 0x7fffffff.
// Approximate functions are in special_unit.h.
#pragma once

#include <bit>
#if defined(__FMA__)
#include <immintrin.h>
#endif

#include "exec/ops_common.h"

namespace muscope::exec::MUSCOPE_ISA {
namespace {

/// Rounding mode and flush-to-zero of the SSE unit for one op. The memory clobbers keep the arithmetic inside.
class Control {
 public:
  /// MXCSR rounding field: 0 nearest, 1 down, 2 up, 3 to zero. Exceptions stay masked.
  Control(unsigned mode, bool ftz) {
    asm volatile("stmxcsr %0" : "=m"(saved_)::"memory");
    unsigned set = (saved_ & ~0xe040u) | (mode << 13);
    if (ftz) set |= 0x8040u;
    asm volatile("ldmxcsr %0" ::"m"(set) : "memory");
  }
  ~Control() { asm volatile("ldmxcsr %0" ::"m"(saved_) : "memory"); }
  Control(const Control&) = delete;
  Control& operator=(const Control&) = delete;

 private:
  unsigned saved_;
};

inline float canonical(float v) { return v == v ? v : std::bit_cast<float>(0x7fffffffu); }
inline double canonical(double v) { return v; }
/// A double result that is not a number: the payload of the second operand, else the third's, else the first's, made
/// quiet, with the sign it has in the register; 0xfff8000000000000 when no operand is one (H200).
inline double double_result(double r, double a, double b, double c = 0.0) {
  const double source = b != b ? b : c != c ? c : a;
  const std::uint64_t quiet =
      source != source ? std::bit_cast<std::uint64_t>(source) | 0x0008000000000000ull : 0xfff8000000000000ull;
  return r == r ? r : std::bit_cast<double>(quiet);
}
/// What arithmetic on a, b and c writes for the value r.
inline float result(float r, float, float, float = 0.0f) { return canonical(r); }
inline double result(double r, double a, double b, double c = 0.0) { return double_result(r, a, b, c); }
inline float saturate(float v) { return v > 0.0f ? (v < 1.0f ? v : 1.0f) : 0.0f; }
inline double saturate(double v) { return v > 0.0 ? (v < 1.0 ? v : 1.0) : 0.0; }
inline float flush_to_zero(float v) {
  return std::fabs(v) < std::numeric_limits<float>::min() ? std::copysign(0.0f, v) : v;
}

template <typename T>
using BitsOf = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
template <typename T>
constexpr BitsOf<T> kSign = BitsOf<T>{1} << (sizeof(T) * 8 - 1);
template <typename T>
BitsOf<T> bits(T v) {
  return std::bit_cast<BitsOf<T>>(v);
}

/// All ones where `condition` holds: choices by masks vectorise where those of a float and a constant do not.
[[gnu::always_inline]] inline std::uint32_t mask_if(bool condition) {
  return 0u - static_cast<std::uint32_t>(condition);
}
[[gnu::always_inline]] inline std::uint32_t choose(std::uint32_t mask, std::uint32_t yes, std::uint32_t no) {
  return (yes & mask) | (no & ~mask);
}
/// The bits of a result; canonical when it is not a number.
[[gnu::always_inline]] inline std::uint32_t canonical_bits(float v) {
  return choose(mask_if(v != v), 0x7fffffffu, std::bit_cast<std::uint32_t>(v));
}

/// r = a * b + c for all lanes, rounded once. The compiler does not vectorise std::fma where rounding modes matter.
inline void fuse(float* r, const float* a, const float* b, const float* c) {
#if defined(__FMA__)
  for (unsigned l = 0; l < kGroupLanes; l += 8)
    _mm256_storeu_ps(r + l, _mm256_fmadd_ps(_mm256_loadu_ps(a + l), _mm256_loadu_ps(b + l), _mm256_loadu_ps(c + l)));
#else
  for (unsigned l = 0; l < kGroupLanes; ++l) r[l] = std::fma(a[l], b[l], c[l]);
#endif
}
inline void fuse(double* r, const double* a, const double* b, const double* c) {
#if defined(__FMA__)
  for (unsigned l = 0; l < kGroupLanes; l += 4)
    _mm256_storeu_pd(r + l, _mm256_fmadd_pd(_mm256_loadu_pd(a + l), _mm256_loadu_pd(b + l), _mm256_loadu_pd(c + l)));
#else
  for (unsigned l = 0; l < kGroupLanes; ++l) r[l] = std::fma(a[l], b[l], c[l]);
#endif
}

/// minimumNumber and maximumNumber: the other operand where one is not a number; -0 is below +0.
template <typename T, bool kMin>
T extreme(T a, T b) {
  T r = kMin ? (a < b ? a : b) : (a > b ? a : b);
  r = a == b ? std::bit_cast<T>(kMin ? bits(a) | bits(b) : bits(a) & bits(b)) : r;
  r = a == a ? r : b;
  r = b == b ? r : a;
  if constexpr (sizeof(T) == 8) return r == r ? r : double_result(r, a, b);
  return canonical(r);
}

template <typename T>
struct FRcp {
  static T apply(T a) { return canonical(T{1} / a); }
};
template <typename T>
struct FSqrt {
  static T apply(T a) { return canonical(std::sqrt(a)); }
};

}  // namespace
}  // namespace muscope::exec::MUSCOPE_ISA
