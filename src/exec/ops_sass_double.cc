// Double precision of machine code. A value is two registers, low word first.
#include "exec/op_table.h"
#include "exec/sass_convert.h"

namespace muscope::exec::MUSCOPE_ISA {
namespace {

using sass::Compare;
using sass::Instruction;
using sass::Opcode;
using std::uint32_t;
using std::uint64_t;

/// A source: both words and what happens to its sign. The result may overwrite it, so each lane is read first.
struct Source {
  const uint32_t* low;
  FloatSign sign;
  Source(const Warp& w, uint32_t place, const sass::Operand& operand) : low(w.src<uint32_t>(place)), sign(operand) {}
  double raw(unsigned l) const { return std::bit_cast<double>(wide_value(low, l)); }
  double value(unsigned l) const {
    return std::bit_cast<double>(low[l] | uint64_t{sign(low[l + kNextRegister])} << 32);
  }
};

struct Add {
  static double apply(double a, double b) { return a + b; }
};
struct Multiply {
  static double apply(double a, double b) { return a * b; }
};

template <typename F>
const XOp* binary(Warp& w, const XOp* op) {
  const Source a(w, op->a, op->sass->a), b(w, op->b, op->sass->b);
  write_wide(w, op,
             [&](unsigned l) { return bits(double_result(F::apply(a.value(l), b.value(l)), a.raw(l), b.raw(l))); });
  return op + 1;
}

const XOp* fused(Warp& w, const XOp* op) {
  const Source a(w, op->a, op->sass->a), b(w, op->b, op->sass->b), c(w, op->c, op->sass->c);
  write_wide(w, op, [&](unsigned l) {
    return bits(double_result(std::fma(a.value(l), b.value(l), c.value(l)), a.raw(l), b.raw(l), c.raw(l)));
  });
  return op + 1;
}

template <Compare kCompare>
const XOp* compare(Warp& w, const XOp* op) {
  const Source a(w, op->a, op->sass->a), b(w, op->b, op->sass->b);
  write_compared(w, op, mask_of([&](unsigned l) { return holds<kCompare>(a.value(l), b.value(l)); }));
  return op + 1;
}

/// DSETP.MIN and .MAX: whether a is the result, and whether both are not numbers (then b is, made quiet by what
/// follows). From min.f64 on an H200.
template <bool kMin>
const XOp* choose(Warp& w, const XOp* op) {
  const Source a(w, op->a, op->sass->a), b(w, op->b, op->sass->b);
  const GroupMask first = mask_of([&](unsigned l) {
    const double x = a.value(l), y = b.value(l);
    const bool negative = std::signbit(x);
    return (kMin ? x < y : x > y) | ((x == y) & (negative == kMin)) | ((x == x) & (y != y));
  });
  const GroupMask neither =
      mask_of([&](unsigned l) { return (a.value(l) != a.value(l)) & (b.value(l) != b.value(l)); });
  write_predicate(w, op->dst2, first);
  write_predicate(w, op->dst3, neither);
  return op + 1;
}

template <Handler kInner>
Handler rounded(const Instruction& i) {
  return i.floating.rounding == sass::Rounding::kNearest ? kInner : controlled_sass<kInner>;
}

}  // namespace

Handler find_sass_double(const Instruction& i) {
  switch (i.opcode) {
    case Opcode::kDADD:
      return rounded<binary<Add>>(i);
    case Opcode::kDMUL:
      return rounded<binary<Multiply>>(i);
    case Opcode::kDFMA:
      return rounded<fused>(i);
    case Opcode::kDSETP: {
      const sass::FloatForm& form = i.floating;
      if (form.compare == Compare::kF || form.compare == Compare::kT) {
        // Only as min.f64 and max.f64 use them: no further predicate.
        if (form.combine != sass::Combine::kAnd || i.p0.index != sass::kPt || i.p0.invert) return nullptr;
        return form.compare == Compare::kF ? choose<true> : choose<false>;
      }
      return by_compare(form.compare, []<Compare kCompare>() -> Handler { return compare<kCompare>; });
    }
    default:
      return nullptr;
  }
}

}  // namespace muscope::exec::MUSCOPE_ISA
