// Minima and maxima, and instructions on packed bytes and halves: VIADD, VIMNMX, VIADDMNMX, VIMNMX3, VABSDIFF, IDP.
#include "sass/integer_parts.h"

namespace muscope::sass {
namespace {

/// `forms` allowed; sources into a, b and, of three, c.
bool start(const Word& word, Opcode opcode, unsigned forms, bool three, IntegerSources& s, Instruction& out) {
  if (!integer_sources(word, forms, false, s)) return false;
  out.opcode = opcode;
  out.dst = destination(word, false);
  out.a = s.a, out.b = s.b;
  if (three) out.c = s.c;
  return true;
}

/// Type bits of the VI... instructions.
void vi_type(const Word& word, Instruction& out) {
  out.integer.is_unsigned = !word.bit(72);
  out.integer.packed = word.bit(73);
  out.integer.relu = word.bit(76);
  out.p0 = predicate_operand(word, 87, 90);
}

}  // namespace

bool decode_minimum(const Word& word, Instruction& out) {
  IntegerSources s;
  switch (word.bits(0, 9)) {
    case 0x017:
      if (!start(word, Opcode::kIMNMX, kFormsSecond, false, s, out)) return false;
      out.integer.is_unsigned = !word.bit(73);
      out.p0 = predicate_operand(word, 87, 90);
      return true;
    case 0x036:
      if (!start(word, Opcode::kVIADD, kFormsSecond, false, s, out)) return false;
      out.integer.packed = word.bit(73);
      negate_if(word, 63, false, out.b);
      return true;
    case 0x048:
      if (!start(word, Opcode::kVIMNMX, kFormsSecond, false, s, out)) return false;
      vi_type(word, out);
      out.pdst0 = predicate_result(word, 81);
      out.pdst1 = predicate_result(word, 84);
      // The first predicate alone is a form that the disassembler has no name for.
      return out.pdst0.index == kPt || out.pdst1.index != kPt;
    case 0x046:
      if (!start(word, Opcode::kVIADDMNMX, kFormsSecond | kFormsThird, true, s, out)) return false;
      vi_type(word, out);
      negate_if(word, s.middle_is_third ? 75 : 63, false, out.b);
      return true;
    case 0x00f:
      if (!start(word, Opcode::kVIMNMX3, kFormsSecond, true, s, out)) return false;
      vi_type(word, out);
      return true;
    case 0x014:
    case 0x015: {
      const bool four = word.bits(0, 9) == 0x015;
      if (!start(word, four ? Opcode::kVABSDIFF4 : Opcode::kVABSDIFF, kFormsSecond | kFormsThird, true, s, out))
        return false;
      out.integer.is_unsigned = !word.bit(73);
      if (four) out.integer.mode = word.bit(75) ? 1 : 0;
      out.pdst0 = predicate_result(word, 81);
      return true;
    }
    case 0x026:
      if (!start(word, Opcode::kIDP, 1u << 1 | 1u << 5 | 1u << 6, true, s, out)) return false;
      out.integer.is_unsigned = !word.bit(73);
      out.integer.source_signed = word.bit(74);
      out.integer.mode = static_cast<std::uint8_t>(word.bits(76, 2));
      negate_if(word, 75, false, out.c);
      return out.integer.mode != 2;
    default:
      return false;
  }
}

}  // namespace muscope::sass
