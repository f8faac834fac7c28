// Products of machine code: IMAD in all its forms.
#include <bit>

#include "exec/sass_integer.h"

namespace muscope::exec::MUSCOPE_ISA {
namespace {

using sass::Instruction;
using sass::Opcode;
using sass::OperandKind;
using std::uint32_t;
using std::uint64_t;

template <bool kNegate>
const XOp* move_c(Warp& w, const XOp* op) {
  const uint32_t* c = w.src<uint32_t>(op->c);
  for_lanes(w, w.dst<uint32_t>(op->dst), [=](unsigned l) { return kNegate ? 0u - c[l] : c[l]; });
  return op + 1;
}

template <bool kNegate>
const XOp* add_c(Warp& w, const XOp* op) {
  const uint32_t *a = w.src<uint32_t>(op->a), *c = w.src<uint32_t>(op->c);
  for_lanes(w, w.dst<uint32_t>(op->dst), [=](unsigned l) { return kNegate ? a[l] - c[l] : a[l] + c[l]; });
  return op + 1;
}

/// b is an immediate power of two.
template <bool kNegate>
const XOp* shift_add(Warp& w, const XOp* op) {
  const uint32_t *a = w.src<uint32_t>(op->a), *c = w.src<uint32_t>(op->c);
  const auto shift = static_cast<unsigned>(std::countr_zero(op->sass->b.value));
  for_lanes(w, w.dst<uint32_t>(op->dst),
            [=](unsigned l) { return kNegate ? (a[l] << shift) - c[l] : (a[l] << shift) + c[l]; });
  return op + 1;
}

template <bool kNegate>
const XOp* multiply_add(Warp& w, const XOp* op) {
  const uint32_t *a = w.src<uint32_t>(op->a), *b = w.src<uint32_t>(op->b), *c = w.src<uint32_t>(op->c);
  for_lanes(w, w.dst<uint32_t>(op->dst), [=](unsigned l) { return kNegate ? a[l] * b[l] - c[l] : a[l] * b[l] + c[l]; });
  return op + 1;
}

/// .X: with a carry in; c may be inverted.
const XOp* multiply_add_carry(Warp& w, const XOp* op) {
  const Instruction& i = *op->sass;
  const uint32_t *a = w.src<uint32_t>(op->a), *b = w.src<uint32_t>(op->b), *c = w.src<uint32_t>(op->c);
  const Addend sc(i.c);
  const LaneBits carries{carry_in(w, op->d, i.p0)};
  for_lanes(w, w.dst<uint32_t>(op->dst), [=](unsigned l) { return a[l] * b[l] + (c[l] ^ sc.flip) + carries(l); });
  return op + 1;
}

template <bool kSigned>
[[gnu::always_inline]] inline uint64_t product(uint32_t a, uint32_t b) {
  if constexpr (kSigned)
    return static_cast<uint64_t>(std::int64_t{static_cast<std::int32_t>(a)} *
                                 std::int64_t{static_cast<std::int32_t>(b)});
  else
    return uint64_t{a} * b;
}

/// The active lanes of d = (upper, lower) + c, all of 64 bits.
template <typename Lower, typename Upper>
[[gnu::always_inline]] inline void add_wide(Warp& w, uint32_t* d, const uint32_t* c, Lower lower, Upper upper) {
  alignas(64) uint32_t low[kGroupLanes], high[kGroupLanes];
  for (unsigned l = 0; l < kGroupLanes; ++l) {
    const uint32_t v = lower(l), sum = v + c[l];
    low[l] = sum;
    high[l] = upper(l) + c[l + kNextRegister] + (sum < v);
  }
  for_lanes(w, d, [&](unsigned l) { return low[l]; });
  for_lanes(w, d + kNextRegister, [&](unsigned l) { return high[l]; });
}

/// a * b + c of 64 bits: .WIDE gives all of it, .HI the upper word.
template <bool kSigned, bool kHigh>
const XOp* multiply_add_wide(Warp& w, const XOp* op) {
  const uint32_t *a = w.src<uint32_t>(op->a), *b = w.src<uint32_t>(op->b), *c = w.src<uint32_t>(op->c);
  uint32_t* d = w.dst<uint32_t>(op->dst);
  if constexpr (kHigh) {
    for_lanes(w, d, [=](unsigned l) {
      return static_cast<uint32_t>((product<kSigned>(a[l], b[l]) + wide_value(c, l)) >> 32);
    });
  } else {  // word by word: vectorised without exchanging halves
    alignas(64) uint32_t upper[kGroupLanes];
    for (unsigned l = 0; l < kGroupLanes; ++l) upper[l] = static_cast<uint32_t>(product<kSigned>(a[l], b[l]) >> 32);
    add_wide(w, d, c, [=](unsigned l) { return a[l] * b[l]; }, [&](unsigned l) { return upper[l]; });
  }
  return op + 1;
}

/// .WIDE where b is an immediate power of two: the usual index times the size of an element.
template <bool kSigned>
const XOp* shift_add_wide(Warp& w, const XOp* op) {
  const uint32_t *a = w.src<uint32_t>(op->a), *c = w.src<uint32_t>(op->c);
  const auto shift = static_cast<unsigned>(std::countr_zero(op->sass->b.value));
  const auto upper = [=](unsigned l) {
    if constexpr (kSigned) return static_cast<uint32_t>(static_cast<std::int32_t>(a[l]) >> 1 >> (31u - shift));
    return a[l] >> 1 >> (31u - shift);
  };
  add_wide(w, w.dst<uint32_t>(op->dst), c, [=](unsigned l) { return a[l] << shift; }, upper);
  return op + 1;
}

/// The same with carries in and out, and with c negated or inverted.
template <bool kSigned, bool kHigh>
const XOp* multiply_add_wide_carry(Warp& w, const XOp* op) {
  const Instruction& i = *op->sass;
  const uint32_t *a = w.src<uint32_t>(op->a), *b = w.src<uint32_t>(op->b), *c = w.src<uint32_t>(op->c);
  const Addend sc(i.c);
  const uint64_t flip = uint64_t{sc.flip} << 32 | sc.flip;
  const LaneBits carries{carry_in(w, op->d, i.p0)};
  alignas(64) uint64_t sum[kGroupLanes];
  alignas(64) std::uint8_t carry[kGroupLanes];
  for (unsigned l = 0; l < kGroupLanes; ++l) {
    const uint64_t p = product<kSigned>(a[l], b[l]);
    const uint64_t partial = (wide_value(c, l) ^ flip) + p;
    const uint64_t s = partial + sc.add + carries(l);
    sum[l] = s;
    carry[l] = partial < p || s < partial ? 1 : 0;
  }
  uint32_t* d = w.dst<uint32_t>(op->dst);
  if constexpr (kHigh)
    for_lanes(w, d, [&](unsigned l) { return static_cast<uint32_t>(sum[l] >> 32); });
  else
    for_lanes_wide(w, d, [&](unsigned l) { return sum[l]; });
  write_predicate(w, op->dst2, mask_of([&](unsigned l) { return carry[l] != 0; }));
  return op + 1;
}

bool is_zero(const sass::Operand& o) {
  return (o.kind == OperandKind::kRegister && o.index == sass::kRz) ||
         (o.kind == OperandKind::kUniform && o.index == sass::kUrz) ||
         (o.kind == OperandKind::kImmediate && o.value == 0);
}

Handler narrow_handler(const Instruction& i) {
  if (i.integer.extended) return multiply_add_carry;
  const bool negate = i.c.negate;
  if (is_zero(i.a) || is_zero(i.b)) return negate ? move_c<true> : move_c<false>;
  if (i.b.kind == OperandKind::kImmediate && i.b.value == 1) return negate ? add_c<true> : add_c<false>;
  if (i.b.kind == OperandKind::kImmediate && std::has_single_bit(i.b.value))
    return negate ? shift_add<true> : shift_add<false>;
  return negate ? multiply_add<true> : multiply_add<false>;
}

Handler wide_handler(const Instruction& i) {
  const sass::IntegerForm& form = i.integer;
  const bool plain = !form.extended && !i.c.negate && !written(i.pdst0);
  // The sign of an immediate is its highest bit: that one is no power of two for signed products.
  if (plain && !form.high && i.b.kind == OperandKind::kImmediate && std::has_single_bit(i.b.value) &&
      (form.is_unsigned || i.b.value >> 31 == 0))
    return form.is_unsigned ? shift_add_wide<false> : shift_add_wide<true>;
  if (form.is_unsigned) {
    if (plain) return form.high ? multiply_add_wide<false, true> : multiply_add_wide<false, false>;
    return form.high ? multiply_add_wide_carry<false, true> : multiply_add_wide_carry<false, false>;
  }
  if (plain) return form.high ? multiply_add_wide<true, true> : multiply_add_wide<true, false>;
  return form.high ? multiply_add_wide_carry<true, true> : multiply_add_wide_carry<true, false>;
}

}  // namespace

Handler find_sass_product(const Instruction& i) {
  if (i.opcode != Opcode::kIMAD && i.opcode != Opcode::kUIMAD) return nullptr;
  return i.integer.wide || i.integer.high ? wide_handler(i) : narrow_handler(i);
}

}  // namespace muscope::exec::MUSCOPE_ISA
