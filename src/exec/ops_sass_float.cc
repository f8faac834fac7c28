// Single precision of machine code: sums, products, minima, choices, comparisons.
#include "exec/float_math.h"
#include "exec/op_table.h"
#include "exec/sass_float.h"

namespace muscope::exec::MUSCOPE_ISA {
namespace {

using sass::Compare;
using sass::Instruction;
using sass::Opcode;
using std::uint32_t;

struct Add {
  static constexpr unsigned kSources = 2;
  static float apply(float a, float b, float) { return canonical(a + b); }
};
struct Multiply {
  static constexpr unsigned kSources = 2;
  static float apply(float a, float b, float) { return canonical(a * b); }
};
struct Fused {
  static constexpr unsigned kSources = 3;
  static float apply(float a, float b, float c) { return canonical(std::fma(a, b, c)); }
};

/// kSigned: some source has its sign changed.
template <typename F, bool kSigned>
const XOp* arithmetic(Warp& w, const XOp* op) {
  const float *a = w.src<float>(op->a), *b = w.src<float>(op->b), *c = F::kSources > 2 ? w.src<float>(op->c) : b;
  if constexpr (kSigned) {
    const FloatSign sa(op->sass->a), sb(op->sass->b), sc(op->sass->c);
    for_lanes(w, w.dst<float>(op->dst),
              [=](unsigned l) { return F::apply(with_sign(sa, a[l]), with_sign(sb, b[l]), with_sign(sc, c[l])); });
  } else {
    for_lanes(w, w.dst<float>(op->dst), [=](unsigned l) { return F::apply(a[l], b[l], c[l]); });
  }
  return op + 1;
}

/// FMUL with a factor of a power of two: the product is exact in double, and rounded once.
const XOp* scaled_multiply(Warp& w, const XOp* op) {
  const float *a = w.src<float>(op->a), *b = w.src<float>(op->b);
  const FloatSign sa(op->sass->a), sb(op->sass->b);
  const double scale = std::ldexp(1.0, op->sass->floating.scale);
  for_lanes(w, w.dst<float>(op->dst), [=](unsigned l) {
    return canonical(static_cast<float>(double{with_sign(sa, a[l])} * double{with_sign(sb, b[l])} * scale));
  });
  return op + 1;
}

template <Handler kInner>
const XOp* saturated(Warp& w, const XOp* op) {
  const XOp* next = kInner(w, op);
  float* d = w.dst<float>(op->dst);
  for_lanes(w, d, [=](unsigned l) { return saturate(d[l]); });
  return next;
}

template <Handler kInner>
Handler with_modes(const Instruction& i) {
  const bool special = i.floating.ftz || i.floating.rounding != sass::Rounding::kNearest;
  if (i.floating.saturate) return special ? saturated<controlled_sass<kInner>> : saturated<kInner>;
  return special ? controlled_sass<kInner> : kInner;
}

template <typename F>
Handler arithmetic_handler(const Instruction& i) {
  return has_sign(i) ? with_modes<arithmetic<F, true>>(i) : with_modes<arithmetic<F, false>>(i);
}

/// FMNMX: the smaller value where the predicate holds, the larger one elsewhere.
template <bool kNan, bool kXorSign>
const XOp* min_max(Warp& w, const XOp* op) {
  const uint32_t *a = w.src<uint32_t>(op->a), *b = w.src<uint32_t>(op->b);
  const FloatSign sa(op->sass->a), sb(op->sass->b);
  const bool ftz = op->sass->floating.ftz;
  const GroupMask smaller = read_predicate(w, op->d, op->sass->p0.invert);
  for_lanes(w, w.dst<uint32_t>(op->dst), [=](unsigned l) {
    const float x = std::bit_cast<float>(sa(a[l])), y = std::bit_cast<float>(sb(b[l]));
    float r = (smaller >> l) & 1 ? extreme<float, true>(x, y) : extreme<float, false>(x, y);
    r = ftz ? flush_to_zero(r) : r;
    uint32_t result = bits(r);
    if (kXorSign) result = r == r ? (result & 0x7fffffffu) | ((a[l] ^ b[l]) & 0x80000000u) : result;
    return kNan && !(x == x && y == y) ? 0x7fffffffu : result;
  });
  return op + 1;
}

Handler min_max_handler(const Instruction& i) {
  const sass::FloatForm& form = i.floating;
  // The sign of .XORSIGN is that of the registers, whose magnitudes are compared.
  if (form.xor_sign && !(i.a.absolute && i.b.absolute && !i.a.negate && !i.b.negate)) return nullptr;
  if (form.xor_sign) return form.nan ? min_max<true, true> : min_max<false, true>;
  return form.nan ? min_max<true, false> : min_max<false, false>;
}

const XOp* select(Warp& w, const XOp* op) {
  const uint32_t *a = w.src<uint32_t>(op->a), *b = w.src<uint32_t>(op->b);
  const FloatSign sa(op->sass->a), sb(op->sass->b);
  const GroupMask first = read_predicate(w, op->d, op->sass->p0.invert);
  for_lanes(w, w.dst<uint32_t>(op->dst), [=](unsigned l) { return (first >> l) & 1 ? sa(a[l]) : sb(b[l]); });
  return op + 1;
}
const XOp* flushed_select(Warp& w, const XOp* op) {
  const XOp* next = select(w, op);
  float* d = w.dst<float>(op->dst);
  for_lanes(w, d, [=](unsigned l) { return flush_to_zero(d[l]); });
  return next;
}

template <Compare kCompare>
GroupMask compared(const Warp& w, const XOp* op) {
  const float *a = w.src<float>(op->a), *b = w.src<float>(op->b);
  if (!has_sign(*op->sass)) return mask_of([=](unsigned l) { return holds<kCompare>(a[l], b[l]); });
  const FloatSign sa(op->sass->a), sb(op->sass->b);
  return mask_of([=](unsigned l) { return holds<kCompare>(with_sign(sa, a[l]), with_sign(sb, b[l])); });
}

template <Compare kCompare>
struct SetPredicates {
  static const XOp* run(Warp& w, const XOp* op) {
    write_compared(w, op, compared<kCompare>(w, op));
    return op + 1;
  }
};

/// FSET.BF: 1.0 or 0.0.
template <Compare kCompare>
struct SetValue {
  static const XOp* run(Warp& w, const XOp* op) {
    const GroupMask p = read_predicate(w, op->d, op->sass->p0.invert);
    const GroupMask r = combined(op->sass->floating.combine, compared<kCompare>(w, op), p);
    for_lanes(w, w.dst<float>(op->dst), [=](unsigned l) { return (r >> l) & 1 ? 1.0f : 0.0f; });
    return op + 1;
  }
};

/// FCHK: whether a / b needs the slow path. Measured on an H200 over all pairs of exponents: the mantissas do not
/// matter, and the fast path takes quotients and operands away from both ends of the range.
const XOp* check_division(Warp& w, const XOp* op) {
  const uint32_t *a = w.src<uint32_t>(op->a), *b = w.src<uint32_t>(op->b);
  write_predicate(w, op->dst2, mask_of([=](unsigned l) {
                    const int ea = static_cast<int>((a[l] >> 23) & 0xffu), eb = static_cast<int>((b[l] >> 23) & 0xffu);
                    return (ea < 25) | (ea > 254) | (eb < 2) | (eb > 251) | (ea - eb < -124) | (ea - eb > 126);
                  }));
  return op + 1;
}

template <template <Compare> class F>
Handler compare_handler(const Instruction& i) {
  return by_compare(i.floating.compare, [&]<Compare kCompare>() -> Handler {
    return i.floating.ftz ? controlled_sass<F<kCompare>::run> : F<kCompare>::run;
  });
}

}  // namespace

Handler find_sass_float(const Instruction& i) {
  switch (i.opcode) {
    case Opcode::kFADD:
      return arithmetic_handler<Add>(i);
    case Opcode::kFMUL:
      if (i.floating.scale != 0) return with_modes<scaled_multiply>(i);
      return arithmetic_handler<Multiply>(i);
    case Opcode::kFFMA:
      return arithmetic_handler<Fused>(i);
    case Opcode::kFMNMX:
      return min_max_handler(i);
    case Opcode::kFSEL:
      return i.floating.ftz ? flushed_select : select;
    case Opcode::kFSETP:
      return compare_handler<SetPredicates>(i);
    case Opcode::kFSET:
      return compare_handler<SetValue>(i);
    case Opcode::kFCHK:
      return check_division;
    default:
      if (const Handler h = find_sass_double(i)) return h;
      if (const Handler h = find_sass_special(i)) return h;
      return find_sass_half(i);
  }
}

}  // namespace muscope::exec::MUSCOPE_ISA
