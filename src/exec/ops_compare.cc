// Comparison and selection (PTX ISA, "Comparison and Selection Instructions").
#include <bit>

#include "exec/half.h"
#include "exec/op_table.h"
#include "exec/ops_common.h"

namespace muscope::exec::MUSCOPE_ISA {
namespace {

using code::Compare;
using code::Logic;
using ptx::Opcode;
using ptx::Type;

/// Raw lanes of a half-precision register compare as floats.
struct HalfLane {
  std::uint16_t bits;
  float value() const { return half_to_float(bits); }
};
struct BrainLane {
  std::uint16_t bits;
  float value() const { return std::bit_cast<float>(std::uint32_t{bits} << 16); }
};
inline float flush(float v, bool ftz) {
  return ftz && std::fabs(v) < std::numeric_limits<float>::min() ? std::copysign(0.0f, v) : v;
}

template <typename T>
auto value_of(T v, bool) {
  return v;
}
inline float value_of(float v, bool ftz) { return flush(v, ftz); }
inline float value_of(HalfLane v, bool ftz) {
  const float f = v.value();
  return ftz && std::fabs(f) < 0x1p-14f ? std::copysign(0.0f, f) : f;
}
inline float value_of(BrainLane v, bool) { return v.value(); }

template <Compare kCompare, typename T>
bool compare(T a, T b) {
  if constexpr (kCompare == Compare::kEq) return a == b;
  if constexpr (kCompare == Compare::kNe) return a != b && a == a && b == b;
  if constexpr (kCompare == Compare::kLt || kCompare == Compare::kLo) return a < b;
  if constexpr (kCompare == Compare::kLe || kCompare == Compare::kLs) return a <= b;
  if constexpr (kCompare == Compare::kGt || kCompare == Compare::kHi) return a > b;
  if constexpr (kCompare == Compare::kGe || kCompare == Compare::kHs) return a >= b;
  if constexpr (kCompare == Compare::kEqu) return !(a != b) || a != a || b != b;
  if constexpr (kCompare == Compare::kNeu) return a != b;
  if constexpr (kCompare == Compare::kLtu) return !(a >= b);
  if constexpr (kCompare == Compare::kLeu) return !(a > b);
  if constexpr (kCompare == Compare::kGtu) return !(a <= b);
  if constexpr (kCompare == Compare::kGeu) return !(a < b);
  if constexpr (kCompare == Compare::kNum) return a == a && b == b;
  return a != a || b != b;
}

/// The mask of one comparison; op->flags bit 0 is ftz.
template <Compare kCompare, typename T>
[[gnu::always_inline]] inline GroupMask compare_lanes(Warp& w, const XOp* op) {
  const T* a = w.src<T>(op->a);
  const T* b = w.src<T>(op->b);
  const bool ftz = op->flags & 1;
  if (std::is_same_v<T, float> && !ftz)
    return mask_of([=](unsigned l) { return compare<kCompare>(value_of(a[l], false), value_of(b[l], false)); });
  return mask_of([=](unsigned l) { return compare<kCompare>(value_of(a[l], ftz), value_of(b[l], ftz)); });
}

GroupMask combine(GroupMask value, GroupMask with, std::uint8_t logic) {
  switch (static_cast<Logic>(logic)) {
    case Logic::kAnd:
      return value & with;
    case Logic::kOr:
      return value | with;
    case Logic::kXor:
      return value ^ with;
    case Logic::kNone:
      break;
  }
  return value;
}

template <Compare kCompare, typename T>
struct Setp {
  static const XOp* run(Warp& w, const XOp* op) {
    const GroupMask m = compare_lanes<kCompare, T>(w, op);
    GroupMask p = m, q = ~m;
    if (op->imm8 != 0) {
      const GroupMask c = read_predicate(w, op->c, op->c_negated);
      p = combine(m, c, op->imm8);
      q = combine(~m, c, op->imm8);
    }
    if (op->dst != kNoPlace) write_predicate(w, op->dst, p);
    if (op->has_dst2) write_predicate(w, op->dst2, q);
    return op + 1;
  }
};

/// set: all ones or 1.0 where the comparison holds. op->vector is the result's kind.
enum SetResult : std::uint8_t { kSet32, kSetF32, kSet16, kSetF16, kSetBF16 };
template <Compare kCompare, typename T>
struct Set {
  static const XOp* run(Warp& w, const XOp* op) {
    GroupMask m = compare_lanes<kCompare, T>(w, op);
    if (op->imm8 != 0) m = combine(m, read_predicate(w, op->c, op->c_negated), op->imm8);
    switch (op->vector) {
      case kSet16:
        for_lanes(w, w.dst<std::uint16_t>(op->dst),
                  [=](unsigned l) -> std::uint16_t { return (m >> l) & 1 ? 0xffff : 0; });
        break;
      case kSetF16:
        for_lanes(w, w.dst<std::uint16_t>(op->dst),
                  [=](unsigned l) -> std::uint16_t { return (m >> l) & 1 ? 0x3c00 : 0; });
        break;
      case kSetBF16:
        for_lanes(w, w.dst<std::uint16_t>(op->dst),
                  [=](unsigned l) -> std::uint16_t { return (m >> l) & 1 ? 0x3f80 : 0; });
        break;
      case kSetF32:
        for_lanes(w, w.dst<std::uint32_t>(op->dst),
                  [=](unsigned l) -> std::uint32_t { return (m >> l) & 1 ? 0x3f800000u : 0; });
        break;
      default:
        for_lanes(w, w.dst<std::uint32_t>(op->dst),
                  [=](unsigned l) -> std::uint32_t { return (m >> l) & 1 ? 0xffffffffu : 0; });
    }
    return op + 1;
  }
};

template <template <Compare, typename> class H, typename T, bool kFloat>
Handler by_compare(Compare c) {
  switch (c) {
    case Compare::kEq:
      return H<Compare::kEq, T>::run;
    case Compare::kNe:
      return H<Compare::kNe, T>::run;
    case Compare::kLt:
    case Compare::kLo:
      return H<Compare::kLt, T>::run;
    case Compare::kLe:
    case Compare::kLs:
      return H<Compare::kLe, T>::run;
    case Compare::kGt:
    case Compare::kHi:
      return H<Compare::kGt, T>::run;
    case Compare::kGe:
    case Compare::kHs:
      return H<Compare::kGe, T>::run;
    default:
      break;
  }
  if constexpr (kFloat) switch (c) {
      case Compare::kEqu:
        return H<Compare::kEqu, T>::run;
      case Compare::kNeu:
        return H<Compare::kNeu, T>::run;
      case Compare::kLtu:
        return H<Compare::kLtu, T>::run;
      case Compare::kLeu:
        return H<Compare::kLeu, T>::run;
      case Compare::kGtu:
        return H<Compare::kGtu, T>::run;
      case Compare::kGeu:
        return H<Compare::kGeu, T>::run;
      case Compare::kNum:
        return H<Compare::kNum, T>::run;
      case Compare::kNan:
        return H<Compare::kNan, T>::run;
      default:
        break;
    }
  return nullptr;
}

template <template <Compare, typename> class H>
Handler by_type(Type type, Compare c) {
  switch (type) {
    case Type::kB16:
    case Type::kU16:
      return by_compare<H, std::uint16_t, false>(c);
    case Type::kS16:
      return by_compare<H, std::int16_t, false>(c);
    case Type::kB32:
    case Type::kU32:
      return by_compare<H, std::uint32_t, false>(c);
    case Type::kS32:
      return by_compare<H, std::int32_t, false>(c);
    case Type::kB64:
    case Type::kU64:
      return by_compare<H, std::uint64_t, false>(c);
    case Type::kS64:
      return by_compare<H, std::int64_t, false>(c);
    case Type::kF32:
      return by_compare<H, float, true>(c);
    case Type::kF64:
      return by_compare<H, double, true>(c);
    case Type::kF16:
      return by_compare<H, HalfLane, true>(c);
    case Type::kBF16:
      return by_compare<H, BrainLane, true>(c);
    default:
      return nullptr;
  }
}

/// Packed comparisons: p for the low half, q for the high one.
struct PackedPair {
  template <typename Lane>
  static const XOp* run(Warp& w, const XOp* op) {
    const std::uint32_t *a = w.src<std::uint32_t>(op->a), *b = w.src<std::uint32_t>(op->b);
    const auto c = static_cast<Compare>(op->vector);
    const bool ftz = op->flags & 1;
    const auto holds = [c, ftz](std::uint16_t x, std::uint16_t y) {
      const float u = value_of(Lane{x}, ftz), v = value_of(Lane{y}, ftz);
      const bool ordered = u == u && v == v;
      switch (c) {
        case Compare::kEq:
          return u == v;
        case Compare::kNe:
          return ordered && u != v;
        case Compare::kLt:
          return u < v;
        case Compare::kLe:
          return u <= v;
        case Compare::kGt:
          return u > v;
        case Compare::kGe:
          return u >= v;
        case Compare::kEqu:
          return !ordered || u == v;
        case Compare::kNeu:
          return u != v;
        case Compare::kLtu:
          return !(u >= v);
        case Compare::kLeu:
          return !(u > v);
        case Compare::kGtu:
          return !(u <= v);
        case Compare::kGeu:
          return !(u < v);
        case Compare::kNum:
          return ordered;
        default:
          return !ordered;
      }
    };
    const GroupMask low =
        mask_of([=](unsigned l) { return holds(static_cast<std::uint16_t>(a[l]), static_cast<std::uint16_t>(b[l])); });
    const GroupMask high = mask_of([=](unsigned l) {
      return holds(static_cast<std::uint16_t>(a[l] >> 16), static_cast<std::uint16_t>(b[l] >> 16));
    });
    const GroupMask with = op->imm8 != 0 ? read_predicate(w, op->c, op->c_negated) : 0;
    const GroupMask p = combine(low, with, op->imm8), q = combine(high, with, op->imm8);
    if (op->flags & 2) {  // set: 1.0 or all ones per half
      const std::uint32_t one = op->flags & 4 ? 0xffffu : std::is_same_v<Lane, HalfLane> ? 0x3c00u : 0x3f80u;
      for_lanes(w, w.dst<std::uint32_t>(op->dst),
                [=](unsigned l) { return ((p >> l) & 1 ? one : 0) | ((q >> l) & 1 ? one << 16 : 0); });
      return op + 1;
    }
    if (op->dst != kNoPlace) write_predicate(w, op->dst, p);
    if (op->has_dst2) write_predicate(w, op->dst2, q);
    return op + 1;
  }
};

template <typename T>
struct Selp {
  static const XOp* run(Warp& w, const XOp* op) {
    const T *a = w.src<T>(op->a), *b = w.src<T>(op->b);
    const GroupMask p = read_predicate(w, op->c, op->c_negated);
    for_lanes(w, w.dst<T>(op->dst), [=](unsigned l) { return (p >> l) & 1 ? a[l] : b[l]; });
    return op + 1;
  }
};
template <typename T, typename C>
struct Slct {
  static const XOp* run(Warp& w, const XOp* op) {
    const T *a = w.src<T>(op->a), *b = w.src<T>(op->b);
    const C* c = w.src<C>(op->c);
    // The smallest normal number is where .ftz begins to see a sign.
    const C limit =
        std::is_same_v<C, float> && op->source->ftz ? static_cast<C>(-std::numeric_limits<float>::min()) : C{0};
    const bool strict = limit < 0;
    for_lanes(w, w.dst<T>(op->dst), [=](unsigned l) { return (strict ? c[l] > limit : c[l] >= limit) ? a[l] : b[l]; });
    return op + 1;
  }
};

}  // namespace

Handler find_compare(const code::Op& op) {
  switch (op.opcode) {
    case Opcode::k_setp:
      if (op.type == Type::kF16x2) return PackedPair::run<HalfLane>;
      if (op.type == Type::kBF16x2) return PackedPair::run<BrainLane>;
      return by_type<Setp>(op.type, op.compare);
    case Opcode::k_set:
      if (op.type == Type::kF16x2) return PackedPair::run<HalfLane>;
      if (op.type == Type::kBF16x2) return PackedPair::run<BrainLane>;
      return by_type<Set>(op.type, op.compare);
    case Opcode::k_selp:
      switch (ptx::size_of(op.type)) {
        case 2:
          return Selp<std::uint16_t>::run;
        case 4:
          return Selp<std::uint32_t>::run;
        case 8:
          return Selp<std::uint64_t>::run;
        default:
          return nullptr;
      }
    case Opcode::k_slct: {
      const bool by_float = op.type2 == Type::kF32;
      switch (ptx::size_of(op.type)) {
        case 2:
          return by_float ? Slct<std::uint16_t, float>::run : Slct<std::uint16_t, std::int32_t>::run;
        case 4:
          return by_float ? Slct<std::uint32_t, float>::run : Slct<std::uint32_t, std::int32_t>::run;
        case 8:
          return by_float ? Slct<std::uint64_t, float>::run : Slct<std::uint64_t, std::int32_t>::run;
        default:
          return nullptr;
      }
    }
    default:
      return nullptr;
  }
}

}  // namespace muscope::exec::MUSCOPE_ISA
