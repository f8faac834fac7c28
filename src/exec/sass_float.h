// What the floating-point families of machine code share: modes, comparisons. Included by files that are compiled once
// per instruction set level.
#pragma once

#include "exec/float_math.h"
#include "exec/sass_common.h"

namespace muscope::exec::MUSCOPE_ISA {

// The parts of the family; find_sass_float asks them.
Handler find_sass_double(const sass::Instruction& instruction);
Handler find_sass_special(const sass::Instruction& instruction);
Handler find_sass_half(const sass::Instruction& instruction);

namespace {

inline float with_sign(const FloatSign& sign, float v) { return std::bit_cast<float>(sign(bits(v))); }

inline bool has_sign(const sass::Operand& o) { return o.negate || o.absolute; }
inline bool has_sign(const sass::Instruction& i) { return has_sign(i.a) || has_sign(i.b) || has_sign(i.c); }

/// Runs a handler under the instruction's rounding mode and flushing. sass::Rounding numbers the modes as MXCSR does.
template <Handler kInner>
const XOp* controlled_sass(Warp& w, const XOp* op) {
  const sass::FloatForm& form = op->sass->floating;
  const Control control(static_cast<unsigned>(form.rounding), form.ftz);
  return kInner(w, op);
}

template <sass::Compare kCompare, typename T>
[[gnu::always_inline]] inline bool holds(T a, T b) {
  using sass::Compare;
  switch (kCompare) {
    case Compare::kF:
      return false;
    case Compare::kLt:
      return a < b;
    case Compare::kEq:
      return a == b;
    case Compare::kLe:
      return a <= b;
    case Compare::kGt:
      return a > b;
    case Compare::kNe:
      return (a < b) | (a > b);
    case Compare::kGe:
      return a >= b;
    case Compare::kNum:
      return (a == a) & (b == b);
    case Compare::kNan:
      return !((a == a) & (b == b));
    case Compare::kLtu:
      return !(a >= b);
    case Compare::kEqu:
      return !((a < b) | (a > b));
    case Compare::kLeu:
      return !(a > b);
    case Compare::kGtu:
      return !(a <= b);
    case Compare::kNeu:
      return !(a == b);
    case Compare::kGeu:
      return !(a < b);
    case Compare::kT:
      return true;
  }
  return false;
}

/// f.operator()<kCompare>() for a comparison chosen at run time.
template <typename F>
Handler by_compare(sass::Compare compare, F f) {
  using sass::Compare;
  switch (compare) {
    case Compare::kF:
      return f.template operator()<Compare::kF>();
    case Compare::kLt:
      return f.template operator()<Compare::kLt>();
    case Compare::kEq:
      return f.template operator()<Compare::kEq>();
    case Compare::kLe:
      return f.template operator()<Compare::kLe>();
    case Compare::kGt:
      return f.template operator()<Compare::kGt>();
    case Compare::kNe:
      return f.template operator()<Compare::kNe>();
    case Compare::kGe:
      return f.template operator()<Compare::kGe>();
    case Compare::kNum:
      return f.template operator()<Compare::kNum>();
    case Compare::kNan:
      return f.template operator()<Compare::kNan>();
    case Compare::kLtu:
      return f.template operator()<Compare::kLtu>();
    case Compare::kEqu:
      return f.template operator()<Compare::kEqu>();
    case Compare::kLeu:
      return f.template operator()<Compare::kLeu>();
    case Compare::kGtu:
      return f.template operator()<Compare::kGtu>();
    case Compare::kNeu:
      return f.template operator()<Compare::kNeu>();
    case Compare::kGeu:
      return f.template operator()<Compare::kGeu>();
    case Compare::kT:
      return f.template operator()<Compare::kT>();
  }
  return nullptr;
}

inline GroupMask combined(sass::Combine combine, GroupMask a, GroupMask b) {
  return combine == sass::Combine::kAnd ? a & b : combine == sass::Combine::kOr ? a | b : a ^ b;
}

/// The two predicates of a comparison: the result and its opposite, each combined with the source predicate.
inline void write_compared(Warp& w, const XOp* op, GroupMask result) {
  const sass::Combine combine = op->sass->floating.combine;
  const GroupMask p = read_predicate(w, op->d, op->sass->p0.invert);
  write_predicate(w, op->dst2, combined(combine, result, p));
  write_predicate(w, op->dst3, combined(combine, ~result, p));
}

}  // namespace
}  // namespace muscope::exec::MUSCOPE_ISA
