// Packed half precision: two values of 16 bits a register.
#include "sass/float_parts.h"

namespace muscope::sass {
namespace {

/// 0 both halves as they are, 2 the low one twice, 3 the high one twice; 1 (.F32 and others) is not supported.
bool half_field(const Word& word, unsigned first, Operand& operand) {
  if (operand.kind == OperandKind::kImmediate) return true;
  operand.half = static_cast<std::uint8_t>(word.bits(first, 2));
  return operand.half != 1;
}

void sign(const Word& word, Operand& operand, unsigned negate, unsigned absolute) {
  if (operand.kind == OperandKind::kImmediate) return;
  operand.negate = word.bit(negate);
  operand.absolute = word.bit(absolute);
}

/// a and the middle field.
bool pair(const Word& word, unsigned allowed, Instruction& out) {
  TwoSources sources;
  if (!two_sources(word, allowed, sources)) return false;
  sign(word, sources.a, 72, 73);
  sign(word, sources.middle, 63, 62);
  if (!half_field(word, 74, sources.a) || !half_field(word, 60, sources.middle)) return false;
  out.a = sources.a;
  out.b = sources.middle;
  return true;
}

bool add_or_multiply(const Word& word, Instruction& out) {
  const bool multiply = out.opcode == Opcode::kHMUL2;
  if (!pair(word, multiply ? kSecondForms : kThirdForms, out)) return false;
  if (word.bit(76)) return false;  // .FMZ
  if (multiply && word.bit(78)) return false;
  out.dst = register_operand(word, 16);
  out.floating.f32_sum = word.bit(78);
  out.floating.saturate = word.bit(77);
  out.floating.ftz = word.bit(80);
  out.floating.bf16 = word.bit(85);
  return !out.floating.f32_sum || (!out.floating.bf16 && !out.floating.saturate && !out.a.absolute);
}

bool fused(const Word& word, Instruction& out, bool mma) {
  TwoSources sources;
  if (!two_sources(word, kAllForms, sources)) return false;
  if (word.bit(76) || word.bit(78)) return false;  // .FMZ, .F32
  FloatForm& form = out.floating;
  sign(word, sources.a, 72, 73);
  sign(word, sources.middle, 63, 62);
  sign(word, sources.last, 84, 83);
  form.mma = mma;
  if (!mma && (!half_field(word, 74, sources.a) || !half_field(word, 60, sources.middle) ||
               !half_field(word, 81, sources.last)))
    return false;
  out.dst = register_operand(word, 16);
  out.a = sources.a;
  out.b = sources.middle_is_third ? sources.last : sources.middle;
  out.c = sources.middle_is_third ? sources.middle : sources.last;
  form.negate_high = !mma && word.bit(86);
  if (form.negate_high && (out.b.half != 0 || out.b.kind == OperandKind::kImmediate)) return false;
  form.saturate = word.bit(77);
  form.relu = word.bit(79);
  form.ftz = word.bit(80);
  form.bf16 = word.bit(85);
  // A predicate decides on .RELU; ptxas leaves it true.
  return !form.relu || word.bits(87, 4) == kPt;
}

/// 0 F16, 2 BF16 in bits 64 and 65; 69 and 70 combine.
bool comparison(const Word& word, Instruction& out) {
  if (!pair(word, kThirdForms, out)) return false;
  if (word.bit(64)) return false;
  FloatForm& form = out.floating;
  form.bf16 = word.bit(65);
  form.compare = static_cast<Compare>(word.bits(76, 4));
  form.ftz = word.bit(80);
  out.p0 = predicate_operand(word, 87, 90);
  return combine_field(word, 69, form.combine);
}

}  // namespace

bool decode_half(const Word& word, Instruction& out) {
  const auto is = [&](Opcode opcode) {
    out.opcode = opcode;
    return true;
  };
  switch (word.opcode() & 0x1ff) {
    case 0x030:
      return is(Opcode::kHADD2) && add_or_multiply(word, out);
    case 0x032:
      return is(Opcode::kHMUL2) && add_or_multiply(word, out);
    case 0x031:
      return is(Opcode::kHFMA2) && fused(word, out, false);
    case 0x035:
      return is(Opcode::kHFMA2) && fused(word, out, true);
    case 0x033:
      out.opcode = Opcode::kHSET2;
      out.dst = register_operand(word, 16);
      out.floating.boolean_float = word.bit(71);
      return comparison(word, out);
    case 0x034:
      out.opcode = Opcode::kHSETP2;
      out.pdst0 = predicate_result(word, 81);
      out.pdst1 = predicate_result(word, 84);
      out.floating.both_halves = word.bit(71);
      return comparison(word, out);
    case 0x040:
      out.opcode = Opcode::kHMNMX2;
      if (!pair(word, kSecondForms, out) || word.bit(65) || word.bit(78)) return false;
      out.dst = register_operand(word, 16);
      out.floating.ftz = word.bit(80);
      out.floating.nan = word.bit(81);
      out.floating.xor_sign = word.bit(82);
      out.floating.bf16 = word.bit(85);
      out.p0 = predicate_operand(word, 87, 90);
      return true;
    default:
      return false;
  }
}

}  // namespace muscope::sass
