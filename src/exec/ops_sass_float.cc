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
  static float apply(float a, float b) { return a + b; }
};
struct Multiply {
  static float apply(float a, float b) { return a * b; }
};

/// kSigned: some source has its sign changed.
template <typename F, bool kSigned>
const XOp* arithmetic(Warp& w, const XOp* op) {
  const uint32_t *a = w.src<uint32_t>(op->a), *b = w.src<uint32_t>(op->b);
  const FloatSign sa(op->sass->a), sb(op->sass->b);
  const auto value = [](const FloatSign& sign, uint32_t v) { return std::bit_cast<float>(kSigned ? sign(v) : v); };
  for_lanes(w, w.dst<uint32_t>(op->dst),
            [=](unsigned l) { return canonical_bits(F::apply(value(sa, a[l]), value(sb, b[l]))); });
  return op + 1;
}

template <bool kSigned>
const XOp* fused(Warp& w, const XOp* op) {
  const float *a = w.src<float>(op->a), *b = w.src<float>(op->b), *c = w.src<float>(op->c);
  alignas(64) float r[kGroupLanes];
  if constexpr (kSigned) {
    alignas(64) float x[kGroupLanes], y[kGroupLanes], z[kGroupLanes];
    const FloatSign sa(op->sass->a), sb(op->sass->b), sc(op->sass->c);
    for (unsigned l = 0; l < kGroupLanes; ++l)
      x[l] = with_sign(sa, a[l]), y[l] = with_sign(sb, b[l]), z[l] = with_sign(sc, c[l]);
    fuse(r, x, y, z);
  } else {
    fuse(r, a, b, c);
  }
  for_lanes(w, w.dst<uint32_t>(op->dst), [&](unsigned l) { return canonical_bits(r[l]); });
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

/// The bits of the smaller (kMin) or larger of two values, as `extreme` chooses.
template <bool kMin>
[[gnu::always_inline]] inline uint32_t extreme_bits(uint32_t u, uint32_t v) {
  const float x = std::bit_cast<float>(u), y = std::bit_cast<float>(v);
  uint32_t r = choose(mask_if(kMin ? x < y : x > y), u, v);
  r = choose(mask_if(x == y), kMin ? u | v : u & v, r);
  r = choose(mask_if(x != x), v, r);
  return choose(mask_if(y != y), choose(mask_if(x != x), 0x7fffffffu, u), r);
}

enum class Which : std::uint8_t { kMin, kMax, kByLane };

/// FMNMX: the smaller value where the predicate holds, the larger one elsewhere.
template <Which kWhich, bool kFtz, bool kNan, bool kXorSign>
const XOp* min_max(Warp& w, const XOp* op) {
  const uint32_t *a = w.src<uint32_t>(op->a), *b = w.src<uint32_t>(op->b);
  const FloatSign sa(op->sass->a), sb(op->sass->b);
  const GroupMask smaller = read_predicate(w, op->d, op->sass->p0.invert);
  for_lanes(w, w.dst<uint32_t>(op->dst), [=](unsigned l) {
    const uint32_t u = sa(a[l]), v = sb(b[l]);
    uint32_t r = kWhich == Which::kMin ? extreme_bits<true>(u, v)
                 : kWhich == Which::kMax
                     ? extreme_bits<false>(u, v)
                     : choose(0u - ((smaller >> l) & 1u), extreme_bits<true>(u, v), extreme_bits<false>(u, v));
    if (kFtz) r = choose(mask_if((r & 0x7f800000u) == 0), r & 0x80000000u, r);
    if (kXorSign)
      r = choose(mask_if((r & 0x7fffffffu) > 0x7f800000u), r, (r & 0x7fffffffu) | ((a[l] ^ b[l]) & 0x80000000u));
    if (kNan)
      r = choose(mask_if((u & 0x7fffffffu) > 0x7f800000u) | mask_if((v & 0x7fffffffu) > 0x7f800000u), 0x7fffffffu, r);
    return r;
  });
  return op + 1;
}

template <bool kFtz, bool kNan, bool kXorSign>
Handler which_handler(const Instruction& i) {
  if (i.p0.index != sass::kPt) return min_max<Which::kByLane, kFtz, kNan, kXorSign>;
  return i.p0.invert ? min_max<Which::kMax, kFtz, kNan, kXorSign> : min_max<Which::kMin, kFtz, kNan, kXorSign>;
}

Handler min_max_handler(const Instruction& i) {
  const sass::FloatForm& form = i.floating;
  // The sign of .XORSIGN is that of the registers, whose magnitudes are compared.
  if (form.xor_sign && !(i.a.absolute && i.b.absolute && !i.a.negate && !i.b.negate)) return nullptr;
  if (form.xor_sign) {
    if (form.ftz) return form.nan ? which_handler<true, true, true>(i) : which_handler<true, false, true>(i);
    return form.nan ? which_handler<false, true, true>(i) : which_handler<false, false, true>(i);
  }
  if (form.ftz) return form.nan ? which_handler<true, true, false>(i) : which_handler<true, false, false>(i);
  return form.nan ? which_handler<false, true, false>(i) : which_handler<false, false, false>(i);
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
      return has_sign(i) ? with_modes<fused<true>>(i) : with_modes<fused<false>>(i);
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
