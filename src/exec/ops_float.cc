// f32 and f64 arithmetic (PTX ISA, "Floating Point Instructions").
#include "exec/float_math.h"
#include "exec/op_table.h"

namespace muscope::exec::MUSCOPE_ISA {
namespace {

using code::Rounding;
using ptx::Mod;
using ptx::Opcode;
using ptx::Type;

enum Environment : std::uint8_t { kRoundingMask = 3, kFtz = 4, kSat = 8 };

/// The mode fields of code::Rounding.
inline unsigned mode_of(std::uint8_t environment) {
  static constexpr unsigned kMode[] = {0, 3, 1, 2};
  return kMode[environment & kRoundingMask];
}

template <typename T>
struct FAdd {
  static T apply(T a, T b) { return result(a + b, a, b); }
};
template <typename T>
struct FSub {
  static T apply(T a, T b) { return result(a - b, a, b); }
};
template <typename T>
struct FMul {
  static T apply(T a, T b) { return result(a * b, a, b); }
};
template <typename T>
struct FDiv {
  static T apply(T a, T b) { return canonical(a / b); }
};
template <typename T>
const XOp* fused(Warp& w, const XOp* op) {
  const T *a = w.src<T>(op->a), *b = w.src<T>(op->b), *c = w.src<T>(op->c);
  alignas(64) T r[kGroupLanes];
  fuse(r, a, b, c);
  for_lanes(w, w.dst<T>(op->dst), [&](unsigned l) { return result(r[l], a[l], b[l], c[l]); });
  return op + 1;
}
// div.approx: 0 for divisors beyond 2^126 in magnitude (PTX ISA, "div").
struct DivApprox {
  static float apply(float a, float b) {
    const float m = std::fabs(b);
    const float q = a / b;
    return canonical(m > 0x1p126f && m < std::numeric_limits<float>::infinity()
                         ? (a - a == 0.0f ? std::copysign(0.0f, q) : std::numeric_limits<float>::quiet_NaN())
                         : q);
  }
};
struct Sin {
  static float apply(float a) { return canonical(std::sin(a)); }
};
struct Cos {
  static float apply(float a) { return canonical(std::cos(a)); }
};
// rcp.approx.ftz.f64 and rsqrt.approx.ftz.f64 keep the upper 32 bits of the result (PTX ISA); subnormals are zero.
inline double upper_half(double v) {
  return std::bit_cast<double>(std::bit_cast<std::uint64_t>(v) & 0xffffffff00000000ull);
}
struct RcpApproxF64 {
  static double apply(double a) { return upper_half(1.0 / upper_half(a)); }
};
struct RsqrtApproxF64 {
  static double apply(double a) { return upper_half(1.0 / std::sqrt(upper_half(a))); }
};

template <typename T>
struct FAbs {
  static T apply(T a) { return canonical(std::bit_cast<T>(bits(a) & ~kSign<T>)); }
};
// Not-a-number passes neg.f64 unchanged (H200).
template <typename T>
struct FNeg {
  static T apply(T a) { return a == a ? std::bit_cast<T>(bits(a) ^ kSign<T>) : canonical(a); }
};
template <typename T>
struct CopySign {
  static T apply(T a, T b) { return std::bit_cast<T>((bits(a) & kSign<T>) | (bits(b) & ~kSign<T>)); }
};

template <typename T>
struct FMin {
  static T apply(T a, T b) { return extreme<T, true>(a, b); }
};
template <typename T>
struct FMax {
  static T apply(T a, T b) { return extreme<T, false>(a, b); }
};
template <typename T, bool kMin>
struct NanExtreme {
  static T apply(T a, T b) {
    const T r = extreme<T, kMin>(a, b);
    return a == a && b == b ? r : std::bit_cast<T>(static_cast<BitsOf<T>>(0x7fffffffu));
  }
};
template <bool kMin, bool kNan>
struct XorSign {
  static float apply(float a, float b) {
    const float m = extreme<float, kMin>(FAbs<float>::apply(a), FAbs<float>::apply(b));
    const std::uint32_t sign = (bits(a) ^ bits(b)) & kSign<float>;
    if (m != m || (kNan && !(a == a && b == b))) return std::bit_cast<float>(0x7fffffffu);
    return std::bit_cast<float>((bits(m) & ~kSign<float>) | sign);
  }
};

/// Runs a handler under the op's rounding mode and flushing.
template <Handler kInner>
const XOp* controlled(Warp& w, const XOp* op) {
  const Control control(mode_of(op->flags), (op->flags & kFtz) != 0);
  return kInner(w, op);
}

/// Clamps what the inner handler wrote to [0, 1], not-a-number to 0.
template <typename T, Handler kInner>
const XOp* saturated(Warp& w, const XOp* op) {
  const XOp* next = kInner(w, op);
  T* d = w.dst<T>(op->dst);
  for_lanes(w, d, [=](unsigned l) { return saturate(d[l]); });
  return next;
}

/// .ftz of instructions that only choose or change bits: flushing what comes out equals flushing what goes in.
template <Handler kInner>
const XOp* flushed(Warp& w, const XOp* op) {
  const XOp* next = kInner(w, op);
  float* d = w.dst<float>(op->dst);
  for_lanes(w, d, [=](unsigned l) { return flush_to_zero(d[l]); });
  return next;
}

template <typename T, Handler kInner>
Handler pick(const code::Op& op) {
  const bool special = op.ftz || op.rounding != Rounding::kNearest;
  if (op.sat) return special ? saturated<T, controlled<kInner>> : saturated<T, kInner>;
  return special ? controlled<kInner> : kInner;
}

template <template <typename> class F>
Handler unary(const code::Op& op) {
  return op.type == Type::kF64 ? pick<double, Unary<double, double, F<double>>::run>(op)
                               : pick<float, Unary<float, float, F<float>>::run>(op);
}
template <template <typename> class F>
Handler binary(const code::Op& op) {
  return op.type == Type::kF64 ? pick<double, Binary<double, double, double, F<double>>::run>(op)
                               : pick<float, Binary<float, float, float, F<float>>::run>(op);
}
template <typename F>
Handler unary_f32(const code::Op& op) {
  return pick<float, Unary<float, float, F>::run>(op);
}

template <Handler kInner>
Handler choosing(const code::Op& op) {
  return op.ftz ? flushed<kInner> : kInner;
}

template <bool kMin>
Handler extreme_handler(const code::Op& op) {
  if (op.c.exists()) return nullptr;  // three operands
  const bool nan = op.source->has(Mod::k_NaN), xorsign = op.source->has(Mod::k_xorsign);
  if (op.type == Type::kF64)
    return Binary<double, double, double, std::conditional_t<kMin, FMin<double>, FMax<double>>>::run;
  if (xorsign)
    return nan ? choosing<Binary<float, float, float, XorSign<kMin, true>>::run>(op)
               : choosing<Binary<float, float, float, XorSign<kMin, false>>::run>(op);
  if (nan) return choosing<Binary<float, float, float, NanExtreme<float, kMin>>::run>(op);
  return choosing<Binary<float, float, float, std::conditional_t<kMin, FMin<float>, FMax<float>>>::run>(op);
}

enum TestpKind : std::uint8_t { kFinite, kInfinite, kNumber, kNotANumber, kNormal, kSubnormal };
template <typename T>
const XOp* testp(Warp& w, const XOp* op) {
  const T* a = w.src<T>(op->a);
  const std::uint8_t kind = op->imm8;
  write_predicate(w, op->dst, mask_of([=](unsigned l) {
                    const T m = std::fabs(a[l]);
                    const bool nan = !(m == m), infinite = m == std::numeric_limits<T>::infinity();
                    const bool subnormal = m > 0 && m < std::numeric_limits<T>::min();
                    switch (kind) {
                      case kFinite:
                        return !nan && !infinite;
                      case kInfinite:
                        return infinite;
                      case kNumber:
                        return !nan;
                      case kNotANumber:
                        return nan;
                      case kNormal:  // zeros are normal (PTX ISA, "testp")
                        return !nan && !infinite && !subnormal;
                      default:
                        return subnormal;
                    }
                  }));
  return op + 1;
}

}  // namespace

Handler find_float(const code::Op& op) {
  if (op.type != Type::kF32 && op.type != Type::kF64) return nullptr;
  const bool dbl = op.type == Type::kF64;
  const ptx::Instruction& i = *op.source;
  if (i.types.size() > 1) return nullptr;  // mixed precision
  switch (op.opcode) {
    case Opcode::k_add:
      return binary<FAdd>(op);
    case Opcode::k_sub:
      return binary<FSub>(op);
    case Opcode::k_mul:
      return binary<FMul>(op);
    case Opcode::k_fma:
    case Opcode::k_mad:
      if (i.has(Mod::k_relu)) return nullptr;
      return dbl ? pick<double, fused<double>>(op) : pick<float, fused<float>>(op);
    case Opcode::k_div:
      if (op.approx) return pick<float, Binary<float, float, float, DivApprox>::run>(op);
      return binary<FDiv>(op);
    case Opcode::k_rcp:
      if (dbl && op.approx) return controlled<Unary<double, double, RcpApproxF64>::run>;
      return unary<FRcp>(op);
    case Opcode::k_sqrt:
      return unary<FSqrt>(op);
    case Opcode::k_rsqrt:
      if (dbl && op.ftz) return controlled<Unary<double, double, RsqrtApproxF64>::run>;
      return unary<Rsqrt>(op);
    case Opcode::k_sin:
      return unary_f32<Sin>(op);
    case Opcode::k_cos:
      return unary_f32<Cos>(op);
    case Opcode::k_lg2:
      return unary_f32<Lg2>(op);
    case Opcode::k_ex2:
      return unary_f32<Ex2>(op);
    case Opcode::k_tanh:
      return unary_f32<Tanh>(op);
    case Opcode::k_min:
      return extreme_handler<true>(op);
    case Opcode::k_max:
      return extreme_handler<false>(op);
    case Opcode::k_abs:
      return dbl ? Unary<double, double, FAbs<double>>::run : choosing<Unary<float, float, FAbs<float>>::run>(op);
    case Opcode::k_neg:
      return dbl ? Unary<double, double, FNeg<double>>::run : choosing<Unary<float, float, FNeg<float>>::run>(op);
    case Opcode::k_copysign:
      return binary<CopySign>(op);
    case Opcode::k_testp:
      return dbl ? testp<double> : testp<float>;
    default:
      return nullptr;
  }
}

}  // namespace muscope::exec::MUSCOPE_ISA
