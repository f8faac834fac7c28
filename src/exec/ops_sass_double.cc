// Double precision of machine code. A value is two registers, low word first.
#include "exec/op_table.h"
#include "exec/sass_float.h"

namespace muscope::exec::MUSCOPE_ISA {
namespace {

using sass::Compare;
using sass::Instruction;
using sass::Opcode;
using std::uint32_t;
using std::uint64_t;

/// A source as doubles, all lanes: the result may overwrite it.
struct Source {
  alignas(64) double value[kGroupLanes];
  const uint32_t* low;
  Source(const Warp& w, uint32_t place, const sass::Operand& operand) : low(w.src<uint32_t>(place)) {
    const uint32_t* const in = low;
    const FloatSign sign(operand);
    for (unsigned l = 0; l < kGroupLanes; ++l)
      value[l] = std::bit_cast<double>(in[l] | uint64_t{sign(in[l + kNextRegister])} << 32);
  }
  /// With the sign it has in the register.
  double raw(unsigned l) const { return std::bit_cast<double>(wide_value(low, l)); }
};

/// Writes 32 results; those that are not numbers as `none` says.
template <typename F>
void write_doubles(Warp& w, const XOp* op, double* r, F none) {
  uint64_t any = 0;
  for (unsigned l = 0; l < kGroupLanes; ++l) any |= 0 - static_cast<uint64_t>(r[l] != r[l]);
  if (any)
    for (unsigned l = 0; l < kGroupLanes; ++l) r[l] = none(l);
  uint32_t* d = w.dst<uint32_t>(op->dst);
  for_lanes(w, d, [=](unsigned l) { return static_cast<uint32_t>(bits(r[l])); });
  for_lanes(w, d + kNextRegister, [=](unsigned l) { return static_cast<uint32_t>(bits(r[l]) >> 32); });
}

struct Add {
  static double apply(double a, double b) { return a + b; }
};
struct Multiply {
  static double apply(double a, double b) { return a * b; }
};

template <typename F>
const XOp* binary(Warp& w, const XOp* op) {
  const Source a(w, op->a, op->sass->a), b(w, op->b, op->sass->b);
  alignas(64) double r[kGroupLanes];
  for (unsigned l = 0; l < kGroupLanes; ++l) r[l] = F::apply(a.value[l], b.value[l]);
  write_doubles(w, op, r, [&](unsigned l) { return double_result(r[l], a.raw(l), b.raw(l)); });
  return op + 1;
}

const XOp* fused(Warp& w, const XOp* op) {
  const Source a(w, op->a, op->sass->a), b(w, op->b, op->sass->b), c(w, op->c, op->sass->c);
  alignas(64) double r[kGroupLanes];
  fuse(r, a.value, b.value, c.value);
  write_doubles(w, op, r, [&](unsigned l) { return double_result(r[l], a.raw(l), b.raw(l), c.raw(l)); });
  return op + 1;
}

template <Compare kCompare>
const XOp* compare(Warp& w, const XOp* op) {
  const Source a(w, op->a, op->sass->a), b(w, op->b, op->sass->b);
  write_compared(w, op, mask_of([&](unsigned l) { return holds<kCompare>(a.value[l], b.value[l]); }));
  return op + 1;
}

/// DSETP.MIN and .MAX: whether a is the result, and whether both are not numbers (then b is, made quiet by what
/// follows). From min.f64 on an H200.
template <bool kMin>
const XOp* choose(Warp& w, const XOp* op) {
  const Source a(w, op->a, op->sass->a), b(w, op->b, op->sass->b);
  const GroupMask first = mask_of([&](unsigned l) {
    const double x = a.value[l], y = b.value[l];
    const bool negative = std::signbit(x);
    return (kMin ? x < y : x > y) | ((x == y) & (negative == kMin)) | ((x == x) & (y != y));
  });
  const GroupMask neither =
      mask_of([&](unsigned l) { return (a.value[l] != a.value[l]) & (b.value[l] != b.value[l]); });
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
