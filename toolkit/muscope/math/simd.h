// Packed bytes and half words in a 32-bit word: per-lane arithmetic. Additions and comparisons as nvcc does them, on the
// whole word; the rest lane by lane, unrolled.
#ifndef MUSCOPE_MATH_SIMD_H
#define MUSCOPE_MATH_SIMD_H

#include "base.h"

namespace muscope_math {

/// The top bit of each lane of Bits bits.
template <int Bits>
constexpr u32 lane_tops() {
  return Bits == 16 ? 0x80008000u : 0x80808080u;
}
template <int Bits>
MUSCOPE_MATH u32 lanes_add(u32 a, u32 b) {
  const u32 tops = lane_tops<Bits>();
  return ((a & ~tops) + (b & ~tops)) ^ ((a ^ b) & tops);
}
template <int Bits>
MUSCOPE_MATH u32 lanes_subtract(u32 a, u32 b) {
  const u32 tops = lane_tops<Bits>();
  return ((a | tops) - (b & ~tops)) ^ ((a ^ ~b) & tops);
}

/// One lane of a word, as a signed or unsigned number.
template <int Bits, bool Signed>
MUSCOPE_MATH int lane_value(u32 word, int index) {
  const u32 up = word << (32 - Bits * (index + 1));
  return Signed ? (int)up >> (32 - Bits) : (int)(up >> (32 - Bits));
}
/// Op::apply(x, y) of every lane, cut to the lane; with Saturate clamped to what the lane holds.
template <class Op, int Bits, bool Signed, bool Saturate>
MUSCOPE_MATH u32 lanes(u32 a, u32 b) {
  constexpr int kLow = Signed ? -(1 << (Bits - 1)) : 0, kHigh = Signed ? (1 << (Bits - 1)) - 1 : (1 << Bits) - 1;
  u32 result = 0;
#pragma GCC unroll 4
  for (int i = 0; i < 32 / Bits; ++i) {
    int r = Op::apply(lane_value<Bits, Signed>(a, i), lane_value<Bits, Signed>(b, i));
    if (Saturate) r = r < kLow ? kLow : r > kHigh ? kHigh : r;
    result |= ((u32)r & ((1u << Bits) - 1)) << (Bits * i);
  }
  return result;
}
/// The sum over the lanes of |x - y|.
template <int Bits, bool Signed>
MUSCOPE_MATH u32 lanes_sad(u32 a, u32 b) {
  u32 sum = 0;
#pragma GCC unroll 4
  for (int i = 0; i < 32 / Bits; ++i) {
    const int d = lane_value<Bits, Signed>(a, i) - lane_value<Bits, Signed>(b, i);
    sum += (u32)(d < 0 ? -d : d);
  }
  return sum;
}

#define MUSCOPE_LANE_OP(name, expression)                                  \
  struct name {                                                            \
    static MUSCOPE_INLINE __host__ __device__ int apply(int x, int y) {    \
      (void)y;                                                             \
      return expression;                                                   \
    }                                                                      \
  }
MUSCOPE_LANE_OP(LaneAdd, x + y);
MUSCOPE_LANE_OP(LaneSubtract, x - y);
MUSCOPE_LANE_OP(LaneNegate, -x);
MUSCOPE_LANE_OP(LaneAbs, x < 0 ? -x : x);
MUSCOPE_LANE_OP(LaneDistance, x > y ? x - y : y - x);
MUSCOPE_LANE_OP(LaneMin, x < y ? x : y);
MUSCOPE_LANE_OP(LaneMax, x > y ? x : y);
MUSCOPE_LANE_OP(LaneHalfSum, (x + y) >> 1);
// Rounded away from zero for positive sums, down for negative ones: PTX vavrg.
MUSCOPE_LANE_OP(LaneAverage, (x + y + (x + y >= 0)) >> 1);
MUSCOPE_LANE_OP(LaneEqual, x == y);
MUSCOPE_LANE_OP(LaneUnequal, x != y);
MUSCOPE_LANE_OP(LaneLess, x < y);
MUSCOPE_LANE_OP(LaneLessEqual, x <= y);
MUSCOPE_LANE_OP(LaneGreater, x > y);
MUSCOPE_LANE_OP(LaneGreaterEqual, x >= y);
#undef MUSCOPE_LANE_OP

}  // namespace muscope_math

#endif
