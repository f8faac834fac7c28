// Single and double precision arithmetic, comparisons and selections.
#include "sass/float_parts.h"

namespace muscope::sass {

bool two_sources(const Word& word, unsigned allowed, TwoSources& out) {
  AluSources sources;
  out.form = static_cast<AluForm>(word.bits(9, 3));
  if (((allowed >> static_cast<unsigned>(out.form)) & 1) == 0 || !middle_fits(word) || !alu_sources(word, sources))
    return false;
  out.middle_is_third =
      out.form == AluForm::kImmediateThird || out.form == AluForm::kConstantThird || out.form == AluForm::kUniformThird;
  out.a = sources.a;
  out.middle = out.middle_is_third ? sources.c : sources.b;
  out.last = out.middle_is_third ? sources.b : sources.c;
  return true;
}

bool middle_fits(const Word& word) {
  switch (static_cast<AluForm>(word.bits(9, 3))) {
    case AluForm::kConstantSecond:
    case AluForm::kConstantThird:
      // Offsets are signed, and multiples of a word.
      return word.bits(38, 2) == 0 && !word.bit(53);
    case AluForm::kUniformSecond:
    case AluForm::kUniformThird:
      return word.bit(91);
    default:
      return !word.bit(91);
  }
}

bool combine_field(const Word& word, unsigned first, Combine& out) {
  const std::uint64_t value = word.bits(first, 2);
  out = static_cast<Combine>(value);
  return value < 3;
}

namespace {

void sign(const Word& word, Operand& operand, unsigned negate, unsigned absolute) {
  if (operand.kind == OperandKind::kImmediate) return;
  operand.negate = word.bit(negate);
  operand.absolute = word.bit(absolute);
}

/// a and the middle field, with their signs.
bool signed_pair(const Word& word, unsigned allowed, Instruction& out) {
  TwoSources sources;
  if (!two_sources(word, allowed, sources)) return false;
  sign(word, sources.a, 72, 73);
  sign(word, sources.middle, 63, 62);
  out.a = sources.a;
  out.b = sources.middle;
  return true;
}

void result_register(const Word& word, Instruction& out) { out.dst = register_operand(word, 16); }

bool comparison(const Word& word, Instruction& out) {
  out.floating.compare = static_cast<Compare>(word.bits(76, 4));
  out.p0 = predicate_operand(word, 87, 90);
  return combine_field(word, 74, out.floating.combine);
}

void two_predicates(const Word& word, Instruction& out) {
  out.pdst0 = predicate_result(word, 81);
  out.pdst1 = predicate_result(word, 84);
}

bool add_or_multiply(const Word& word, Instruction& out) {
  const bool multiply = out.opcode == Opcode::kFMUL;
  if (!signed_pair(word, multiply ? kSecondForms : kThirdForms, out)) return false;
  if (word.bit(76)) return false;  // .FMZ, which ptxas does not write
  result_register(word, out);
  FloatForm& form = out.floating;
  form.ftz = word.bit(80);
  form.saturate = word.bit(77);
  form.rounding = rounding_field(word, 78);
  if (multiply) {
    // 1 to 7: the product times 2^(n - 4).
    const auto scale = word.bits(84, 3);
    if (scale == 0) return false;
    form.scale = static_cast<std::int8_t>(static_cast<int>(scale) - 4);
  }
  return true;
}

bool fused(const Word& word, Instruction& out) {
  AluSources sources;
  if (!middle_fits(word) || !alu_sources(word, sources)) return false;
  alu_signs(word, sources);
  result_register(word, out);
  out.a = sources.a, out.b = sources.b, out.c = sources.c;
  out.floating.rounding = rounding_field(word, 78);
  if (out.opcode == Opcode::kFFMA) {
    if (word.bit(76)) return false;  // .FMZ
    out.floating.ftz = word.bit(80);
    out.floating.saturate = word.bit(77);
  } else {
    for (Operand* o : {&out.dst, &out.a, &out.b, &out.c}) o->words = 2;
  }
  return true;
}

bool double_pair(const Word& word, Instruction& out) {
  const bool multiply = out.opcode == Opcode::kDMUL;
  TwoSources sources;
  if (!two_sources(word, multiply ? kSecondForms : kThirdForms, sources)) return false;
  result_register(word, out);
  sign(word, sources.a, 72, 73);
  out.a = sources.a;
  if (!multiply && sources.form == AluForm::kRegister) {
    out.b = sources.last;
    sign(word, out.b, 75, 74);
  } else {
    out.b = sources.middle;
    sign(word, out.b, 63, 62);
  }
  out.floating.rounding = rounding_field(word, 78);
  for (Operand* o : {&out.dst, &out.a, &out.b}) o->words = 2;
  return true;
}

bool swizzled_add(const Word& word, Instruction& out) {
  if (static_cast<AluForm>(word.bits(9, 3)) != AluForm::kImmediateSecond) return false;
  result_register(word, out);
  out.a = register_operand(word, 24);
  out.b = register_operand(word, 64);
  out.c.kind = OperandKind::kImmediate;
  out.c.value = static_cast<std::uint32_t>(word.bits(32, 8));
  out.floating.ftz = word.bit(80);
  out.floating.rounding = rounding_field(word, 78);
  out.floating.nan = word.bit(77);  // .NDV
  return true;
}

bool body(const Word& word, Instruction& out) {
  const auto is = [&](Opcode opcode) {
    out.opcode = opcode;
    return true;
  };
  FloatForm& form = out.floating;
  switch (word.opcode() & 0x1ff) {
    case 0x020:
      return is(Opcode::kFMUL) && add_or_multiply(word, out);
    case 0x021:
      return is(Opcode::kFADD) && add_or_multiply(word, out);
    case 0x022:
      return is(Opcode::kFSWZADD) && swizzled_add(word, out);
    case 0x023:
      return is(Opcode::kFFMA) && fused(word, out);
    case 0x008:
      out.opcode = Opcode::kFSEL;
      if (!signed_pair(word, kSecondForms, out)) return false;
      result_register(word, out);
      form.ftz = word.bit(80);
      out.p0 = predicate_operand(word, 87, 90);
      return true;
    case 0x009:
      out.opcode = Opcode::kFMNMX;
      if (!signed_pair(word, kSecondForms, out) || word.bit(65)) return false;  // .IS_A
      result_register(word, out);
      form.ftz = word.bit(80);
      form.nan = word.bit(81);
      form.xor_sign = word.bit(82);
      out.p0 = predicate_operand(word, 87, 90);
      return true;
    case 0x00a:
      out.opcode = Opcode::kFSET;
      if (!signed_pair(word, kSecondForms, out) || !comparison(word, out)) return false;
      result_register(word, out);
      form.ftz = word.bit(80);
      form.boolean_float = true;
      return true;
    case 0x00b:
      out.opcode = Opcode::kFSETP;
      if (!signed_pair(word, kSecondForms, out) || !comparison(word, out)) return false;
      two_predicates(word, out);
      form.ftz = word.bit(80);
      return true;
    case 0x102:
      out.opcode = Opcode::kFCHK;
      out.pdst0 = predicate_result(word, 81);
      return signed_pair(word, kSecondForms, out);
    case 0x028:
      return is(Opcode::kDMUL) && double_pair(word, out);
    case 0x029:
      return is(Opcode::kDADD) && double_pair(word, out);
    case 0x02a:
      out.opcode = Opcode::kDSETP;
      if (!signed_pair(word, kThirdForms, out) || !comparison(word, out)) return false;
      two_predicates(word, out);
      out.a.words = out.b.words = 2;
      return true;
    case 0x02b:
      return is(Opcode::kDFMA) && fused(word, out);
    default:
      return false;
  }
}

}  // namespace

bool decode_float(const Word& word, Instruction& out) {
  return body(word, out) || decode_half(word, out) || decode_conversion(word, out);
}

}  // namespace muscope::sass
