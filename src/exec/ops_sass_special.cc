// MUFU: the special functions of machine code. Computed in double and rounded once, like the approximate functions of
// PTX.
//
// Subnormal arguments and results are zero, except of TANH (H200). SIN and COS take revolutions: ptxas multiplies by
// 1 / (2 pi) before.
#include "exec/half.h"
#include "exec/half_math.h"
#include "exec/op_table.h"
#include "exec/sass_float.h"

namespace muscope::exec::MUSCOPE_ISA {
namespace {

using sass::FloatFormat;
using sass::Instruction;
using std::uint32_t;
using std::uint64_t;

enum Function : std::uint8_t { kCos, kSin, kEx2, kLg2, kRcp, kRsq, kRcp64h, kRsq64h, kSqrt, kTanh };

constexpr double kTurn = 6.283185307179586476925;
/// The argument within half a revolution, in radians.
inline double angle(float a) {
  const double v = a;
  return (v - std::nearbyint(v)) * kTurn;
}

struct Cos {
  static float apply(float a) { return canonical(static_cast<float>(std::cos(angle(a)))); }
};
struct Sin {
  // A zero has the sign of the argument (H200).
  static float apply(float a) {
    const double r = angle(a);
    return r == 0.0 ? std::copysign(0.0f, a) : canonical(static_cast<float>(std::sin(r)));
  }
};

template <typename F, bool kFlush, bool kSigned>
const XOp* single(Warp& w, const XOp* op) {
  const float* a = w.src<float>(op->a);
  const FloatSign sign(op->sass->a);
  for_lanes(w, w.dst<float>(op->dst), [=](unsigned l) {
    const float v = kSigned ? with_sign(sign, a[l]) : a[l];
    if constexpr (kFlush) return flush_to_zero(F::apply(flush_to_zero(v)));
    return F::apply(v);
  });
  return op + 1;
}

template <typename F, bool kFlush>
Handler single_handler(const Instruction& i) {
  return has_sign(i.a) ? single<F, kFlush, true> : single<F, kFlush, false>;
}

/// RCP64H, RSQ64H: the upper word of the result for a double whose lower word is 0; measured on an H200: the result is
/// cut off, and subnormals are zero.
template <bool kRoot>
const XOp* upper_word(Warp& w, const XOp* op) {
  const uint32_t* a = w.src<uint32_t>(op->a);
  const FloatSign sign(op->sass->a);
  for_lanes(w, w.dst<uint32_t>(op->dst), [=](unsigned l) {
    const uint32_t high = sign(a[l]);
    const uint32_t kept = (high & 0x7ff00000u) == 0 ? high & 0x80000000u : high;
    const double v = std::bit_cast<double>(uint64_t{kept} << 32);
    // rsqrt of -0 is minus infinity.
    const double root = kRoot ? std::sqrt(v) : v;
    const double result = 1.0 / root;
    const auto upper = static_cast<uint32_t>(bits(result) >> 32);
    const uint32_t flushed = (upper & 0x7ff00000u) == 0 ? upper & 0x80000000u : upper;
    return result == result ? flushed : 0x7fffffffu;
  });
  return op + 1;
}

/// Of halves: .F16 and .BF16. The result is in the lower half of the register.
template <typename F, Function kFunction>
const XOp* half(Warp& w, const XOp* op) {
  const uint32_t* a = w.src<uint32_t>(op->a);
  const sass::Operand& operand = op->sass->a;
  const unsigned shift = operand.half == 3 ? 16 : 0;
  const uint32_t keep = operand.absolute ? 0x7fffu : 0xffffu, flip = operand.negate ? 0x8000u : 0;
  for_lanes(w, w.dst<uint32_t>(op->dst), [=](unsigned l) -> uint32_t {
    const double v = F::in(static_cast<std::uint16_t>((((a[l] >> shift) & keep) ^ flip)));
    return F::out(kFunction == kEx2 ? std::exp2(v) : std::tanh(v));
  });
  return op + 1;
}

template <typename F>
Handler half_handler(const Instruction& i) {
  switch (i.floating.function) {
    case kEx2:
      return half<F, kEx2>;
    case kTanh:
      return half<F, kTanh>;
    default:
      return nullptr;
  }
}

}  // namespace

Handler find_sass_special(const Instruction& i) {
  if (i.opcode != sass::Opcode::kMUFU) return nullptr;
  if (i.floating.from == FloatFormat::kF16) return half_handler<F16>(i);
  if (i.floating.from == FloatFormat::kBf16) return half_handler<BF16>(i);
  switch (i.floating.function) {
    case kCos:
      return single_handler<Cos, true>(i);
    case kSin:
      return single_handler<Sin, true>(i);
    case kEx2:
      return single_handler<Ex2, true>(i);
    case kLg2:
      return single_handler<Lg2, true>(i);
    case kRcp:
      return single_handler<FRcp<float>, true>(i);
    case kRsq:
      return single_handler<Rsqrt<float>, true>(i);
    case kRcp64h:
      return upper_word<false>;
    case kRsq64h:
      return upper_word<true>;
    case kSqrt:
      return single_handler<FSqrt<float>, true>(i);
    case kTanh:
      return single_handler<Tanh, false>(i);
    default:
      return nullptr;
  }
}

}  // namespace muscope::exec::MUSCOPE_ISA
