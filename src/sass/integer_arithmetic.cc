// Sums, products, scaled sums and comparisons of integers, also of the uniform datapath.
#include "sass/integer_parts.h"

namespace muscope::sass {
namespace {

bool decode_iadd3(const Word& word, bool uniform, Instruction& out) {
  IntegerSources s;
  if (!integer_sources(word, uniform ? kFormsUniform : kFormsSecond, uniform, s)) return false;
  out.opcode = uniform ? Opcode::kUIADD3 : Opcode::kIADD3;
  const bool extended = word.bit(74);
  negate_if(word, 72, extended, s.a);
  negate_if(word, 63, extended, s.b);
  negate_if(word, 75, extended, s.c);
  out.integer.extended = extended;
  out.dst = destination(word, uniform);
  out.pdst0 = predicate_result_of(word, 81, uniform);
  out.pdst1 = predicate_result_of(word, 84, uniform);
  out.a = s.a, out.b = s.b, out.c = s.c;
  if (extended) {
    out.p0 = predicate_of(word, 87, 90, uniform);
    out.p1 = predicate_of(word, 77, 80, uniform);
  }
  return true;
}

bool decode_imad(const Word& word, bool uniform, Instruction& out) {
  IntegerSources s;
  IntegerForm& form = out.integer;
  form.wide = (word.bits(0, 9) & 3) == 1;
  form.high = (word.bits(0, 9) & 3) == 3;
  unsigned forms = uniform ? kFormsUniform | 1u << 2 : kFormsSecond | kFormsThird;
  if (form.wide || form.high) forms &= ~(1u << 2);
  if (!integer_sources(word, forms, uniform, s)) return false;
  out.opcode = uniform ? Opcode::kUIMAD : Opcode::kIMAD;
  form.is_unsigned = !word.bit(73);
  form.extended = word.bit(74);
  negate_if(word, s.middle_is_third ? 63 : 75, form.extended, s.c);
  out.dst = destination(word, uniform);
  if (form.wide) out.dst.words = 2;
  if (form.wide || form.high) s.c.words = 2;
  out.a = s.a, out.b = s.b, out.c = s.c;
  if (form.wide || form.high) out.pdst0 = predicate_result_of(word, 81, uniform);
  if (form.extended) out.p0 = predicate_of(word, 87, 90, uniform);
  return true;
}

bool decode_lea(const Word& word, bool uniform, Instruction& out) {
  IntegerSources s;
  IntegerForm& form = out.integer;
  form.high = word.bit(80);
  form.sign_extended = word.bit(73);
  form.extended = word.bit(74);
  form.shift = static_cast<std::uint8_t>(word.bits(75, 5));
  if (form.sign_extended && !form.high) return false;
  unsigned forms = uniform ? kFormsUniform : kFormsSecond;
  if (form.high && !form.sign_extended) forms |= 1u << 2;
  if (!integer_sources(word, forms, uniform, s)) return false;
  out.opcode = uniform ? Opcode::kULEA : Opcode::kLEA;
  negate_if(word, 72, form.extended, s.a);
  if (!s.middle_is_third) negate_if(word, 63, form.extended, s.b);
  out.dst = destination(word, uniform);
  out.pdst0 = predicate_result_of(word, 81, uniform);
  out.a = s.a, out.b = s.b;
  if (form.high && !form.sign_extended) out.c = s.c;
  if (form.extended) out.p0 = predicate_of(word, 87, 90, uniform);
  return true;
}

bool decode_isetp(const Word& word, bool uniform, Instruction& out) {
  IntegerSources s;
  if (!integer_sources(word, uniform ? kFormsUniform : kFormsSecond, uniform, s)) return false;
  if (word.bits(74, 2) == 3) return false;
  out.opcode = uniform ? Opcode::kUISETP : Opcode::kISETP;
  IntegerForm& form = out.integer;
  const auto compare = static_cast<std::uint8_t>(word.bits(76, 3));
  form.compare = compare == 7 ? Compare::kT : static_cast<Compare>(compare);
  form.is_unsigned = !word.bit(73);
  form.combine = static_cast<Combine>(word.bits(74, 2));
  form.extended = word.bit(72);
  out.pdst0 = predicate_result_of(word, 81, uniform);
  out.pdst1 = predicate_result_of(word, 84, uniform);
  out.a = s.a, out.b = s.b;
  out.p0 = predicate_of(word, 87, 90, uniform);
  if (form.extended) out.p1 = predicate_of(word, 68, 71, uniform);
  return true;
}

bool decode_iabs(const Word& word, Instruction& out) {
  IntegerSources s;
  if (!integer_sources(word, kFormsSecond, false, s)) return false;
  out.opcode = Opcode::kIABS;
  out.dst = destination(word, false);
  out.a = s.b;
  return true;
}

}  // namespace

bool decode_arithmetic(const Word& word, Instruction& out) {
  switch (word.bits(0, 9)) {
    case 0x010:
      return decode_iadd3(word, false, out);
    case 0x090:
      return decode_iadd3(word, true, out);
    case 0x024:
    case 0x025:
    case 0x027:
      return decode_imad(word, false, out);
    case 0x0a4:
    case 0x0a5:
      return decode_imad(word, true, out);
    case 0x011:
      return decode_lea(word, false, out);
    case 0x091:
      return decode_lea(word, true, out);
    case 0x00c:
      return decode_isetp(word, false, out);
    case 0x08c:
      return decode_isetp(word, true, out);
    case 0x013:
      return decode_iabs(word, out);
    default:
      return false;
  }
}

}  // namespace muscope::sass
