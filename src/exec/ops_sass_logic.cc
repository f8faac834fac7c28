// Logic, moves, selection and predicates of machine code: LOP3, MOV, SEL, PLOP3, P2R, R2P.
#include <array>
#include <utility>

#include "exec/op_table.h"
#include "exec/sass_integer.h"

namespace muscope::exec::MUSCOPE_ISA {
namespace {

using sass::Instruction;
using sass::Opcode;
using std::uint32_t;

/// The function of three bits that a table gives: bit 4a + 2b + c of it.
template <unsigned kTable>
[[gnu::always_inline]] inline uint32_t logic(uint32_t a, uint32_t b, uint32_t c) {
  uint32_t r = 0;
  for (unsigned k = 0; k < 8; ++k)
    if ((kTable >> k) & 1) r |= (k & 4 ? a : ~a) & (k & 2 ? b : ~b) & (k & 1 ? c : ~c);
  return r;
}

// Tables that ptxas uses often, in a few operations.
template <>
[[gnu::always_inline]] inline uint32_t logic<0xc0>(uint32_t a, uint32_t b, uint32_t) {
  return a & b;
}
template <>
[[gnu::always_inline]] inline uint32_t logic<0xfc>(uint32_t a, uint32_t b, uint32_t) {
  return a | b;
}
template <>
[[gnu::always_inline]] inline uint32_t logic<0x3c>(uint32_t a, uint32_t b, uint32_t) {
  return a ^ b;
}
template <>
[[gnu::always_inline]] inline uint32_t logic<0x33>(uint32_t, uint32_t b, uint32_t) {
  return ~b;
}
template <>
[[gnu::always_inline]] inline uint32_t logic<0x30>(uint32_t a, uint32_t b, uint32_t) {
  return a & ~b;
}
template <>
[[gnu::always_inline]] inline uint32_t logic<0x96>(uint32_t a, uint32_t b, uint32_t c) {
  return a ^ b ^ c;
}
template <>
[[gnu::always_inline]] inline uint32_t logic<0xf8>(uint32_t a, uint32_t b, uint32_t c) {
  return a | (b & c);
}
template <>
[[gnu::always_inline]] inline uint32_t logic<0xe2>(uint32_t a, uint32_t b, uint32_t c) {
  return (a & b) | (c & ~b);
}
template <>
[[gnu::always_inline]] inline uint32_t logic<0xfe>(uint32_t a, uint32_t b, uint32_t c) {
  return a | b | c;
}
template <>
[[gnu::always_inline]] inline uint32_t logic<0x80>(uint32_t a, uint32_t b, uint32_t c) {
  return a & b & c;
}

/// Any table, known when the kernel runs: by three choices.
struct AnyLogic {
  uint32_t none[4], some[4];  // by 2a + b: the result where c is clear, where it is set
  explicit AnyLogic(unsigned table) {
    for (unsigned k = 0; k < 4; ++k) {
      none[k] = (table >> (2 * k)) & 1 ? 0xffffffffu : 0;
      some[k] = (table >> (2 * k + 1)) & 1 ? 0xffffffffu : 0;
    }
  }
  uint32_t operator()(uint32_t a, uint32_t b, uint32_t c) const {
    const auto by_c = [&](unsigned k) { return (c & some[k]) | (~c & none[k]); };
    return (a & ((b & by_c(3)) | (~b & by_c(2)))) | (~a & ((b & by_c(1)) | (~b & by_c(0))));
  }
};

template <unsigned kTable>
const XOp* lop3(Warp& w, const XOp* op) {
  const uint32_t *a = w.src<uint32_t>(op->a), *b = w.src<uint32_t>(op->b), *c = w.src<uint32_t>(op->c);
  for_lanes(w, w.dst<uint32_t>(op->dst), [=](unsigned l) { return logic<kTable>(a[l], b[l], c[l]); });
  return op + 1;
}
const XOp* lop3_any(Warp& w, const XOp* op) {
  const uint32_t *a = w.src<uint32_t>(op->a), *b = w.src<uint32_t>(op->b), *c = w.src<uint32_t>(op->c);
  const AnyLogic table(op->sass->integer.lut);
  for_lanes(w, w.dst<uint32_t>(op->dst), [=](unsigned l) { return table(a[l], b[l], c[l]); });
  return op + 1;
}
/// With the predicate: whether the result is not zero, or p0; with .PAND, and p0.
const XOp* lop3_predicate(Warp& w, const XOp* op) {
  const Instruction& i = *op->sass;
  const uint32_t *a = w.src<uint32_t>(op->a), *b = w.src<uint32_t>(op->b), *c = w.src<uint32_t>(op->c);
  const AnyLogic table(i.integer.lut);
  const GroupMask not_zero = mask_of([=](unsigned l) { return table(a[l], b[l], c[l]) != 0; });
  const GroupMask other = read_predicate(w, op->d, i.p0.invert);
  for_lanes(w, w.dst<uint32_t>(op->dst), [=](unsigned l) { return table(a[l], b[l], c[l]); });
  write_predicate(w, op->dst2, i.integer.mode != 0 ? not_zero & other : not_zero | other);
  return op + 1;
}

Handler lop3_handler(const Instruction& i) {
  if (written(i.pdst0)) return lop3_predicate;
  switch (i.integer.lut) {
#define MUSCOPE_TABLE(table) \
  case table:                \
    return lop3<table>;
    MUSCOPE_TABLE(0xc0)
    MUSCOPE_TABLE(0xfc)
    MUSCOPE_TABLE(0x3c)
    MUSCOPE_TABLE(0x33)
    MUSCOPE_TABLE(0x30)
    MUSCOPE_TABLE(0x96)
    MUSCOPE_TABLE(0xf8)
    MUSCOPE_TABLE(0xe2)
    MUSCOPE_TABLE(0xfe)
    MUSCOPE_TABLE(0x80)
#undef MUSCOPE_TABLE
    default:
      return lop3_any;
  }
}

const XOp* move(Warp& w, const XOp* op) {
  const uint32_t* a = w.src<uint32_t>(op->a);
  for_lanes(w, w.dst<uint32_t>(op->dst), [=](unsigned l) { return a[l]; });
  return op + 1;
}

const XOp* select(Warp& w, const XOp* op) {
  const uint32_t *a = w.src<uint32_t>(op->a), *b = w.src<uint32_t>(op->b);
  const LaneBits first{read_predicate(w, op->d, op->sass->p0.invert)};
  for_lanes(w, w.dst<uint32_t>(op->dst), [=](unsigned l) { return first(l) ? a[l] : b[l]; });
  return op + 1;
}

const XOp* predicate_logic(Warp& w, const XOp* op) {
  const Instruction& i = *op->sass;
  const GroupMask a = read_predicate(w, op->d, i.p0.invert), b = read_predicate(w, op->e, i.p1.invert),
                  c = read_predicate(w, op->c, i.c.invert);
  const GroupMask first = AnyLogic(i.integer.lut)(a, b, c), second = AnyLogic(i.integer.lut2)(a, b, c);
  write_predicate(w, op->dst2, first);
  write_predicate(w, op->dst3, second);
  return op + 1;
}

/// PLOP3 of the signs of three registers.
const XOp* sign_logic(Warp& w, const XOp* op) {
  const auto signs = [&](std::uint32_t place) {
    const uint32_t* v = w.src<uint32_t>(place);
    return mask_of([=](unsigned l) { return v[l] >> 31 != 0; });
  };
  const GroupMask a = signs(op->a), b = signs(op->b), c = signs(op->c);
  write_predicate(w, op->dst2, AnyLogic(op->sass->integer.lut)(a, b, c));
  write_predicate(w, op->dst3, AnyLogic(op->sass->integer.lut2)(a, b, c));
  return op + 1;
}

/// P0 to P6, as far as mask b names them, into a byte of the register; the rest of it is a's. Bit 7 of the byte, where
/// the mask names it, becomes 0 (H200). The predicates lie in a row from place d on.
const XOp* predicates_to_register(Warp& w, const XOp* op) {
  const uint32_t *a = w.src<uint32_t>(op->a), *b = w.src<uint32_t>(op->b);
  const uint32_t* predicates = w.src<uint32_t>(op->d);
  const unsigned shift = op->sass->integer.mode * 8u;
  alignas(64) uint32_t bits[kGroupLanes] = {};
  for (unsigned k = 0; k < sass::kPt; ++k)
    for (unsigned l = 0; l < kGroupLanes; ++l) bits[l] |= ((predicates[k] >> l) & 1u) << k;
  for_lanes(w, w.dst<uint32_t>(op->dst), [&](unsigned l) {
    const uint32_t mask = b[l] & 0xff;
    return (a[l] & ~(mask << shift)) | (bits[l] & mask) << shift;
  });
  return op + 1;
}

const XOp* register_to_predicates(Warp& w, const XOp* op) {
  const uint32_t *a = w.src<uint32_t>(op->a), *b = w.src<uint32_t>(op->b);
  uint32_t* predicates = w.dst<uint32_t>(op->dst2);
  const unsigned shift = op->sass->integer.mode * 8u;
  for (unsigned k = 0; k < sass::kPt; ++k) {
    const GroupMask named = mask_of([=](unsigned l) { return (b[l] >> k) & 1; }) & w.active;
    const GroupMask value = mask_of([=](unsigned l) { return (a[l] >> (shift + k)) & 1; });
    predicates[k] = (predicates[k] & ~named) | (value & named);
  }
  return op + 1;
}

}  // namespace

Handler find_sass_logic(const Instruction& i) {
  switch (i.opcode) {
    case Opcode::kLOP3:
    case Opcode::kULOP3:
      return lop3_handler(i);
    case Opcode::kMOV:
      return i.integer.mode == 15 ? move : nullptr;
    case Opcode::kUMOV:
      return move;
    case Opcode::kSEL:
    case Opcode::kUSEL:
      return select;
    case Opcode::kPLOP3:
    case Opcode::kUPLOP3:
      return i.integer.mode != 0 ? sign_logic : predicate_logic;
    case Opcode::kP2R:
    case Opcode::kUP2UR:
      return predicates_to_register;
    case Opcode::kR2P:
    case Opcode::kUR2UP:
      return register_to_predicates;
    default:
      break;
  }
  for (const auto part : {find_sass_shift, find_sass_bits, find_sass_lanes})
    if (const Handler handler = part(i)) return handler;
  return nullptr;
}

}  // namespace muscope::exec::MUSCOPE_ISA
