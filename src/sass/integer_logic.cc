// Logic, shifts, selection, moves and bit counting, also of the uniform datapath.
#include "sass/integer_parts.h"

namespace muscope::sass {
namespace {

bool start(const Word& word, Opcode opcode, unsigned forms, bool uniform, Instruction& out) {
  IntegerSources s;
  if (!integer_sources(word, forms, uniform, s)) return false;
  out.opcode = opcode;
  out.dst = destination(word, uniform);
  out.a = s.a, out.b = s.b, out.c = s.c;
  return true;
}

bool decode_lop3(const Word& word, bool uniform, Instruction& out) {
  if (!start(word, uniform ? Opcode::kULOP3 : Opcode::kLOP3, uniform ? kFormsUniform : kFormsSecond, uniform, out))
    return false;
  out.integer.lut = static_cast<std::uint8_t>(word.bits(72, 8));
  out.integer.mode = word.bit(80) ? 1 : 0;
  out.pdst0 = predicate_result_of(word, 81, uniform);
  out.p0 = predicate_of(word, 87, 90, uniform);
  return true;
}

bool decode_shf(const Word& word, bool uniform, Instruction& out) {
  const unsigned forms = uniform ? kFormsUniform | 1u << 2 : kFormsSecond | kFormsThird;
  if (!start(word, uniform ? Opcode::kUSHF : Opcode::kSHF, forms, uniform, out)) return false;
  out.integer.source_bits = word.bit(74) ? 32 : 64;
  out.integer.source_signed = !word.bit(73);
  out.integer.wrap = word.bit(75);
  out.integer.right = word.bit(76);
  out.integer.high = word.bit(80);
  return true;
}

bool decode_sel(const Word& word, bool uniform, Instruction& out) {
  if (!start(word, uniform ? Opcode::kUSEL : Opcode::kSEL, uniform ? kFormsUniform : kFormsSecond, uniform, out))
    return false;
  out.c = {};
  out.p0 = predicate_of(word, 87, 90, uniform);
  return true;
}

bool decode_prmt(const Word& word, bool uniform, Instruction& out) {
  const unsigned forms = uniform ? kFormsUniform : kFormsSecond | kFormsThird;
  if (!start(word, uniform ? Opcode::kUPRMT : Opcode::kPRMT, forms, uniform, out)) return false;
  out.integer.mode = static_cast<std::uint8_t>(word.bits(72, 3));
  return out.integer.mode < (uniform ? 1 : 7);
}

/// SGXT and BMSK: a and b, signed or not, wrapping or not.
bool decode_field(const Word& word, bool uniform, bool extends, Instruction& out) {
  const Opcode opcode =
      extends ? (uniform ? Opcode::kUSGXT : Opcode::kSGXT) : (uniform ? Opcode::kUBMSK : Opcode::kBMSK);
  if (!start(word, opcode, uniform ? kFormsUniform : kFormsSecond, uniform, out)) return false;
  out.c = {};
  out.integer.is_unsigned = extends && !word.bit(73);
  out.integer.wrap = word.bit(75);
  return true;
}

/// Instructions with one source, in the middle field.
bool decode_one_source(const Word& word, Opcode opcode, bool uniform, bool inverts, Instruction& out) {
  if (!start(word, opcode, uniform ? kFormsUniform : kFormsSecond, uniform, out)) return false;
  if (inverts) negate_if(word, 63, true, out.b);
  out.a = out.b;
  out.b = out.c = {};
  return true;
}

bool decode_flo(const Word& word, bool uniform, Instruction& out) {
  if (!decode_one_source(word, uniform ? Opcode::kUFLO : Opcode::kFLO, uniform, true, out)) return false;
  out.integer.is_unsigned = !word.bit(73);
  out.integer.mode = word.bit(74) ? 1 : 0;
  out.pdst0 = predicate_result_of(word, 81, uniform);
  return true;
}

bool decode_mov(const Word& word, Instruction& out) {
  if (!decode_one_source(word, Opcode::kMOV, false, false, out)) return false;
  out.integer.mode = static_cast<std::uint8_t>(word.bits(72, 4));
  return true;
}

/// Its operands stand where those of the vector instructions do.
bool decode_umov(const Word& word, Instruction& out) {
  IntegerSources s;
  if (!integer_sources(word, 1u << 4 | 1u << 6, false, s)) return false;
  out.opcode = Opcode::kUMOV;
  out.dst = destination(word, true);
  out.a = s.b;
  return true;
}

}  // namespace

bool decode_logic(const Word& word, Instruction& out) {
  switch (word.bits(0, 9)) {
    case 0x012:
      return decode_lop3(word, false, out);
    case 0x092:
      return decode_lop3(word, true, out);
    case 0x019:
      return decode_shf(word, false, out);
    case 0x099:
      return decode_shf(word, true, out);
    case 0x007:
      return decode_sel(word, false, out);
    case 0x087:
      return decode_sel(word, true, out);
    case 0x016:
      return decode_prmt(word, false, out);
    case 0x096:
      return decode_prmt(word, true, out);
    case 0x01a:
      return decode_field(word, false, true, out);
    case 0x09a:
      return decode_field(word, true, true, out);
    case 0x01b:
      return decode_field(word, false, false, out);
    case 0x09b:
      return decode_field(word, true, false, out);
    case 0x100:
      return decode_flo(word, false, out);
    case 0x0bd:
      return decode_flo(word, true, out);
    case 0x101:
      return decode_one_source(word, Opcode::kBREV, false, false, out);
    case 0x0be:
      return decode_one_source(word, Opcode::kUBREV, true, false, out);
    case 0x109:
      return decode_one_source(word, Opcode::kPOPC, false, true, out);
    case 0x0bf:
      return decode_one_source(word, Opcode::kUPOPC, true, true, out);
    case 0x002:
      return decode_mov(word, out);
    case 0x082:
      return decode_umov(word, out);
    default:
      return false;
  }
}

}  // namespace muscope::sass
