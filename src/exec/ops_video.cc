// Video instructions (PTX ISA, "Video Instructions"): scalar ones with parts of registers, saturation, a second
// operation and merging; packed ones on 2 or 4 values. What the manual leaves open is as an H200 has it
// (tests/conformance). No loop here is made to be vectorised: programs use few of them.
#include <algorithm>

#include "exec/ops_common.h"

namespace muscope::exec::MUSCOPE_ISA {
namespace {

using ptx::Mod;
using ptx::Opcode;
using std::int64_t;
using std::uint32_t;
using Wide = __int128;

enum class Kind : std::uint8_t { kAdd, kSub, kDifference, kAverage, kMin, kMax, kShl, kShr, kSet, kMad };

Kind kind_of(Opcode opcode) {
  switch (opcode) {
    case Opcode::k_vadd:
    case Opcode::k_vadd2:
    case Opcode::k_vadd4:
      return Kind::kAdd;
    case Opcode::k_vsub:
    case Opcode::k_vsub2:
    case Opcode::k_vsub4:
      return Kind::kSub;
    case Opcode::k_vabsdiff:
    case Opcode::k_vabsdiff2:
    case Opcode::k_vabsdiff4:
      return Kind::kDifference;
    case Opcode::k_vavrg2:
    case Opcode::k_vavrg4:
      return Kind::kAverage;
    case Opcode::k_vmin:
    case Opcode::k_vmin2:
    case Opcode::k_vmin4:
      return Kind::kMin;
    case Opcode::k_vmax:
    case Opcode::k_vmax2:
    case Opcode::k_vmax4:
      return Kind::kMax;
    case Opcode::k_vshl:
      return Kind::kShl;
    case Opcode::k_vshr:
      return Kind::kShr;
    case Opcode::k_vmad:
      return Kind::kMad;
    default:
      return Kind::kSet;
  }
}

/// The lower `bits` bits by their sign, or without.
int64_t extend(uint32_t v, unsigned bits, bool is_signed) {
  if (bits == 32) return is_signed ? int64_t{static_cast<std::int32_t>(v)} : int64_t{v};
  const uint32_t kept = v & ((1u << bits) - 1);
  return is_signed && (kept >> (bits - 1)) != 0 ? int64_t{kept} - (int64_t{1} << bits) : int64_t{kept};
}

/// v as a signed number of `bits` bits.
Wide wrapped(Wide v, unsigned bits) {
  const Wide one = Wide{1} << (bits - 1);
  return ((v + one) & (2 * one - 1)) - one;
}

Wide clamp(Wide v, unsigned bits, bool is_signed) {
  const Wide low = is_signed ? -(Wide{1} << (bits - 1)) : Wide{0};
  const Wide high = is_signed ? (Wide{1} << (bits - 1)) - 1 : (Wide{1} << bits) - 1;
  return std::clamp(v, low, high);
}

/// The part of a register that an operand names: .b0 to .b3, .h0, .h1, or all of it.
struct Part {
  unsigned shift = 0, bits = 32;
  explicit Part(Mod selector) {
    switch (selector) {
      case Mod::k_b0:
      case Mod::k_b1:
      case Mod::k_b2:
      case Mod::k_b3:
        bits = 8;
        shift = selector == Mod::k_b0 ? 0 : selector == Mod::k_b1 ? 8 : selector == Mod::k_b2 ? 16 : 24;
        break;
      case Mod::k_h0:
      case Mod::k_h1:
        bits = 16;
        shift = selector == Mod::k_h0 ? 0 : 16;
        break;
      default:
        break;
    }
  }
  int64_t read(uint32_t v, bool is_signed) const { return extend(v >> shift, bits, is_signed); }
};

/// What an instruction says, for all its lanes.
struct Shape {
  Kind kind;
  bool signed_result, signed_a, signed_b, saturate, wrap;
  std::uint8_t compare = 0;  ///< bits: less, equal, greater
  explicit Shape(const ptx::Instruction& i) : kind(kind_of(i.opcode)) {
    const bool set = kind == Kind::kSet;
    const auto sign = [&](std::size_t k) { return k < i.types.size() && ptx::is_signed(i.types[k]); };
    signed_a = sign(set ? 0 : 1), signed_b = sign(set ? 1 : 2);
    signed_result = sign(0);  // of vset, the first source's counts
    saturate = i.has(Mod::k_sat), wrap = i.has(Mod::k_wrap);
    for (const auto& [mod, mask] :
         {std::pair{Mod::k_eq, 2}, {Mod::k_ne, 5}, {Mod::k_lt, 1}, {Mod::k_le, 3}, {Mod::k_gt, 4}, {Mod::k_ge, 6}})
      if (set && i.has(mod)) compare = static_cast<std::uint8_t>(mask);
  }
  Wide operator()(int64_t a, int64_t b) const {
    switch (kind) {
      case Kind::kAdd:
        return a + b;
      case Kind::kSub:
        return a - b;
      case Kind::kDifference:
        return a < b ? b - a : a - b;
      case Kind::kAverage:  // ties away from zero
        return (a + b + (a + b >= 0)) >> 1;
      case Kind::kMin:
        return std::min(a, b);
      case Kind::kMax:
        return std::max(a, b);
      case Kind::kShl:
      case Kind::kShr: {
        const auto by = static_cast<unsigned>(wrap ? b & 31 : std::min<int64_t>(b, 32));
        return kind == Kind::kShl ? Wide{a} * (Wide{1} << by) : Wide{a >> by};
      }
      default:
        return (compare >> (a < b ? 0 : a == b ? 1 : 2)) & 1;
    }
  }
};

/// .sat. For a part of a register, what is negative becomes the largest number too. A sum or difference above what 32
/// bits hold without sign is not saturated but wraps. Shifts are numbers of 34 bits, saturated to 32 even for a part.
Wide saturated(const Shape& shape, Wide v, unsigned bits) {
  const bool shift = shape.kind == Kind::kShl || shape.kind == Kind::kShr;
  if (bits < 32 && !shift) {
    const Wide largest = (Wide{1} << (shape.signed_result ? bits - 1 : bits)) - 1;
    return v < 0 ? largest : std::min(v, largest);
  }
  const bool sum = shape.kind == Kind::kAdd || shape.kind == Kind::kSub || shape.kind == Kind::kDifference;
  if (sum && !shape.signed_result) return std::max(v, Wide{0});
  return clamp(shape.kind == Kind::kShl ? wrapped(v, 34) : v, 32, shape.signed_result);
}

/// The second operation's minimum or maximum. Both are seen as 64 bits: sums, differences and saturated shifts extended
/// by their sign, then compared without one when the result has none.
uint32_t second_extreme(const Shape& shape, Wide v, uint32_t c, bool min) {
  const bool sum = shape.kind == Kind::kAdd || shape.kind == Kind::kSub;
  const bool shift = shape.kind == Kind::kShl || shape.kind == Kind::kShr;
  const int64_t mine =
      sum || (shift && shape.saturate) ? extend(static_cast<uint32_t>(v), 32, true) : static_cast<int64_t>(v);
  const int64_t other = extend(c, 32, shape.signed_result);
  const bool less =
      shape.signed_result ? mine < other : static_cast<std::uint64_t>(mine) < static_cast<std::uint64_t>(other);
  return less == min ? static_cast<uint32_t>(v) : c;
}

/// vadd and its like. Without a third operand d is the result; with one, it is added or compared, or the result goes to
/// a part of it.
const XOp* scalar(Warp& w, const XOp* op) {
  const ptx::Instruction& i = *op->source->source;
  const Shape shape(i);
  const Part to(i.operands[0].selector), from_a(i.operands[1].selector), from_b(i.operands[2].selector);
  const bool third = op->source->c.exists();
  const bool add = i.has(Mod::k_add), min = i.has(Mod::k_min), max = i.has(Mod::k_max);
  const uint32_t *a = w.src<uint32_t>(op->a), *b = w.src<uint32_t>(op->b);
  const uint32_t* c = third ? w.src<uint32_t>(op->c) : a;
  // The upper half is merged from where it stands, not moved up as other parts are.
  const unsigned up = to.bits == 16 ? 0 : to.shift;
  for_lanes(w, w.dst<uint32_t>(op->dst), [&](unsigned l) {
    Wide v = shape(from_a.read(a[l], shape.signed_a), from_b.read(b[l], shape.signed_b));
    if (shape.saturate) v = saturated(shape, v, to.bits);
    const auto result = static_cast<uint32_t>(v);
    if (!third) return result;
    if (add) return result + c[l];
    if (min || max) return second_extreme(shape, v, c[l], min);
    if (to.bits == 32) return result;
    const uint32_t mask = ((1u << to.bits) - 1) << to.shift;
    return (c[l] & ~mask) | (result << up & mask);
  });
  return op + 1;
}

/// Whole registers are signed factors, and terms, whatever the types say.
int64_t factor(const Part& part, uint32_t v, bool is_signed) { return part.read(v, is_signed || part.bits == 32); }

const XOp* multiply_add(Warp& w, const XOp* op) {
  const ptx::Instruction& i = *op->source->source;
  const Shape shape(i);
  const ptx::Operand &x = i.operands[1], &y = i.operands[2], &z = i.operands[3];
  const Part from_a(x.selector), from_b(y.selector);
  const bool negate = x.negated != y.negated, plus_one = i.has(Mod::k_po);
  const bool is_signed = shape.signed_a || shape.signed_b || negate || z.negated;
  const unsigned shift = i.has(Mod::k_shr7) ? 7 : i.has(Mod::k_shr15) ? 15 : 0;
  const uint32_t *a = w.src<uint32_t>(op->a), *b = w.src<uint32_t>(op->b), *c = w.src<uint32_t>(op->c);
  for_lanes(w, w.dst<uint32_t>(op->dst), [&](unsigned l) {
    const Wide product = Wide{factor(from_a, a[l], shape.signed_a)} * factor(from_b, b[l], shape.signed_b);
    const Wide term = extend(c[l], 32, true);
    Wide v = (negate ? -product : product) + (z.negated ? -term : term) + (plus_one ? 1 : 0);
    v >>= shift;
    // Without sign, what is negative becomes 0, and after a shift the largest number.
    if (shape.saturate) v = shift && !is_signed && v < 0 ? Wide{0xffffffff} : clamp(v, 32, is_signed);
    return static_cast<uint32_t>(v);
  });
  return op + 1;
}

/// vadd2, vadd4 and their like: kParts results side by side, or with .add their sum and c.
template <unsigned kParts>
const XOp* packed(Warp& w, const XOp* op) {
  constexpr unsigned kBits = 32 / kParts;
  const ptx::Instruction& i = *op->source->source;
  const Shape shape(i);
  const bool add = i.has(Mod::k_add);
  const uint32_t *a = w.src<uint32_t>(op->a), *b = w.src<uint32_t>(op->b), *c = w.src<uint32_t>(op->c);
  for_lanes(w, w.dst<uint32_t>(op->dst), [&](unsigned l) {
    uint32_t result = add ? c[l] : 0;
    for (unsigned k = 0; k < kParts; ++k) {
      Wide v =
          shape(extend(a[l] >> (k * kBits), kBits, shape.signed_a), extend(b[l] >> (k * kBits), kBits, shape.signed_b));
      if (shape.saturate) v = clamp(v, kBits, shape.signed_result);
      const auto part = static_cast<uint32_t>(v);
      result += add ? part : (part & ((1u << kBits) - 1)) << (k * kBits);
    }
    return result;
  });
  return op + 1;
}

}  // namespace

Handler find_video(const code::Op& op) {
  switch (op.opcode) {
    case Opcode::k_vadd:
    case Opcode::k_vsub:
    case Opcode::k_vabsdiff:
    case Opcode::k_vmin:
    case Opcode::k_vmax:
    case Opcode::k_vshl:
    case Opcode::k_vshr:
    case Opcode::k_vset:
      return scalar;
    case Opcode::k_vmad:
      return multiply_add;
    case Opcode::k_vadd2:
    case Opcode::k_vsub2:
    case Opcode::k_vavrg2:
    case Opcode::k_vabsdiff2:
    case Opcode::k_vmin2:
    case Opcode::k_vmax2:
    case Opcode::k_vset2:
      return packed<2>;
    case Opcode::k_vadd4:
    case Opcode::k_vsub4:
    case Opcode::k_vavrg4:
    case Opcode::k_vabsdiff4:
    case Opcode::k_vmin4:
    case Opcode::k_vmax4:
    case Opcode::k_vset4:
      return packed<4>;
    default:
      return nullptr;
  }
}

}  // namespace muscope::exec::MUSCOPE_ISA
