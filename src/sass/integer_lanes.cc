// Exchanges between lanes, special registers, and what works on predicates alone.
#include "sass/integer_parts.h"

namespace muscope::sass {
namespace {

bool decode_shfl(const Word& word, Instruction& out) {
  // Opcode bits 9 to 11: which of lane and segment mask are immediates.
  bool lane_immediate = false, mask_immediate = false;
  switch (word.bits(9, 3)) {
    case 1:
      break;
    case 2:
      mask_immediate = true;
      break;
    case 4:
      lane_immediate = true;
      break;
    case 7:
      lane_immediate = mask_immediate = true;
      break;
    default:
      return false;
  }
  if (word.bit(91)) return false;
  const auto immediate = [&](unsigned first, unsigned count) {
    Operand o;
    o.kind = OperandKind::kImmediate;
    o.value = static_cast<std::uint32_t>(word.bits(first, count));
    return o;
  };
  out.opcode = Opcode::kSHFL;
  out.integer.mode = static_cast<std::uint8_t>(word.bits(58, 2));
  out.dst = destination(word, false);
  out.pdst0 = predicate_result(word, 81);
  out.a = register_operand(word, 24);
  out.b = lane_immediate ? immediate(53, 5) : register_operand(word, 32);
  out.c = mask_immediate ? immediate(40, 13) : register_operand(word, 64);
  return true;
}

bool decode_vote(const Word& word, bool uniform, Instruction& out) {
  if (word.bit(91) || word.bits(72, 2) == 3) return false;
  out.opcode = uniform ? Opcode::kVOTEU : Opcode::kVOTE;
  out.integer.mode = static_cast<std::uint8_t>(word.bits(72, 2));
  out.dst = destination(word, uniform);
  out.pdst0 = predicate_result_of(word, 81, uniform);
  out.p0 = predicate_operand(word, 87, 90);
  return true;
}

bool decode_match(const Word& word, Instruction& out) {
  if (word.bit(91)) return false;
  out.opcode = Opcode::kMATCH;
  out.integer.mode = word.bit(79) ? 1 : 0;
  out.integer.source_bits = word.bit(73) ? 64 : 32;
  out.dst = destination(word, false);
  out.pdst0 = predicate_result(word, 81);
  out.a = register_operand(word, 24);
  out.a.words = word.bit(73) ? 2 : 1;
  return true;
}

bool decode_redux(const Word& word, Instruction& out) {
  if (word.bit(91) || word.bits(78, 3) > 5) return false;
  out.opcode = Opcode::kREDUX;
  out.integer.mode = static_cast<std::uint8_t>(word.bits(78, 3));
  out.integer.is_unsigned = !word.bit(73);
  out.dst = destination(word, true);
  out.a = register_operand(word, 24);
  return true;
}

bool decode_r2ur(const Word& word, Instruction& out) {
  if (word.bit(91)) return false;
  out.opcode = Opcode::kR2UR;
  out.integer.mode = word.bit(84) ? 1 : 0;
  out.dst = destination(word, true);
  out.pdst0 = predicate_result(word, 81);
  out.a = register_operand(word, 24);
  return true;
}

bool decode_elect(const Word& word, Instruction& out) {
  if (word.bit(91)) return false;
  out.opcode = Opcode::kELECT;
  out.integer.mode = word.bit(85) ? 1 : 0;
  out.dst = destination(word, true);
  out.pdst0 = predicate_result(word, 81);
  out.p0 = predicate_operand(word, 87, 90);
  return true;
}

bool decode_special(const Word& word, Opcode opcode, Instruction& out) {
  if (word.bit(91)) return false;
  out.opcode = opcode;
  out.integer.special = static_cast<std::uint8_t>(word.bits(72, 8));
  out.dst = destination(word, opcode == Opcode::kS2UR);
  if (opcode == Opcode::kCS2R && word.bit(80)) out.dst.words = 2;
  return true;
}

bool decode_lepc(const Word& word, Instruction& out) {
  if (word.bit(91)) return false;
  out.opcode = Opcode::kLEPC;
  out.dst = destination(word, false);
  out.dst.words = 2;
  // 58 bits from bit 24 on, with sign, counted from the next instruction.
  const auto offset = static_cast<std::int64_t>(word.bits(24, 58) << 6) >> 6;
  out.memory.target = std::int64_t{out.pc} + 16 + offset;
  return true;
}

/// Before 9.0: the address of the instruction itself (code adds the distance to where it returns).
bool decode_own_address(const Word& word, Instruction& out) {
  if (word.bit(91)) return false;
  out.opcode = Opcode::kLEPC;
  out.dst = destination(word, false);
  out.dst.words = 2;
  out.memory.target = out.pc;
  return true;
}

bool decode_plop3(const Word& word, bool uniform, Instruction& out) {
  if (word.bit(91) || (uniform && word.bit(67))) return false;
  out.opcode = uniform ? Opcode::kUPLOP3 : Opcode::kPLOP3;
  out.integer.lut = static_cast<std::uint8_t>(word.bits(64, 3) | word.bits(72, 5) << 3);
  out.integer.lut2 = static_cast<std::uint8_t>(word.bits(16, 8));
  out.pdst0 = predicate_result_of(word, 81, uniform);
  out.pdst1 = predicate_result_of(word, 84, uniform);
  out.p0 = predicate_of(word, 87, 90, uniform);
  out.p1 = predicate_of(word, 77, 80, uniform);
  out.c = predicate_of(word, 68, 71, uniform || word.bit(67));
  return true;
}

/// PLOP3.LUT of the signs of three registers.
bool decode_sign_logic(const Word& word, Instruction& out) {
  IntegerSources s;
  if (!integer_sources(word, kFormRegister | 1u << 5, false, s)) return false;
  out.opcode = Opcode::kPLOP3;
  out.integer.mode = 1;
  out.integer.lut = static_cast<std::uint8_t>(word.bits(72, 8));
  out.integer.lut2 = static_cast<std::uint8_t>(word.bits(16, 8));
  out.pdst0 = predicate_result(word, 81);
  out.pdst1 = predicate_result(word, 84);
  out.a = s.a, out.b = s.b, out.c = s.c;
  return true;
}

/// P2R, R2P and their uniform counterparts: a register, the mask of predicates in the middle field.
bool decode_predicate_move(const Word& word, bool uniform, bool to_register, Instruction& out) {
  IntegerSources s;
  if (!integer_sources(word, uniform ? 1u << 4 : kFormsSecond, uniform, s)) return false;
  out.opcode = to_register ? (uniform ? Opcode::kUP2UR : Opcode::kP2R) : (uniform ? Opcode::kUR2UP : Opcode::kR2P);
  out.integer.mode = static_cast<std::uint8_t>(word.bits(76, 2));
  out.a = s.a, out.b = s.b;
  Operand first;
  first.kind = uniform ? OperandKind::kUniformPredicate : OperandKind::kPredicate;
  (to_register ? out.p0 : out.pdst0) = first;
  if (to_register) out.dst = destination(word, uniform);
  return true;
}

}  // namespace

bool decode_lanes(const Word& word, Instruction& out) {
  switch (word.opcode()) {
    case 0x806:
      return decode_vote(word, false, out);
    case 0x886:
      return decode_vote(word, true, out);
    case 0x3a1:
      return decode_match(word, out);
    case 0x3c4:
      return decode_redux(word, out);
    case 0x3c2:
      return out.encoding == Encoding::kAmpere && decode_r2ur(word, out);
    case 0x2ca:
      return decode_r2ur(word, out);
    case 0x82f:
      return decode_elect(word, out);
    case 0x919:
      return decode_special(word, Opcode::kS2R, out);
    case 0x9c3:
      return decode_special(word, Opcode::kS2UR, out);
    case 0x805:
      return decode_special(word, Opcode::kCS2R, out);
    case 0x34e:
      return out.encoding == Encoding::kAmpere && decode_own_address(word, out);
    case 0x94e:
      return decode_lepc(word, out);
    case 0x21f:
    case 0xa1f:
      return decode_sign_logic(word, out);
    case 0x81c:
      return decode_plop3(word, false, out);
    case 0x89c:
      return decode_plop3(word, true, out);
    default:
      break;
  }
  switch (word.bits(0, 9)) {
    case 0x189:
      return decode_shfl(word, out);
    case 0x003:
      return decode_predicate_move(word, false, true, out);
    case 0x004:
      return decode_predicate_move(word, false, false, out);
    case 0x083:
      return decode_predicate_move(word, true, true, out);
    case 0x084:
      return decode_predicate_move(word, true, false, out);
    default:
      return false;
  }
}

}  // namespace muscope::sass
