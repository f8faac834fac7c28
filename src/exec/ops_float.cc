// f32 and f64 arithmetic (PTX ISA, "Floating Point Instructions").
#include "exec/float_math.h"
#include "exec/op_table.h"
#include "exec/special_unit.h"
#include "exec/upper_word.h"

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
// The approximate functions as ptxas makes them of the special function unit, which flushes subnormal numbers: without
// .ftz the argument is scaled into its range and the result back. Under .ftz none of the conditions holds, because
// comparisons flush too.
constexpr float kTiny = std::numeric_limits<float>::min(), kHuge = 0x1p126f;
inline float unit_reciprocal(float a) { return special::Unit<special::reciprocal>::apply(a); }

struct RcpApprox {
  static float apply(float a) {
    const float m = std::fabs(a), scale = m > kHuge ? 0.25f : m < kTiny ? 0x1p24f : 1.0f;
    return canonical(scale * unit_reciprocal(a * scale));
  }
};
struct SqrtApprox {
  static float apply(float a) {
    const bool tiny = std::fabs(a) < kTiny;
    return special::Unit<special::root>::apply(tiny ? a * 0x1p24f : a) * (tiny ? 0x1p-12f : 1.0f);
  }
};
struct RsqrtApprox {
  static float apply(float a) {
    const bool tiny = std::fabs(a) < kTiny;
    return special::Unit<special::reciprocal_root>::apply(tiny ? a * 0x1p24f : a) * (tiny ? 0x1p12f : 1.0f);
  }
};
struct Lg2Approx {
  static float apply(float a) {
    const bool tiny = std::fabs(a) < kTiny;
    return canonical(special::Unit<special::logarithm>::apply(tiny ? a * 0x1p24f : a) - (tiny ? 24.0f : 0.0f));
  }
};
struct Ex2Approx {
  static float apply(float a) {
    const bool small = a < -126.0f;
    const float r = special::Unit<special::power_of_two>::apply(small ? a * 0.5f : a);
    return canonical(small ? r * r : r);
  }
};
/// x / (2 pi) cut off, in revolutions.
inline float revolutions(float a) {
  constexpr float kPerRadian = 0x1.45f306p-3f;
  const auto cut = std::bit_cast<std::uint64_t>(static_cast<double>(a) * kPerRadian) & ~std::uint64_t{0x1fffffff};
  return static_cast<float>(std::bit_cast<double>(cut));
}
template <bool kCosine>
struct SineApprox {
  static float apply(float a) { return special::Unit<special::sine<kCosine>>::apply(revolutions(a)); }
};
/// div.approx and div.full, which also scales down divisors above 2^126; `div.approx` gives 0 for them.
template <bool kFull>
struct DivApprox {
  static float apply(float a, float b) {
    const float m = std::fabs(b), scale = kFull && m > kHuge ? 0.25f : m < kTiny ? 0x1p24f : 1.0f;
    return canonical(a * scale * unit_reciprocal(b * scale));
  }
};
// rcp.approx.ftz.f64 and rsqrt.approx.ftz.f64 are the unit's upper words (PTX ISA).
inline std::uint32_t upper_of(double v) { return static_cast<std::uint32_t>(bits(v) >> 32); }
inline double from_upper(std::uint32_t high) { return std::bit_cast<double>(std::uint64_t{high} << 32); }
struct RcpApproxF64 {
  static double apply(double a) { return from_upper(upper_reciprocal(upper_of(a))); }
};
struct RsqrtApproxF64 {
  static double apply(double a) { return from_upper(upper_reciprocal_root(upper_of(a))); }
};
/// rsqrt.approx.f64 as ptxas makes it: the unit's word and one step of third order; subnormals are scaled before.
struct RsqrtF64 {
  static double step(double a) {
    const double y = RsqrtApproxF64::apply(a), error = std::fma(a, -(y * y), 1.0);
    return std::fma(std::fma(error, 0.375, 0.5), y * error, y);
  }
  static double apply(double a) {
    if (a == 0) return std::copysign(std::numeric_limits<double>::infinity(), a);
    if (a != a) return double_result(a, a, a);
    if (a < 0) return std::bit_cast<double>(0xfff8000000000000ull);
    if (a == std::numeric_limits<double>::infinity()) return 0;
    return a < std::numeric_limits<double>::min() ? step(a * 0x1p54) * 0x1p27 : step(a);
  }
};

// Of f64, not-a-number keeps its sign and becomes quiet (H200).
template <typename T>
struct FAbs {
  static T apply(T a) { return a == a ? std::bit_cast<T>(bits(a) & ~kSign<T>) : result(a, a, a); }
};
template <typename T>
struct FNeg {
  static T apply(T a) { return a == a ? std::bit_cast<T>(bits(a) ^ kSign<T>) : result(a, a, a); }
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

/// An approximate function: F, or with .ftz the unit alone.
template <typename F, std::uint32_t (*kFunction)(std::uint32_t)>
Handler unit(const code::Op& op) {
  if (!op.ftz) return unary_f32<F>(op);
  using Plain = Unary<float, float, special::Unit<kFunction>>;
  return op.sat ? saturated<float, Plain::run> : Plain::run;
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
      if (op.approx) return pick<float, Binary<float, float, float, DivApprox<false>>::run>(op);
      if (i.has(Mod::k_full)) return pick<float, Binary<float, float, float, DivApprox<true>>::run>(op);
      return binary<FDiv>(op);
    case Opcode::k_rcp:
      if (dbl && op.approx) return Unary<double, double, RcpApproxF64>::run;
      if (op.approx) return unit<RcpApprox, special::reciprocal>(op);
      return unary<FRcp>(op);
    case Opcode::k_sqrt:
      if (op.approx) return unit<SqrtApprox, special::root>(op);
      return unary<FSqrt>(op);
    case Opcode::k_rsqrt:
      if (dbl && op.ftz) return Unary<double, double, RsqrtApproxF64>::run;
      if (dbl) return pick<double, Unary<double, double, RsqrtF64>::run>(op);
      return unit<RsqrtApprox, special::reciprocal_root>(op);
    case Opcode::k_sin:
      return unary_f32<SineApprox<false>>(op);
    case Opcode::k_cos:
      return unary_f32<SineApprox<true>>(op);
    case Opcode::k_lg2:
      return unit<Lg2Approx, special::logarithm>(op);
    case Opcode::k_ex2:
      return unit<Ex2Approx, special::power_of_two>(op);
    case Opcode::k_tanh:
      return unary_f32<special::Unit<special::tangent>>(op);
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
