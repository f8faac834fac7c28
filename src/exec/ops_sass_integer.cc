// Sums of machine code: IADD3, LEA, IABS, VIADD, and where the rest of the integer family is found.
#include "exec/op_table.h"
#include "exec/sass_integer.h"

namespace muscope::exec::MUSCOPE_ISA {
namespace {

using sass::Instruction;
using sass::Opcode;
using std::uint32_t;
using std::uint64_t;

template <bool kNegate>
[[gnu::always_inline]] inline uint32_t with_sign(uint32_t v) {
  return kNegate ? 0u - v : v;
}

template <bool kA, bool kB, bool kC>
const XOp* add3(Warp& w, const XOp* op) {
  const uint32_t *a = w.src<uint32_t>(op->a), *b = w.src<uint32_t>(op->b), *c = w.src<uint32_t>(op->c);
  for_lanes(w, w.dst<uint32_t>(op->dst),
            [=](unsigned l) { return with_sign<kA>(a[l]) + with_sign<kB>(b[l]) + with_sign<kC>(c[l]); });
  return op + 1;
}

template <bool kA, bool kB>
const XOp* add2(Warp& w, const XOp* op) {
  const uint32_t *a = w.src<uint32_t>(op->a), *b = w.src<uint32_t>(op->b);
  for_lanes(w, w.dst<uint32_t>(op->dst), [=](unsigned l) { return with_sign<kA>(a[l]) + with_sign<kB>(b[l]); });
  return op + 1;
}

/// Sums of words with the carries that they give, in words, as those are vectorised best.
struct Carried {
  uint32_t sum, carry = 0;
  [[gnu::always_inline]] void add(uint32_t v) {
    sum += v;
    carry += sum < v;
  }
};

/// With carries in or out. A negated source adds its complement and one. The sum of three words and two carries has a
/// carry of 0, 1, 2 or 3: the first predicate is set from 1 on, the second from 2 on.
template <bool kCarryOut>
const XOp* add3_carry(Warp& w, const XOp* op) {
  const Instruction& i = *op->sass;
  const uint32_t *a = w.src<uint32_t>(op->a), *b = w.src<uint32_t>(op->b), *c = w.src<uint32_t>(op->c);
  const Addend sa(i.a), sb(i.b), sc(i.c);
  const LaneBits first{carry_in(w, op->d, i.p0)}, second{carry_in(w, op->e, i.p1)};
  const uint32_t more = sa.add + sb.add + sc.add;
  if constexpr (!kCarryOut) {
    for_lanes(w, w.dst<uint32_t>(op->dst), [=](unsigned l) {
      return (a[l] ^ sa.flip) + (b[l] ^ sb.flip) + (c[l] ^ sc.flip) + more + first(l) + second(l);
    });
  } else {
    alignas(64) uint32_t sum[kGroupLanes], carry[kGroupLanes];
    for (unsigned l = 0; l < kGroupLanes; ++l) {
      Carried s{a[l] ^ sa.flip};
      s.add(b[l] ^ sb.flip);
      s.add(c[l] ^ sc.flip);
      s.add(more + first(l) + second(l));
      sum[l] = s.sum;
      carry[l] = s.carry;
    }
    for_lanes(w, w.dst<uint32_t>(op->dst), [&](unsigned l) { return sum[l]; });
    write_predicate(w, op->dst2, mask_of([&](unsigned l) { return carry[l] >= 1; }));
    write_predicate(w, op->dst3, mask_of([&](unsigned l) { return carry[l] >= 2; }));
  }
  return op + 1;
}

Handler add3_handler(const Instruction& i) {
  if (written(i.pdst0) || written(i.pdst1)) return add3_carry<true>;
  if (i.integer.extended) return add3_carry<false>;
  const unsigned signs = (i.a.negate ? 4u : 0u) | (i.b.negate ? 2u : 0u) | (i.c.negate ? 1u : 0u);
  const bool two = (i.c.kind == sass::OperandKind::kRegister && i.c.index == sass::kRz) ||
                   (i.c.kind == sass::OperandKind::kUniform && i.c.index == sass::kUrz);
  static constexpr Handler kTwo[4] = {add2<false, false>, add2<false, true>, add2<true, false>, add2<true, true>};
  static constexpr Handler kThree[8] = {add3<false, false, false>, add3<false, false, true>, add3<false, true, false>,
                                        add3<false, true, true>,   add3<true, false, false>, add3<true, false, true>,
                                        add3<true, true, false>,   add3<true, true, true>};
  return two ? kTwo[signs >> 1] : kThree[signs];
}

/// (a << shift) + b.
const XOp* lea(Warp& w, const XOp* op) {
  const uint32_t *a = w.src<uint32_t>(op->a), *b = w.src<uint32_t>(op->b);
  const unsigned shift = op->sass->integer.shift;
  for_lanes(w, w.dst<uint32_t>(op->dst), [=](unsigned l) { return (a[l] << shift) + b[l]; });
  return op + 1;
}

/// All forms: .HI takes the upper word of the pair (c, a) that is shifted, with .SX32 of a with its sign. Signs and
/// carries act on the shifted word.
template <bool kHigh, bool kSignExtended, bool kCarryOut>
const XOp* lea_general(Warp& w, const XOp* op) {
  const Instruction& i = *op->sass;
  const uint32_t *a = w.src<uint32_t>(op->a), *b = w.src<uint32_t>(op->b), *c = w.src<uint32_t>(op->c);
  const Addend sa(i.a), sb(i.b);
  const unsigned shift = i.integer.shift & 31u;
  const LaneBits carries{carry_in(w, op->d, i.p0)};
  const uint32_t more = sa.add + sb.add;
  const auto shifted = [=](unsigned l) {
    if constexpr (!kHigh) return a[l] << shift;
    const uint32_t upper = kSignExtended ? static_cast<uint32_t>(static_cast<std::int32_t>(a[l]) >> 31) : c[l];
    return upper << shift | a[l] >> 1 >> (31u - shift);
  };
  if constexpr (!kCarryOut) {
    for_lanes(w, w.dst<uint32_t>(op->dst),
              [=](unsigned l) { return (shifted(l) ^ sa.flip) + (b[l] ^ sb.flip) + more + carries(l); });
  } else {
    alignas(64) uint32_t sum[kGroupLanes], carry[kGroupLanes];
    for (unsigned l = 0; l < kGroupLanes; ++l) {
      Carried s{shifted(l) ^ sa.flip};
      s.add(b[l] ^ sb.flip);
      s.add(more + carries(l));
      sum[l] = s.sum;
      carry[l] = s.carry;
    }
    for_lanes(w, w.dst<uint32_t>(op->dst), [&](unsigned l) { return sum[l]; });
    write_predicate(w, op->dst2, mask_of([&](unsigned l) { return carry[l] != 0; }));
  }
  return op + 1;
}

template <bool kCarryOut>
Handler lea_with(const sass::IntegerForm& form) {
  if (!form.high) return lea_general<false, false, kCarryOut>;
  return form.sign_extended ? lea_general<true, true, kCarryOut> : lea_general<true, false, kCarryOut>;
}

Handler lea_handler(const Instruction& i) {
  const sass::IntegerForm& form = i.integer;
  if (written(i.pdst0)) return lea_with<true>(form);
  if (form.high || form.extended || i.a.negate || i.b.negate) return lea_with<false>(form);
  return lea;
}

const XOp* absolute(Warp& w, const XOp* op) {
  const uint32_t* a = w.src<uint32_t>(op->a);
  for_lanes(w, w.dst<uint32_t>(op->dst), [=](unsigned l) { return a[l] >> 31 ? 0u - a[l] : a[l]; });
  return op + 1;
}

Handler find_sum(const Instruction& i) {
  switch (i.opcode) {
    case Opcode::kIADD3:
    case Opcode::kUIADD3:
      return add3_handler(i);
    case Opcode::kLEA:
    case Opcode::kULEA:
      return lea_handler(i);
    case Opcode::kIABS:
      return absolute;
    case Opcode::kVIADD:
      if (i.integer.packed) return nullptr;
      return i.b.negate ? add2<false, true> : add2<false, false>;
    default:
      return nullptr;
  }
}

}  // namespace

Handler find_sass_integer(const Instruction& instruction) {
  for (const auto part : {find_sum, find_sass_product, find_sass_compare, find_sass_video})
    if (const Handler handler = part(instruction)) return handler;
  return nullptr;
}

}  // namespace muscope::exec::MUSCOPE_ISA
