// f16 and bf16 arithmetic, single and packed (PTX ISA, "Half Precision Floating Point Instructions").
// Sums and products are formed in float (24 bits hold any correctly rounded result of two 11-bit operands) and fused
// products in double (exact for these formats where it matters), then rounded once.
#include "exec/half_special.h"
#include "exec/op_table.h"

namespace muscope::exec::MUSCOPE_ISA {
namespace {

using ptx::Mod;
using ptx::Opcode;
using ptx::Type;

enum HalfOp : std::uint8_t { kAdd, kSub, kMul, kFma, kMin, kMax, kMinNan, kMaxNan, kNeg, kAbs, kEx2, kTanh };
enum HalfFlags : std::uint8_t { kFtz = 1, kSat = 2, kRelu = 4, kXorSign = 8 };

template <typename F>
[[gnu::always_inline]] inline std::uint16_t one(HalfOp what, std::uint8_t flags, std::uint16_t a, std::uint16_t b,
                                                std::uint16_t c) {
  // Denormal operands are flushed by every operation that has .ftz, min, max and neg included (H200).
  const auto flush = [flags](std::uint16_t v) {
    return static_cast<std::uint16_t>((flags & kFtz) && std::fabs(F::in(v)) < F::kMinNormal ? v & 0x8000u : v);
  };
  a = flush(a), b = flush(b), c = flush(c);
  if (what == kNeg) return F::in(a) == F::in(a) ? a ^ 0x8000u : F::kNan;
  if (what == kAbs) return F::in(a) == F::in(a) ? a & 0x7fffu : F::kNan;
  const float x = F::in(a), y = F::in(b), z = F::in(c);
  double r = 0;
  switch (what) {
    case kAdd:
      r = x + y;
      break;
    case kSub:
      r = x - y;
      break;
    case kMul:
      r = x * y;
      break;
    case kFma:
      r = fused(x, y, z);
      break;
    case kEx2:
      return half_special<F, special::power_of_two>(x);
    case kTanh:
      return half_special<F, special::tangent>(x);
    default: {
      const bool min = what == kMin || what == kMinNan, propagate = what == kMinNan || what == kMaxNan;
      // .xorsign.abs: the magnitude chosen, with the product's sign.
      if (flags & kXorSign) {
        const std::uint16_t plain = one<F>(what, 0, a & 0x7fffu, b & 0x7fffu, 0);
        return F::in(plain) == F::in(plain) ? static_cast<std::uint16_t>(plain | ((a ^ b) & 0x8000u)) : F::kNan;
      }
      if (x != x || y != y) {
        if (propagate || (x != x && y != y)) return F::kNan;
        return x != x ? b : a;
      }
      if (x == y) return min ? a | b : a & b;
      return (x < y) == min ? a : b;
    }
  }
  if (flags & kSat) r = r > 0 ? (r < 1 ? r : 1) : 0;
  if (flags & kRelu) r = r > 0 || r != r ? r : 0;
  std::uint16_t out = F::out(r);
  // Results too, when they are below the smallest normal number at full precision: 0x0400 * 0x3bff gives 0, although it
  // would be rounded up among denormal numbers; 0x0401 * 0x3bfe, nearer to it, gives 0x0400 (H200). Half a unit in the
  // last place below that number decides. Only f16 has .ftz.
  constexpr double kTiny = double{F::kMinNormal} * (1 - 0x1p-12);
  if ((flags & kFtz) && std::fabs(r) < kTiny) out &= 0x8000u;
  return out;
}

template <typename F, bool kPacked, HalfOp kWhat>
struct HalfHandler {
  static const XOp* run(Warp& w, const XOp* op) {
    using T = std::conditional_t<kPacked, std::uint32_t, std::uint16_t>;
    constexpr int kSources = kWhat == kFma ? 3 : kWhat >= kNeg ? 1 : 2;
    const T* a = w.src<T>(op->a);
    const T* b = kSources > 1 ? w.src<T>(op->b) : a;
    const T* c = kSources > 2 ? w.src<T>(op->c) : a;
    const std::uint8_t flags = op->flags;
    for_lanes(w, w.dst<T>(op->dst), [=](unsigned l) -> T {
      if constexpr (kPacked) {
        const auto h = [](std::uint32_t v, int k) { return static_cast<std::uint16_t>(v >> (16 * k)); };
        const std::uint32_t low = one<F>(kWhat, flags, h(a[l], 0), h(b[l], 0), h(c[l], 0));
        const std::uint32_t high = one<F>(kWhat, flags, h(a[l], 1), h(b[l], 1), h(c[l], 1));
        return low | (high << 16);
      } else {
        return one<F>(kWhat, flags, a[l], b[l], c[l]);
      }
    });
    return op + 1;
  }
};

template <HalfOp kWhat>
Handler by_type(Type type) {
  switch (type) {
    case Type::kF16:
      return HalfHandler<F16, false, kWhat>::run;
    case Type::kF16x2:
      return HalfHandler<F16, true, kWhat>::run;
    case Type::kBF16:
      return HalfHandler<BF16, false, kWhat>::run;
    case Type::kBF16x2:
      return HalfHandler<BF16, true, kWhat>::run;
    default:
      return nullptr;
  }
}

}  // namespace

Handler find_half(const code::Op& op) {
  if (op.source->types.size() != 1) return nullptr;
  const bool nan = op.source->has(Mod::k_NaN);
  if (op.source->has(Mod::k_oob)) return nullptr;
  switch (op.opcode) {
    case Opcode::k_add:
      return by_type<kAdd>(op.type);
    case Opcode::k_sub:
      return by_type<kSub>(op.type);
    case Opcode::k_mul:
      return by_type<kMul>(op.type);
    case Opcode::k_fma:
      return by_type<kFma>(op.type);
    case Opcode::k_min:
      return nan ? by_type<kMinNan>(op.type) : by_type<kMin>(op.type);
    case Opcode::k_max:
      return nan ? by_type<kMaxNan>(op.type) : by_type<kMax>(op.type);
    case Opcode::k_neg:
      return by_type<kNeg>(op.type);
    case Opcode::k_abs:
      return by_type<kAbs>(op.type);
    case Opcode::k_ex2:
      return by_type<kEx2>(op.type);
    case Opcode::k_tanh:
      return by_type<kTanh>(op.type);
    default:
      return nullptr;
  }
}

}  // namespace muscope::exec::MUSCOPE_ISA
